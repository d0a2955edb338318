// What the client under test and its rival do in an exchange.

#include "scenario.hpp"

#include <fmt/format.h>

#include <utility>

namespace holdfast::test {

namespace asio = boost::asio;

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
        bool const right = seen.held && seen.last_token >= token && seen.hold_count == 1 &&
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

}  // namespace holdfast::test
