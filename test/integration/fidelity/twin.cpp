#include "fidelity/twin.hpp"

#include "fidelity/lines.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace holdfast::test {

using memory::redis_model;
using memory::value;
using kind = value::kind;

namespace {

// Where servers legitimately differ from Redis 7.0, of which the model is one.
struct difference {
    std::string_view redis;
    std::string_view other;
};

// Parts of texts in Redis 7.0.15, and in Valkey 8.0.1 or Redis 7.2 and later. In behaviour Valkey
// differs by what `redis_model::set_strict_unsubscribe` says, and in corners that are not tried:
// ZRANK takes another word; a negative offset of LIMIT is none; an index beyond 32 bits is cut off;
// numbers with many digits are written with fewer of them (scores, and words that scripts give as
// numbers).
constexpr difference wordings[] = {
    {"NOSCRIPT No matching script. Please use EVAL.", "NOSCRIPT No matching script."},
    {"Unknown Redis command called from script", "Unknown command called from script"},
    {"Wrong number of args calling Redis command", "Wrong number of args calling command"},
    {"at least one argument for this redis lib call", "at least one argument for this call"},
    {"Lua redis lib command arguments must be", "Command arguments must be"},
    {"LOADING Redis is loading", "LOADING Valkey is loading"},
    {"BUSY Redis is busy", "BUSY Valkey is busy"},
    {"MISCONF Redis is configured", "MISCONF Valkey is configured"},
    {"since Redis 4.0 if a replica is configured", "if a replica is configured"},
    {"otherwise the HELLO AUTH <user>", "otherwise the HELLO <proto> AUTH <user>"},
    {"Please check the Redis logs", "Please check the Valkey logs"},
    {"The user executing the script can't access at least one of the keys mentioned in the command "
     "arguments",
     "ACL failure in script: No permissions to access a key"},
    {"The user executing the script can't publish to the channel mentioned in the command",
     "ACL failure in script: No permissions to access a channel"},
    {"NOPERM this user has no permissions to run", "NOPERM User alice has no permissions to run"},
    {"NOPERM this user has no permissions to access one of the keys used as arguments",
     "NOPERM No permissions to access a key"},
    {"NOPERM this user has no permissions to access one of the channels used as arguments",
     "NOPERM No permissions to access a channel"},
};

// This one names the command too.
void replace_denied_command(std::string& text) {
    constexpr std::string_view start =
        "ACL failure in script: User alice has no permissions to run";
    constexpr std::string_view end = "' command";
    auto const from = text.find(start);
    if (from == std::string::npos) {
        return;
    }
    auto const to = text.find(end, from) + end.size();
    text.replace(
        from,
        to - from,
        "The user executing the script can't run this command or subcommand"
    );
}

value sorted_pairs(value message) {
    std::vector<std::pair<std::string, std::size_t>> order;
    for (std::size_t i = 0; i + 1 < message.elements.size(); i += 2) {
        order.emplace_back(message.elements[i].describe(), i);
    }
    std::ranges::sort(order);
    std::vector<value> sorted;
    for (auto const& [name, at] : order) {
        sorted.push_back(std::move(message.elements[at]));
        sorted.push_back(std::move(message.elements[at + 1]));
    }
    message.elements = std::move(sorted);
    return message;
}

}  // namespace

bool is_newer_server(value const& hello) {
    auto const& name = hello.elements.at(1).text;
    auto const& version = hello.elements.at(3).text;
    auto const minor = version.substr(version.find('.') + 1);
    auto const number = std::pair{std::stoi(version), std::stoi(minor)};
    return name == "valkey" || number >= std::pair{7, 2};
}

value in_words_of_redis(value message, bool is_newer) {
    // Scripts may return the text of an error.
    if (is_newer && (message.type == kind::error || message.type == kind::bulk)) {
        for (auto const& [redis, other] : wordings) {
            // The newer Redis has some of them as they were.
            bool const as_before = message.text.find(redis) != std::string::npos;
            if (auto const at = message.text.find(other); at != std::string::npos && !as_before) {
                message.text.replace(at, other.size(), redis);
            }
        }
        replace_denied_command(message.text);
    }
    for (auto& element : message.elements) {
        element = in_words_of_redis(std::move(element), is_newer);
    }
    return is_newer ? without_script_hash(std::move(message)) : message;
}

value without_script_hash(value message) {
    constexpr std::string_view before = " script: ";
    constexpr std::size_t hash = 40;
    auto const at = message.text.find(before);
    auto const end = at + before.size() + hash;
    if (at != std::string::npos && end < message.text.size() && message.text[end] == ',') {
        message.text.erase(at + before.size(), hash + 2);
    }
    for (auto& element : message.elements) {
        element = without_script_hash(std::move(element));
    }
    return message;
}

value in_order(value message, bool all) {
    for (auto& element : message.elements) {
        element = in_order(std::move(element), all);
    }
    if (message.type == kind::map) {
        return sorted_pairs(std::move(message));
    }
    if (all && message.type == kind::array) {
        std::ranges::sort(message.elements, {}, &value::describe);
    }
    return message;
}

std::string describe(twin::words const& command) {
    std::string text;
    for (auto const& word : command) {
        constexpr std::size_t longest = 100;
        text += ' ' + value::bulk(word.substr(0, longest)).describe();
        text += word.size() > longest ? "..." : "";
    }
    return text;
}

