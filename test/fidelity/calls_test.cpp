// The model of the server against servers: the same calls, the same answers, the same data.

#include "fidelity/random_calls.hpp"
#include "fidelity/server_link.hpp"
#include "fidelity/twin.hpp"
#include "simulation/model/redis_model.hpp"
#include "support/redis_server.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using holdfast::sim::redis_model;
using holdfast::sim::value;
using holdfast::test::call_maker;
using holdfast::test::content_command;
using holdfast::test::describe;
using holdfast::test::in_order;
using holdfast::test::in_words_of_redis;
using holdfast::test::random_call;
using holdfast::test::redis_server;
using holdfast::test::server_link;
using kind = value::kind;

namespace {

// --- comparing

std::optional<std::int64_t> to_integer(value const& one) {
    if (one.type == kind::integer) {
        return one.number;
    }
    std::int64_t number = 0;
    auto const* const end = one.text.data() + one.text.size();
    auto const [stopped, error] = std::from_chars(one.text.data(), end, number);
    bool const whole = one.type == kind::bulk && error == std::errc{} && stopped == end;
    return whole ? std::optional{number} : std::nullopt;
}

// The server answered at some instant of a call that began when the model said `first` and ended
// when it said `last`: whatever differs between these must be a number in the reply.
bool fits(value const& server, value const& first, value const& last) {
    if (first == last) {
        return server == first;
    }
    auto const from = to_integer(first);
    auto const to = to_integer(last);
    auto const number = to_integer(server);
    if (from && to && number) {
        auto const [least, most] = std::minmax(*from, *to);
        return server.type == first.type && *number >= least && *number <= most;
    }
    bool const alike = server.type == first.type && server.type == last.type &&
                       server.text == first.text && server.text == last.text &&
                       server.elements.size() == first.elements.size() &&
                       server.elements.size() == last.elements.size();
    for (std::size_t i = 0; alike && i < server.elements.size(); ++i) {
        if (!fits(server.elements[i], first.elements[i], last.elements[i])) {
            return false;
        }
    }
    return alike && !server.elements.empty();
}

// The name of what is called: that of the library's script, if it is one.
std::string_view name_of(std::vector<std::string> const& words) {
    for (auto const* const one : holdfast::test::library_scripts()) {
        if (words.size() > 1 && (words[1] == one->sha1 || words[1] == one->text)) {
            return one->name;
        }
    }
    return words[0];
}

// A reply without its particulars: small integers tell what a script did, words of errors why.
std::string shape(value const& message) {
    constexpr std::string_view names[] = {
        "nil",
        "integer",
        "bulk",
        "status",
        "error",
        "array",
        "map",
        "set",
        "real",
        "boolean",
        "verbatim",
        "push",
    };
    std::string text{names[static_cast<std::size_t>(message.type)]};
    if (message.type == kind::integer && message.number >= -3 && message.number <= 3) {
        text = std::to_string(message.number);
    }
    if (message.type == kind::error) {
        auto const end = std::min(message.text.find_first_of("'0123456789"), message.text.size());
        text += ' ' + message.text.substr(0, std::min(end, message.text.find(" script: ")));
    }
    constexpr std::size_t most = 5;
    for (std::size_t i = 0; i < std::min(most, message.elements.size()); ++i) {
        text += (i == 0 ? " [" : ", ") + shape(message.elements[i]);
    }
    return text + (message.elements.empty() ? "" : "]");
}

std::uint64_t number_from_environment(char const* name, std::uint64_t otherwise) {
    auto const* const text = std::getenv(name);
    return text ? std::stoull(text) : otherwise;
}

std::int64_t microseconds(value const& time) {
    return to_integer(time.elements.at(0)).value() * 1'000'000 +
           to_integer(time.elements.at(1)).value();
}

// --- the model, twice: at the first and at the last instant at which the server may have answered

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

// Sends calls to a server and to the model, and compares.
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
        is_valkey_ = inspector_.ask({"HELLO", "3"}).elements.at(1).text == "valkey";
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
        auto const server = in_order(in_words_of_redis(reply, is_valkey_), made.unordered);
        auto const first = in_order(early_.execute(made.words), made.unordered);
        auto const last = in_order(late_.execute(made.words), made.unordered);
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
        auto const first = early_.look({"PEXPIRETIME", key}).number;
        auto const last = late_.look({"PEXPIRETIME", key}).number;
        if (server == first && server == last) {
            return;
        }
        // One may have seen the end of the key already.
        auto const now_ms = late_.model().time() / 1000;
        auto const latest = std::max({server, first, last});
        bool const over = made.fleeting && std::min({server, first, last}) == -2 && latest >= 0 &&
                          latest < now_ms + soon;
        if (over || (first != last && server >= std::min(first, last) &&
                     server <= std::max(first, last) && std::min(first, last) >= 0)) {
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
        constexpr std::int64_t soon = 20'000;
        std::int64_t wait = 0;
        early_.model().set_time(now);
        // The two may differ about a key that ends in this millisecond.
        for (auto* const one : {&early_, &late_}) {
            for (auto const& key : one->model().keys()) {
                auto const left = one->model().pttl(key);
                if (left >= 0 && left <= at_once) {
                    wait = std::max(wait, left + 1);
                } else if (left >= 0 && left <= soon) {
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

    void compare_data() {
        auto server = inspector_.ask({"KEYS", "*"});
        std::ranges::sort(server.elements, {}, &value::text);
        for (auto* const one : {&early_, &late_}) {
            auto const model = one->look({"KEYS", "*"});
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

    void compare_content(
        std::string const& key,
        value const& type,
        value const& content,
        value const& end
    ) {
        for (auto* const one : {&early_, &late_}) {
            auto const command = content_command(early_.model().type(key), key);
            std::vector<std::string_view> const views{command.begin(), command.end()};
            auto const seen = std::vector{
                one->look({"TYPE", key}),
                in_order(one->model().execute(2, views).value(), false),
                one->look({"PEXPIRETIME", key}),
            };
            auto const wanted = std::vector{type, in_order(content, false), end};
            if (seen != wanted) {
                differs(
                    "the key " + value::bulk(key).describe() + "\n  server " +
                    value::array(wanted).describe() + "\n  model  " + value::array(seen).describe()
                );
            }
        }
    }

    std::uint64_t seed_;
    bool is_valkey_ = false;
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

// Calls that never get where the scripts do their work would prove nothing.
void check_coverage(std::map<std::string, std::size_t> const& seen) {
    constexpr std::string_view answers[] = {
        "acquire: array [bulk, 1, integer]",
        "acquire: array [bulk, 1, 2]",
        "acquire: array [bulk, 0, integer]",
        "acquire: array [bulk, 0, -1]",
        "acquire: array [bulk, 2]",
        "acquire: error WRONGTYPE",
        "acquire: error ERR value is not an integer or out of range",
        "acquire: error ERR increment or decrement would overflow",
        "acquire: error ERR invalid expire time in",
        "acquire: error ERR user_script:",
        "acquire: error NOSCRIPT",
        "renew: array [bulk, 1]",
        "renew: array [bulk, 0, 0]",
        "renew: array [bulk, 0, 1]",
        "renew: error WRONGTYPE",
        "release: array [bulk, 1, 1]",
        "release: array [bulk, 0]",
        "release: error WRONGTYPE",
        "force_release: array [bulk, 1, 1]",
        "force_release: array [bulk, 0]",
        "force_release: array [bulk, 2]",
        "inspect: array [bulk, integer, bulk, bulk, bulk]",
        "inspect: array [bulk, -1, bulk, bulk, bulk]",
        "inspect: array [bulk, -2, bulk, bulk, bulk]",
        "inspect: array [bulk, -3]",
    };
    for (auto const answer : answers) {
        auto const at = seen.lower_bound(std::string{answer});
        BOOST_TEST((at != seen.end() && at->first.starts_with(answer)), answer << " never came");
    }
    constexpr std::size_t fewest = 100;
    for (auto const* const one : holdfast::test::library_scripts()) {
        std::size_t sum = 0;
        for (auto const& [text, count] : seen) {
            sum += text.starts_with(std::string{one->name} + ": array") ? count : 0;
        }
        BOOST_TEST(sum >= fewest, one->name << " was hardly tried");
    }
}

}  // namespace

BOOST_AUTO_TEST_CASE(random_calls_are_answered_as_by_the_server) {
#ifdef HOLDFAST_TEST_SANITIZER
    constexpr std::uint64_t usual = 30'000;
#else
    constexpr std::uint64_t usual = 100'000;
#endif
    constexpr std::uint64_t enough_to_meet_everything = 100'000;
    auto const seed = number_from_environment("HOLDFAST_SEED", std::random_device{}());
    auto const calls = number_from_environment("HOLDFAST_FIDELITY_CALLS", usual);
    redis_server const server;
    comparison compared{server, seed};
    auto const start = std::chrono::steady_clock::now();
    bool const alike = compared.run(calls);
    std::chrono::duration<double> const took = std::chrono::steady_clock::now() - start;
    std::cout << compared.calls() << " calls, " << compared.shapes() << " shapes of replies, "
              << compared.messages() << " messages, " << compared.dumps() << " dumps, seed " << seed
              << ", " << took.count() << " s\n";
    if (std::getenv("HOLDFAST_FIDELITY_SHAPES") != nullptr) {
        for (auto const& [text, count] : compared.seen()) {
            std::cout << count << '\t' << text << '\n';
        }
    }
    BOOST_TEST(alike, compared.what_differs());
    if (alike && calls >= enough_to_meet_everything) {
        check_coverage(compared.seen());
    }
}
