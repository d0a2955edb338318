// An acquisition under any events: it ends once, a grant is never forgotten on the server, and an
// empty lease without an error means that the lock was busy and nothing else.

#include "core/acquire_fsm.hpp"

#include "fuzz/input.hpp"
#include "fuzz/targets.hpp"

#include <boost/asio/error.hpp>

namespace holdfast::fuzz {

namespace {

namespace asio = boost::asio;
using asio::cancellation_type;
using detail::attempt_answer;
using detail::patience;
using fsm_type = detail::acquire_fsm;
using verdict = fsm_type::verdict;
using verdict_kind = fsm_type::verdict_kind;

constexpr patience all_patience[] = {patience::unlimited, patience::one_attempt, patience::limited};
constexpr attempt_answer all_answers[] = {
    attempt_answer::granted,
    attempt_answer::busy,
    attempt_answer::refused,
    attempt_answer::failed,
    attempt_answer::not_sent,
    attempt_answer::unknown,
};

error_code const aborted = asio::error::operation_aborted;

// A machine, and what is known of it from outside.
class history {
public:
    explicit history(patience how_long) : patience_{how_long}, fsm_{how_long} {}

    void go_on(input& in) {
        switch (in.below(6)) {
            case 0:
                fsm_.on_attempt_sent();
                in_flight_ = true;
                break;
            case 1: answer(in); break;
            case 2: cancel(in); break;
            case 3: time_up(in); break;
            case 4: join(); break;
            default: end(in); break;
        }
        check(fsm_.done() == done_, "what has ended stays so");
        check(done_ || fsm_.in_flight() == in_flight_, "an attempt is in flight until its answer");
    }

private:
    // A cause that the caller can be told.
    static error_code some_cause(input& in) {
        constexpr errc causes[] = {
            errc::server_refused,
            errc::corrupt_state,
            errc::no_permission,
            errc::client_stopped,
            errc::unreachable,
        };
        return in.one_of(causes);
    }

    void answer(input& in) {
        auto const what = in.one_of(all_answers);
        bool const definite = what == attempt_answer::busy || what == attempt_answer::refused ||
                              what == attempt_answer::failed;
        auto cause = error_code{};
        if (what == attempt_answer::failed || what == attempt_answer::refused || in.flag()) {
            cause = some_cause(in);
        }
        auto const said = fsm_.on_answer(what, cause);
        if (done_) {
            check_silent(said);
            return;
        }
        in_flight_ = false;
        unsure_ = unsure_ || what == attempt_answer::unknown;
        if (definite) {
            known_busy_ = what == attempt_answer::busy;
        }
        if (what == attempt_answer::granted) {
            check(said.kind == verdict_kind::deliver, "a grant is delivered");
            check(!said.error && !said.withdraw, "a grant that is delivered is not withdrawn");
        } else if (cancelled_) {
            check(said.error == aborted, "the cancellation counts if the lock was not granted");
        } else if (what == attempt_answer::failed) {
            check(said.error == cause, "what somebody has to mend ends the acquisition");
        } else if (patience_ == patience::one_attempt && what != attempt_answer::not_sent) {
            check(said.kind == verdict_kind::finish, "one attempt is made");
            check(
                !said.error == (what == attempt_answer::busy),
                "busy is no error, and every other answer is"
            );
        } else {
            check(said.kind == verdict_kind::go_on, "patience goes on");
        }
        note(said);
    }

    void cancel(input& in) {
        constexpr cancellation_type types[] = {
            cancellation_type::none,
            cancellation_type::terminal,
            cancellation_type::partial,
            cancellation_type::total,
            cancellation_type::terminal | cancellation_type::total,
            cancellation_type::partial | cancellation_type::total,
            cancellation_type::all,
        };
        auto const type = in.one_of(types);
        auto const said = fsm_.on_cancel(type);
        if (done_ || type == cancellation_type::none) {
            check_silent(said);
            return;
        }
        if (in_flight_ && type == cancellation_type::total) {
            cancelled_ = true;
            check(said.kind == verdict_kind::go_on, "total cancellation waits for the answer");
        } else {
            check(
                said.kind == verdict_kind::finish && said.error == aborted,
                "cancellation ends an acquisition at once"
            );
        }
        note(said);
    }

    void time_up(input& in) {
        bool const busy_elsewhere = in.flag();
        auto const said =
            fsm_.on_time_up(busy_elsewhere, in.flag() ? some_cause(in) : error_code{});
        if (done_) {
            check_silent(said);
            return;
        }
        check(said.kind == verdict_kind::finish, "the limit ends an acquisition");
        check(
            cancelled_ ? said.error == aborted : !said.error == (busy_elsewhere || known_busy_),
            "the lease is empty without an error if the last definite answer was busy"
        );
        note(said);
    }

    void join() {
        auto const said = fsm_.on_joined();
        if (done_) {
            check_silent(said);
            return;
        }
        check(said.kind == verdict_kind::deliver && !said.error, "what was joined is delivered");
        note(said);
    }

    void end(input& in) {
        auto const cause = some_cause(in);
        auto const said = fsm_.on_ended(cause);
        if (done_) {
            check_silent(said);
            return;
        }
        check(said.kind == verdict_kind::finish && said.error == cause, "a cause is handed on");
        note(said);
    }

    static void check_silent(verdict const& said) {
        check(
            said.kind == verdict_kind::go_on && !said.error && !said.withdraw,
            "nothing is said after the end"
        );
    }

    void note(verdict const& said) {
        if (said.kind == verdict_kind::go_on) {
            check(!said.error && !said.withdraw, "what goes on has no end");
            return;
        }
        done_ = true;
        if (!granted_now(said)) {
            check(
                said.withdraw == (in_flight_ || unsure_),
                "what the server may have granted, and only that, is withdrawn"
            );
        }
    }

    // An answer that grants says all there is to know of this holder id.
    [[nodiscard]] bool granted_now(verdict const& said) const {
        return said.kind == verdict_kind::deliver && !said.withdraw && !in_flight_;
    }

    patience patience_;
    fsm_type fsm_;
    bool in_flight_ = false;
    bool unsure_ = false;
    bool cancelled_ = false;
    bool known_busy_ = false;
    bool done_ = false;
};

}  // namespace

void acquire_fsm(bytes data) {
    input in{data};
    history acquisition{in.one_of(all_patience)};
    while (!in.empty()) {
        acquisition.go_on(in);
    }
}

}  // namespace holdfast::fuzz
