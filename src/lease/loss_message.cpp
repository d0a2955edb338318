#include "lease/loss_message.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace holdfast::detail {

namespace {

std::string_view sentence_of(loss_reason reason) {
    switch (reason) {
        case loss_reason::none: return "none";
        case loss_reason::expired: return "it expired";
        case loss_reason::taken: return "another holder has it";
        case loss_reason::deleted: return "its key is gone or was overwritten";
        case loss_reason::unreachable: return "no renewal was confirmed";
        case loss_reason::max_hold: return "max_hold is over";
        case loss_reason::client_stopped: return "the client was stopped";
        case loss_reason::max_renewals: return "it was renewed max_renewals times";
        case loss_reason::failed_over:
            return "the server that the client is connected to now has not got it";
    }
    return "";
}

}  // namespace

std::string loss_message(target const& on, loss_reason reason) {
    return fmt::format("the lease of \"{}\" is lost: {}", escaped(on.lock), sentence_of(reason));
}

void report_loss(
    std::shared_ptr<client_context> const& client,
    std::shared_ptr<target const> on,
    fencing_token token,
    loss_reason reason
) {
    client->count().lost(reason);
    client->tell_observer([&](observer& told) { told.on_loss({on->lock, token}, reason); });
    client->on_strand([client, on = std::move(on), reason] {
        client->log(log_level::warning, {sentence_of(reason), on->lock}, loss_message(*on, reason));
    });
}

}  // namespace holdfast::detail
