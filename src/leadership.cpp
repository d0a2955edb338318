#include <holdfast/leadership.hpp>

#include "client/client_state.hpp"
#include "client/mandate.hpp"
#include "lease/lease_handles.hpp"
#include "runtime/pending_handler.hpp"

#include <memory>
#include <utility>

namespace holdfast::detail {

void start_proclaim(std::shared_ptr<mandate> leads, std::string value, plain_handler handler) {
    if (!leads) {
        refuse_empty(std::move(handler));
        return;
    }
    auto const& client = leads->client();
    if (client->gone()) {
        return;
    }
    auto const waiting =
        std::make_shared<pending_handler<error_code>>(std::move(handler), client->executor());
    if (value.size() > election_keys::longest_value) {
        waiting->complete(errc::invalid_options);
        return;
    }
    abort_on_cancel(waiting, client);
    client->on_strand([leads, waiting, value = std::move(value)]() mutable {
        leads->proclaim(std::move(value), [waiting](error_code ec) { waiting->complete(ec); });
    });
}

}  // namespace holdfast::detail
