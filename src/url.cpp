#include <holdfast/config.hpp>

#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

#include <charconv>
#include <stdexcept>
#include <string>

namespace holdfast {

namespace {

// Never the text itself: it may hold a password.
[[noreturn]] void refuse(char const* part, char const* why) {
    throw std::invalid_argument(std::string("holdfast URL: ") + part + ": " + why);
}

template <class Number>
Number read_number(std::string_view text, char const* part, long max) {
    long value = 0;
    auto const [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (ec != std::errc{} || end != text.data() + text.size() || value < 0 || value > max) {
        refuse(part, "not a number in range");
    }
    return static_cast<Number>(value);
}

void read_parameters(boost::urls::url_view const& url, config& settings) {
    for (auto const& parameter : url.params()) {
        if (parameter.key == "client_name") {
            settings.client_name = parameter.value;
        } else if (parameter.key == "ca_file" && settings.tls.enabled) {
            settings.tls.ca_file = parameter.value;
        } else {
            refuse("query", "unknown parameter");
        }
    }
}

void read_credentials(boost::urls::url_view const& url, config& settings) {
    settings.username = url.user();
    settings.password = url.password();
}

}  // namespace

config parse_url(std::string_view text) {
    auto const parsed = boost::urls::parse_uri(text);
    if (!parsed) {
        refuse("syntax", "not a URL; mind that special characters in a password must be percent-encoded");
    }
    auto const& url = *parsed;
    config settings;
    read_credentials(url, settings);
    if (url.has_fragment()) {
        refuse("fragment", "not allowed");
    }
    if (url.scheme() == "unix") {
        if (!url.host().empty()) {
            refuse("host", "a UNIX socket has none: write unix:///path");
        }
        settings.unix_socket = url.path();
        if (settings.unix_socket.size() < 2) {
            refuse("path", "the path of the socket is missing");
        }
        read_parameters(url, settings);
        return settings;
    }
    if (url.scheme() != "redis" && url.scheme() != "rediss") {
        refuse("scheme", "must be redis, rediss or unix");
    }
    settings.tls.enabled = url.scheme() == "rediss";
    if (url.host_address().empty()) {
        refuse("host", "is missing");
    }
    settings.host = url.host_address();
    if (url.has_port()) {
        settings.port = read_number<std::uint16_t>(std::string_view{url.port()}, "port", 65535);
        if (settings.port == 0) {
            refuse("port", "not a number in range");
        }
    }
    std::string const path = url.path();
    if (path.size() > 1) {
        settings.database = read_number<int>(std::string_view{path}.substr(1), "database", 1'000'000);
    }
    read_parameters(url, settings);
    return settings;
}

}  // namespace holdfast
