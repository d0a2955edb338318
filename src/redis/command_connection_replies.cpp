// What the replies on a command connection mean for the requests.

#include "core/lease_terms.hpp"
#include "redis/command_connection.hpp"
#include "runtime/pending_handler.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <charconv>
#include <optional>
#include <utility>

namespace holdfast::detail {

void command_connection::on_reply(bool more_to_come) {
    inbox_.push_back(text_reply::of(collector_.current()));
    if (more_to_come && !deliver_posted_) {
        asio::post(strand(), [self = shared_from_this(), this] {
            deliver_posted_ = false;
            deliver();
        });
        deliver_posted_ = true;
    }
}

void command_connection::deliver() {
    if (!inbox_.empty()) {
        last_read_ = lease_clock::now();
    }
    while (!inbox_.empty() && !desynchronised_) {
        auto reply = std::move(inbox_.front());
        inbox_.pop_front();
        if (matcher_.empty()) {
            desynchronise();
            return;
        }
        answer(std::move(reply));
    }
}

command_connection::record command_connection::take() {
    auto r = matcher_.take();
    if (r.by_text) {
        texts_.remove(r.what->what());
    }
    return r;
}

void command_connection::answer(text_reply reply) {
    if (reply.is_error) {
        on_error_reply(reply.text);
        return;
    }
    if (auto const& next = matcher_.next(); !next.what && next.asking && reply.text == "OK") {
        // It has no nonce: the reply behind it has.
        static_cast<void>(take());
        return;
    }
    script_reply said{std::move(reply.text)};
    auto const nonce = said.nonce();
    std::uint64_t number = 0;
    auto const [end, ec] = std::from_chars(nonce.data(), nonce.data() + nonce.size(), number);
    // mutant: nonce-not-checked
    if (ec != std::errc{} || end != nonce.data() + nonce.size() || !matcher_.next_is(number)) {
        // Another request's reply: nothing that was or will be read here can be trusted.
        desynchronise();
        return;
    }
    auto r = take();
    on_proven();
    settle_doubts(true);
    if (r.handler) {
        complete(r.handler, {exec_status::replied, {}, std::move(said)});
    }
}

void command_connection::on_error_reply(std::string const& text) {
    auto const cause = classify(text);
    bool const check_refused = matcher_.next_is_check();
    auto r = take();
    if (check_refused) {
        // Nothing is proven about the errors before it.
        settle_doubts(false);
        return;
    }
    if (cause.what == server_error::effect::no_script && r.handler) {
        send_again(r);
        return;
    }
    if (cause.what == server_error::effect::redirected && r.handler && redirect(r, text)) {
        if (matcher_.any_doubt()) {
            check_alignment(false);
        }
        return;
    }
    bool const overdue = !r.handler;
    bool const expected = r.what->is_optional() && cause.error == errc::no_permission;
    bool const severe = cause.what == server_error::effect::permanent && !expected;
    report_refusal(r.what->what().name, r.what->first_key(), text, severe);
    auto result = make_result(status_of(cause.what), cause.error);
    result.keys_apart = cause.apart;
    matcher_.put_in_doubt(std::move(r), std::move(result));
    check_alignment(overdue);
    if (cause.wrong_role) {
        drop_epoch("the server has become a replica");
    }
    if (auto const observer = cluster(); observer && (cause.wrong_role || cause.cluster_down)) {
        observer->on_doubt(number());
    }
}

// Like NOSCRIPT it proves that the script did not run. False where no cluster was expected, or the
// server does not say where to.
bool command_connection::redirect(record& r, std::string const& text) {
    auto const observer = cluster();
    auto const where = observer ? read_redirection(text) : std::nullopt;
    if (!where) {
        return false;
    }
    if (end_withdrawn(r)) {
        return true;
    }
    observer->on_redirected(
        number(),
        *where,
        routed_call{
            .what = *std::move(r.what),
            .handler = std::move(r.handler),
            .give_up_at = r.give_up_at,
            .redirections = r.redirections,
        }
    );
    return true;
}

// The request that takes it back may have been executed by now.
bool command_connection::end_withdrawn(record& r) {
    // mutant: withdrawal-overtaken
    if (r.what->is_withdrawn()) {
        complete(r.handler, make_result(exec_status::not_sent, asio::error::operation_aborted));
        return true;
    }
    return false;
}

// Of many requests one takes the text of the script, and those that leave behind it find it there.
// What does not find it (the text was refused, or a proxy took it elsewhere) takes it itself.
void command_connection::send_again(record& r) {
    if (end_withdrawn(r)) {
        return;
    }
    r.by_text = r.sent > 1 || !texts_.has(r.what->what());
    enqueue(r);
}

void command_connection::check_alignment(bool overdue) {
    if (matcher_.needs_check(overdue)) {
        record check;
        check.timeout = request_timeout_for(settings(), settings().lease);
        enqueue(check);
    }
}

void command_connection::settle_doubts(bool proven) {
    if (!matcher_.any_doubt()) {
        return;
    }
    auto settled = matcher_.settle();
    for (auto& one : settled) {
        complete(
            one.request.handler,
            proven ? std::move(one.error) : make_result(exec_status::unknown, one.error.error)
        );
    }
}

void command_connection::desynchronise() {
    desynchronised_ = true;
    drop_epoch("an answer does not belong to its request");
}

}  // namespace holdfast::detail
