#include "client/grant_delay.hpp"

#include "protocol/server.hpp"
#include "protocol/slot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace holdfast::detail {

void grant_delay::on_connected(std::string_view run_id, client_context::some those) {
    those_ = std::move(those);
    run_id_ = run_id;
    connected_ = true;
    if (client_.settings().lock_delay > millis{0}) {
        meet();
    } else {
        over_(those_);
    }
}

void grant_delay::on_replaced() {
    if (connected_ && client_.settings().lock_delay > millis{0}) {
        meet();
    }
}

void grant_delay::meet() {
    ++epoch_;
    timer_.reset();
    auto const& settings = client_.settings();
    client_.hold_grants_back(server_, true);
    if (run_id_.empty()) {
        client_.log(
            log_level::warning,
            "the server's user may not use INFO: each connection counts as one to another server, "
            "and no lock is granted for config::lock_delay"
        );
        wait(settings.lock_delay);
        return;
    }
    auto const where = key();
    if (!where) {
        wait(settings.lock_delay);
        return;
    }
    auto const sent_at = lease_clock::now();
    client_.exec(
        meet_server(*where, run_id_, request_timeout_for(settings, settings.lease)),
        [this,
         self = shared_from_this(),
         client = client_.shared_from_this(),
         sent_at,
         epoch = epoch_](exec_result const& result) {
            if (epoch == epoch_) {
                on_met(result, sent_at);
            }
        }
    );
}

std::optional<std::string> grant_delay::key() const {
    auto const& prefix = client_.settings().key_prefix;
    if (!client_.clustered()) {
        return server_key(prefix);
    }
    for (std::uint16_t slot = 0; slot < slot_count; ++slot) {
        if (client_.server_of(slot) == server_) {
            auto made = server_key(prefix, slot);
            // A prefix with a hash tag may put it on another node.
            return client_.server_of(slot_of(made)) == server_ ? std::optional{std::move(made)}
                                                               : std::nullopt;
        }
    }
    return std::nullopt;
}

void grant_delay::on_met(exec_result const& result, time_point sent_at) {
    auto const delay = client_.settings().lock_delay;
    auto const met =
        result.status == exec_status::replied ? read_meeting(result.reply) : std::nullopt;
    if (!met) {
        client_.log(
            log_level::warning,
            fmt::format(
                "it is not known since when the server is the one that it is ({}): no lock is "
                "granted for {} ms",
                result.error ? result.error.message() : "an odd reply",
                delay.count()
            )
        );
        wait(delay);
        return;
    }
    client_.server(server_).time.on_reply(sent_at, met->server_time);
    auto const rest = ceil<millis>(end_of(met->known_for) - lease_clock::now());
    // mutant: lock-delay-not-kept
    if (rest <= millis{0}) {
        end();
        return;
    }
    client_.log(
        log_level::info,
        fmt::format("the server is a new one: no lock is granted for {} ms", rest.count())
    );
    wait(rest);
}

// The server counts by its wall clock, which may step while its machine starts. So a client that
// knew the server before counts from when it first saw this one, and one that was told the time
// goes by that.
time_point grant_delay::end_of(millis known_for) {
    auto const delay = client_.settings().lock_delay;
    auto const told = saturating_add(lease_clock::now(), delay - known_for);
    auto const changed_at = client_.server(server_).identity.changed_at();
    auto const seen =
        changed_at == time_point::min() ? changed_at : saturating_add(changed_at, delay);
    auto const before = met_ == run_id_ ? ends_at_ : time_point::min();
    met_ = run_id_;
    ends_at_ = std::max({told, seen, before});
    return ends_at_;
}

void grant_delay::wait(nanos rest) {
    timer_.emplace(client_.strand());
    sleep_until(*timer_, lease_clock::now() + rest);
    timer_->async_wait([this,
                        self = shared_from_this(),
                        client = client_.shared_from_this(),
                        epoch = epoch_](error_code ec) {
        if (!ec && epoch == epoch_) {
            end();
        }
    });
}

void grant_delay::end() {
    timer_.reset();
    client_.hold_grants_back(server_, false);
    over_(those_);
}

void grant_delay::on_disconnected() noexcept {
    connected_ = false;
    client_.hold_grants_back(server_, true);
    ++epoch_;
    timer_.reset();
}

void grant_delay::clear() noexcept {
    on_disconnected();
}

}  // namespace holdfast::detail
