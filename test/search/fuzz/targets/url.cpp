// URLs: no text but gives a configuration or `std::invalid_argument`, no message has anything of
// the text in it, and what was read can be written and read again.

#include "core/check_config.hpp"
#include "core/lease_terms.hpp"
#include "fuzz/input.hpp"
#include "fuzz/targets.hpp"
#include "fuzz/url_parts.hpp"
#include "fuzz/url_text.hpp"
#include "redis/handshake.hpp"

#include <holdfast/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace holdfast::fuzz {

namespace {

struct outcome {
    std::optional<config> settings;
    std::string message;
};

outcome outcome_of(std::string_view text) {
    outcome result;
    try {
        result.settings = parse_url(text);
    } catch (std::invalid_argument const& e) {
        result.message = e.what();
        check(!result.message.empty(), "a refusal has a reason");
    }
    return result;
}

// What texts that hold nothing secret are refused with, all that there is. A message that is not
// one of these would have to come from the text.
std::set<std::string> const& known_messages() {
    static std::set<std::string> const known = [] {
        constexpr std::string_view wrong[] = {
            "",
            "redis://h h",
            "redis://h#f",
            "redis://@@h",
            "redis://",
            "redis://h:x",
            "redis://[",
            "redis://%@h",
            "redis://%00@h",
            "redis://:%@h",
            "redis://:%00@h",
            "redis://u@h",
            "redis://%h",
            "redis://%00",
            "redis://h/x",
            "redis://h?x",
            "redis://h?x&@",
            "redis://h?x=%",
            "redis://a,b",
            "redis-cluster://h/1",
            "redis-cluster://h?channels=x",
            "redis-sentinel://h",
            "redis-sentinel:///n",
            "redis-sentinel://[/n",
            "redis-sentinel://[a]b/n",
            "redis-sentinel://::1/n",
            "redis-sentinel://h:x/n",
            "redis-sentinel://h/%",
            "redis-sentinel://h/%00",
            "redis-sentinel://h/n?sentinel_tls=x",
            "redis-sentinel://h/n?sentinel_username=x",
            "rediss://h?tls_host_name=",
            "unix:///s?db=x",
            "redis://h?x=%00",
            "unix://",
            "unix://h/",
            "unix:///",
            "unix:///%",
            "unix:///%00",
        };
        std::set<std::string> messages;
        for (auto const text : wrong) {
            messages.insert(outcome_of(text).message);
        }
        return messages;
    }();
    return known;
}

// A message may name a parameter: what it names stands in the query, where no @ is.
std::string without_parameter(std::string_view text, std::string message) {
    auto const begin = message.find(" \"");
    if (begin == std::string::npos) {
        return message;
    }
    auto const name = message.substr(begin + 2, message.size() - begin - 3);
    auto const authority = authority_in(text);
    text.remove_prefix(static_cast<std::size_t>(authority.data() - text.data()) + authority.size());
    auto const query = text.substr(std::min(text.find('?'), text.size()));
    bool const named = query.find("?" + name) != query.npos || query.find("&" + name) != query.npos;
    check(
        named && !name.empty() && name.find_first_of("@:=&?") == name.npos &&
            query.find('@') == query.npos,
        "a parameter is named as it stands in the query"
    );
    return message.substr(0, begin);
}

// The next of its kind: digits stay digits, and zero alone stays zero, so that what is a percent
// encoding, and what that is a zero byte, stays so.
char another(char c) {
    constexpr std::string_view kinds[] =
        {"123456789", "abcdef", "ABCDEF", "ghijklmnopqrstuvwxyz", "GHIJKLMNOPQRSTUVWXYZ"};
    for (auto const kind : kinds) {
        if (auto const at = kind.find(c); at != std::string_view::npos) {
            return kind[(at + 1) % kind.size()];
        }
    }
    return c;
}

auto all_but_the_password(config const& c) {
    return std::make_tuple(
        c.host,
        c.port,
        c.unix_socket,
        c.username,
        c.database,
        c.client_name,
        c.tls.enabled,
        c.tls.ca_file,
        c.tls.certificate_file,
        c.tls.private_key_file,
        c.tls.host_name,
        c.cluster_nodes,
        c.cluster_channels,
        c.sentinels,
        c.primary_name,
        c.sentinel_username,
        c.sentinel_password,
        c.sentinel_tls.enabled,
        c.sentinel_tls.ca_file,
        c.sentinel_tls.certificate_file,
        c.sentinel_tls.private_key_file,
        c.sentinel_tls.host_name
    );
}

// Another password in its place changes the password that was read, and nothing else.
void check_only_the_password_depends_on_it(std::string_view text, outcome const& result) {
    auto const password = password_in(text);
    if (password.empty()) {
        return;
    }
    std::string changed{text};
    auto const begin = changed.begin() + (password.data() - text.data());
    std::transform(begin, begin + static_cast<std::ptrdiff_t>(password.size()), begin, another);
    auto const other = outcome_of(changed);
    check(
        result.settings.has_value() == other.settings.has_value() &&
            result.message == other.message,
        "whether a URL is refused, and how, does not depend on which password it has"
    );
    if (result.settings) {
        check(
            all_but_the_password(*result.settings) == all_but_the_password(*other.settings),
            "the password is read into no other member"
        );
        check(
            (result.settings->password == other.settings->password) == (changed == text),
            "the password is read from its place"
        );
    }
}

// The words of a request, whose bytes may be any.
std::vector<std::string> words_of(std::string_view payload) {
    std::vector<std::string> words;
    while (!payload.empty()) {
        auto const end = payload.find("\r\n");
        check(end != std::string_view::npos && end > 1, "a request has lines");
        auto const number = std::stoul(std::string{payload.substr(1, end - 1)});
        bool const is_word = payload.front() == '$';
        payload.remove_prefix(end + 2);
        if (is_word) {
            check(payload.size() >= number + 2, "a word has its length");
            words.emplace_back(payload.substr(0, number));
            payload.remove_prefix(number + 2);
        }
    }
    return words;
}

// Whatever is in a password or a name is one word of the request, and never a command.
void check_login(config const& settings) {
    std::vector<std::string> expected{"HELLO", "3"};
    if (!settings.password.empty()) {
        auto const user = settings.username.empty() ? "default" : settings.username;
        expected.insert(expected.end(), {"AUTH", user, settings.password});
    }
    if (!settings.client_name.empty()) {
        expected.insert(expected.end(), {"SETNAME", settings.client_name});
    }
    if (settings.database != 0) {
        expected.insert(expected.end(), {"SELECT", std::to_string(settings.database)});
    }
    expected.insert(expected.end(), {"INFO", "server", "PING", "n0nce"});
    detail::handshake const asked{settings, false, "n0nce"};
    check(
        words_of(asked.request().payload()) == expected,
        "what is read is what is sent to log in"
    );
}

void check_round_trip(config const& settings) {
    auto const again = outcome_of(url_of(settings));
    check(again.settings.has_value(), "what was read can be written as a URL");
    check(
        all_but_the_password(*again.settings) == all_but_the_password(settings) &&
            again.settings->password == settings.password,
        "a URL says all that was read"
    );
}

void check_read(std::string_view text, config const& settings) {
    check(is_percent_encoded(text), "what is not percent-encoded is refused");
    auto const members = {
        &settings.host,
        &settings.unix_socket,
        &settings.username,
        &settings.password,
        &settings.client_name,
        &settings.primary_name,
        &settings.sentinel_username,
        &settings.sentinel_password,
        &settings.tls.ca_file,
        &settings.tls.certificate_file,
        &settings.tls.private_key_file,
        &settings.tls.host_name,
        &settings.sentinel_tls.host_name
    };
    check(
        std::none_of(
            members.begin(),
            members.end(),
            [](std::string const* member) { return member->find('\0') != std::string::npos; }
        ),
        "no member has a zero byte, at which others would stop to read"
    );
    bool const has_list = !settings.sentinels.empty() || !settings.cluster_nodes.empty();
    if (auto const port = port_in(text); !port.empty() && !has_list) {
        check(
            std::to_string(settings.port) == without_leading_zeros(port),
            "a port is not ignored"
        );
    }
    check(
        settings.unix_socket.empty() || (settings.unix_socket.front() == '/' &&
                                         settings.unix_socket.size() > 1 && !settings.tls.enabled),
        "a socket has an absolute path and no TLS"
    );
    check(settings.port != 0, "no URL has port 0");
    check(settings.database >= 0, "no URL has a negative database");
    check(
        (settings.username.empty() || !settings.password.empty()) &&
            (settings.sentinel_username.empty() || !settings.sentinel_password.empty()),
        "a user name comes with a password"
    );
    check(
        !settings.tls.insecure_accept_any_certificate &&
            !settings.sentinel_tls.insecure_accept_any_certificate,
        "no URL takes the verification away"
    );
    check(
        (settings.tls.enabled || settings.tls.host_name.empty()) &&
            (settings.sentinel_tls.enabled || settings.sentinel_tls.host_name.empty()),
        "a name that a certificate must have comes with TLS"
    );
    check_round_trip(settings);
    check_login(settings);
    try {
        detail::check_config(settings);
    } catch (std::invalid_argument const&) {
        // A client name with a space in it, for one.
    }
}

std::string without_zero(std::string text) {
    std::erase(text, '\0');
    return text;
}

std::string without_spaces(std::string text) {
    std::erase_if(text, [](char c) {
        return std::string_view{" \t\r\n"}.find(c) != std::string_view::npos;
    });
    return text;
}

// A configuration that a URL can say.
config config_from(input& in) {
    config settings;
    settings.password = without_zero(in.text(32));
    if (!settings.password.empty()) {
        settings.username = without_zero(in.text(16));
    }
    settings.client_name = without_zero(in.text(16));
    if (in.flag()) {
        settings.unix_socket = "/s" + without_zero(in.text(32));
        settings.database = static_cast<int>(in.below(1'000'001));
        return settings;
    }
    settings.host = "h" + without_zero(in.text(16));
    settings.port = std::max<std::uint16_t>(in.number<std::uint16_t>(), 1);
    settings.database = static_cast<int>(in.below(1'000'001));
    settings.tls.enabled = in.flag();
    if (settings.tls.enabled) {
        settings.tls.ca_file = without_zero(in.text(16));
        settings.tls.certificate_file = without_zero(in.text(16));
        settings.tls.private_key_file = without_zero(in.text(16));
        settings.tls.host_name = without_spaces(without_zero(in.text(16)));
    }
    return settings;
}

void check_text(std::string_view text) {
    auto const result = outcome_of(text);
    if (result.settings) {
        check_read(text, *result.settings);
    } else {
        check(
            known_messages().count(without_parameter(text, result.message)) != 0,
            "a message has nothing of the URL"
        );
    }
    check_only_the_password_depends_on_it(text, result);
}

}  // namespace

void url(bytes data) {
    input in{data};
    constexpr std::string_view schemes[] = {
        "redis://",
        "rediss://",
        "unix://",
        "redis-sentinel://",
        "rediss-sentinel://",
        "redis-cluster://",
        "rediss-cluster://",
    };
    switch (in.below(4)) {
        case 0: {
            auto const settings = config_from(in);
            check_round_trip(settings);
            check_login(settings);
            break;
        }
        case 1: check_text(in.rest()); break;
        default: {
            auto const scheme = in.one_of(schemes);
            check_text(std::string{scheme} + std::string{in.rest()});
            break;
        }
    }
}

}  // namespace holdfast::fuzz
