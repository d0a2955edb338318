#include "runtime/strand.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/require.hpp>
#include <boost/asio/thread_pool.hpp>

namespace holdfast::detail {

/// A turn on the way to the context. Dropped there, it takes what waits for it along.
class strand::turn {
public:
    explicit turn(std::shared_ptr<state> of) noexcept : of_{std::move(of)} {}
    turn(turn&&) noexcept = default;
    turn& operator=(turn&&) = delete;
    ~turn() {
        if (of_) {
            of_->queue.abandon();
        }
    }

    void operator()() {
        auto const of = std::move(of_);
        of->queue.run([&] { of->schedule(of, false); });
    }

private:
    std::shared_ptr<state> of_;
};

template <class Executor>
class strand::state_of final : public state {
public:
    explicit state_of(Executor of)
        : state{asio::query(of, asio::execution::context)},
          inner_{std::move(of)},
          posts_{asio::require(inner_, asio::execution::blocking.never)} {}

    asio::any_io_executor inner() const override { return inner_; }

    bool context_runs_here() const noexcept override {
        if constexpr (requires { inner_.running_in_this_thread(); }) {
            return inner_.running_in_this_thread();
        } else {
            return false;
        }
    }

    void schedule(std::shared_ptr<state> const& self, bool may_block) override {
        if (may_block) {
            inner_.execute(turn{self});
        } else {
            posts_.execute(turn{self});
        }
    }

private:
    using posting = std::decay_t<
        decltype(asio::require(std::declval<Executor const&>(), asio::execution::blocking.never))>;

    Executor inner_;
    posting posts_;
};

// Erased twice, each function would be allocated and queued twice.
std::shared_ptr<strand::state> strand::make_state(asio::any_io_executor const& of) {
    if (auto const* const io = of.target<asio::io_context::executor_type>()) {
        return std::make_shared<state_of<asio::io_context::executor_type>>(*io);
    }
    if (auto const* const pool = of.target<asio::thread_pool::executor_type>()) {
        return std::make_shared<state_of<asio::thread_pool::executor_type>>(*pool);
    }
    return std::make_shared<state_of<asio::any_io_executor>>(of);
}

strand strand_of(asio::any_io_executor const& executor) {
    auto const* const made = executor.target<strand>();
    return made ? *made : strand{executor};
}

}  // namespace holdfast::detail
