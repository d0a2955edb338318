// The fencing token: a store that is shown the token before it is read refuses a former holder. If
// only the writes show it, a holder that is paused between its read and its write does harm.
#include "main.hpp"
#include "stock_table.hpp"

#include <boost/asio/this_coro.hpp>

#include <fmt/format.h>

namespace {

// Two shops sell the last item, if the store lets them. Returns how often it was sold.
template <class Purchase>
asio::awaitable<int> sell_the_last_item(holdfast::lock const& first, holdfast::lock const& second) {
    stock_table stock{1};

    auto early = co_await first.acquire();
    Purchase paused{stock, early.token()};
    expect(paused.read(), "the first shop saw no item");

    // Now the first process is paused, for longer than its lease. So that nobody has to wait for
    // that, its lock is taken away instead.
    co_await second.force_release();
    auto late = co_await second.acquire();
    Purchase successor{stock, late.token()};
    expect(successor.read(), "the second shop saw no item");

    // It does not know yet.
    fmt::print("the first shop takes its lease for {}\n", early.valid() ? "valid" : "lost");
    int sold = 0;
    for (auto* each : {&paused, &successor}) {
        bool const accepted = each->write();
        fmt::print(
            "  {} shop: {}\n",
            each == &paused ? "first" : "second",
            accepted ? "sold" : "REFUSED"
        );
        sold += accepted ? 1 : 0;
    }
    co_await late.release();
    co_return sold;
}

}  // namespace

asio::awaitable<void> co_main(holdfast::config config) {
    auto executor = co_await asio::this_coro::executor;
    // As different to the server as two processes.
    holdfast::client one{executor, config};
    holdfast::client other{executor, config};
    auto const first = one.lock("fencing");
    auto const second = other.lock("fencing");

    fmt::print("The token is shown with the writes only:\n");
    int const careless = co_await sell_the_last_item<careless_purchase>(first, second);
    expect(careless == 2, "the mistake did not show");

    fmt::print("The token is claimed before the read:\n");
    int const claimed = co_await sell_the_last_item<purchase>(first, second);
    expect(claimed == 1, "the token did not keep the first shop out");
}
