#ifndef HOLDFAST_DETAIL_ASIO_ABI_HPP
#define HOLDFAST_DETAIL_ASIO_ABI_HPP

#include <boost/config.hpp>
#include <boost/version.hpp>

namespace holdfast::detail {

/// What a program and the library must have in common because they exchange Asio's objects. It is
/// part of the name of the client's constructor: a program that was compiled with another Boost, or
/// with other compiler flags than the library, fails to link instead of misbehaving.
template <int boost_minor_version, bool rtti, bool threads>
struct asio_abi {};

// Asio follows Boost.Config, unless the program defines one of Asio's own switches.
#if defined(BOOST_NO_TYPEID) || defined(BOOST_ASIO_NO_TYPEID)
inline constexpr bool asio_knows_types = false;
#else
inline constexpr bool asio_knows_types = true;
#endif
#if defined(BOOST_HAS_THREADS) && !defined(BOOST_ASIO_DISABLE_THREADS)
inline constexpr bool asio_has_threads = true;
#else
inline constexpr bool asio_has_threads = false;
#endif

using asio_abi_here = asio_abi<BOOST_VERSION / 100 % 1000, asio_knows_types, asio_has_threads>;

}  // namespace holdfast::detail

#endif
