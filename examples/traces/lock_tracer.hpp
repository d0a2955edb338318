#ifndef TRACES_LOCK_TRACER_HPP
#define TRACES_LOCK_TRACER_HPP

#include "finished_spans.hpp"

#include <holdfast/observer.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

namespace traces {

/// Makes two spans of each use of a lock: `acquire`, from the start of the acquisition to its end,
/// and `hold`, from the grant to the release.
///
/// Each client needs one of its own, because the acquisitions of each are numbered from one. A
/// semaphore's permits have no tokens to tell them apart, and therefore no `hold`.
class lock_tracer final : public holdfast::observer {
public:
    explicit lock_tracer(std::shared_ptr<finished_spans> to) : to_{std::move(to)} {}

    /// The next acquisition that this thread begins is a part of this span. To be called just
    /// before it: nothing else may run in between.
    static void begin_below(span_context const& parent) noexcept;

private:
    void on_acquire(acquisition const& what) noexcept override;
    void on_wait(acquisition const& what) noexcept override;
    void on_grant(acquisition const& what, grant const& of) noexcept override;
    void on_no_grant(
        acquisition const& what,
        holdfast::error_code why,
        std::chrono::nanoseconds waited
    ) noexcept override;
    void on_renewal(held_lock const& what, std::chrono::nanoseconds took) noexcept override;
    void on_doubt(held_lock const& what) noexcept override;
    void on_loss(held_lock const& what, holdfast::loss_reason why) noexcept override;
    void on_release(held_lock const& what, std::chrono::nanoseconds held_for) noexcept override;

    using holds = std::map<std::pair<std::string, std::uint64_t>, span>;
    [[nodiscard]] holds::iterator find(held_lock const& what);
    void add_event(held_lock const& what, char const* name);

    std::shared_ptr<finished_spans> to_;
    std::mutex mutex_;
    std::unordered_map<std::uint64_t, span> acquiring_;  // by the number of the acquisition
    holds holding_;                                      // by the name of the lock and the token
};

}  // namespace traces

#endif
