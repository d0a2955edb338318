#ifndef HOLDFAST_ASIO_ABI_HPP
#define HOLDFAST_ASIO_ABI_HPP

#include <boost/asio/detail/config.hpp>
#include <boost/version.hpp>

namespace holdfast::detail {

/// What a program and the library in it must have in common: they hand Asio's objects to each
/// other. It is a part of the name of the client's constructor, so that a program that was compiled
/// with another Boost or with other compiler flags than the library does not link, instead of
/// behaving strangely.
template <int boost_minor_version, bool rtti, bool threads>
struct asio_abi {};

#ifdef BOOST_ASIO_NO_TYPEID
inline constexpr bool asio_knows_types = false;
#else
inline constexpr bool asio_knows_types = true;
#endif
#ifdef BOOST_ASIO_HAS_THREADS
inline constexpr bool asio_has_threads = true;
#else
inline constexpr bool asio_has_threads = false;
#endif

using asio_abi_here = asio_abi<BOOST_VERSION / 100 % 1000, asio_knows_types, asio_has_threads>;

}  // namespace holdfast::detail

#endif
