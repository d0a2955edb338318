#include "host_list.hpp"

#include <holdfast/config.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace holdfast {

namespace {

// Never the text itself: it may hold a password.
[[noreturn]] void refuse(char const* part, std::string const& why) {
    throw std::invalid_argument(std::string("holdfast URL: ") + part + ": " + why);
}

// Names the parameter if it looks like one: a password with a question mark in it must not show,
// nor one with an ampersand in it.
[[noreturn]] void refuse_parameter(std::string_view name, std::string_view query) {
    bool const plain =
        name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string_view::npos;
    bool const shown = plain && !name.empty() && query.find('@') == std::string_view::npos &&
                       query.find("sentinel_password=") == std::string_view::npos;
    refuse("query", "unknown parameter" + (shown ? " \"" + std::string{name} + '"' : ""));
}

long read_number(std::string_view text, char const* part, long max) {
    long value = 0;
    auto const [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (ec != std::errc{} || end != text.data() + text.size() || value < 0 || value > max) {
        refuse(part, "not a number in range");
    }
    return value;
}

int read_database(std::string_view text) {
    return static_cast<int>(read_number(text, "database", 1'000'000));
}

// RFC 3986, section 2.1.
std::string percent_decoded(std::string_view text, char const* part) {
    std::string decoded;
    decoded.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            decoded += text[i];
            continue;
        }
        unsigned byte = 0;
        auto const digits = text.substr(i + 1, 2);
        auto const [end, ec] =
            std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
        if (ec != std::errc{} || digits.size() != 2 || end != digits.data() + 2) {
            refuse(part, "a percent sign must be followed by two hexadecimal digits");
        }
        decoded += static_cast<char>(byte);
        i += 2;
    }
    if (decoded.find('\0') != std::string::npos) {
        refuse(part, "must not contain a zero byte");
    }
    return decoded;
}

cluster_channel_kind read_channel_kind(std::string_view text) {
    if (text == "automatic") {
        return cluster_channel_kind::automatic;
    }
    if (text == "sharded") {
        return cluster_channel_kind::sharded;
    }
    if (text == "plain") {
        return cluster_channel_kind::plain;
    }
    refuse("channels", "must be automatic, sharded or plain");
}

// Calls `f` with the name and the value of each.
template <class F>
void for_each_parameter(std::string_view query, F f) {
    while (!query.empty()) {
        auto const one = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(query.size(), one.size() + 1));
        auto const equals = one.find('=');
        f(one.substr(0, equals),
          equals == std::string_view::npos ? std::string{}
                                           : percent_decoded(one.substr(equals + 1), "query"));
    }
}

// False if it is none of those of TLS.
bool read_tls_parameter(std::string_view key, std::string const& value, tls_options& tls) {
    auto* const member = key == "ca_file"            ? &tls.ca_file
                         : key == "certificate_file" ? &tls.certificate_file
                         : key == "private_key_file" ? &tls.private_key_file
                         : key == "tls_host_name"    ? &tls.host_name
                                                     : nullptr;
    if (!member || !tls.enabled) {
        return false;
    }
    // A name that is lost on the way would be replaced by the host's, and another certificate
    // would be trusted.
    bool const is_name = member == &tls.host_name;
    if (is_name && (value.empty() || !member->empty() ||
                    value.find_first_of(" \t\r\n") != std::string::npos)) {
        refuse("query", "tls_host_name must be one name without spaces");
    }
    *member = value;
    return true;
}

void read_parameters(std::string_view const all, config& settings) {
    for_each_parameter(all, [&](std::string_view key, std::string const& value) {
        if (key == "client_name") {
            settings.client_name = value;
        } else if (key == "channels" && !settings.cluster_nodes.empty()) {
            settings.cluster_channels = read_channel_kind(value);
        } else if (key == "db" && !settings.unix_socket.empty()) {
            settings.database = read_database(value);
        } else if (!read_tls_parameter(key, value, settings.tls)) {
            refuse_parameter(key, all);
        }
    });
}

