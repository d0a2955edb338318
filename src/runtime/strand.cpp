#include "runtime/strand.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/require.hpp>
#include <boost/asio/thread_pool.hpp>

namespace holdfast::detail {

/// A turn on the way to the context. Dropped there, it takes what waits for it along.
class strand_state::turn {
public:
    explicit turn(std::shared_ptr<strand_state> of) noexcept : of_{std::move(of)} {}
    turn(turn&&) noexcept = default;
    turn& operator=(turn&&) = delete;
    ~turn() {
        if (of_) {
            of_->queue_.abandon();
        }
    }

    void operator()() {
        auto const of = std::move(of_);
        of->queue_.run([&] { of->schedule(false); });
    }

private:
    std::shared_ptr<strand_state> of_;
};

namespace {

template <class Executor>
class strand_on final : public strand_state {
public:
    explicit strand_on(Executor of)
        : strand_state{asio::query(of, asio::execution::context)},
          inner_{std::move(of)},
          posts_{asio::require(inner_, asio::execution::blocking.never)} {}

    asio::any_io_executor inner() const override { return inner_; }

private:
    using posting = std::decay_t<
        decltype(asio::require(std::declval<Executor const&>(), asio::execution::blocking.never))>;

    bool context_runs_here() const noexcept override {
        if constexpr (requires { inner_.running_in_this_thread(); }) {
            return inner_.running_in_this_thread();
        } else {
            return false;
        }
    }

    void schedule(bool may_block) override {
        if (may_block) {
            inner_.execute(turn{shared_from_this()});
        } else {
            posts_.execute(turn{shared_from_this()});
        }
    }

    Executor inner_;
    posting posts_;
};

}  // namespace

// Erased twice, each function would be allocated and queued twice.
std::shared_ptr<strand_state> strand::make_state(asio::any_io_executor const& of) {
    if (auto const* const io = of.target<asio::io_context::executor_type>()) {
        return std::make_shared<strand_on<asio::io_context::executor_type>>(*io);
    }
    if (auto const* const pool = of.target<asio::thread_pool::executor_type>()) {
        return std::make_shared<strand_on<asio::thread_pool::executor_type>>(*pool);
    }
    return std::make_shared<strand_on<asio::any_io_executor>>(of);
}

strand strand_of(asio::any_io_executor const& executor) {
    auto const* const made = executor.target<strand>();
    return made ? *made : strand{executor};
}

}  // namespace holdfast::detail
