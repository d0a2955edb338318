#include "lease/delivery.hpp"

#include <holdfast/lease_clock.hpp>

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <utility>

namespace holdfast::detail {

namespace {

// The innermost one of this thread.
thread_local constinit delivery* running = nullptr;

// Much longer than a coroutine takes from its resumption to the end of the expression, also where
// its code is run for the first time.
constexpr nanos longest_discard = std::chrono::milliseconds{1};

}  // namespace

delivery::delivery(void const* lease) noexcept
    : unused_{lease},
      began_{lease_clock::now()},
      outer_{std::exchange(running, this)} {}

delivery::~delivery() {
    running = outer_;
}

void delivery::on_use(void const* lease) noexcept {
    if (running && running->unused_ == lease) {
        running->unused_ = nullptr;
    }
}

bool delivery::discards(void const* lease) noexcept {
    return running && running->unused_ == lease && std::uncaught_exceptions() == 0 &&
           lease_clock::now() - running->began_ < longest_discard;
}

void report_discarded_lease(
    std::shared_ptr<client_context> const& client,
    std::shared_ptr<target const> on
) noexcept {
    if (client->closed() || !client->note_discarded_lease()) {
        return;
    }
    try {
        client->on_strand([client, on = std::move(on)] {
            client->log(
                log_level::warning,
                fmt::format(
                    "the lease of \"{}\" was destroyed as soon as it was granted, and nothing had "
                    "used it: if the result of acquire() was discarded, the code after it runs "
                    "without the lock. Keep the lease in a variable until that code has ended. "
                    "This is logged once for each client",
                    escaped(on->lock)
                )
            );
        });
    } catch (std::exception const&) {
        // A destructor calls this. There is no hint.
    }
}

}  // namespace holdfast::detail