void read_user(std::string_view user, config& settings) {
    auto const colon = user.find(':');
    settings.username = percent_decoded(user.substr(0, colon), "user");
    if (colon != std::string_view::npos) {
        settings.password = percent_decoded(user.substr(colon + 1), "password");
    }
    if (settings.password.empty() && !settings.username.empty()) {
        refuse("password", "is missing for the user name");
    }
}

std::string lower_case(std::string_view text) {
    std::string lower{text};
    for (char& c : lower) {
        c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return lower;
}

// `unix://[user:password@]/path[?query]`
config parse_unix(std::string_view rest) {
    config settings;
    auto const slash = rest.find('/');
    if (slash == std::string_view::npos) {
        refuse("path", "the path of the socket is missing: write unix:///path");
    }
    auto authority = rest.substr(0, slash);
    if (auto const at = authority.rfind('@'); at != std::string_view::npos) {
        read_user(authority.substr(0, at), settings);
        authority.remove_prefix(at + 1);
    }
    if (!authority.empty()) {
        refuse("host", "a UNIX socket has none: write unix:///path");
    }
    auto const question = rest.find('?', slash);
    settings.unix_socket = percent_decoded(rest.substr(slash, question - slash), "path");
    if (settings.unix_socket.size() < 2) {
        refuse("path", "the path of the socket is missing");
    }
    if (question != std::string_view::npos) {
        read_parameters(rest.substr(question + 1), settings);
    }
    return settings;
}

// True if `value` is "on".
bool read_switch(std::string_view value) {
    if (value != "on" && value != "off") {
        refuse("query", "sentinel_tls must be on or off");
    }
    return value == "on";
}

void read_sentinel_parameters(std::string_view const all, config& settings) {
    constexpr std::string_view prefix = "sentinel_";
    auto& tls = settings.sentinel_tls;
    // Whether there is TLS says which other parameters there may be.
    for_each_parameter(all, [&](std::string_view key, std::string const& value) {
        if (key == "sentinel_tls") {
            tls.enabled = read_switch(value);
        }
    });
    auto files = settings.tls;
    files.enabled = settings.tls.enabled || tls.enabled;
    bool own_certificate = false;
    for_each_parameter(all, [&](std::string_view key, std::string const& value) {
        bool const own = key.starts_with(prefix);
        if (key == "client_name") {
            settings.client_name = value;
        } else if (key == "sentinel_username") {
            settings.sentinel_username = value;
        } else if (key == "sentinel_password") {
            settings.sentinel_password = value;
        } else if (own && read_tls_parameter(key.substr(prefix.size()), value, tls)) {
            own_certificate = own_certificate || key == "sentinel_certificate_file" ||
                              key == "sentinel_private_key_file";
        } else if (key == "tls_host_name" && !settings.tls.enabled) {
            // That of the Sentinels' certificates is another one.
            refuse_parameter(key, all);
        } else if (key != "sentinel_tls" && (own || !read_tls_parameter(key, value, files))) {
            refuse_parameter(key, all);
        }
    });
    if (settings.sentinel_password.empty() && !settings.sentinel_username.empty()) {
        refuse("query", "sentinel_password is missing for the user name");
    }
    if (settings.tls.enabled) {
        settings.tls = files;
    }
    if (tls.enabled && tls.ca_file.empty()) {
        tls.ca_file = files.ca_file;
    }
    if (tls.enabled && !own_certificate) {
        tls.certificate_file = files.certificate_file;
        tls.private_key_file = files.private_key_file;
    }
}

// `[user:password@]host[:port],…` at the beginning of `rest`, which keeps what follows.
std::vector<config::address> take_hosts(
    std::string_view& rest,
    std::uint16_t usual_port,
    config& settings
) {
    auto hosts = rest.substr(0, rest.find_first_of("/?"));
    rest.remove_prefix(hosts.size());
    if (hosts.find('@') != hosts.rfind('@')) {
        refuse("syntax", "an @ in a user name or password must be written %40");
    }
    if (auto const at = hosts.find('@'); at != std::string_view::npos) {
        read_user(hosts.substr(0, at), settings);
        hosts.remove_prefix(at + 1);
    }
    auto all = detail::read_host_list(hosts, usual_port);
    for (auto& one : all) {
        one.host = percent_decoded(one.host, "host");
    }
    return all;
}

// `redis-sentinel://[user:password@]host[:port],…/name[/database][?query]`
config parse_sentinel(std::string_view rest, bool tls) {
    constexpr std::uint16_t usual_port = 26379;
    config settings;
    settings.tls.enabled = settings.sentinel_tls.enabled = tls;
    settings.sentinels = take_hosts(rest, usual_port, settings);
    auto const question = rest.find('?');
    auto path = rest.substr(0, question);
    path.remove_prefix(std::min<std::size_t>(path.size(), 1));
    auto const name = path.substr(0, path.find('/'));
    settings.primary_name = percent_decoded(name, "name");
    if (settings.primary_name.empty()) {
        refuse("name", "the primary's is missing: write redis-sentinel://host/name");
    }
    if (path.size() > name.size() + 1) {
        settings.database = read_database(path.substr(name.size() + 1));
    }
    if (question != std::string_view::npos) {
        read_sentinel_parameters(rest.substr(question + 1), settings);
    }
    return settings;
}

// `redis-cluster://[user:password@]host[:port],…[?query]`
config parse_cluster(std::string_view rest, bool tls) {
    config settings;
    settings.tls.enabled = tls;
    settings.cluster_nodes = take_hosts(rest, settings.port, settings);
    auto const path = rest.substr(0, rest.find('?'));
    if (path.size() > 1 && path != "/0") {
        refuse("database", "a Redis Cluster has none but 0");
    }
    rest.remove_prefix(path.size());
    if (!rest.empty()) {
        read_parameters(rest.substr(1), settings);
    }
    return settings;
}

// `redis://[user:password@]host[:port][/database][?query]`
config parse_single(std::string_view rest, bool tls) {
    config settings;
    settings.tls.enabled = tls;
    auto const hosts = take_hosts(rest, settings.port, settings);
    if (hosts.size() != 1) {
        refuse("host", "only one server can be named");
    }
    settings.host = hosts.front().host;
    settings.port = hosts.front().port;
    auto const question = rest.find('?');
    auto const path = rest.substr(0, question);
    if (path.size() > 1) {
        settings.database = read_database(path.substr(1));
    }
    if (question != std::string_view::npos) {
        read_parameters(rest.substr(question + 1), settings);
    }
    return settings;
}

}  // namespace

