#ifndef HOLDFAST_DETAIL_TOKEN_FOR_HPP
#define HOLDFAST_DETAIL_TOKEN_FOR_HPP

#include <boost/asio/async_result.hpp>

#include <concepts>
#include <type_traits>

namespace holdfast::detail {

/// A completion token that can be stored until the operation completes. Asio's concept also accepts
/// an lvalue of a type that can only be moved.
template <class Token, class Signature>
concept token_for = boost::asio::completion_token_for<Token, Signature> &&
                    std::constructible_from<std::decay_t<Token>, Token>;

}  // namespace holdfast::detail

#endif
