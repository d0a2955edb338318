#include "client/mandate.hpp"

#include "client/client_state.hpp"
#include "client/request.hpp"
#include "core/lease_terms.hpp"

#include <fmt/format.h>

#include <utility>

namespace holdfast::detail {

namespace {

error_code result_of(script_reply const& reply, election_keys const& of, client_state& by) {
    auto const read = read_proclaim(reply);
    using kind = proclaim_reply::kind;
    switch (read.what) {
        case kind::not_leader: return errc::lease_lost;
        case kind::corrupt: return errc::corrupt_state;
        case kind::proclaimed: break;
    }
    if (!read.notified) {
        by.count().refused_notifications.add();
        by.log(
            log_level::error,
            {"PUBLISH to observers", of.lock->lock},
            fmt::format(
                "the leader of the election \"{}\" has changed, but its observers were not "
                "notified: the server refused PUBLISH. The Redis user lacks one of the "
                "permissions +publish, &{}",
                escaped(of.lock->lock),
                escaped(of.leader, max_name_length)
            )
        );
    }
    return {};
}

}  // namespace

void mandate::proclaim(std::string value, std::function<void(error_code)> done) {
    value_ = std::make_shared<std::string const>(std::move(value));
    ++change_;
    send(std::move(done));
}

void mandate::proclaim_again() {
    if (value_) {
        send([](error_code) {});
    }
}

void mandate::send(std::function<void(error_code)> done) {
    // What is sent does not change, however often it is repeated.
    auto const make = [keys = keys_,
                       holder = holder_,
                       term = term_,
                       value = value_,
                       change = change_](client_state& by, holder_id const&, nanos timeout) {
        auto const ttl = by.settings().fence_ttl;
        return detail::proclaim({*keys, holder, term, change, *value, ttl, timeout});
    };
    auto const op = std::make_shared<request_op>(
        client_,
        request_op::plan{
            .make = make,
            .finish = [client = client_, keys = keys_, done = std::move(done)](
                          error_code ec,
                          script_reply const* reply
                      ) { done(ec ? ec : result_of(*reply, *keys, *client)); },
            .repeats = true,
            .on = keys_->lock,
        }
    );
    op->start();
}

}  // namespace holdfast::detail
