#ifndef HOLDFAST_TLS_FILES_HPP
#define HOLDFAST_TLS_FILES_HPP

#include <holdfast/config.hpp>

namespace holdfast::detail {

/// Throws `std::invalid_argument` that names the member of `which`, if TLS is enabled and a file
/// that it needs cannot be read. Connecting would fail later for the same reason, but nobody would
/// see why.
void check_tls_files(tls_options const& tls, char const* which = "tls");

}  // namespace holdfast::detail

#endif
