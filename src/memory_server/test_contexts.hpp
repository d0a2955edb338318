#ifndef HOLDFAST_MEMORY_SERVER_TEST_CONTEXTS_HPP
#define HOLDFAST_MEMORY_SERVER_TEST_CONTEXTS_HPP

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>

#include <memory>
#include <mutex>
#include <vector>

namespace holdfast::memory {

namespace asio = boost::asio;

/// The context of an executor, or of the one that a strand was made of, if it is an `io_context`.
[[nodiscard]] asio::io_context* io_context_of(asio::any_io_executor const& executor);

/// The contexts of the clients of all memory servers of the process. A test runs them from outside,
/// since a context does not say when it is idle.
///
/// Thread-safe.
class test_contexts {
public:
    static test_contexts& all();

    /// A client runs on this executor for as long as the result lives, and keeps its context busy,
    /// as a connection would.
    [[nodiscard]] std::shared_ptr<void> add(asio::any_io_executor const& executor);

    /// Runs what is ready, until nothing is.
    /// @throws std::logic_error if there is an executor that is not an `io_context`'s, or no end.
    void settle();
    /// Lets every context look at the lease clock, which was moved.
    void look_at_clock();

private:
    struct entry {
        asio::any_io_executor executor;  // with work outstanding
        asio::io_context* context;
    };

    std::vector<std::shared_ptr<entry>> living();

    std::mutex mutex_;
    std::vector<std::weak_ptr<entry>> entries_;
};

}  // namespace holdfast::memory

#endif
