#include "simulation/quorum_user.hpp"

#include "simulation/drawing.hpp"
#include "simulation/user.hpp"

#include <holdfast/quorum_lock.hpp>

#include <boost/asio/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace holdfast::sim {

namespace {

using quorum_call = call<quorum_lease>;

class quorum_user final : public user {
public:
    using owners = std::array<owner, 2>;

    quorum_user(node& in, lane& on, int number, int operations, std::shared_ptr<owners const> who)
        : user{in, on, number},
          owners_{std::move(who)},
          left_{operations} {}

    static asio::awaitable<void> run(std::shared_ptr<quorum_user> self) {
        while (self->left_-- > 0 && !self->node_.closed()) {
            auto pause = self->sleep(self->dice().any_scale(100us, 300ms));
            co_await std::move(pause);
            auto const kind = self->dice().below(10);
            auto use = self->acquire_and_use(
                kind < 5   ? request::kind::acquire
                : kind < 7 ? request::kind::one_try
                           : request::kind::limited
            );
            co_await std::move(use);
        }
        // Once more when all is healed: nobody may have been forgotten.
        auto healing = self->wait_until_healed();
        co_await std::move(healing);
        for (self->turned_away_ = true; self->turned_away_ && !self->node_.closed();) {
            // Others hold it.
            auto pause = self->sleep(self->dice().time(1ms, self->all_.lease / 10 + 1s));
            co_await std::move(pause);
            auto last = self->acquire_and_use(request::kind::acquire);
            co_await std::move(last);
        }
        self->node_.on_user_done();
    }

private:
    asio::awaitable<void> acquire_and_use(request::kind how) {
        if (node_.closed()) {
            co_return;
        }
        request what;
        what.lock = all_.locks[dice().below(all_.locks.size())];
        what.how = how;
        what.limit = dice().any_scale(1ms, 3 * all_.lease);
        what.options = draw_options(dice(), node_.settings());
        // The nodes of a quorum do not learn, and none of them takes over.
        what.options.orphan_after = 0ns;
        if (what.options.lease.is_learned()) {
            what.options.lease = {};
        }
        std::size_t owner = 0;
        if (dice().chance(20)) {
            owner = 1 + dice().below(owners_->size());
            what.options.owner = (*owners_)[owner - 1];
        }
        // Never in vain: in the end everybody has to get his lock.
        what.cancelled = random_cancellation(all_.healed ? 0 : 35);
        auto const asked = std::make_shared<quorum_call>(executor_);
        auto const started = all_.in.now();
        // Whoever may leave at any time is not owed the lock.
        std::optional<quorum_judge::waiter_ref> waits;
        if (how == request::kind::acquire && !what.cancelled) {
            waits = all_.quorums.on_waits(process_, what.lock, node_.settings());
        }
        start(what, *asked);
        if (what.cancelled) {
            asked->cancel_after(what.cancelled->after, what.cancelled->type);
        }
        auto wait = done(asked);
        co_await std::move(wait);
        if (waits) {
            all_.quorums.on_waits_no_more(*waits);
        }
        auto& held = std::get<0>(*asked->results);
        judge_answer(what, *asked, started);
        turned_away_ = !held;
        if (held) {
            auto use = hold(what, held, owner, started);
            co_await std::move(use);
        }
    }

    void start(request const& what, quorum_call& asked) {
        std::vector<lock> nodes;
        for (auto const& client : node_.clients()) {
            nodes.push_back(client->lock(what.lock));
        }
        quorum_lock const all{nodes};
        say(describe(what.how) + what.lock);
        begin(all, what, asked);
    }

