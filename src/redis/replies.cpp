#include "redis/replies.hpp"

#include "protocol/slot.hpp"
#include "protocol/target.hpp"

#include <boost/asio/error.hpp>
#include <boost/redis/resp3/type.hpp>
#include <boost/system/errc.hpp>
#include <boost/system/system_error.hpp>

#include <array>
#include <charconv>
#include <utility>

namespace holdfast::detail {

namespace {

using effect = server_error::effect;

struct known_code {
    std::string_view code;
    effect what;
    errc error;
};

constexpr std::array known_codes{
    known_code{"NOSCRIPT", effect::no_script, errc::server_refused},
    known_code{"BUSY", effect::transient, errc::server_refused},
    known_code{"LOADING", effect::transient, errc::server_refused},
    // Protected mode.
    known_code{"DENIED", effect::transient, errc::server_refused},
    known_code{"MASTERDOWN", effect::transient, errc::server_refused},
    known_code{"CLUSTERDOWN", effect::transient, errc::server_refused},
    known_code{"TRYAGAIN", effect::transient, errc::server_refused},
    known_code{"READONLY", effect::transient, errc::server_refused},
    known_code{"NOREPLICAS", effect::transient, errc::server_refused},
    known_code{"MISCONF", effect::transient, errc::server_refused},
    known_code{"OOM", effect::transient, errc::server_refused},
    known_code{"NOPERM", effect::permanent, errc::no_permission},
    known_code{"NOAUTH", effect::permanent, errc::auth_failed},
    known_code{"WRONGPASS", effect::permanent, errc::auth_failed},
    known_code{"WRONGTYPE", effect::permanent, errc::corrupt_state},
    known_code{"NOPROTO", effect::permanent, errc::unsupported_server},
    known_code{"CROSSSLOT", effect::permanent, errc::unsupported_server},
    // Where no cluster was expected.
    known_code{"MOVED", effect::redirected, errc::unsupported_server},
    known_code{"ASK", effect::redirected, errc::unsupported_server},
};

struct known_phrase {
    std::string_view phrase;
    effect what;
    errc error;
};

// Errors whose code is the general ERR.
constexpr std::array known_phrases{
    known_phrase{"max number of clients", effect::transient, errc::server_refused},
    known_phrase{"can't run this command or subcommand", effect::permanent, errc::no_permission},
    known_phrase{"No permissions to access", effect::permanent, errc::no_permission},
    known_phrase{"user can't", effect::permanent, errc::no_permission},
    known_phrase{"user executing the script can't", effect::permanent, errc::no_permission},
    known_phrase{"ACL failure in script", effect::permanent, errc::no_permission},
    known_phrase{"without any password configured", effect::permanent, errc::auth_failed},
    known_phrase{"no password is set", effect::permanent, errc::auth_failed},
    known_phrase{"DB index is out of range", effect::permanent, errc::unsupported_server},
    // A command that the server, or a proxy before it, does not have.
    known_phrase{"nknown command", effect::permanent, errc::unsupported_server},
    known_phrase{"nknown Redis command", effect::permanent, errc::unsupported_server},
    known_phrase{"nknown redis command", effect::permanent, errc::unsupported_server},
    known_phrase{"nknown subcommand", effect::permanent, errc::unsupported_server},
    known_phrase{"nknown or ", effect::permanent, errc::unsupported_server},
    known_phrase{"nsupported command", effect::permanent, errc::unsupported_server},
    known_phrase{"unsupport command", effect::permanent, errc::unsupported_server},
    known_phrase{"disabled command", effect::permanent, errc::unsupported_server},
    known_phrase{"rong number of arg", effect::permanent, errc::unsupported_server},
    known_phrase{"ommand is not available", effect::permanent, errc::unsupported_server},
    known_phrase{"' is not allowed", effect::permanent, errc::unsupported_server},
    known_phrase{"not supported", effect::permanent, errc::unsupported_server},
    // Scripts that it does not run, or not as Redis does.
    known_phrase{"not allowed from script", effect::permanent, errc::unsupported_server},
    known_phrase{"EVAL is disabled", effect::permanent, errc::unsupported_server},
    known_phrase{"EVALSHA is disabled", effect::permanent, errc::unsupported_server},
    known_phrase{"cripting is disabled", effect::permanent, errc::unsupported_server},
    known_phrase{"scripting support", effect::permanent, errc::unsupported_server},
    known_phrase{"command script not support", effect::permanent, errc::unsupported_server},
    known_phrase{"bad lua script", effect::permanent, errc::unsupported_server},
    known_phrase{"rror compiling script", effect::permanent, errc::unsupported_server},
    known_phrase{"attempt to call", effect::permanent, errc::unsupported_server},
    // Keys: which a script may use. "non local key" is not among them: in a Redis Cluster it passes
    // when the slot has been moved.
    known_phrase{"undeclared key", effect::permanent, errc::unsupported_server},
    known_phrase{"using the KEYS array", effect::permanent, errc::unsupported_server},
    known_phrase{"hash to the same slot", effect::permanent, errc::unsupported_server},
    known_phrase{"must in same slot", effect::permanent, errc::unsupported_server},
    known_phrase{"value is not an integer", effect::permanent, errc::corrupt_state},
    known_phrase{"increment or decrement would overflow", effect::permanent, errc::corrupt_state},
};

// The code of an error reply; for Redis 6's "ERR Error running script (…): @user_script: 1: -OOM …"
// the inner one.
bool has_code(std::string_view text, std::string_view code) {
    if (text.starts_with(code) && (text.size() == code.size() || text[code.size()] == ' ')) {
        return true;
    }
    if (!text.starts_with("ERR Error running script") &&
        !text.starts_with("ERR Error compiling script")) {
        return false;
    }
    for (auto at = text.find(code); at != std::string_view::npos; at = text.find(code, at + 1)) {
        bool const starts = at > 0 && (text[at - 1] == ' ' || text[at - 1] == '-');
        auto const after = at + code.size();
        if (starts && after < text.size() && text[after] == ' ') {
            return true;
        }
    }
    return false;
}

[[noreturn]] void refuse_reply() {
    throw boost::system::system_error{make_error_code(boost::system::errc::protocol_error)};
}

}  // namespace

server_error classify(std::string_view text) {
    for (auto const& known : known_codes) {
        if (has_code(text, known.code)) {
            return {
                known.what,
                known.error,
                known.code == "READONLY",
                known.code == "TRYAGAIN",
                known.code == "CLUSTERDOWN",
            };
        }
    }
    for (auto const& known : known_phrases) {
        if (text.find(known.phrase) != std::string_view::npos) {
            return {known.what, known.error};
        }
    }
    return {effect::uncertain, errc::server_refused};
}

exec_status status_of(server_error::effect what) noexcept {
    switch (what) {
        case server_error::effect::permanent:
        case server_error::effect::redirected: return exec_status::failed;
        case server_error::effect::uncertain: return exec_status::unknown;
        case server_error::effect::transient:
        case server_error::effect::no_script: break;
    }
    return exec_status::refused;
}

// "MOVED 3999 127.0.0.1:6381"; "ASK 3999 :6381" is the same host.
std::optional<redirection> read_redirection(std::string_view text) {
    redirection read;
    read.ask = text.starts_with("ASK ");
    if (!read.ask && !text.starts_with("MOVED ")) {
        return std::nullopt;
    }
    text.remove_prefix(text.find(' ') + 1);
    auto const space = text.find(' ');
    auto const colon = text.rfind(':');
    if (space == std::string_view::npos || colon == std::string_view::npos || colon < space) {
        return std::nullopt;
    }
    auto const number = [](std::string_view digits, std::uint16_t& value) {
        auto const [end, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        return ec == std::errc{} && end == digits.data() + digits.size();
    };
    if (!number(text.substr(0, space), read.slot) || read.slot >= slot_count ||
        !number(text.substr(colon + 1), read.port) || read.port == 0) {
        return std::nullopt;
    }
    // A node that is to tell its name, and has none, says a question mark.
    if (auto const host = text.substr(space + 1, colon - space - 1); host != "?") {
        read.host = host;
    }
    return read;
}

std::string loggable(std::string_view text) {
    constexpr std::size_t longest = 256;
    std::string told{text.substr(0, text.find(", with args"))};
    // "OOM … 'maxmemory'. script: 1a2b…, on @user_script:1.": its name says more than its SHA.
    if (auto const at = told.find("script: "); at != std::string::npos && at > 0) {
        told.erase(told.find_last_not_of(", ", at - 1) + 1);
    }
    // "ERR Error running script (call to f_1a2b…): …"
    if (auto const at = told.find(" (call to f_"); at != std::string::npos) {
        auto const end = told.find(')', at);
        told.erase(at, end == std::string::npos ? end : end + 1 - at);
    }
    return escaped(told, longest);
}

void reply_collector::add(reply_value value, std::size_t size) {
    // Far more than any answer has. A length that overflows in Boost.Redis' parser gives the same
    // bytes again and again.
    constexpr std::size_t most_values = 1U << 16U;
    constexpr std::size_t most_bytes = 16U << 20U;
    size_ += size;
    if (size_ > most_bytes || current_.values.size() == most_values) {
        refuse_reply();
    }
    current_.values.push_back(std::move(value));
}

text_reply text_reply::of(raw_reply& from) {
    if (from.is_error) {
        return {std::move(from.error), true};
    }
    if (from.values.size() == 1 && std::holds_alternative<std::string>(from.values.front())) {
        return {std::get<std::string>(std::move(from.values.front())), false};
    }
    return {};
}

bool reply_collector::on_event(event what, boost::redis::resp3::node_view const& node) {
    using boost::redis::resp3::type;
    switch (what) {
        case event::init:
            current_ = raw_reply{};
            size_ = 0;
            return false;
        case event::done: return true;
        case event::node: break;
    }
    // HELLO's list of a module's arguments lies deepest. Boost.Redis' parser takes one level more,
    // and a streamed string that begins there is written beyond the last.
    constexpr std::size_t deepest_aggregate = 3;
    if (boost::redis::resp3::is_aggregate(node.data_type) && node.depth > deepest_aggregate) {
        refuse_reply();
    }
    switch (node.data_type) {
        case type::simple_error:
        case type::blob_error:
            current_.is_error = true;
            current_.error.assign(node.value);
            break;
        case type::push: current_.is_push = true; break;
        case type::array:
        case type::map:
        case type::set:
        case type::attribute: break;
        case type::number: {
            std::int64_t value = 0;
            std::from_chars(node.value.data(), node.value.data() + node.value.size(), value);
            add(value, 0);
            break;
        }
        case type::streamed_string:
        case type::streamed_string_part: refuse_reply();
        default: add(std::string{node.value}, node.value.size()); break;
    }
    return false;
}

error_code failure_while_parsing() noexcept {
    try {
        throw;
    } catch (boost::system::system_error const& e) {
        if (e.code()) {
            return e.code();
        }
    } catch (...) {
        // The cause is not known, and Boost.Redis needs one.
    }
    return boost::asio::error::no_memory;
}

}  // namespace holdfast::detail
