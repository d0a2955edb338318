#include "proxy_faults.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::test {

bool connection_selector::matches(connection_record const& connection) const {
    if (number && *number != connection.number) {
        return false;
    }
    auto const sent = [&](std::string const& what) {
        return std::any_of(
            connection.sent.begin(),
            connection.sent.end(),
            [&](auto const& command) { return command.find(what) != std::string::npos; }
        );
    };
    return (text.empty() || sent(text)) && (absent.empty() || !sent(absent));
}

connection_selector all_connections() {
    return {};
}

connection_selector connection_number(std::size_t number) {
    return {.number = number};
}

connection_selector connections_that_sent(std::string text) {
    return {.text = std::move(text)};
}

connection_selector connections_that_sent(std::string text, std::string but_never) {
    return {.text = std::move(text), .absent = std::move(but_never)};
}

}  // namespace holdfast::test
