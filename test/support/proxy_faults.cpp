#include "proxy_faults.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::test {

bool connection_selector::matches(connection_record const& connection) const {
    if (number && *number != connection.number) {
        return false;
    }
    return text.empty() ||
           std::any_of(connection.sent.begin(), connection.sent.end(), [this](auto const& command) {
               return command.find(text) != std::string::npos;
           });
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

}  // namespace holdfast::test
