#ifndef HOLDFAST_DETAIL_COUNTED_HANDLE_HPP
#define HOLDFAST_DETAIL_COUNTED_HANDLE_HPP

#include <holdfast/detail/client_operations.hpp>
#include <holdfast/detail/completion_handler.hpp>
#include <holdfast/detail/initiation.hpp>
#include <holdfast/detail/lock_operations.hpp>
#include <holdfast/detail/patience.hpp>
#include <holdfast/error.hpp>
#include <holdfast/export.hpp>
#include <holdfast/fwd.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

namespace holdfast::detail {

using change_handler = completion_handler<error_code>;
using success_handler = completion_handler<error_code, bool>;
using number_handler = completion_handler<error_code, std::int64_t>;

/// The number under the name of a latch or of a counting semaphore.
struct counted_number {
    std::shared_ptr<client_state> client;
    std::shared_ptr<target const> key;
};

HOLDFAST_EXPORT void start_read_number(counted_number of, number_handler handler);
HOLDFAST_EXPORT void start_try_set_number(
    counted_number of,
    std::int64_t number,
    success_handler handler
);
HOLDFAST_EXPORT void start_count_down(
    counted_number of,
    std::int64_t times,
    change_handler handler
);
HOLDFAST_EXPORT void start_add_permits(
    counted_number of,
    std::int64_t permits,
    change_handler handler
);
HOLDFAST_EXPORT void start_release_permits(
    counted_number of,
    std::int64_t permits,
    change_handler handler
);
HOLDFAST_EXPORT void start_drain_permits(counted_number of, number_handler handler);
/// Waits until a latch is open, or takes permits.
HOLDFAST_EXPORT void start_wait_for_number(
    counted_number of,
    std::int64_t permits,
    change_handler handler
);
HOLDFAST_EXPORT void start_try_number(
    counted_number of,
    std::int64_t permits,
    patience how_long,
    std::chrono::nanoseconds limit,
    success_handler handler
);

/// What `latch` and `counting_semaphore` consist of.
class counted_handle {
protected:
    counted_handle(std::shared_ptr<client_state> client, std::shared_ptr<target const> key) noexcept
        : of_{std::move(client), std::move(key)} {}

    [[nodiscard]] asio::any_io_executor executor() const noexcept {
        return executor_of(*of_.client);
    }
    [[nodiscard]] std::shared_ptr<target const> const& key() const noexcept { return of_.key; }

    // `Token` is given, not deduced: a reference where the caller passed an lvalue.
    template <class Token, class Signature, auto Start, class... Arguments>
    auto request(Token& token, Arguments... arguments) const {
        return initiate<Token, Signature, Start>(token, executor(), of_, arguments...);
    }
    template <class Token>
    auto await_number(std::int64_t permits, Token& token) const {
        return request<Token, void(error_code), &start_wait_for_number>(token, permits);
    }
    template <class Token>
    auto try_number(
        std::int64_t permits,
        patience how_long,
        std::chrono::nanoseconds limit,
        Token& token
    ) const {
        return request<Token, void(error_code, bool), &start_try_number>(
            token,
            permits,
            how_long,
            limit
        );
    }

private:
    counted_number of_;
};

}  // namespace holdfast::detail

#endif
