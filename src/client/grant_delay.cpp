#include "client/grant_delay.hpp"

#include "protocol/server.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace holdfast::detail {

void grant_delay::on_connected(std::string_view run_id, client_context::some those) {
    those_ = std::move(those);
    ++epoch_;
    timer_.reset();
    auto const& settings = client_.settings();
    if (settings.lock_delay <= millis{0}) {
        over_(those_);
        return;
    }
    client_.hold_grants_back(true);
    if (run_id.empty()) {
        client_.log(
            log_level::warning,
            "the server's user may not use INFO: each connection counts as one to another server, "
            "and no lock is granted for config::lock_delay"
        );
        wait(settings.lock_delay);
        return;
    }
    auto const sent_at = lease_clock::now();
    client_.exec(
        meet_server(settings.key_prefix, run_id, request_timeout_for(settings, settings.lease)),
        [this, client = client_.shared_from_this(), sent_at, epoch = epoch_](
            exec_result const& result
        ) {
            if (epoch == epoch_) {
                on_met(result, sent_at);
            }
        }
    );
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
    client_.server().time.on_reply(sent_at, met->server_time);
    if (met->known_for >= delay) {
        end();
        return;
    }
    auto const rest = delay - met->known_for;
    client_.log(
        log_level::info,
        fmt::format("the server is a new one: no lock is granted for {} ms", rest.count())
    );
    wait(rest);
}

void grant_delay::wait(nanos rest) {
    timer_.emplace(client_.strand());
    sleep_until(*timer_, lease_clock::now() + rest);
    timer_->async_wait([this, client = client_.shared_from_this(), epoch = epoch_](error_code ec) {
        if (!ec && epoch == epoch_) {
            end();
        }
    });
}

void grant_delay::end() {
    timer_.reset();
    client_.hold_grants_back(false);
    over_(those_);
}

void grant_delay::on_disconnected() noexcept {
    ++epoch_;
    timer_.reset();
}

void grant_delay::clear() noexcept {
    on_disconnected();
}

}  // namespace holdfast::detail