twin::twin(server_options options) : server_{options}, inspector_{server_.unix_socket()} {
    if (!options.password.empty()) {
        inspector_.ask({"AUTH", options.password});
        model_.set_user("default", {.password = options.password});
    }
    auto const hello = inspector_.ask({"HELLO", "3"});
    is_newer_ = is_newer_server(hello);
    model_.set_strict_unsubscribe(hello.elements.at(1).text == "valkey");
    model_inspector_ = model_.connect([](value) {});
    model_.execute(model_inspector_, {"HELLO", "3", "AUTH", "default", options.password});
    reconnect();
}

void twin::reconnect() {
    link_ = std::make_unique<server_link>(server_.unix_socket());
    model_.disconnect(session_);
    session_ = model_.connect([this](value one) { pushes_.push_back(std::move(one)); });
}

void twin::follow_clock() {
    auto const now = inspector_.ask({"TIME"});
    // A server that refuses TIME is one of which no time is asked.
    if (!now.is_error()) {
        model_.set_time(
            std::stoll(now.elements.at(0).text) * 1'000'000 + std::stoll(now.elements.at(1).text)
        );
    }
}

namespace {

// The time that a key has left passes while the commands go out.
bool alike(value const& server, value const& model) {
    constexpr std::int64_t surely_a_time = 1'000'000;
    constexpr std::int64_t tolerance_ms = 10'000;
    if (server.type == kind::integer && model.type == kind::integer &&
        model.number > surely_a_time) {
        return std::abs(server.number - model.number) <= tolerance_ms;
    }
    auto const server_words = words_of(server);
    auto const model_words = words_of(model);
    if (server_words && model_words) {
        return alike(*server_words, *model_words);
    }
    if (server.type != model.type || server.elements.size() != model.elements.size()) {
        return false;
    }
    for (std::size_t i = 0; i < server.elements.size(); ++i) {
        if (!alike(server.elements[i], model.elements[i])) {
            return false;
        }
    }
    return server.text == model.text && server.number == model.number;
}

}  // namespace

// A failed log-in is not answered by newer servers while other replies wait to be sent: before it
// there is a pause.
void twin::compare(std::vector<words> const& commands) {
    follow_clock();
    for (auto from = commands.begin(); from != commands.end();) {
        auto const to = std::find_if(from + 1, commands.end(), [](auto const& one) {
            return one[0] == "HELLO";
        });
        compare_at_once({&*from, static_cast<std::size_t>(to - from)});
        from = to;
    }
}

void twin::compare_at_once(std::span<words const> commands) {
    // What comes over the connection, in its order, and which command made it come.
    std::vector<std::pair<value, words const*>> expected;
    for (auto const& command : commands) {
        link_->add(command);
        std::vector<std::string_view> const views{command.begin(), command.end()};
        auto reply = model_.execute(session_, views);
        for (auto& push : std::exchange(pushes_, {})) {
            expected.emplace_back(std::move(push), &command);
        }
        if (reply) {
            expected.emplace_back(std::move(*reply), &command);
        }
    }
    link_->send();
    for (auto const& [model, command] : expected) {
        auto const server = in_order(in_words_of_redis(link_->receive(), is_newer_), false);
        BOOST_TEST(
            alike(server, in_order(is_newer_ ? without_script_hash(model) : model, false)),
            describe(*command) << "\n  server " << server.describe() << "\n  model  "
                               << model.describe()
        );
    }
}

void twin::compare(std::initializer_list<std::string_view> command) {
    compare({words{command.begin(), command.end()}});
}

void twin::tell(std::initializer_list<std::string_view> command) {
    follow_clock();
    link_->ask(command);
    model_.execute(session_, command);
}

void twin::compare_data() {
    constexpr std::int64_t tolerance_ms = 2'000;
    follow_clock();
    auto keys = inspector_.ask({"KEYS", "*"});
    std::ranges::sort(keys.elements, {}, &value::text);
    BOOST_TEST(
        std::ranges::equal(keys.elements, model_.keys(), {}, &value::text),
        "keys\n  server " << keys.describe()
    );
    for (auto const& key : keys.elements) {
        auto const command = content_command(model_.type(key.text), key.text);
        std::vector<std::string_view> const views{command.begin(), command.end()};
        inspector_.add(command);
        auto const server = in_order(inspector_.exchange().front(), false);
        auto const model = in_order(model_.execute(model_inspector_, views).value(), false);
        BOOST_TEST(
            (server == model),
            key.describe() << "\n  server " << server.describe() << "\n  model  "
                           << model.describe()
        );
        auto const left = inspector_.ask({"PTTL", key.text}).number;
        auto const model_left = model_.pttl(key.text);
        BOOST_TEST((left < 0) == (model_left < 0), key.describe() << " has an end in one only");
        BOOST_TEST(std::abs(left - model_left) <= tolerance_ms, key.describe() << " ends");
    }
}

twin::words content_command(std::string const& type, std::string const& key) {
    if (type == "hash") {
        return {"HGETALL", key};
    }
    if (type == "list") {
        return {"LRANGE", key, "0", "-1"};
    }
    if (type == "zset") {
        return {"ZRANGE", key, "0", "-1", "WITHSCORES"};
    }
    return {"GET", key};
}

}  // namespace holdfast::test
