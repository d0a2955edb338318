#include "acquire/answered_requests.hpp"

#include "core/lease_terms.hpp"
#include "protocol/counted.hpp"

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

namespace holdfast::detail {

namespace {

constexpr std::size_t at_a_time = 32;

}  // namespace

void answered_requests::add(std::shared_ptr<target const> on, holder_id const& id) noexcept {
    try {
        answered_.push_back({std::move(on), id});
        if (answered_.size() == 1) {
            arm();
        }
    } catch (std::exception const&) {
        // Out of memory: the server forgets it later.
    }
    if (answered_.size() >= at_a_time) {
        tell();
    }
}

void answered_requests::arm() {
    if (!timer_) {
        timer_.emplace(client_.strand());
    }
    sleep_until(*timer_, lease_clock::now() + longest_delay_);
    timer_->async_wait([this, client = client_.shared_from_this()](error_code ec) {
        if (!ec) {
            tell();
        }
    });
}

void answered_requests::tell() noexcept {
    auto all = std::exchange(answered_, {});
    if (timer_) {
        timer_->cancel();
    }
    // Usually one call for all.
    for (auto first = all.begin(); first != all.end();) {
        auto const end = std::partition(std::next(first), all.end(), [&](answered const& one) {
            return client_.in_one_slot(*first->on, *one.on);
        });
        tell(std::span{first, end});
        first = end;
    }
}

void answered_requests::tell(std::span<answered const> some) noexcept {
    if (!client_.can_execute(*some.front().on)) {
        return;
    }
    try {
        std::vector<counted::answered> marks;
        marks.reserve(some.size());
        for (auto const& one : some) {
            marks.push_back({one.on.get(), one.id});
        }
        auto const& settings = client_.settings();
        client_.exec(
            counted::forget(marks, request_timeout_for(settings, settings.lease)),
            [this, client = client_.shared_from_this()](exec_result const&) {
                --under_way_;
                if (idle() && on_idle_) {
                    on_idle_();
                }
            }
        );
        ++under_way_;
    } catch (std::exception const&) {
        // Out of memory: the server forgets them later.
    }
}

void answered_requests::clear() noexcept {
    timer_.reset();
    auto const all = std::exchange(answered_, {});
}

}  // namespace holdfast::detail
