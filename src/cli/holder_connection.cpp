#include "cli/holder_connection.hpp"

#include "cli/primaries.hpp"
#include "cli/server_texts.hpp"

#include <boost/redis/request.hpp>
#include <boost/system/system_error.hpp>

namespace holdfast::cli {

std::optional<holder_connection> find_connection(
    std::string_view client_list,
    std::string_view client_id
) {
    if (client_id.empty()) {
        return std::nullopt;
    }
    auto const ending = ":" + std::string{client_id};
    for (auto const& one : read_client_list(client_list)) {
        auto name = text_in(one, "name");
        if (name.ends_with(ending)) {
            name.remove_suffix(ending.size());
            return holder_connection{std::string{name}, std::string{text_in(one, "addr")}};
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
