// Who includes holdfast.hpp sees no header of Boost.Redis, nor of OpenSSL or Boost.Asio's TLS.

#include <holdfast.hpp>

#if defined(BOOST_REDIS_CONNECTION_HPP) || defined(BOOST_REDIS_HPP) ||       \
    defined(BOOST_REDIS_REQUEST_HPP) || defined(BOOST_REDIS_CONFIG_HPP) ||   \
    defined(BOOST_REDIS_RESPONSE_HPP) || defined(BOOST_REDIS_ERROR_HPP) ||   \
    defined(BOOST_REDIS_ANY_ADAPTER_HPP) || defined(BOOST_REDIS_NODE_HPP) || \
    defined(BOOST_REDIS_RESP3_NODE_HPP) || defined(BOOST_REDIS_RESP3_TYPE_HPP)
#error "a public header reaches Boost.Redis"
#endif
#if defined(BOOST_ASIO_SSL_HPP) || defined(BOOST_ASIO_SSL_STREAM_HPP) || defined(OPENSSL_SSL_H)
#error "a public header reaches TLS"
#endif

// The guards are really the names of Boost.Redis.
#include <boost/redis/connection.hpp>
#include <boost/redis/request.hpp>

#if !defined(BOOST_REDIS_CONNECTION_HPP) || !defined(BOOST_REDIS_REQUEST_HPP) || \
    !defined(BOOST_REDIS_ANY_ADAPTER_HPP)
#error "Boost.Redis has renamed its include guards"
#endif
