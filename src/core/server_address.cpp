#include "core/server_address.hpp"

#include <algorithm>
#include <charconv>

namespace holdfast::detail {

namespace {

constexpr std::uint16_t default_port = 6379;

std::optional<std::uint16_t> read_port(std::string_view text) {
    std::uint16_t port = 0;
    auto const [end, ec] = std::from_chars(text.data(), text.data() + text.size(), port);
    bool const whole = ec == std::errc{} && end == text.data() + text.size();
    return whole && port != 0 ? std::optional{port} : std::nullopt;
}

}  // namespace

std::optional<server_address> read_address(std::string_view text) {
    auto host = text;
    std::string_view port;
    bool has_port = false;
    if (text.starts_with('[')) {
        auto const close = text.find(']');
        if (close == std::string_view::npos) {
            return std::nullopt;
        }
        host = text.substr(1, close - 1);
        auto const rest = text.substr(close + 1);
        has_port = !rest.empty();
        if (has_port && rest.front() != ':') {
            return std::nullopt;
        }
        port = rest.substr(has_port ? 1 : 0);
    } else if (auto const colon = text.find(':'); colon != std::string_view::npos) {
        host = text.substr(0, colon);
        port = text.substr(colon + 1);
        has_port = true;
    }
    auto const number = has_port ? read_port(port) : std::optional{default_port};
    bool const printable =
        std::all_of(host.begin(), host.end(), [](char c) { return c > ' ' && c <= '~'; });
    if (host.empty() || !printable || !number) {
        return std::nullopt;
    }
    return server_address{std::string{host}, *number};
}

}  // namespace holdfast::detail
