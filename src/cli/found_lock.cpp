#include "cli/found_lock.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>

namespace holdfast::cli {

namespace {

// GCC 12 destroys some temporaries of a co_await expression twice: the operation has a name.
template <class Lock>
asio::awaitable<lock_info> inspect_one(Lock const lock, error_code& ec) {
    auto asking = lock.inspect(asio::redirect_error(asio::use_awaitable, ec));
    co_return co_await std::move(asking);
}

template <class Lock>
asio::awaitable<bool> free_one(Lock const lock, error_code& ec) {
    auto asking = lock.force_release(asio::redirect_error(asio::use_awaitable, ec));
    co_return co_await std::move(asking);
}

template <class Counted>
asio::awaitable<std::int64_t> count_one(Counted const counted, error_code& ec) {
    if constexpr (std::same_as<Counted, latch>) {
        auto asking = counted.count(asio::redirect_error(asio::use_awaitable, ec));
        co_return co_await std::move(asking);
    } else {
        auto asking = counted.available(asio::redirect_error(asio::use_awaitable, ec));
        co_return co_await std::move(asking);
    }
}

asio::awaitable<semaphore_info> inspect_permits(semaphore const pool, error_code& ec) {
    auto asking = pool.inspect(asio::redirect_error(asio::use_awaitable, ec));
    co_return co_await std::move(asking);
}

asio::awaitable<found_lock> find_read_write(
    holdfast::client const& by,
    std::string_view name,
    error_code& ec
) {
    found_lock found{.kind = lock_kind::read_write_lock};
    auto const both = by.read_write_lock(name);
    found.lock = co_await inspect_one(both.write(), ec);
    if (!ec) {
        found.readers = co_await inspect_one(both.read(), ec);
    }
    co_return found;
}

// A fair lock has the key of a lock and a queue of its own.
asio::awaitable<found_lock> find_plain(
    holdfast::client const& by,
    std::string_view name,
    error_code& ec
) {
    found_lock found{.kind = lock_kind::lock};
    found.lock = co_await inspect_one(by.lock(name), ec);
    if (ec) {
        co_return found;
    }
    auto const fair = co_await inspect_one(by.fair_lock(name), ec);
    if (ec == errc::no_permission) {
        // Who uses no fair locks needs no permissions for them.
        ec = {};
        co_return found;
    }
    if (!ec && fair.waiting_clients > 0) {
        found.kind = lock_kind::fair_lock;
        found.lock = fair;
    } else if (!ec && !found.lock->held) {
        found.kind = lock_kind::automatic;
    }
    co_return found;
}

asio::awaitable<found_lock> find_number(
    holdfast::client const& by,
    std::string_view name,
    lock_kind kind,
    error_code& ec
) {
    found_lock found{.kind = kind};
    if (kind == lock_kind::latch) {
        found.number = co_await count_one(by.latch(name), ec);
    } else {
        found.number = co_await count_one(by.counting_semaphore(name), ec);
    }
    co_return found;
}

asio::awaitable<found_lock> find_any(
    holdfast::client const& by,
    std::string_view name,
    error_code& ec
) {
    auto found = co_await find_plain(by, name, ec);
    if (ec == errc::corrupt_state) {
        found = co_await find_read_write(by, name, ec);
    }
    if (ec == errc::corrupt_state) {
        found = {.kind = lock_kind::semaphore};
        found.permits = co_await inspect_permits(by.semaphore(name), ec);
        // The number of a latch looks like that of a semaphore to which nobody gave a limit.
        if (ec == errc::corrupt_state || (!ec && !found.permits->limit)) {
            found = co_await find_number(by, name, lock_kind::automatic, ec);
        }
    }
    co_return found;
}

}  // namespace

bool found_lock::held() const noexcept {
    return (lock && lock->held) || (readers && readers->held) || (permits && permits->acquired > 0);
}

std::string_view found_lock::holder() const noexcept {
    if (lock && lock->held) {
        return lock->holder;
    }
    return readers && readers->held ? std::string_view{readers->holder} : std::string_view{};
}

std::size_t found_lock::waiting() const noexcept {
    return (lock ? lock->waiting_clients : 0) + (readers ? readers->waiting_clients : 0) +
           (permits ? permits->waiting : 0) + listeners;
}

std::string_view to_string(lock_kind kind) noexcept {
    switch (kind) {
        case lock_kind::automatic: break;
        case lock_kind::lock: return "lock";
        case lock_kind::fair_lock: return "fair_lock";
        case lock_kind::read_write_lock: return "read_write_lock";
        case lock_kind::semaphore: return "semaphore";
        case lock_kind::latch: return "latch";
        case lock_kind::counting_semaphore: return "counting_semaphore";
    }
    return "unknown";
}

asio::awaitable<found_lock> find_lock(
    holdfast::client const& by,
    std::string_view name,
    lock_kind kind,
    error_code& ec
) {
    found_lock found{.kind = kind};
    switch (kind) {
        case lock_kind::automatic: co_return co_await find_any(by, name, ec);
        case lock_kind::lock: found.lock = co_await inspect_one(by.lock(name), ec); break;
        case lock_kind::fair_lock: found.lock = co_await inspect_one(by.fair_lock(name), ec); break;
        case lock_kind::read_write_lock: co_return co_await find_read_write(by, name, ec);
        case lock_kind::semaphore:
            found.permits = co_await inspect_permits(by.semaphore(name), ec);
            break;
        case lock_kind::latch:
        case lock_kind::counting_semaphore: co_return co_await find_number(by, name, kind, ec);
    }
    co_return found;
}

asio::awaitable<bool> free_lock(
    holdfast::client const& by,
    std::string_view name,
    lock_kind kind,
    error_code& ec
) {
    if (kind == lock_kind::automatic) {
        auto const found = co_await find_any(by, name, ec);
        kind = found.kind;
    }
    if (ec) {
        co_return false;
    }
    switch (kind) {
        case lock_kind::lock: co_return co_await free_one(by.lock(name), ec);
        case lock_kind::fair_lock: co_return co_await free_one(by.fair_lock(name), ec);
        case lock_kind::semaphore: co_return co_await free_one(by.semaphore(name), ec);
        case lock_kind::read_write_lock: {
            auto const both = by.read_write_lock(name);
            bool const wrote = co_await free_one(both.write(), ec);
            if (ec) {
                co_return wrote;
            }
            bool const read = co_await free_one(both.read(), ec);
            co_return wrote || read;
        }
        case lock_kind::automatic:
        case lock_kind::latch:
        case lock_kind::counting_semaphore: break;
    }
    co_return false;
}

}  // namespace holdfast::cli
