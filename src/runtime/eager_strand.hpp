#ifndef HOLDFAST_RUNTIME_EAGER_STRAND_HPP
#define HOLDFAST_RUNTIME_EAGER_STRAND_HPP

#include "runtime/strand_queue.hpp"

#include <holdfast/fwd.hpp>

#include <boost/asio/execution.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/require.hpp>

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

namespace holdfast::detail {

/// A strand whose functions go on in the same turn with what they post to it.
///
/// `asio::strand` goes back to its context after each batch, and the context asks the system for
/// events before the next one: five times for one exchange with the server. This one keeps the
/// thread for `strand_queue::most_added_in_a_turn` functions more. In all else it is like Asio's:
/// functions run one at a time, in the order of their submission, and see what the earlier ones did.
template <class Inner>
class eager_strand {
public:
    // Of nothing that could be turned into `Inner`: an erased executor takes strands, too.
    template <std::same_as<Inner> Executor>
    explicit eager_strand(Executor inner)
        : eager_strand{std::move(inner), std::make_shared<strand_queue>()} {}

    [[nodiscard]] Inner const& inner() const noexcept { return inner_; }

    /// Whether this thread runs one of its functions.
    [[nodiscard]] bool running_in_this_thread() const noexcept {
        return queue_->runs_in_this_thread();
    }

    template <class Function>
    void execute(Function&& f) const {
        if (may_run_at_once()) {
            std::decay_t<Function> now{std::forward<Function>(f)};
            std::move(now)();
            return;
        }
        // Kept: what runs at once may destroy this executor.
        auto const queue = queue_;
        queue->add(std::forward<Function>(f), [&] { schedule(inner_, queue); });
    }

    friend bool operator==(eager_strand const& a, eager_strand const& b) noexcept {
        return a.queue_ == b.queue_;
    }
    friend bool operator!=(eager_strand const& a, eager_strand const& b) noexcept {
        return !(a == b);
    }

    template <class Property>
        requires asio::can_query_v<Inner const&, Property>
    [[nodiscard]] decltype(auto) query(Property const& what) const
        noexcept(asio::is_nothrow_query_v<Inner const&, Property>) {
        if constexpr (std::is_convertible_v<Property, asio::execution::blocking_t>) {
            // A function may have to wait for others: the caller cannot wait for it.
            asio::execution::blocking_t const answer = asio::query(inner_, what);
            return answer == asio::execution::blocking.always
                       ? asio::execution::blocking_t{asio::execution::blocking.possibly}
                       : answer;
        } else {
            return asio::query(inner_, what);
        }
    }

    template <class Property>
        requires asio::can_require_v<Inner const&, Property> &&
                 (!std::is_convertible_v<Property, asio::execution::blocking_t::always_t>)
    [[nodiscard]] auto require(Property const& what) const
        noexcept(asio::is_nothrow_require_v<Inner const&, Property>) {
        using required = std::decay_t<decltype(asio::require(inner_, what))>;
        return eager_strand<required>{asio::require(inner_, what), queue_};
    }

private:
    template <class>
    friend class eager_strand;

    /// A turn on the way to the context. Dropped there, it takes what waits for it along.
    class turn {
    public:
        turn(Inner inner, std::shared_ptr<strand_queue> queue) noexcept
            : inner_{std::move(inner)},
              queue_{std::move(queue)} {}
        turn(turn&&) noexcept = default;
        turn& operator=(turn&&) = delete;
        ~turn() {
            if (queue_) {
                queue_->abandon();
            }
        }

        void operator()() {
            auto const queue = std::move(queue_);
            queue->run([&] {
                schedule(asio::require(inner_, asio::execution::blocking.never), queue);
            });
        }

    private:
        Inner inner_;
        std::shared_ptr<strand_queue> queue_;
    };

    template <class Executor>
    static void schedule(Executor const& on, std::shared_ptr<strand_queue> const& queue) {
        on.execute(typename eager_strand<Executor>::turn{on, queue});
    }

    [[nodiscard]] bool may_run_at_once() const noexcept {
        return asio::query(inner_, asio::execution::blocking) != asio::execution::blocking.never &&
               queue_->runs_in_this_thread();
    }

    template <std::same_as<Inner> Executor>
    eager_strand(Executor inner, std::shared_ptr<strand_queue> queue) noexcept
        : inner_{std::move(inner)},
          queue_{std::move(queue)} {}

    Inner inner_;
    std::shared_ptr<strand_queue> queue_;
};

template <class Executor>
eager_strand(Executor) -> eager_strand<Executor>;

}  // namespace holdfast::detail

#endif
