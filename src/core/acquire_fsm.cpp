#include "core/acquire_fsm.hpp"

#include <boost/asio/error.hpp>

namespace holdfast::detail {

acquire_fsm::verdict acquire_fsm::finish(error_code error) noexcept {
    done_ = true;
    return {verdict_kind::finish, error, in_flight_ || unsure_};
}

acquire_fsm::verdict acquire_fsm::on_answer(attempt_answer answer, error_code cause) noexcept {
    if (done_) {
        return {};
    }
    in_flight_ = false;
    if (answer == attempt_answer::granted) {
        done_ = true;
        return {verdict_kind::deliver, {}, false};
    }
    // An attempt that nobody answered says nothing about the lock: the last definite answer stands.
    if (answer != attempt_answer::unknown && answer != attempt_answer::not_sent) {
        busy_ = answer == attempt_answer::busy;
    }
    unsure_ = unsure_ || answer == attempt_answer::unknown;
    cause_ = cause;
    if (cancelled_) {
        return finish(asio::error::operation_aborted);
    }
    if (answer == attempt_answer::failed) {
        return finish(cause);
    }
    if (patience_ != patience::one_attempt || answer == attempt_answer::not_sent) {
        return {};
    }
    if (answer == attempt_answer::busy) {
        return finish({});
    }
    return finish(cause ? cause : make_error_code(errc::unreachable));
}

acquire_fsm::verdict acquire_fsm::on_cancel(asio::cancellation_type type) noexcept {
    using asio::cancellation_type;
    if (done_ || type == cancellation_type::none) {
        return {};
    }
    bool const at_once = (type & (cancellation_type::terminal | cancellation_type::partial)) !=
                         cancellation_type::none;
    if (in_flight_ && !at_once) {
        cancelled_ = true;
        return {};
    }
    return finish(asio::error::operation_aborted);
}

acquire_fsm::verdict acquire_fsm::on_time_up(bool busy, error_code cause) noexcept {
    if (done_) {
        return {};
    }
    if (cancelled_) {
        return finish(asio::error::operation_aborted);
    }
    if (busy || busy_) {
        return finish({});
    }
    if (cause_) {
        return finish(cause_);
    }
    return finish(cause ? cause : make_error_code(errc::unreachable));
}

acquire_fsm::verdict acquire_fsm::on_joined() noexcept {
    if (done_) {
        return {};
    }
    done_ = true;
    return {verdict_kind::deliver, {}, in_flight_ || unsure_};
}

acquire_fsm::verdict acquire_fsm::on_ended(error_code cause) noexcept {
    if (done_) {
        return {};
    }
    return finish(cause);
}

}  // namespace holdfast::detail
