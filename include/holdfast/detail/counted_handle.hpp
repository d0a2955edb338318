#ifndef HOLDFAST_DETAIL_COUNTED_HANDLE_HPP
#define HOLDFAST_DETAIL_COUNTED_HANDLE_HPP

#include <holdfast/detail/acquire.hpp>
#include <holdfast/detail/client_operations.hpp>
#include <holdfast/detail/counted_operations.hpp>
#include <holdfast/detail/initiation.hpp>
#include <holdfast/detail/lock_operations.hpp>
#include <holdfast/detail/pass.hpp>
#include <holdfast/detail/patience.hpp>
#include <holdfast/error.hpp>
#include <holdfast/fwd.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace holdfast::detail {

/// What `latch` and `counting_semaphore` consist of.
class counted_handle {
protected:
    counted_handle(std::shared_ptr<client_state> client, std::shared_ptr<target const> key) noexcept
        : client_{std::move(client)},
          key_{std::move(key)} {}

    [[nodiscard]] asio::any_io_executor executor() const noexcept { return executor_of(*client_); }
    [[nodiscard]] std::shared_ptr<target const> const& key() const noexcept { return key_; }

    // `Token` is given, not deduced: a reference where the caller passed an lvalue.
    template <class Token, class Signature, auto Start, class... Arguments>
    auto request(Token& token, Arguments... arguments) const {
        return initiate<Token, Signature, Start>(token, executor(), client_, key_, arguments...);
    }

    template <class Token>
    auto pass(std::shared_ptr<target const> key, Token& token) const {
        return asio::async_initiate<Token, void(error_code)>(
            pass_initiation<false>{{{client_, std::move(key)}}},
            token
        );
    }

    template <class Token>
    auto try_pass(
        std::shared_ptr<target const> key,
        patience how_long,
        std::chrono::nanoseconds limit,
        Token& token
    ) const {
        return asio::async_initiate<Token, void(error_code, bool)>(
            pass_initiation<true>{{{client_, std::move(key), {}, how_long, limit}}},
            token
        );
    }

private:
    std::shared_ptr<client_state> client_;
    std::shared_ptr<target const> key_;
};

}  // namespace holdfast::detail

#endif
