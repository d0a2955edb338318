#ifndef HOLDFAST_TEST_FIDELITY_COMPARISON_HPP
#define HOLDFAST_TEST_FIDELITY_COMPARISON_HPP

#include "fidelity/random_calls.hpp"
#include "fidelity/server_link.hpp"
#include "fidelity/twin.hpp"
#include "memory_server/redis_model.hpp"
#include "support/redis_server.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace holdfast::test {

using memory::redis_model;
using memory::value;

/// The server answered at some instant of a call that began when the model said `first` and ended
/// when it said `last`: whatever differs between these must be a number in the reply.
bool fits(memory::value const& server, memory::value const& first, memory::value const& last);
/// The name of what is called: that of the library's script, if it is one.
std::string_view name_of(std::vector<std::string> const& words);
/// A reply without its particulars: small integers tell what a script did, words of errors why.
std::string shape(memory::value const& message);
std::int64_t microseconds(memory::value const& time);

/// The model, at the first or at the last instant at which the server may have answered.
class modelled_server {
public:
    explicit modelled_server(std::vector<std::string> const& channels)
        : session_{model_.connect([](value) {})},
          inspector_{model_.connect([](value) {})},
          listener_{model_.connect([this](value one) { pushes_.push_back(std::move(one)); })} {
        model_.execute(inspector_, {"HELLO", "3"});
        model_.execute(listener_, {"HELLO", "3"});
        for (auto const& channel : channels) {
            model_.execute(listener_, {"SUBSCRIBE", channel});
        }
    }

    redis_model& model() { return model_; }
    std::vector<value> take_pushes() { return std::exchange(pushes_, {}); }

    value execute(std::vector<std::string> const& words) {
        std::vector<std::string_view> const views{words.begin(), words.end()};
        return model_.execute(session_, views).value();
    }
    /// As PEXPIRETIME has it.
    std::int64_t end_of(std::string_view key) const {
        auto const left = model_.pttl(key);
        return left < 0 ? left : left + model_.time() / 1000;
    }
    value look(std::initializer_list<std::string_view> words) {
        return model_.execute(inspector_, words).value();
    }

private:
    redis_model model_;
    std::vector<value> pushes_;
    redis_model::session_id session_;
    redis_model::session_id inspector_;
    redis_model::session_id listener_;
};

/// Sends random calls to a server and to the model, and compares.
class comparison {
public:
    comparison(redis_server const& server, std::uint64_t seed)
        : seed_{seed},
          maker_{seed},
          link_{server.unix_socket()},
          inspector_{server.unix_socket()},
          listener_{server.unix_socket()},
          early_{maker_.channels()},
          late_{maker_.channels()} {
        is_newer_ = is_newer_server(inspector_.ask({"HELLO", "3"}));
        listener_.ask({"HELLO", "3"});
        for (auto const& channel : maker_.channels()) {
            listener_.add({"SUBSCRIBE", channel});
        }
        listener_.send();
        for (std::size_t i = 0; i < maker_.channels().size(); ++i) {
            listener_.receive();
        }
        early_.take_pushes();
        late_.take_pushes();
        early_.model().set_time(microseconds(inspector_.ask({"TIME"})));
    }

    /// Stops at the first difference, and says what it is.
    bool run(std::size_t calls) {
        constexpr std::size_t batches_between_dumps = 4;
        constexpr std::size_t batches_between_flushes = 100;
        for (std::size_t batch = 0; calls_ < calls; ++batch) {
            if (batch % 2 == 0) {
                speak(batch % 4 == 0 ? "3" : "2");
            }
            run_batch();
            if (difference_.empty() && batch % batches_between_dumps == 0) {
                compare_messages();
                compare_data();
            }
            if (batch % batches_between_flushes == batches_between_flushes - 1) {
                everywhere({"FLUSHALL"});
            }
            if (!difference_.empty()) {
                return false;
            }
        }
        compare_messages();
        compare_data();
        return difference_.empty();
    }

    std::string const& what_differs() const { return difference_; }
    std::size_t calls() const { return calls_; }
    std::size_t messages() const { return messages_; }
    std::size_t dumps() const { return dumps_; }
    std::size_t shapes() const { return shapes_.size(); }
    std::map<std::string, std::size_t> const& seen() const { return shapes_; }

private:
    static constexpr std::size_t batch_size = 250;
    // No batch takes as long.
    static constexpr std::int64_t batch_ms = 20'000;

    void differs(std::string text) {
        if (difference_.empty()) {
            difference_ = "seed " + std::to_string(seed_) + ", call " + std::to_string(calls_) +
                          ": " + std::move(text);
        }
    }

    void speak(std::string_view version) {
        link_.ask({"HELLO", version});
        early_.execute({"HELLO", std::string{version}});
        late_.execute({"HELLO", std::string{version}});
    }

    void everywhere(std::vector<std::string> const& words) {
        link_.add(words);
        link_.exchange();
        early_.execute(words);
        late_.execute(words);
    }

