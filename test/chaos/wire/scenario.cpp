#include "scenario.hpp"

#include "plan.hpp"
#include "support/background.hpp"
#include "support/run.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace holdfast::test {

namespace asio = boost::asio;

namespace {

using std::chrono::milliseconds;

constexpr milliseconds brief_stall{3};

// An operation did not end: the rest of the step makes no sense.
struct abandoned {};

// Says so when the message is struck: just before each of its faults, or behind all of it.
message_parts with_marks(message_parts parts, std::function<void(bool is_last)> const& struck) {
    auto const is_fault = [](auto const& part) {
        return std::holds_alternative<stream_fault>(part);
    };
    auto left = std::count_if(parts.begin(), parts.end(), is_fault);
    message_parts marked;
    for (auto& part : parts) {
        if (is_fault(part)) {
            --left;
            marked.emplace_back([struck, is_last = left == 0] { struck(is_last); });
        }
        marked.push_back(std::move(part));
    }
    if (marked.size() == parts.size()) {
        marked.emplace_back([struck] { struck(true); });
    }
    return marked;
}

}  // namespace

asio::awaitable<std::vector<std::size_t>> preflight(
    stage& on,
    client& tested,
    std::string const& name,
    std::shared_ptr<report> const& findings
) {
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

// The fault

// The server will not know the script of the next acquire.
void exchange::forget_script() {
    stage_.board.proxy().when_client_sends(
        "redisson_lock_token:{" + key_ + "}",
        command_fault::unknown_script
    );
}

void exchange::arm() {
    stage_.board.set_edit(name_, strike_once());
    armed_at_ = lease_clock::now();
    reconnects_ = mine_.by.stats().reconnects;
    if (fault_ && fault_->crowded) {
        begin_acquire(crowd_[0]);
    }
}

fault_router::edit exchange::strike_once() {
    // Used by the proxy's thread.
    struct progress {
        bool struck = false;
        std::size_t connection = 0;
        std::string held_back{};
    };
    auto struck = [self = weak_from_this(),
                   executor =
                       stage_.executor](std::size_t connection, std::size_t size, bool is_last) {
        asio::post(executor, [self, connection, size, is_last] {
            if (auto const one = self.lock()) {
                one->on_struck(connection, size, is_last);
            }
        });
    };
    return
        [so_far = std::make_shared<progress>(), what = &step_, key = key_, fault = fault_, struck](
            server_message const& message
        ) -> std::optional<message_parts> {
            auto const number = message.connection.number;
            if (so_far->struck) {
                bool const overtakes = !so_far->held_back.empty() && so_far->connection == number;
                return overtakes ? std::optional{message_parts{
                                       message.bytes,
                                       std::exchange(so_far->held_back, {})
                                   }}
                                 : std::nullopt;
            }
            auto const subject = subject_of(message);
            if (link_of(message.connection) != what->link || subject.kind != what->message ||
                !(subject.key.empty() || subject.key == key)) {
                return std::nullopt;
            }
            so_far->struck = true;
            so_far->connection = number;
            auto parts = fault && fault->rewrite ? fault->rewrite(message.bytes)
                                                 : message_parts{message.bytes};
            if (fault && fault->overtaken) {
                so_far->held_back = message.bytes;
                parts.clear();
            }
            return with_marks(
                std::move(parts),
                [struck, number, size = message.bytes.size()](bool is_last) {
                    struck(number, size, is_last);
                }
            );
        };
}

void exchange::on_struck(std::size_t connection, std::size_t size, bool is_last) {
    connection_ = connection;
    size_ = size;
    if (fault_ && fault_->stall != disturbance::end::none) {
        asio::co_spawn(stage_.executor, heal(is_last), asio::detached);
    } else if (is_last) {
        healed_.happen();
    }
    struck_.happen();
}

asio::awaitable<void> exchange::struck() {
    if (fault_ && fault_->crowded) {
        begin_acquire(crowd_[1]);
        // Some operations send in a later turn.
        co_await asio::post(stage_.executor, asio::use_awaitable);
        begin_acquire(crowd_[2]);
    }
    bool const happened = co_await struck_.wait(stage_.bound);
    if (!happened) {
        found(violation::missed, "the message did not come");
        healed_.happen();
    }
}

// Of one stall. The next one comes after it, however late.
asio::awaitable<void> exchange::heal(bool is_last) {
    auto const self = shared_from_this();
    if (fault_->stall == disturbance::end::when_given_up) {
        co_await given_up();
    } else {
        co_await sleep_for(brief_stall);
    }
    stage_.board.proxy()
        .set_mode(direction::to_client, proxy_mode::forward(), connection_number(connection_));
    if (is_last) {
        healed_.happen();
    }
}

// The operation has ended, or its request has run into its time-out and the connection not yet; or
// the connection has been replaced.
asio::awaitable<void> exchange::given_up() {
    using enum message_kind;
    constexpr std::array without_timeout{
        hello,
        probe_ping,
        time,
        server,
        info,
        health,
        subscribe,
        message,
        unsubscribe
    };
    bool const has_timeout =
        std::find(without_timeout.begin(), without_timeout.end(), step_.message) ==
        without_timeout.end();
    auto const limit = has_timeout ? stage_.timeout * 3 / 2 : stage_.bound;
    auto const over = [this] {
        bool const given_up =
            step_.link == link_kind::commands && mine_.since >= armed_at_ && mine_.ended.happened();
        return given_up || stage_.board.connection(name_, step_.link) != connection_;
    };
    co_await co_eventually(limit, over);
}

// What both parties do

void exchange::begin(party& who) {
    who.ended = pending{stage_.executor};
    who.error = {};
    who.since = lease_clock::now();
}

void exchange::begin_acquire(party& who, acquire_options options) {
    begin(who);
    who.by.lock(who.key).acquire(
        options,
        [self = shared_from_this(), &who](error_code ec, lease granted) {
            self->delivered(who, ec, std::move(granted));
        }
    );
}

void exchange::begin_try() {
    begin(mine_);
    mine_.by.lock(key_).try_acquire([self = shared_from_this()](error_code ec, lease granted) {
        self->delivered(self->mine_, ec, std::move(granted));
    });
}

void exchange::delivered(party& who, error_code ec, lease granted) {
    who.error = ec;
    who.held = std::move(granted);
    if (mine_.held.valid() && theirs_.held.valid()) {
        found(violation::false_grant, "two valid leases");
    }
    judge(who);
    who.ended.happen();
}

void exchange::begin_renew() {
    begin(mine_);
    mine_.held.renew([self = shared_from_this()](error_code ec) {
        self->mine_.error = ec;
        self->mine_.ended.happen();
    });
}

void exchange::begin_release(party& who) {
    begin(who);
    who.held.release([self = shared_from_this(), &who](error_code ec) {
        who.error = ec;
        who.ended.happen();
    });
}

void exchange::begin_inspect() {
    begin(mine_);
    mine_.by.lock(key_).inspect([self = shared_from_this()](error_code ec, lock_info seen) {
        auto const token = self->theirs_.held.token();
        bool const right = seen.held && seen.last_token == token && seen.hold_count == 1 &&
                           seen.holder == self->stage_.board.holder(self->key_, token);
        if (!ec && !right) {
            self->found(violation::false_grant, "inspect does not show the holder");
        }
        self->mine_.error = ec;
        self->mine_.ended.happen();
    });
}

void exchange::begin_force_release() {
    begin(mine_);
    mine_.by.lock(key_).force_release([self = shared_from_this()](error_code ec, bool freed) {
        if (!ec && !freed) {
            self->found(violation::wrong_end, "force_release found nothing to free");
        }
        self->mine_.error = ec;
        self->mine_.ended.happen();
    });
}

asio::awaitable<void> exchange::end(party& who, char const* what, errc also_allowed) {
    bool const in_time = co_await who.ended.wait(stage_.bound);
    if (!in_time) {
        found(recovering_ ? violation::not_recovered : violation::hang, what);
        throw abandoned{};
    }
    bool const is_rival = &who == &theirs_;
    if (!is_rival && fault_) {
        findings_->took(lease_clock::now() - who.since, where());
    }
    // What the server says by itself may be heard without a fault, too.
    bool const possible = !is_rival && (fault_ || also_allowed == errc::corrupt_state);
    bool const allowed =
        possible && ((also_allowed != errc{} && who.error == also_allowed) || lies() ||
                     (fault_ && fault_->may_cause != errc{} && who.error == fault_->may_cause));
    if (who.error && !allowed) {
        found(violation::wrong_end, fmt::format("{}: {}", what, who.error.message()));
    }
}

asio::awaitable<void> exchange::take(party& who, acquire_options options) {
    begin_acquire(who, options);
    co_await end(who, "acquire");
}

asio::awaitable<void> exchange::give_back(party& who) {
    if (who.held) {
        begin_release(who);
        co_await end(who, "release", errc::release_unknown);
    }
}

asio::awaitable<void> exchange::hand_over() {
    co_await give_back(mine_);
    co_await end(theirs_, "the rival's acquire");
    co_await give_back(theirs_);
}

asio::awaitable<void> exchange::refusals(std::uint64_t count) {
    auto const refused = [this, count] { return mine_.by.stats().refusals >= count; };
    co_await expect(violation::hang, "the client was not refused as often as it should", refused);
}

// The others had no part in what happened: they get what they asked for.
asio::awaitable<void> exchange::disperse() {
    if (!fault_ || !fault_->crowded) {
        co_return;
    }
    for (auto& one : crowd_) {
        co_await end(one, "acquire of another lock");
        co_await give_back(one);
    }
}

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
    auto const limit = lease_clock::now() + stage_.bound;
    do {
        co_await take(mine_);
        if (mine_.error) {
            co_await sleep_for(brief_stall);
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
