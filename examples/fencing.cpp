// The fencing token: a store remembers the greatest one that it has seen and refuses a smaller one,
// so that a holder who does not know yet that it lost the lock can do no harm.
#include "main.hpp"

#include <boost/asio/this_coro.hpp>

#include <fmt/core.h>

#include <string>
#include <string_view>

namespace {

// Stands for a database. There it would be a column, and a condition in each UPDATE.
class store {
public:
    bool write(holdfast::fencing_token token, std::string_view value) {
        bool const accepted = token >= newest_;
        if (accepted) {
            newest_ = token;
            value_ = value;
        }
        fmt::print("{}: {} with token {}\n", accepted ? "written" : "REFUSED", value, token.value);
        return accepted;
    }

    std::string const& value() const { return value_; }

private:
    holdfast::fencing_token newest_;
    std::string value_;
};

}  // namespace

asio::awaitable<void> co_main(holdfast::config config) {
    auto executor = co_await asio::this_coro::executor;
    // As different to the server as two processes.
    holdfast::client first{executor, config};
    holdfast::client second{executor, config};
    store stock;

    auto early = co_await first.lock("fencing").acquire();
    expect(stock.write(early.token(), "9 apples"), "the holder was refused");

    // Now the first process is paused, for longer than its lease. So that nobody has to wait for
    // that, its lock is taken away instead.
    co_await second.lock("fencing").force_release();
    auto late = co_await second.lock("fencing").acquire();
    expect(stock.write(late.token(), "8 apples"), "the new holder was refused");

    fmt::print("the first wakes up and takes its lease for {}\n", early.valid() ? "valid" : "lost");
    expect(!stock.write(early.token(), "7 apples"), "an old token was accepted");
    expect(stock.value() == "8 apples", "the new holder's write was lost");
    fmt::print("in the store: {}\n", stock.value());
    co_await late.release();
}