    void judge_answer(request const& what, quorum_call const& asked, nanos started) {
        auto const ec = asked.error;
        auto const& held = std::get<0>(*asked.results);
        say(fmt::format(
            "{}: {}",
            what.lock,
            ec     ? ec.message()
            : held ? fmt::format("granted {} by {}", held.token().value, held.nodes())
                   : "busy"
        ));
        judge_cancellation(asked, what.lock);
        bool const waits = what.how == request::kind::acquire;
        if (ec == errc::quorum_not_reached) {
            all_.judge.reached(sometimes::not_reached);
        } else if (ec == asio::error::operation_aborted) {
            all_.judge.reached(sometimes::cancelled_waiting);
        }
        if (ec) {
            // A single node that is slow may keep a majority from answering in time.
            // A round begins after a pause that is drawn, and need not have all of the time.
            auto const limit = overtime(what) / 2;
            // It may be one that another of its client's acquisitions had begun before.
            auto const asked_since = started - overtime(what);
            // Each client counts for itself since when it has known a node.
            nanos const delay = node_.settings().lock_delay;
            bool const held_back =
                delay > 0ns &&
                !all_.judge.healthy_for(process_, all_.in.now() - started + delay + 1s);
            bool const too_few = may_be_cut_off(started) || held_back ||
                                 process_.waits_for_answer(asked_since, limit) ||
                                 all_.quorums.withheld(started, node_.settings());
            bool const unheard = ec == errc::quorum_not_reached && !waits && too_few;
            if (held || !(unheard || expected(ec, asked.cancelled))) {
                violation(failure_of(what.lock, ec, started));
            }
            return;
        }
        if (!held) {
            if (waits) {
                violation(what.lock + ": an empty lease for one who waits");
            }
            all_.judge.reached(
                what.how == request::kind::limited ? sometimes::time_up : sometimes::busy_try
            );
            return;
        }
        if (asked.cancelled) {
            all_.judge.reached(sometimes::cancelled_late);
        }
        judge_fresh(held, what.lock);
        all_.judge.reached(
            held.nodes() == node_.clients().size() ? sometimes::all_granted : sometimes::few_granted
        );
    }

    asio::awaitable<void> hold(
        request const& what,
        quorum_lease& held,
        std::size_t owner,
        nanos asked_at
    ) {
        auto const self = shared_from_this();  // the watch may end later
        auto const kind = kind_of(what, asked_at);
        auto const believed = all_.quorums.on_delivered({
            .of = &process_,
            .lock = what.lock,
            .held = &held,
            .owner = owner,
            .asked_at = asked_at,
            .kind = kind,
        });
        node_.on_held(1);
        ++all_.grants;
        auto const watching = std::make_shared<call<loss_reason>>(executor_);
        bool const watches = dice().chance(30);
        if (watches) {
            watching->initiating = true;
            held.wait_lost(watching->token());
            watching->initiating = false;
        }
        auto const work_for = dice().below(100);
        auto work = sleep(
            work_for < 65   ? dice().any_scale(10us, 50ms)
            : work_for < 85 ? dice().any_scale(1ms, std::min(2 * nanos{all_.lease}, nanos{20s}))
                            : dice().time(nanos{all_.lease}, 3 * nanos{all_.lease})
        );
        co_await std::move(work);
        // Everything that is ready runs before time goes on.
        auto moment = sleep(1us);
        co_await std::move(moment);
        bool const lost = held.state() == lease_state::lost;
        bool const stuck =
            process_.any_lane_blocked() || process_.punctual_since() + 2us >= all_.in.now();
        if (lost) {
            all_.judge.reached(sometimes::lost_in_quorum);
            if (watches && !watching->done && !stuck) {
                violation(what.lock + ": it is lost, and the watcher was not told");
            }
            if (all_.quiet && kind.endless && !node_.closed()) {
                violation(what.lock + ": a lease was lost although nothing failed");
            }
        } else if (watching->done) {
            violation(what.lock + ": the watcher was told of a loss that is none");
        }
        // What follows may take long, and a release begins at once.
        all_.quorums.on_parted(believed);
        node_.on_held(-1);
        auto parting = part_with(held, what.lock);
        co_await std::move(parting);
        if (watches) {
            auto end = done(watching);
            co_await std::move(end);
        }
    }

    std::shared_ptr<owners const> owners_;
    int left_;
    bool turned_away_ = false;
};

}  // namespace

void start_quorum_users(node& in, int users, int operations) {
    start_users<quorum_user>(in, users, operations);
}

}  // namespace holdfast::sim
