#include "client/connection_waiters.hpp"

#include "core/lease_terms.hpp"

#include <utility>

namespace holdfast::detail {

void connection_waiters::add(std::function<void(error_code)> f) {
    if (client_.can_execute()) {
        f({});
        return;
    }
    if (auto const cause = client_.failure()) {
        f(cause);
        return;
    }
    auto const& settings = client_.settings();
    auto const made = std::make_shared<waiter>(waiter{std::move(f), timer{client_.strand()}});
    auto const at = waiting_.insert(waiting_.end(), made);
    sleep_until(made->limit, lease_clock::now() + request_timeout_for(settings, settings.lease));
    made->limit.async_wait([this, client = client_.shared_from_this(), made, at](error_code ec) {
        if (ec || !made->f) {
            return;
        }
        waiting_.erase(at);
        auto const cause = client_.why_down().cause;
        std::exchange(made->f, {})(cause ? cause : make_error_code(errc::unreachable));
    });
}

std::shared_ptr<void> connection_waiters::reserve() {
    if (reserved_ >= client_.settings().max_waiters) {
        return {};
    }
    std::shared_ptr<void> place{this, [this, client = client_.shared_from_this()](void*) {
                                    --reserved_;
                                }};
    ++reserved_;
    return place;
}

void connection_waiters::tell(error_code ec) {
    auto const all = std::exchange(waiting_, {});
    for_each_in_spite_of_exceptions(all, [ec](auto const& waiting) {
        waiting->limit.cancel();
        std::exchange(waiting->f, {})(ec);
    });
}

void connection_waiters::clear() noexcept {
    auto const all = std::exchange(waiting_, {});
}

}  // namespace holdfast::detail
