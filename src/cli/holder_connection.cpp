#include "cli/holder_connection.hpp"

#include "cli/primaries.hpp"
#include "cli/server_texts.hpp"
#include "core/holder_id.hpp"

#include <boost/redis/request.hpp>
#include <boost/system/system_error.hpp>

#include <utility>

namespace holdfast::cli {

connections_by_client connections_in(std::string_view client_list) {
    connections_by_client all;
    for (auto const& one : read_client_list(client_list)) {
        auto const name = text_in(one, "name");
        if (auto const colon = name.rfind(':'); colon != name.npos) {
            all.try_emplace(
                std::string{name.substr(colon + 1)},
                holder_connection{
                    std::string{name.substr(0, colon)},
                    std::string{text_in(one, "addr")}
                }
            );
        }
    }
    return all;
}

std::string_view client_id_of(std::string_view holder) noexcept {
    constexpr auto size = detail::holder_id::client_id_length;
    auto const id = holder.substr(0, size);
    bool const has_number = holder.size() > size && holder[size] == ':';
    bool const is_uuid = id.find_first_not_of("0123456789abcdefABCDEF-") == id.npos;
    return has_number && is_uuid ? id : std::string_view{};
}

asio::awaitable<connections_by_client> ask_for_connections(
    server_session& server,
    std::string& refusal
) {
    boost::redis::request question;
    question.push("CLIENT", "LIST");
    auto asking = server.ask(question);
    auto const replies = co_await std::move(asking);
    auto const& reply = replies.front();
    if (reply.is_error) {
        refusal = detail::loggable(reply.error);
    }
    co_return connections_in(reply.text(0));
}

asio::awaitable<std::optional<holder_connection>> connection_of(
    context const& on,
    std::string_view holder
) {
    std::string refusal;
    auto const servers = co_await open_primaries(on.config);
    for (auto const& server : servers.all) {
        if (!server.session) {
            continue;
        }
        try {
            auto asking = ask_for_connections(*server.session, refusal);
            auto const all = co_await std::move(asking);
            if (auto const found = all.find(client_id_of(holder)); found != all.end()) {
                co_return found->second;
            }
        } catch (boost::system::system_error const&) {
            // Without that server.
            continue;
        }
    }
    co_return std::nullopt;
}

}  // namespace holdfast::cli
