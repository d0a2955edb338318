#include "simulation/fair_judge.hpp"

#include "protocol/fair_lock.hpp"
#include "protocol/reply.hpp"

#include <string>

namespace holdfast::sim {

bool fair_judge::listens(std::string_view lock, std::string_view holder) {
    auto const target = detail::make_fair_lock_target({}, lock);
    return server_.subscribers(target.channel().append(":").append(holder)) > 0;
}

void fair_judge::on_before(std::string_view lock) {
    auto const target = detail::make_fair_lock_target({}, lock);
    queue_.on_before(lock, server_.as_operator({"LRANGE", target.queue(), "0", "-1"}));
    was_held_[std::string{lock}] = server_.data().exists(std::string{lock});
}

void fair_judge::on_script(script_event const& what) {
    detail::script_reply const said{what.reply->text};
    if (what.does != "acquire" || what.reply->is_error()) {
        return;
    }
    if (said.integer(0, -1) == 0 && said.integer(3) > 0) {
        queue_.on_placed(what, what.holder);
    } else if (said.integer(0, -1) == 1 && !was_held_[std::string{what.lock}]) {
        // Those of a client that is gone are passed over together.
        auto const is_gone = [&](std::string_view one, std::string_view gone) {
            return client_of(gone) == client_of(one) && !listens(what.lock, one);
        };
        queue_.on_granted(what, what.holder, sometimes::granted_in_turn, is_gone);
    }
}

}  // namespace holdfast::sim
