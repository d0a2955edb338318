#include "client/connection_waiters.hpp"

#include <utility>
#include <vector>

namespace holdfast::detail {

void connection_waiters::add(std::function<void(error_code)> f, std::shared_ptr<target const> on) {
    if (on ? client_.can_execute(*on) : client_.can_execute()) {
        f({});
        return;
    }
    if (auto const cause = on ? client_.failure(*on) : client_.failure()) {
        f(cause);
        return;
    }
    auto const& settings = client_.settings();
    wait(
        request_timeout_for(settings, settings.lease),
        std::move(f),
        std::move(on),
        &connection_waiters::give_up
    );
}

void connection_waiters::add_after(
    nanos pause,
    std::function<void(error_code)> f,
    std::shared_ptr<target const> on
) {
    wait(pause, std::move(f), std::move(on), &connection_waiters::add);
}

void connection_waiters::give_up(
    std::function<void(error_code)> f,
    std::shared_ptr<target const> on
) {
    auto const cause = (on ? client_.why_down(*on) : client_.why_down()).cause;
    f(cause ? cause : make_error_code(errc::unreachable));
}

void connection_waiters::wait(
    nanos limit,
    std::function<void(error_code)> f,
    std::shared_ptr<target const> on,
    continuation then
) {
    auto const made =
        std::make_shared<waiter>(waiter{std::move(f), std::move(on), timer{client_.strand()}});
    auto const at = waiting_.insert(waiting_.end(), made);
    sleep_until(made->limit, lease_clock::now() + limit);
    made->limit.async_wait([this, client = client_.shared_from_this(), made, at, then](error_code ec
                           ) {
        if (ec || !made->f) {
            return;
        }
        waiting_.erase(at);
        (this->*then)(std::exchange(made->f, {}), made->on);
    });
}

std::shared_ptr<void> connection_waiters::reserve() {
    if (reserved_ >= client_.settings().max_waiters) {
        return {};
    }
    // Counted first: a constructor that throws calls the deleter, too.
    ++reserved_;
    return {this, [this, client = client_.shared_from_this()](void*) { --reserved_; }};
}

void connection_waiters::tell(error_code ec) {
    tell(ec, client_context::everything());
}

void connection_waiters::tell(error_code ec, client_context::some const& those) {
    std::vector<std::function<void(error_code)>> told;
    told.reserve(waiting_.size());
    for (auto at = waiting_.begin(); at != waiting_.end();) {
        auto const each = at++;
        if (!(*each)->on || those(*(*each)->on)) {
            (*each)->limit.cancel();
            told.push_back(std::exchange((*each)->f, {}));
            waiting_.erase(each);
        }
    }
    for (auto const& f : told) {
        f(ec);
    }
}

void connection_waiters::clear() noexcept {
    auto const all = std::exchange(waiting_, {});
}

}  // namespace holdfast::detail