config parse_url(std::string_view text) {
    auto const separator = text.find("://");
    auto const scheme = lower_case(text.substr(0, separator));
    bool const by_sentinels = scheme == "redis-sentinel" || scheme == "rediss-sentinel";
    bool const is_cluster = scheme == "redis-cluster" || scheme == "rediss-cluster";
    if (separator == std::string_view::npos || (scheme != "redis" && scheme != "rediss" &&
                                                scheme != "unix" && !by_sentinels && !is_cluster)) {
        refuse(
            "scheme",
            "must be redis, rediss, unix, redis-sentinel, rediss-sentinel, redis-cluster or "
            "rediss-cluster"
        );
    }
    if (text.find('\0') != std::string_view::npos ||
        text.find_first_of(" \t\r\n") != std::string_view::npos) {
        refuse("syntax", "must not contain spaces or zero bytes");
    }
    if (text.find('#') != std::string_view::npos) {
        refuse("fragment", "not allowed");
    }
    if (scheme == "unix") {
        return parse_unix(text.substr(separator + 3));
    }
    if (by_sentinels) {
        return parse_sentinel(text.substr(separator + 3), scheme == "rediss-sentinel");
    }
    if (is_cluster) {
        return parse_cluster(text.substr(separator + 3), scheme == "rediss-cluster");
    }
    return parse_single(text.substr(separator + 3), scheme == "rediss");
}

}  // namespace holdfast
