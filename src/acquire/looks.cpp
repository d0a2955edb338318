#include "acquire/looks.hpp"

#include "core/lease_terms.hpp"
#include "protocol/primitive.hpp"

#include <utility>

namespace holdfast::detail {

void looks::later(std::shared_ptr<target const> on, holder_id const& dead, time_point at) {
    auto const key = target_key{*on};
    if (auto const known = latest_.find(key); known != latest_.end()) {
        known->second = at;
        return;
    }
    auto const place = due_.emplace(at, look{std::move(on), dead});
    latest_.emplace(key, at);
    if (place == due_.begin()) {
        arm();
    }
}

void looks::arm() {
    if (!timer_) {
        timer_.emplace(client_.strand());
    }
    sleep_until(*timer_, due_.begin()->first);
    timer_->async_wait([this, client = client_.shared_from_this()](error_code ec) {
        if (!ec) {
            on_timer();
        }
    });
}

void looks::on_timer() {
    auto const now = lease_clock::now();
    while (!due_.empty() && due_.begin()->first <= now) {
        auto first = due_.extract(due_.begin());
        auto const known = latest_.find(target_key{*first.mapped().on});
        if (known != latest_.end() && known->second > now) {
            // It was handed over again.
            first.key() = known->second;
            due_.insert(std::move(first));
        } else {
            latest_.erase(target_key{*first.mapped().on});
            send(first.mapped());
        }
    }
    if (!due_.empty()) {
        arm();
    }
}

void looks::send(look const& what) {
    bool const is_given = what.on->speaks->hands_over();
    if (!client_.may_attempt(*what.on) || (is_given && !client_.hands_over())) {
        return;
    }
    auto const& settings = client_.settings();
    client_.exec(
        what.on->speaks->release({
            .on = *what.on,
            .id = what.dead,
            .timeout = request_timeout_for(settings, settings.lease),
            .hand_over = true,
            .counter_ttl = settings.fence_ttl,
            .patience = settings.waiter_patience,
        }),
        [this, what, is_given, client = client_.shared_from_this()](exec_result result) {
            if (result.status != exec_status::replied) {
                return;
            }
            auto const reply = what.on->speaks->read_release(result.reply);
            if (reply.handed_over && is_given) {
                client->count().claims_lost.add();
            } else if (reply.handed_over) {
                later(what.on, what.dead, lease_clock::now() + reply.window + millis{2});
            }
        }
    );
}

void looks::clear() noexcept {
    timer_.reset();
    due_.clear();
    latest_.clear();
}

}  // namespace holdfast::detail
