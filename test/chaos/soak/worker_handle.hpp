#ifndef HOLDFAST_TEST_SOAK_WORKER_HANDLE_HPP
#define HOLDFAST_TEST_SOAK_WORKER_HANDLE_HPP

#include "soak/cell_options.hpp"
#include "soak/settings.hpp"
#include "support/child_process.hpp"
#include "support/history/event.hpp"

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::soak {

/// The path of this program, which is started again as worker and as resource.
std::string this_program();

/// The client that a holder's id names.
inline std::string client_of(std::string_view holder) {
    return std::string{holder.substr(0, holder.rfind(':'))};
}

/// What a process takes from the system.
struct footprint {
    std::int64_t descriptors = 0;
    std::int64_t memory = 0;  // resident, in bytes
};

/// What a worker's client still has when everybody is done.
struct levels {
    int waiters = 0;
    int leases = 0;
    int subscriptions = 0;
};

/// One worker, seen from the conductor. Throws `std::runtime_error` when it does not answer.
class worker_handle {
public:
    /// `hands_over`: it queues, and hands locks over.
    worker_handle(
        cell_options const& options,
        std::int64_t number,
        bool hands_over,
        std::filesystem::path folder
    );

    [[nodiscard]] std::int64_t number() const { return number_; }
    [[nodiscard]] bool hands_over() const { return hands_over_; }
    test::child_process& child() { return child_; }

    void await_ready(millis limit);
    /// What the server knows its client by.
    [[nodiscard]] std::string const& client_id() const { return client_id_; }
    void go(millis limit);
    void ask_to_drain() { child_.signal(SIGUSR2); }
    /// Nothing when it does not answer in time; it may be asked again.
    std::optional<levels> await_drained(millis limit);
    /// Returns as `child_process::wait`.
    int end(millis limit) {
        child_.signal(SIGTERM);
        return child_.wait(limit);
    }
    std::vector<event> read_history() { return history_.read(); }

    /// What servers know its connections by.
    [[nodiscard]] std::string name() const { return name_of_worker(number_); }
    /// Descriptors but for those of the connections to servers.
    [[nodiscard]] footprint measure() const;
    /// To servers that have locks, when that was counted last.
    std::int64_t connections = 0;
    /// That of its first rest, once it had one.
    std::optional<footprint> at_first{};

private:
    std::string read_line(millis limit);

    std::int64_t number_;
    bool hands_over_;
    history_reader history_;
    test::child_process child_;
    std::string client_id_;
};

}  // namespace holdfast::soak

#endif
