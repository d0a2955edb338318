#ifndef HOLDFAST_RUNTIME_PENDING_HANDLER_HPP
#define HOLDFAST_RUNTIME_PENDING_HANDLER_HPP

#include <holdfast/detail/completion_handler.hpp>
#include <holdfast/fwd.hpp>

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/require.hpp>

#include <memory>
#include <utility>
#include <variant>

namespace holdfast::detail {

/// For `pending_handler::complete_in()`: nothing.
struct no_scope {
    template <class... Results>
    explicit no_scope(bool, Results const&...) noexcept {}
};

/// A user's handler until it is called: keeps its executor busy, and calls it there, never from
/// inside `complete`.
template <class... Results>
class pending_handler {
public:
    pending_handler() = default;
    /// `relay` is also where a handler without an executor of its own is called.
    pending_handler(completion_handler<Results...>&& handler, asio::any_io_executor const& relay)
        : handler_{std::move(handler.handler)},
          relay_{asio::require(relay, asio::execution::blocking.never)} {
        keep_busy(std::move(handler.executor), handler.has_other, relay);
    }

    pending_handler(pending_handler&&) noexcept = default;
    pending_handler& operator=(pending_handler&&) noexcept = default;

    [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(handler_); }

    /// `on_cancel(cancellation_type)` may be called by any thread until the handler is called. To
    /// be used in the initiating function only.
    template <class OnCancel>
    void on_cancel(OnCancel on_cancel) {
        auto slot = asio::get_associated_cancellation_slot(handler_);
        if (slot.is_connected()) {
            auto cancelled = std::make_shared<bool>(false);
            slot.template emplace<noted<OnCancel>>(std::move(on_cancel), cancelled);
            cancelled_ = std::move(cancelled);
        }
    }

    void complete(Results... results) { complete_in<no_scope>(std::move(results)...); }

    /// The same; while the handler runs, a `Scope{cancelled, results...}` exists. `cancelled`: the
    /// user cancelled the operation, perhaps after its result was decided.
    template <class Scope>
    void complete_in(Results... results) {
        if (!handler_) {
            return;
        }
        // Posted to the relay and from there to the handler's executor, which may not be able to
        // promise that it does not run things at once. In the usual case the two are the same.
        relay_.execute([handler = std::move(handler_),
                        executor = std::move(executor_),
                        cancelled = std::move(cancelled_),
                        relayed = relayed_,
                        ... results = std::move(results)]() mutable {
            if (!relayed) {
                call<Scope>(std::move(handler), cancelled.get(), results...);
                return;
            }
            std::visit(
                [&](auto const& busy) {
                    busy.execute(
                        [handler = std::move(handler), cancelled, ... results = std::move(results)](
                        ) mutable { call<Scope>(std::move(handler), cancelled.get(), results...); }
                    );
                },
                executor
            );
            // The work ends here, after the post. A program that destroys a context when its work
            // has ended does not destroy it under this thread.
        });
    }

private:
    using erased = asio::any_completion_handler<void(Results...)>;

    // Is in the cancellation slot.
    template <class OnCancel>
    struct noted {
        noted(OnCancel&& f, std::shared_ptr<bool> flag)
            : then{std::move(f)},
              cancelled{std::move(flag)} {}
        void operator()(asio::cancellation_type type) {
            *cancelled = *cancelled || type != asio::cancellation_type::none;
            then(type);
        }

        OnCancel then;
        std::shared_ptr<bool> cancelled;
    };

    template <class Scope>
    static void call(erased&& handler, bool const* cancelled, Results&... results) {
        // Here and not before: this is where the user may emit the signal.
        [[maybe_unused]] Scope const scope{cancelled && *cancelled, results...};
        asio::get_associated_cancellation_slot(handler).clear();
        std::move(handler)(std::move(results)...);
    }

    void keep_busy(
        asio::any_io_executor&& own,
        bool has_other,
        asio::any_io_executor const& relay
    ) {
        constexpr auto busy = asio::execution::outstanding_work.tracked;
        if (own) {
            relayed_ = own != relay;
            executor_ = asio::prefer(std::move(own), busy);
            return;
        }
        auto const other =
            has_other ? asio::get_associated_executor(handler_, asio::any_completion_executor{})
                      : asio::any_completion_executor{};
        if (other) {
            relayed_ = true;
            executor_ = asio::prefer(other, busy);
        } else {
            executor_ = asio::prefer(relay, busy);
        }
    }

    erased handler_;
    std::variant<asio::any_io_executor, asio::any_completion_executor> executor_;
    asio::any_io_executor relay_;
    // Shared with the cancellation slot, which another operation may take meanwhile.
    std::shared_ptr<bool const> cancelled_;
    // It has another executor than the relay.
    bool relayed_ = false;
};

}  // namespace holdfast::detail

#endif
