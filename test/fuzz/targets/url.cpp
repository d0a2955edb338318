// URLs: no text but gives a configuration or `std::invalid_argument`, no message has anything of
// the text in it, and what was read can be written and read again.

#include "core/lease_terms.hpp"
#include "fuzz/input.hpp"
#include "fuzz/targets.hpp"

#include <holdfast/config.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>

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
            "redis://h?x=%",
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

// Where the text has its password, if that can be said: from the first colon of the authority to
// its last @.
std::string_view password_in(std::string_view text) {
    auto const separator = text.find("://");
    if (separator == std::string_view::npos) {
        return {};
    }
    auto authority = text.substr(separator + 3);
    authority = authority.substr(0, authority.find_first_of("/?"));
    auto const at = authority.rfind('@');
    auto const colon = authority.find(':');
    if (at == std::string_view::npos || colon == std::string_view::npos || colon > at) {
        return {};
    }
    return authority.substr(colon + 1, at - colon - 1);
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
        c.tls.private_key_file
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

std::string percent_encoded(std::string_view text, std::string_view as_is = {}) {
    std::string result;
    for (char const c : text) {
        bool const plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || as_is.find(c) != std::string_view::npos;
        if (plain) {
            result += c;
        } else {
            result += fmt::format("%{:02X}", static_cast<unsigned char>(c));
        }
    }
    return result;
}

std::string url_of(config const& c) {
    std::string user;
    if (!c.password.empty()) {
        user = percent_encoded(c.username) + ":" + percent_encoded(c.password) + "@";
    }
    auto url = c.unix_socket.empty()
                   ? fmt::format(
                         "{}://{}{}:{}/{}",
                         c.tls.enabled ? "rediss" : "redis",
                         user,
                         percent_encoded(c.host),
                         c.port,
                         c.database
                     )
                   : fmt::format("unix://{}{}", user, percent_encoded(c.unix_socket, "/"));
    url += "?client_name=" + percent_encoded(c.client_name);
    if (c.tls.enabled) {
        url += "&ca_file=" + percent_encoded(c.tls.ca_file) +
               "&certificate_file=" + percent_encoded(c.tls.certificate_file) +
               "&private_key_file=" + percent_encoded(c.tls.private_key_file);
    }
    return url;
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

void check_read(config const& settings) {
    check(
        settings.unix_socket.empty() || (settings.unix_socket.front() == '/' &&
                                         settings.unix_socket.size() > 1 && !settings.tls.enabled),
        "a socket has an absolute path and no TLS"
    );
    check(settings.port != 0, "no URL has port 0");
    check(settings.database >= 0, "no URL has a negative database");
    check(
        settings.username.empty() || !settings.password.empty(),
        "a user name comes with a password"
    );
    check(
        !settings.tls.insecure_accept_any_certificate && settings.tls.host_name.empty(),
        "no URL takes the verification away"
    );
    check_round_trip(settings);
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
    }
    return settings;
}

void check_text(std::string_view text) {
    auto const result = outcome_of(text);
    if (result.settings) {
        check_read(*result.settings);
    } else {
        check(known_messages().count(result.message) != 0, "a message has nothing of the URL");
    }
    check_only_the_password_depends_on_it(text, result);
}

}  // namespace

void url(bytes data) {
    input in{data};
    constexpr std::string_view schemes[] = {"redis://", "rediss://", "unix://"};
    switch (in.below(4)) {
        case 0: check_round_trip(config_from(in)); break;
        case 1: check_text(in.rest()); break;
        default: {
            auto const scheme = in.one_of(schemes);
            check_text(std::string{scheme} + std::string{in.rest()});
            break;
        }
    }
}

}  // namespace holdfast::fuzz
