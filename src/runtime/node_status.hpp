#ifndef HOLDFAST_RUNTIME_NODE_STATUS_HPP
#define HOLDFAST_RUNTIME_NODE_STATUS_HPP

#include <holdfast/error.hpp>
#include <holdfast/lease_clock.hpp>

#include <atomic>
#include <cstddef>
#include <functional>
#include <string_view>

namespace holdfast::detail {

/// What other clients' operations may ask of a client's server. Written on the client's strand,
/// readable from any thread.
class node_status {
public:
    /// The command connection is made.
    void on_up(std::string_view run_id, lease_clock::time_point began_by) noexcept {
        run_id_.store(run_id.empty() ? 0 : std::hash<std::string_view>{}(run_id));
        began_by_.store(began_by.time_since_epoch().count());
        failure_.store(0);
        up_.store(true);
    }
    void on_down() noexcept { up_.store(false); }
    /// It cannot be made, for a cause that does not pass by itself.
    void on_failure(error_code cause) noexcept {
        if (cause.category() == error_category()) {
            failure_.store(cause.value());
        }
    }

    [[nodiscard]] bool up() const noexcept { return up_.load(); }
    /// Why it is not up: a cause that does not pass by itself, else `unreachable`.
    [[nodiscard]] error_code why_down() const noexcept {
        auto const cause = failure_.load();
        return cause == 0 ? make_error_code(errc::unreachable)
                          : make_error_code(static_cast<errc>(cause));
    }
    /// The server's process did not begin later.
    [[nodiscard]] lease_clock::time_point began_by() const noexcept {
        return lease_clock::time_point{lease_clock::duration{began_by_.load()}};
    }
    /// Equal for one process of a server; zero: it is not known.
    [[nodiscard]] std::size_t run_id() const noexcept { return run_id_.load(); }

private:
    std::atomic<bool> up_{false};
    std::atomic<int> failure_{0};
    std::atomic<std::size_t> run_id_{0};
    std::atomic<lease_clock::rep> began_by_{0};
};

}  // namespace holdfast::detail

#endif
