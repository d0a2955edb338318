#include "background.hpp"

#include "run.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <future>
#include <stdexcept>
#include <utility>

namespace holdfast::test {

namespace asio = boost::asio;

std::function<void(error_code, lease)> keep(
    std::shared_ptr<acquisition> result,
    lease const* rival
) {
    return [result = std::move(result), rival](error_code ec, lease granted) {
        result->at = lease_clock::now();
        result->rival_was_valid = !ec && rival && rival->valid();
        result->error = ec;
        result->held = std::move(granted);
        result->done = true;
    };
}

std::shared_ptr<acquisition> start_acquire(
    lock const& on,
    acquire_options options,
    lease const* rival
) {
    auto result = std::make_shared<acquisition>();
    on.acquire(options, keep(result, rival));
    return result;
}

std::shared_ptr<loss> watch(lease& held) {
    auto result = std::make_shared<loss>();
    held.wait_lost([result](error_code ec, loss_reason reason) {
        result->at = lease_clock::now();
        result->error = ec;
        result->reason = reason;
        result->told = true;
    });
    return result;
}

config short_leases(std::string const& url, std::chrono::milliseconds lease) {
    auto settings = parse_url(url);
    settings.lease = lease;
    settings.loss_margin = 1.0 / 3.0;
    return settings;
}

asio::awaitable<error_code> release(lease& held) {
    error_code ec;
    co_await held.release(asio::redirect_error(asio::use_awaitable, ec));
    co_return ec;
}

asio::awaitable<error_code> renew(lease& held) {
    error_code ec;
    co_await held.renew(asio::redirect_error(asio::use_awaitable, ec));
    co_return ec;
}

asio::awaitable<void> warm_up(client& by) {
    // Longer than any test, so that nothing is renewed.
    acquire_options const long_lease{.lease = std::chrono::minutes{10}};
    auto held = co_await by.lock("warm-up").acquire(long_lease, asio::use_awaitable);
    co_await held.release(asio::use_awaitable);
}

asio::awaitable<void> run_aside(std::function<void()> work) {
    auto done = std::async(std::launch::async, std::move(work));
    auto const ready = [&done] {
        return done.wait_for(std::chrono::seconds{0}) == std::future_status::ready;
    };
    // Sentinels that vote in vain try again half a minute later.
    if (!co_await co_eventually(std::chrono::seconds{90}, ready)) {
        throw std::runtime_error{"it took more than 90 s"};
    }
    done.get();
}

}  // namespace holdfast::test
