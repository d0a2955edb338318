// Part of a library that uses Boost.Redis for itself. As its documentation says, one source file
// includes all of it; that this one has a function too is what makes every linker look at it.
#include "note.hpp"

#include <boost/asio/deferred.hpp>
#include <boost/redis/request.hpp>
#include <boost/redis/response.hpp>
#include <boost/redis/src.hpp>

#include <tuple>

asio::awaitable<std::string> note(redis::connection& connection, std::string value) {
    redis::request request;
    request.push("SET", "written", value);
    request.push("GET", "written");
    redis::response<redis::ignore_t, std::string> response;
    co_await connection.async_exec(request, response, asio::deferred);
    co_return std::get<1>(response).value();
}