    void run_batch() {
        maker_.start_batch(early_.model().time() / 1000);
        std::vector<random_call> batch;
        link_.add({"TIME"});
        while (batch.size() < batch_size && maker_.may_go_on()) {
            batch.push_back(maker_.next());
            auto const& made = batch.back();
            link_.add(made.words);
            link_.add({"TIME"});
            for (auto const& key : made.keys) {
                link_.add({"PEXPIRETIME", key});
            }
            for (auto const& key : made.counters) {
                link_.add({"GET", key});
            }
            if (made.wild) {
                break;
            }
        }
        auto const replies = link_.exchange();
        auto at = replies.begin();
        auto now = microseconds(*at++);
        for (auto const& made : batch) {
            auto const& reply = *at++;
            auto const end = microseconds(*at++);
            early_.model().set_time(now);
            late_.model().set_time(end);
            compare_call(made, reply);
            for (auto const& key : made.keys) {
                compare_end(made, key, *at++);
            }
            for (auto const& key : made.counters) {
                compare_counter(made, key, *at++);
            }
            now = end;
            if (!difference_.empty()) {
                return;
            }
        }
        settle(now);
    }

    void compare_call(random_call const& made, value const& reply) {
        ++calls_;
        auto const server = in_order(in_words_of_redis(reply, is_newer_), made.unordered);
        auto const of_model = [this](value said) {
            return is_newer_ ? without_script_hash(std::move(said)) : said;
        };
        auto const first = in_order(of_model(early_.execute(made.words)), made.unordered);
        auto const last = in_order(of_model(late_.execute(made.words)), made.unordered);
        ++shapes_[std::string{name_of(made.words)} + ": " + shape(server)];
        if (!fits(server, first, last)) {
            differs(
                describe(made.words) + "\n  server " + server.describe() + "\n  model  " +
                first.describe() + (first == last ? "" : "\n  .. to  " + last.describe())
            );
        }
    }

    // The models take over what the server made of its clock.
    void compare_end(random_call const& made, std::string const& key, value const& reply) {
        constexpr std::int64_t soon = 50;
        auto const server = reply.number;
        auto const first = early_.end_of(key);
        auto const last = late_.end_of(key);
        if (!made.fleeting && server >= 0 && server < late_.model().time() / 1000 + batch_ms) {
            differs(describe(made.words) + "\n  ends soon, and is not said to");
        }
        if (server == first && server == last) {
            return;
        }
        // One may have seen the end of the key already.
        auto const now_ms = late_.model().time() / 1000;
        auto const latest = std::max({server, first, last});
        bool const over = made.fleeting && std::min({server, first, last}) == -2 && latest >= 0 &&
                          latest < now_ms + soon;
        // The end of a queue is that of a lock and a time, and that of a lock that is read is that
        // of its last reader. A script of Redis 7.0 looks at the clock for each: they differ by no
        // more than the call took.
        auto const took = now_ms - early_.model().time() / 1000 + 2;
        auto const name = name_of(made.words);
        bool const copies = key.starts_with("holdfast_queue:") || name.starts_with("read_") ||
                            name.starts_with("write_");
        bool const near = copies && server >= first - took && server <= last + took;
        if (over || near ||
            (first != last && server >= std::min(first, last) && server <= std::max(first, last) &&
             std::min(first, last) >= 0)) {
            auto const end = std::to_string(over ? latest : server);
            early_.look({"PEXPIREAT", key, end});
            late_.look({"PEXPIREAT", key, end});
            return;
        }
        differs(
            describe(made.words) + "\n  the end of " + value::bulk(key).describe() + " is " +
            std::to_string(server) + " in the server, " + std::to_string(first) + " to " +
            std::to_string(last) + " in the model"
        );
    }

    void compare_counter(random_call const& made, std::string const& key, value const& reply) {
        auto const first = early_.look({"GET", key});
        auto const last = late_.look({"GET", key});
        bool const over = made.fleeting && (reply.is_nil() || first.is_nil() || last.is_nil());
        if (over || (reply == first && reply == last)) {
            return;
        }
        if (!fits(reply, first, last)) {
            differs(
                describe(made.words) + "\n  " + value::bulk(key).describe() + " is " +
                reply.describe() + " in the server, " + first.describe() + " to " +
                last.describe() + " in the model"
            );
            return;
        }
        early_.look({"SET", key, reply.text, "KEEPTTL"});
        late_.look({"SET", key, reply.text, "KEEPTTL"});
    }

    void compare_messages() {
        listener_.ask({"PING"});
        auto const server = listener_.take_pushes();
        auto const model = early_.take_pushes();
        late_.take_pushes();
        messages_ += server.size();
        if (server != model) {
            differs(
                "messages\n  server " + value::array(server).describe() + "\n  model  " +
                value::array(model).describe()
            );
        }
    }

