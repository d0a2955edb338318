#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/redis/connection.hpp>

#include <string>

namespace asio = boost::asio;
namespace redis = boost::redis;

/// Writes the value to a key of the server and reads it back.
asio::awaitable<std::string> note(redis::connection& connection, std::string value);
