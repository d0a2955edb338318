#include "host_list.hpp"

#include <charconv>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <system_error>

namespace holdfast::detail {

namespace {

[[noreturn]] void refuse_list(char const* part, char const* why) {
    throw std::invalid_argument(std::string("holdfast URL: ") + part + ": " + why);
}

std::uint16_t read_port(std::string_view text) {
    std::uint16_t port = 0;
    auto const [end, ec] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (ec != std::errc{} || end != text.data() + text.size() || port == 0) {
        refuse_list("port", "not a number in range");
    }
    return port;
}

config::address read_host(std::string_view text, std::uint16_t usual_port) {
    bool const bracketed = text.starts_with('[');
    auto const closing = text.find(']');
    if (bracketed != (closing != std::string_view::npos)) {
        refuse_list("host", "a bracket is missing");
    }
    auto const end = bracketed ? closing + 1 : text.find(':');
    auto const host = bracketed ? text.substr(1, closing - 1) : text.substr(0, end);
    auto const rest = end < text.size() ? text.substr(end) : std::string_view{};
    if (!bracketed && rest.find(':', 1) != std::string_view::npos) {
        refuse_list("host", "an IPv6 address must stand in brackets");
    }
    if (host.empty()) {
        refuse_list("host", "one is missing");
    }
    if (!rest.empty() && rest.front() != ':') {
        refuse_list("host", "a colon is missing behind the bracket");
    }
    return {std::string{host}, rest.empty() ? usual_port : read_port(rest.substr(1))};
}

}  // namespace

std::vector<config::address> read_host_list(std::string_view text, std::uint16_t usual_port) {
    std::vector<config::address> all;
    for (std::size_t at = 0; at <= text.size();) {
        auto const one = text.substr(at, text.find(',', at) - at);
        all.push_back(read_host(one, usual_port));
        at += one.size() + 1;
    }
    return all;
}

}  // namespace holdfast::detail
