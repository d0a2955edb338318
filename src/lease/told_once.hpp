#ifndef HOLDFAST_LEASE_TOLD_ONCE_HPP
#define HOLDFAST_LEASE_TOLD_ONCE_HPP

#include "runtime/pending_handler.hpp"

#include <holdfast/error.hpp>

#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>

#include <memory>
#include <mutex>
#include <utility>

namespace holdfast::detail {

/// A caller who is told once, by whichever thread is the first.
template <class... Results>
class told_once {
public:
    explicit told_once(pending_handler<error_code, Results...> caller)
        : caller_{std::move(caller)} {}

    /// In the initiating function. `Self` is what this belongs to.
    template <class Self>
    void accept_cancellation(std::weak_ptr<Self> self) {
        caller_.on_cancel([self](asio::cancellation_type type) {
            auto const asked = self.lock();
            if (asked && type != asio::cancellation_type::none) {
                asked->end(asio::error::operation_aborted, Results{}...);
            }
        });
    }

    /// False if that was done before.
    bool tell(error_code ec, Results... results) {
        std::unique_lock guard{mutex_};
        auto caller = std::exchange(caller_, {});
        guard.unlock();
        bool const first = static_cast<bool>(caller);
        caller.complete(ec, results...);
        return first;
    }
    /// The caller is told by other means.
    void drop() noexcept {
        std::unique_lock guard{mutex_};
        auto const dropped = std::exchange(caller_, {});
        guard.unlock();
    }

private:
    std::mutex mutex_;
    pending_handler<error_code, Results...> caller_;
};

}  // namespace holdfast::detail

#endif
