#ifndef HOLDFAST_TEST_SUPPORT_FAKE_CLIENT_HPP
#define HOLDFAST_TEST_SUPPORT_FAKE_CLIENT_HPP

#include "support/fake_port.hpp"

#include <holdfast.hpp>

#include <boost/asio/awaitable.hpp>

#include <functional>

namespace holdfast::test {

/// No timer of the library helps a test along.
config patient_config();

/// Leases of a second.
config short_config();

/// Runs `body` as a coroutine with one server in memory and a client of it.
using fake_body = std::function<boost::asio::awaitable<void>(fake_server&, client&)>;
void with_fake_client(fake_body const& body, config settings = patient_config());

}  // namespace holdfast::test

#endif
