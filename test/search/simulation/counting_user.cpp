#include "simulation/counting_user.hpp"

#include "simulation/user.hpp"

#include <holdfast.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>

#include <fmt/format.h>

#include <string>
#include <utility>

namespace holdfast::sim {

namespace {

class counting_user final : public user {
public:
    counting_user(node& in, lane& on, int number, int operations, int count_downs)
        : user{in, on, number},
          left_{operations},
          count_downs_{count_downs} {}

    static asio::awaitable<void> run(std::shared_ptr<counting_user> self) {
        while (self->left_-- > 0 && !self->node_.closed()) {
            auto pause = self->sleep(self->dice().any_scale(100us, 500ms));
            co_await std::move(pause);
            auto operation = self->one_operation();
            co_await std::move(operation);
        }
        if (self->all_.in.now() < self->all_.heals_at) {
            auto pause = self->sleep(
                self->all_.heals_at - self->all_.in.now() + self->dice().any_scale(1ms, 1s)
            );
            co_await std::move(pause);
        }
        // Nobody is left behind.
        while (self->count_downs_ > 0 && !self->node_.closed()) {
            auto operation = self->count_down();
            co_await std::move(operation);
        }
        auto last = self->use_permits(request::kind::acquire);
        co_await std::move(last);
        auto wait = self->wait_at_the_latch(request::kind::acquire);
        co_await std::move(wait);
        self->node_.on_user_done();
    }

private:
    using end = counting_judge::end;

    counting_judge& judge() { return all_.judge.counting(); }
    counting_semaphore semaphore() {
        return node_.client().counting_semaphore(std::string{counting_judge::semaphore});
    }
    holdfast::latch latch() { return node_.client().latch(std::string{counting_judge::latch}); }

    request::kind random_kind() {
        return dice().one_of(
            {request::kind::acquire,
             request::kind::acquire,
             request::kind::one_try,
             request::kind::limited}
        );
    }

    asio::awaitable<void> one_operation() {
        if (node_.closed()) {
            co_return;
        }
        auto const which = dice().below(100);
        auto operation = which < 20 && count_downs_ > 0 ? count_down()
                         : which < 35                   ? wait_at_the_latch(random_kind())
                                                        : use_permits(random_kind());
        co_await std::move(operation);
    }

    // What all that wait have in common: how it is asked for, and what came of it.
    struct answer {
        error_code error;
        bool granted = false;
        bool cancelled = false;
    };
    template <class Wait, class Try, class Limited>
    asio::awaitable<answer> ask(
        request::kind how,
        std::optional<cancellation> cancelled,
        Wait wait_for_it,
        Try try_it,
        Limited try_for_a_while
    ) {
        if (how == request::kind::acquire) {
            auto const asked = std::make_shared<call<>>(executor_);
            asked->initiating = true;
            wait_for_it(asked->token());
            asked->initiating = false;
            if (cancelled) {
                asked->cancel_after(cancelled->after, cancelled->type);
            }
            auto until = done(asked);
            co_await std::move(until);
            co_return answer{asked->error, !asked->error, asked->cancelled};
        }
        auto const asked = std::make_shared<call<bool>>(executor_);
        asked->initiating = true;
        if (how == request::kind::one_try) {
            try_it(asked->token());
        } else {
            try_for_a_while(dice().any_scale(1ms, nanos{3s}), asked->token());
        }
        asked->initiating = false;
        if (cancelled) {
            asked->cancel_after(cancelled->after, cancelled->type);
        }
        auto until = done(asked);
        co_await std::move(until);
        co_return answer{asked->error, std::get<0>(*asked->results), asked->cancelled};
    }

    void judge_error(answer const& of, request::kind how, char const* what) {
        bool const passing = of.error == errc::unreachable || of.error == errc::server_refused;
        bool const right =
            expected(of.error, of.cancelled) || (passing && how != request::kind::acquire);
        if (!right || of.granted) {
            violation(fmt::format("{} ended with: {}", what, of.error.message()));
        }
    }

