#include "scenario.hpp"

#include "plan.hpp"
#include "support/background.hpp"
#include "support/run.hpp"

#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>

#include <utility>

namespace holdfast::test {

namespace asio = boost::asio;

asio::awaitable<std::vector<std::size_t>> preflight(
    stage& on,
    client& tested,
    std::string const& name,
    std::shared_ptr<report> const& findings
) {
    co_await tested.ready(asio::use_awaitable);
    // A script that the server does not know is answered with NOSCRIPT, in whichever step comes
    // first.
    co_await warm_up(tested);
    std::vector<std::size_t> sizes(all_steps().size(), health_reply_size);
    for (auto const number : in_any_order(sizes.size())) {
        auto const& each = all_steps()[number];
        if (each.message == message_kind::health) {
            continue;
        }
        auto const key = fmt::format("{}-{}", name, number);
        auto const one =
            std::make_shared<exchange>(on, tested, name, key, findings, each, std::nullopt);
        co_await one->run();
        sizes[number] = one->message_size();
    }
    co_return sizes;
}

exchange::exchange(
    stage& on,
    client& tested,
    std::string name,
    std::string key,
    std::shared_ptr<report> findings,
    step const& what,
    std::optional<disturbance> fault
)
    : stage_{on},
      name_{std::move(name)},
      key_{std::move(key)},
      findings_{std::move(findings)},
      step_{what},
      fault_{std::move(fault)},
      mine_{tested, key_, {}, {}, pending{on.executor}},
      theirs_{on.rival, key_, {}, {}, pending{on.executor}},
      crowd_{
          party{tested, key_ + "-before", {}, {}, pending{on.executor}},
          party{tested, key_ + "-after", {}, {}, pending{on.executor}},
          party{tested, key_ + "-last", {}, {}, pending{on.executor}}
      },
      struck_{on.executor},
      healed_{on.executor} {}

asio::awaitable<bool> exchange::run() {
    auto const self = shared_from_this();
    try {
        auto body = (this->*step_.run)();
        co_await std::move(body);
        co_await disperse();
        recovering_ = true;
        co_await follow_up();
        co_await look_at_epoch();
        co_await settle();
    } catch (abandoned const&) {
        usable_ = false;
    }
    stage_.board.set_edit(name_, {});
    co_return usable_;
}

// What a fault must not change

// The client is of use as before. Where the connection for notifications was struck, that means to
// be woken by one.
asio::awaitable<void> exchange::follow_up() {
    if (lies()) {
        co_await outlive_lies();
    }
    bool const followed = step_.run == &exchange::probed;  // by an acquire and a release
    if (followed) {
        co_return;
    }
    if (step_.link == link_kind::commands) {
        co_await take(mine_);
        co_await give_back(mine_);
        co_return;
    }
    co_await take(theirs_);
    auto const before = mine_.by.stats().refusals;
    begin_acquire(mine_);
    co_await refusals(before + 1);
    co_await give_back(theirs_);
    co_await end(mine_, "acquire");
    co_await give_back(mine_);
}

// What is not going to pass is believed until there is a new connection.
asio::awaitable<void> exchange::outlive_lies() {
    constexpr std::chrono::milliseconds pause{3};
    auto const limit = lease_clock::now() + stage_.bound;
    do {
        co_await take(mine_);
        if (mine_.error) {
            co_await sleep_for(pause);
        }
    } while (mine_.error && lease_clock::now() < limit);
    if (mine_.error) {
        found(violation::not_recovered, "the client is not of use again");
    }
    co_await give_back(mine_);
}

asio::awaitable<void> exchange::look_at_epoch() {
    auto const reconnects = [this] { return mine_.by.stats().reconnects - reconnects_; };
    auto const then = fault_ ? fault_->then : disturbance::epoch::any;
    if (then == disturbance::epoch::kept && reconnects() != 0) {
        found(violation::wrong_epoch, "the connection was dropped without need");
    }
    if (then == disturbance::epoch::dropped) {
        auto const dropped = [&] { return reconnects() > 0; };
        co_await expect(violation::wrong_epoch, "the connection was kept", dropped);
    }
}

asio::awaitable<void> exchange::settle() {
    // The rest of a message does not come on a connection that the client has left.
    auto const healed = [this] {
        return healed_.happened() || stage_.board.connection(name_, step_.link) != connection_;
    };
    co_await co_eventually(stage_.bound, healed);
    // A black hole never closes its connection, which the client may have left.
    if (fault_ && stage_.board.connection(name_, step_.link) != connection_) {
        stage_.board.proxy().cut(cut_kind::rst, connection_number(connection_));
    }
    auto const nothing_here = [this] {
        auto const now = mine_.by.stats();
        return now.waiters_now == 0 && now.leases_now == 0;
    };
    co_await expect(violation::left_behind, "a waiter or a lease in the client", nothing_here);
    auto const nothing_there = [this] {
        return stage_.probe.cmd("EXISTS", key_, crowd_[0].key, crowd_[1].key, crowd_[2].key)
                   .as_integer() == 0;
    };
    co_await expect(violation::left_behind, "the lock on the server", nothing_there);
}

asio::awaitable<void> exchange::expect(
    violation otherwise,
    char const* what,
    std::function<bool()> holds
) {
    bool const held = co_await co_eventually(stage_.bound, holds);
    if (!held) {
        found(otherwise, what);
    }
}

// Who has a valid lease must be the one whom the server has in the key.
void exchange::judge(party const& who) {
    if (!who.held) {
        return;
    }
    auto const fields = stage_.probe.cmd("HKEYS", who.key);
    if (!who.held.valid() && lies()) {
        return;
    }
    if (!who.held.valid()) {
        found(violation::wrong_end, "the lease is not valid");
        return;
    }
    findings_->judged();
    auto const holder = stage_.board.holder(who.key, who.held.token());
    auto const& holders = fields.as_array();
    if (holder.empty() || holders.size() != 1 || holders.front().as_string() != holder) {
        found(
            violation::false_grant,
            fmt::format(
                "token {} is of holder \"{}\", but the key has {}",
                who.held.token().value,
                holder,
                fields.describe()
            )
        );
    }
}

void exchange::found(violation what, std::string const& details) {
    findings_->add(what, where(), details);
}

std::string exchange::where() const {
    if (!fault_) {
        return std::string{step_.name};
    }
    return fmt::format("{}{}, {}", fault_->crowded ? "crowded " : "", step_.name, fault_->name);
}

}  // namespace holdfast::test
