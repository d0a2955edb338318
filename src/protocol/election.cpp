#include "protocol/election.hpp"

#include "protocol/lock.hpp"
#include "protocol/names.hpp"
#include "protocol/scripts.hpp"
#include "protocol/words.hpp"

#include <utility>

namespace holdfast::detail {

election_keys make_election_keys(config const& settings, std::string_view name) {
    auto lock = allowed_by(settings, make_lock_target(settings.key_prefix, name));
    auto leader = std::string{beginning::leader}.append(tag_of(lock.lock));
    return {std::make_shared<target const>(std::move(lock)), std::move(leader)};
}

call proclaim(proclamation const& what) {
    call sent{scripts::election_proclaim, what.timeout};
    sent.key_of(*what.of.lock).key(what.of.leader);
    sent.arg(what.holder.view())
        .arg(signed_of(what.term.value))
        .arg(signed_of(what.change))
        .arg(what.ttl.count())
        .arg(what.value);
    return sent;
}

proclaim_reply read_proclaim(script_reply const& reply) {
    using kind = proclaim_reply::kind;
    switch (reply.integer(0, 2)) {
        case 0: return {kind::not_leader, true};
        case 1: return {kind::proclaimed, reply.integer(1) == 1};
        default: return {};
    }
}

call look(election_keys const& of, std::chrono::nanoseconds timeout) {
    call sent{scripts::election_look, timeout};
    sent.key_of(*of.lock).key(of.leader);
    return sent;
}

std::optional<leader_look> read_look(script_reply const& reply) {
    auto const remaining = reply.integer(0, -3);
    if (remaining < -2) {
        return std::nullopt;
    }
    leader_look read;
    read.held = remaining != -2;
    if (remaining >= 0) {
        read.remaining = std::chrono::milliseconds{remaining};
    }
    if (reply.has(1)) {
        fencing_token const term{unsigned_of(reply.integer(1))};
        read.place = {term, unsigned_of(reply.integer(2))};
        read.leader = {term, std::string{reply.rest(4)}, std::string{reply.text(3)}};
    }
    return read;
}

}  // namespace holdfast::detail
