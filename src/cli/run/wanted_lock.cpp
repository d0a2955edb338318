#include "cli/run/wanted_lock.hpp"

#include <utility>

namespace holdfast::cli {

wanted_lock::wanted_lock(holdfast::client const& client, run_options const& options)
    : what_{make(client, options)} {}

wanted_lock::any wanted_lock::make(holdfast::client const& client, run_options const& options) {
    std::string_view const name = options.name;
    if (options.permits > 0) {
        auto const pool = client.semaphore(name).permits(options.permits);
        return options.limit > 0 ? pool.limit(options.limit) : pool;
    }
    if (options.shared) {
        return client.read_write_lock(name).read();
    }
    if (options.exclusive) {
        return client.read_write_lock(name).write();
    }
    if (options.fair) {
        return client.fair_lock(name);
    }
    return client.lock(name);
}

std::string const& wanted_lock::name() const noexcept {
    return std::visit([](auto const& what) -> std::string const& { return what.name(); }, what_);
}

void wanted_lock::acquire(acquire_options options, handler done) const {
    std::visit([&](auto const& what) { what.acquire(options, std::move(done)); }, what_);
}

void wanted_lock::try_acquire_for(
    std::chrono::milliseconds limit,
    acquire_options options,
    handler done
) const {
    std::visit(
        [&](auto const& what) {
            if (limit.count() == 0) {
                what.try_acquire(options, std::move(done));
            } else {
                what.try_acquire_for(limit, options, std::move(done));
            }
        },
        what_
    );
}

}  // namespace holdfast::cli