    // Before the next batch every key is surely there or surely gone: what ends at once is waited
    // for, what ends soon is deleted.
    void settle(std::int64_t now) {
        constexpr std::int64_t at_once = 30;
        std::int64_t wait = 0;
        early_.model().set_time(now);
        forget_times(now);
        // The two may differ about a key that ends in this millisecond.
        for (auto* const one : {&early_, &late_}) {
            for (auto const& key : one->model().keys()) {
                auto const left = one->model().pttl(key);
                if (left >= 0 && left <= at_once) {
                    wait = std::max(wait, left + 1);
                } else if (left >= 0 && left <= batch_ms) {
                    everywhere({"DEL", key});
                }
            }
        }
        if (wait > 0) {
            std::this_thread::sleep_for(std::chrono::milliseconds{wait});
        }
        early_.model().set_time(now + wait * 1000);
        late_.model().set_time(now + wait * 1000);
    }

    // Random words may make an entry with the server's time in it, in µs or ms, also under a key
    // that is meant for something else. A turn of a lock's queue adds to it, or changes the sign.
    void forget_times(std::int64_t now) {
        constexpr std::int64_t hour = 3'600'000'000;
        constexpr std::int64_t last_score = 4'000'000'000'000'000;
        std::pair<std::int64_t, std::int64_t> const ranges[] = {
            {now - hour, now + hour},
            {(now - hour) / 1000, (now + hour) / 1000},
            {last_score + now - hour, last_score + now + hour},
            {-now - hour, -now + hour},
        };
        for (auto const& key : early_.model().keys()) {
            for (auto const& [from, to] : ranges) {
                if (early_.look({"ZCOUNT", key, std::to_string(from), std::to_string(to)}).number >
                    0) {
                    everywhere({"DEL", key});
                    break;
                }
            }
        }
    }

    void compare_data() {
        auto server = inspector_.ask({"KEYS", "*"});
        std::ranges::sort(server.elements, {}, &value::text);
        for (auto* const one : {&early_, &late_}) {
            auto model = value::array();
            for (auto const& key : one->model().keys()) {
                model.elements.push_back(value::bulk(key));
            }
            if (server != model) {
                differs("keys\n  server " + server.describe() + "\n  model  " + model.describe());
                return;
            }
        }
        for (auto const& key : server.elements) {
            ask_for_content(key.text);
        }
        auto const replies = inspector_.exchange();
        auto at = replies.begin();
        for (auto const& key : server.elements) {
            compare_content(key.text, *at, *(at + 1), *(at + 2));
            at += 3;
        }
        ++dumps_;
    }

    void ask_for_content(std::string const& key) {
        inspector_.add({"TYPE", key});
        inspector_.add(content_command(early_.model().type(key), key));
        inspector_.add({"PEXPIRETIME", key});
    }

    // `server.meet` writes the time of its own execution into a hash.
    static value without_time_of_meeting(value content) {
        for (std::size_t i = 0; i + 1 < content.elements.size(); ++i) {
            if (content.elements[i].text == "met") {
                content.elements[i + 1] = value::bulk("a time");
            }
        }
        return content;
    }

    // The end of a permit's lease is written down in ms: a script may look at the clock a moment
    // before or after the model does.
    static void take_ends_of(value const& server, value& model) {
        constexpr std::size_t digits = 13;
        constexpr std::int64_t moment = 2;
        if (server.type == value::kind::real && model.type == value::kind::real &&
            server.text.size() == digits && model.text.size() == digits &&
            std::abs(std::stoll(server.text) - std::stoll(model.text)) <= moment) {
            model.text = server.text;
        }
        auto const both = std::min(server.elements.size(), model.elements.size());
        for (std::size_t i = 0; i < both; ++i) {
            take_ends_of(server.elements[i], model.elements[i]);
        }
    }

    void compare_content(
        std::string const& key,
        value const& type,
        value const& content,
        value const& end
    ) {
        for (auto* const one : {&early_, &late_}) {
            auto const command = content_command(early_.model().type(key), key);
            std::vector<std::string_view> const views{command.begin(), command.end()};
            auto seen = std::vector{
                value::status(one->model().type(key)),
                without_time_of_meeting(in_order(one->model().execute(2, views).value(), false)),
                value::integer(one->end_of(key)),
            };
            auto const wanted =
                std::vector{type, without_time_of_meeting(in_order(content, false)), end};
            if (key.ends_with(":timeout")) {
                take_ends_of(wanted[1], seen[1]);
            }
            if (seen != wanted) {
                differs(
                    "the key " + value::bulk(key).describe() + "\n  server " +
                    value::array(wanted).describe() + "\n  model  " + value::array(seen).describe()
                );
            }
        }
    }

    std::uint64_t seed_;
    bool is_newer_ = false;
    call_maker maker_;
    server_link link_;
    server_link inspector_;
    server_link listener_;
    modelled_server early_;
    modelled_server late_;
    std::size_t calls_ = 0;
    std::size_t messages_ = 0;
    std::size_t dumps_ = 0;
    std::map<std::string, std::size_t> shapes_;
    std::string difference_;
};

}  // namespace holdfast::test

#endif
