#include "cli/run/wanted_lock.hpp"

#include <string_view>

namespace holdfast::cli {

wanted_lock make_wanted_lock(holdfast::client const& client, run_options const& options) {
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

}  // namespace holdfast::cli
