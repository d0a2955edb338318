#include "cli/holder_connection.hpp"

#include "cli/primaries.hpp"

#include <boost/redis/request.hpp>
#include <boost/system/system_error.hpp>

namespace holdfast::cli {

namespace {

// "id=7 addr=10.0.0.1:5000 name=… …": no value has a space.
std::string_view field_of(std::string_view line, std::string_view name) {
    for (std::size_t at = 0; at < line.size();) {
        auto const field = line.substr(at, line.find(' ', at) - at);
        if (field.starts_with(name) && field.substr(name.size()).starts_with('=')) {
            return field.substr(name.size() + 1);
        }
        at += field.size() + 1;
    }
    return {};
}

}  // namespace

std::optional<holder_connection> find_connection(
    std::string_view client_list,
    std::string_view client_id
) {
    for (std::size_t at = 0; at < client_list.size() && !client_id.empty();) {
        auto const line = client_list.substr(at, client_list.find('\n', at) - at);
        at += line.size() + 1;
        auto name = field_of(line, "name");
        if (name.size() <= client_id.size() || !name.ends_with(client_id)) {
            continue;
        }
        name.remove_suffix(client_id.size());
        if (name.ends_with(':')) {
            name.remove_suffix(1);
            return holder_connection{std::string{name}, std::string{field_of(line, "addr")}};
        }
    }
    return std::nullopt;
}

std::string_view client_id_of(std::string_view holder) noexcept {
    auto const colon = holder.rfind(':');
    return colon == holder.npos ? std::string_view{} : holder.substr(0, colon);
}

asio::awaitable<std::optional<holder_connection>> connection_of(
    context const& on,
    std::string_view holder
) {
    boost::redis::request question;
    question.push("CLIENT", "LIST");
    auto const servers = co_await open_primaries(on.config);
    for (auto const& server : servers.all) {
        if (!server.session) {
            continue;
        }
        try {
            auto const replies = co_await server.session->ask(question);
            if (!replies.empty() && !replies.front().is_error) {
                auto found = find_connection(replies.front().text(0), client_id_of(holder));
                if (found) {
                    co_return found;
                }
            }
        } catch (boost::system::system_error const&) {
            // Without that server.
            continue;
        }
    }
    co_return std::nullopt;
}

}  // namespace holdfast::cli
