// Who includes holdfast.hpp sees no header of Boost.Redis, of OpenSSL or Boost.Asio's TLS, nor one
// that Boost.Asio calls experimental.

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
#if defined(BOOST_ASIO_EXPERIMENTAL_PARALLEL_GROUP_HPP)
#error "a public header reaches an experimental one"
#endif

// The guards are really the names of these headers.
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/redis/connection.hpp>
#include <boost/redis/request.hpp>

#if !defined(BOOST_REDIS_CONNECTION_HPP) || !defined(BOOST_REDIS_REQUEST_HPP) || \
    !defined(BOOST_REDIS_ANY_ADAPTER_HPP)
#error "Boost.Redis has renamed its include guards"
#endif
#if !defined(BOOST_ASIO_EXPERIMENTAL_PARALLEL_GROUP_HPP)
#error "Boost.Asio has renamed its include guards"
#endif
