#ifndef HOLDFAST_CLIENT_REQUEST_HPP
#define HOLDFAST_CLIENT_REQUEST_HPP

#include "client/client_state.hpp"
#include "core/holder_id.hpp"
#include "core/lease_terms.hpp"
#include "core/request_fsm.hpp"
#include "protocol/call.hpp"
#include "protocol/reply.hpp"
#include "protocol/target.hpp"
#include "runtime/pending_handler.hpp"

#include <boost/asio/any_completion_handler.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

namespace holdfast::detail {

/// How long the server remembers that it has executed a request: longer than it is repeated, by
/// far more than what was sent last can be under way.
[[nodiscard]] inline millis remembered_for(config const& settings) {
    return settings.lease + millis{std::chrono::minutes{10}};
}

/// The driver of one request: waits for a connection, sends it, and sends it again while that is
/// wanted. Used on the client's strand.
class request_op : public std::enable_shared_from_this<request_op> {
public:
    struct plan {
        std::function<call(client_state& by, holder_id const& id, nanos timeout)> make;
        /// Called once. The reply is null if there is an error.
        std::function<void(error_code, script_reply const*)> finish;
        /// It changes something, and may be executed more than once as if it were once. It is
        /// repeated for as long as a usual lease lasts. Otherwise it is sent once.
        bool repeats = false;
        /// It gives back what nothing else would free. It is repeated for a day, whatever the
        /// server says, and until the shutdown of the client is over.
        bool withdraws = false;
        /// What it is about.
        std::shared_ptr<target const> on;
    };

    request_op(std::shared_ptr<client_state> client, plan what)
        : client_{std::move(client)},
          what_{std::move(what)} {}

    void start();

private:
    [[nodiscard]] bool over() const;
    void on_connection(error_code ec);
    void send();
    void on_answer(exec_result const& result);
    void on_failure(request_fsm::failure what, error_code cause);
    void finish(error_code ec, script_reply const* reply);

    std::shared_ptr<client_state> client_;
    plan what_;
    std::optional<holder_id> id_;
    std::optional<request_fsm> fsm_;
    std::shared_ptr<void> place_;
};

/// Sends a request about a target, and completes with what `read` makes of its reply. All types of
/// cancellation complete at once; the request goes on. From any thread.
///
/// `make(client, target, id, timeout)` returns the call; `read(reply, results..., client, target)`
/// an error, and the results.
template <class... Results, class Make, class Read>
void send_request(
    std::shared_ptr<client_state> client,
    std::shared_ptr<target const> on,
    completion_handler<error_code, Results...> handler,
    bool repeats,
    error_code wrong,
    Make make,
    Read read
) {
    if (client->gone()) {
        return;
    }
    auto const waiting = std::make_shared<pending_handler<error_code, Results...>>(
        std::move(handler),
        client->executor()
    );
    if (!on->valid() || wrong) {
        waiting->complete(on->valid() ? wrong : errc::invalid_name, Results{}...);
        return;
    }
    abort_on_cancel<Results...>(waiting, client);
    auto op = std::make_shared<request_op>(
        client,
        request_op::plan{
            .make =
                [on, make](client_state& by, holder_id const& id, nanos timeout) {
                    return make(by, *on, id, timeout);
                },
            .finish =
                [client, on, waiting, read](error_code ec, script_reply const* reply) {
                    std::tuple<Results...> results;
                    std::apply(
                        [&](Results&... each) {
                            if (!ec) {
                                ec = read(*reply, each..., *client, *on);
                            }
                            waiting->complete(ec, std::move(each)...);
                        },
                        results
                    );
                },
            .repeats = repeats,
            .on = on,
        }
    );
    client->on_strand([op = std::move(op)] { op->start(); });
}

}  // namespace holdfast::detail

#endif
