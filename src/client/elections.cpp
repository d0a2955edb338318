#include "client/elections.hpp"

#include "client/mandate.hpp"

#include <exception>

namespace holdfast::detail {

namespace {

// Those that are still there. They may go while others are told.
std::vector<std::shared_ptr<mandate>> alive(std::vector<std::weak_ptr<mandate>>& all) {
    std::vector<std::shared_ptr<mandate>> found;
    std::erase_if(all, [&](auto const& one) {
        found.push_back(one.lock());
        return !found.back();
    });
    std::erase(found, nullptr);
    return found;
}

}  // namespace

void elections::add(std::shared_ptr<mandate> const& which) {
    static_cast<void>(alive(led_));
    led_.push_back(which);
    if (!timer_) {
        arm();
    }
}

// What a leader proclaimed expires like a token counter. It must not while somebody leads.
void elections::arm() {
    auto const ttl = client_.settings().fence_ttl;
    if (ttl == config::never) {
        return;
    }
    timer_.emplace(client_.strand());
    sleep_until(*timer_, saturating_add(lease_clock::now(), nanos{ttl} / 3));
    timer_->async_wait([this, client = client_.shared_from_this()](error_code ec) {
        if (ec) {
            return;
        }
        timer_.reset();
        proclaim_again(client_context::everything());
        if (!led_.empty()) {
            arm();
        }
    });
}

void elections::proclaim_again(client_context::some const& those) {
    for (auto const& one : alive(led_)) {
        if (those(*one->keys().lock)) {
            one->proclaim_again();
        }
    }
}

// A server that lost its data, or a replica that had been behind, may not know who leads.
void elections::on_connected(client_context::some const& those) {
    proclaim_again(those);
    observers_.on_connected(client_, those);
}

void elections::clear() noexcept {
    timer_.reset();
    led_.clear();
    observers_.clear();
}

}  // namespace holdfast::detail