    asio::awaitable<void> use_permits(request::kind how) {
        if (node_.closed()) {
            co_return;
        }
        auto const permits = dice().chance(70) ? 1 : std::min<std::int64_t>(2, judge().permits());
        auto const cancelled = random_cancellation(all_.healed ? 0 : 35);
        say(fmt::format("wants {} permits", permits));
        auto const mine =
            judge().on_asks(process_, permits, how == request::kind::acquire && !cancelled);
        auto asked = ask(
            how,
            cancelled,
            [&](auto token) { semaphore().acquire(permits, std::move(token)); },
            [&](auto token) { semaphore().try_acquire(permits, std::move(token)); },
            [&](nanos limit, auto token) {
                semaphore().try_acquire_for(limit, permits, std::move(token));
            }
        );
        auto const came = co_await std::move(asked);
        say(fmt::format(
            "permits: {}",
            came.error     ? came.error.message()
            : came.granted ? "taken"
                           : "too few"
        ));
        if (came.error) {
            judge().on_gave_up(mine);
            judge_error(came, how, "taking permits");
            co_return;
        }
        if (!came.granted) {
            judge().on_busy(mine);
            co_return;
        }
        judge().on_taken(mine);
        ++all_.grants;
        auto work = sleep(dice().any_scale(10us, 300ms));
        co_await std::move(work);
        auto returning = give_back(mine, permits);
        co_await std::move(returning);
    }

    asio::awaitable<void> give_back(counting_judge::claim_ref mine, std::int64_t permits) {
        while (!node_.closed()) {
            judge().on_returns(mine);
            auto const asked = std::make_shared<call<>>(executor_);
            asked->initiating = true;
            semaphore().release(permits, asked->token());
            asked->initiating = false;
            auto answered = answer_of(asked);
            auto const how = co_await std::move(answered);
            judge().on_answered(mine, how);
            if (how != end::not_done) {
                co_return;
            }
            auto pause = sleep(50ms);
            co_await std::move(pause);
        }
    }

    asio::awaitable<void> count_down() {
        auto const mine = judge().on_counts(process_, 1);
        auto const asked = std::make_shared<call<>>(executor_);
        asked->initiating = true;
        latch().count_down(asked->token());
        asked->initiating = false;
        auto answered = answer_of(asked);
        auto const how = co_await std::move(answered);
        judge().on_answered(mine, how);
        if (how != end::not_done) {
            --count_downs_;
        } else {
            auto pause = sleep(50ms);
            co_await std::move(pause);
        }
    }

    asio::awaitable<end> answer_of(std::shared_ptr<call<>> asked) {
        if (auto const ends = random_cancellation(all_.healed ? 0 : 20)) {
            asked->cancel_after(ends->after, ends->type);
        }
        auto until = done(asked);
        co_await std::move(until);
        auto const ec = asked->error;
        say(fmt::format("answered: {}", ec ? ec.message() : "done"));
        bool const passing =
            ec == errc::unreachable || ec == errc::server_refused || ec == errc::release_unknown;
        if (ec && !expected(ec, asked->cancelled) &&
            !(passing && (!all_.quiet || node_.closed()))) {
            violation("a request that changes a number ended with: " + ec.message());
        }
        co_return !ec                          ? end::done
        : ec == asio::error::operation_aborted ? end::goes_on
        : ec == errc::release_unknown          ? end::unknown
                                               : end::not_done;
    }

    asio::awaitable<void> wait_at_the_latch(request::kind how) {
        if (node_.closed()) {
            co_return;
        }
        auto const cancelled = random_cancellation(all_.healed ? 0 : 60);
        auto const started = all_.in.now();
        // It would wait for itself.
        if (count_downs_ > 0 && how == request::kind::acquire) {
            how = request::kind::limited;
        }
        auto const mine = judge().on_waits(process_, how == request::kind::acquire && !cancelled);
        auto asked = ask(
            how,
            cancelled,
            [&](auto token) { latch().wait(std::move(token)); },
            [&](auto token) { latch().try_wait(std::move(token)); },
            [&](nanos limit, auto token) { latch().try_wait_for(limit, std::move(token)); }
        );
        auto const came = co_await std::move(asked);
        say(fmt::format(
            "latch: {}",
            came.error     ? came.error.message()
            : came.granted ? "open"
                           : "closed"
        ));
        if (came.error) {
            judge().on_waits_no_more(mine);
            judge_error(came, how, "waiting at a latch");
        } else if (came.granted) {
            judge().on_passed(mine);
        } else {
            judge().on_waits_no_more(mine);
            if (!judge().closed_is_right(started)) {
                violation("a latch that is open is said to be closed");
            }
        }
    }

    int left_;
    int count_downs_;
};

}  // namespace

std::int64_t start_counting_users(node& in, int how_many) {
    std::int64_t count_downs = 0;
    auto& dice = in.all().in.dice();
    for (int i = 0; i < how_many; ++i) {
        auto& on = in.add_user();
        auto const times = static_cast<int>(dice.below(3));
        count_downs += times;
        auto const made = std::make_shared<counting_user>(
            in,
            on,
            100 + i,
            1 + static_cast<int>(dice.below(8)),
            times
        );
        asio::co_spawn(in.of().executor_of(on), counting_user::run(made), asio::detached);
    }
    return count_downs;
}

}  // namespace holdfast::sim
