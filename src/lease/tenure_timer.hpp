#ifndef HOLDFAST_LEASE_TENURE_TIMER_HPP
#define HOLDFAST_LEASE_TENURE_TIMER_HPP

#include "core/lease_terms.hpp"
#include "runtime/client_context.hpp"

#include <boost/intrusive/set.hpp>
#include <boost/intrusive/set_hook.hpp>

#include <functional>
#include <optional>

namespace holdfast::detail {

class tenure;

/// The place of a tenure in a `tenure_timer`.
class timed_tenure : public boost::intrusive::set_base_hook<boost::intrusive::optimize_size<true>> {
private:
    friend class tenure_timer;
    time_point due_at_{};
};

/// Calls a function for each listed tenure when its time has come. One timer serves all. Used on
/// the client's strand.
///
/// A lock that changes hands locally lists and removes a tenure for each of 500,000 grants a
/// second: neither allocates, nor sets the timer unless the tenure is due before all others.
class tenure_timer {
public:
    tenure_timer(client_context& client, std::function<void(tenure& due)> on_due)
        : client_{client},
          on_due_{std::move(on_due)} {}
    tenure_timer(tenure_timer const&) = delete;
    tenure_timer& operator=(tenure_timer const&) = delete;
    ~tenure_timer() { clear(); }

    /// In the place of the time that was set before.
    void set(tenure& one, time_point at);
    /// Nothing happens if it is not listed.
    void remove(tenure& one) noexcept;
    void clear() noexcept;

private:
    struct is_earlier {
        bool operator()(timed_tenure const& a, timed_tenure const& b) const noexcept {
            return a.due_at_ < b.due_at_;
        }
    };
    void arm();
    void on_timer();

    client_context& client_;
    std::function<void(tenure&)> on_due_;
    boost::intrusive::multiset<
        timed_tenure,
        boost::intrusive::compare<is_earlier>,
        boost::intrusive::constant_time_size<false>>
        listed_;
    std::optional<timer> timer_;
    time_point armed_for_ = time_point::max();
};

}  // namespace holdfast::detail

#endif
