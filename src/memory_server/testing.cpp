#include "memory_server/server.hpp"
#include "memory_server/test_contexts.hpp"
#include "protocol/lock.hpp"
#include "protocol/primitive.hpp"
#include "runtime/runtime.hpp"

#include <holdfast/lease_clock.hpp>
#include <holdfast/testing/memory_server.hpp>

#include <stdexcept>
#include <utility>

namespace holdfast::testing {

using detail::exec_result;
using detail::exec_status;

struct memory_server::state {
    explicit state(bool stop_clock) : watch{stop_clock} {}

    detail::virtual_time::watch watch;
    std::shared_ptr<memory::server> server = memory::server::make();
};

namespace {

exec_status status_of(errc code) {
    switch (code) {
        case errc::server_refused: return exec_status::refused;
        case errc::no_permission:
        case errc::auth_failed:
        case errc::corrupt_state:
        case errc::unsupported_server: return exec_status::failed;
        case errc::unreachable: return exec_status::unknown;
        default: throw std::invalid_argument{"no server answers with this error"};
    }
}

void check_not_negative(std::chrono::nanoseconds by) {
    if (by < by.zero()) {
        throw std::invalid_argument{"time does not go back"};
    }
}

// The greatest number of days that the clock can count is far away.
lease_clock::time_point later(std::chrono::nanoseconds by) {
    return detail::saturating_add(lease_clock::now(), by);
}

}  // namespace

memory_server::memory_server() : memory_server{false} {}

memory_server::memory_server(virtual_time_t) : memory_server{true} {}

memory_server::memory_server(bool stop_clock) : state_{std::make_unique<state>(stop_clock)} {}

memory_server::~memory_server() = default;

std::unique_ptr<detail::backend> memory_server::make_backend(
    asio::any_io_executor executor,
    asio::any_io_executor strand,
    std::shared_ptr<detail::counters> count
) {
    return state_->server->make_backend(
        std::move(strand),
        std::move(count),
        memory::test_contexts::all().add(executor)
    );
}

// Time

void memory_server::advance(std::chrono::nanoseconds by) {
    check_not_negative(by);
    auto const end = later(by);
    settle();
    while (auto const next = detail::virtual_time::take_next(end)) {
        detail::virtual_time::move_to(*next);
        settle();
    }
    detail::virtual_time::move_to(end);
    settle();
}

bool memory_server::advance_until(
    std::function<bool()> const& done,
    std::chrono::nanoseconds limit
) {
    check_not_negative(limit);
    auto const end = later(limit);
    settle();
    while (!done()) {
        auto const next = detail::virtual_time::take_next(end);
        if (!next && lease_clock::now() >= end) {
            return false;
        }
        detail::virtual_time::move_to(next.value_or(end));
        settle();
    }
    return true;
}

void memory_server::settle() {
    memory::test_contexts::all().settle();
}

void memory_server::jump(std::chrono::nanoseconds by) {
    check_not_negative(by);
    detail::virtual_time::move_to(later(by));
    memory::test_contexts::all().look_at_clock();
}

// Faults

void memory_server::drop_connections() {
    state_->server->drop_connections();
}

void memory_server::stop() {
    state_->server->set_up(false);
}

void memory_server::start() {
    state_->server->set_up(true);
}

void memory_server::pause() {
    state_->server->hold_confirmations(true);
    state_->server->hold_requests(true);
}

void memory_server::resume() {
    state_->server->hold_requests(false);
    state_->server->hold_confirmations(false);
}

void memory_server::lose_data() {
    state_->server->restart_empty();
}

void memory_server::fail_next(errc code, std::size_t count) {
    auto const status = status_of(code);
    for (; count > 0; --count) {
        state_->server->refuse({}, exec_result{status, code, {}});
    }
}

void memory_server::lose_next_replies(std::size_t count) {
    state_->server->drop_replies({}, static_cast<int>(count));
}

// What others do

void memory_server::hold_as_other(std::string_view lock, std::chrono::milliseconds lease) {
    state_->server->del(lock);
    state_->server->lock_as_other(lock, lease);
}

void memory_server::release_as_other(std::string_view lock) {
    state_->server->unlock_as_other(lock);
}

bool memory_server::erase(std::string_view key) {
    bool const there = state_->server->exists(key);
    state_->server->del(key);
    return there;
}

// What it holds

std::vector<std::string> memory_server::keys() const {
    return state_->server->keys();
}

std::vector<std::string> memory_server::lock_keys() const {
    return state_->server->lock_keys();
}

lock_info memory_server::inspect(std::string_view lock) const {
    auto const on = detail::make_lock_target({}, lock);
    if (!on.valid()) {
        throw std::invalid_argument{"this is not the name of a lock"};
    }
    auto const result = state_->server->carry_out(on.speaks->inspect(on, {}, true));
    auto read = on.speaks->read_inspect(result.reply);
    if (result.status != exec_status::replied || read.what == detail::lock_reading::kind::corrupt) {
        throw std::invalid_argument{"the key of this name is not a lock"};
    }
    lock_info info;
    info.held = read.what == detail::lock_reading::kind::held;
    info.never_expires = info.held && !read.remaining;
    info.remaining = read.remaining;
    info.holder = std::move(read.holder);
    info.hold_count = read.hold_count;
    info.last_token.value = read.last_token;
    info.waiting_clients = static_cast<std::size_t>(read.waiting);
    return info;
}

std::vector<std::string> memory_server::channels() const {
    return state_->server->channels();
}

std::size_t memory_server::clients() const {
    return state_->server->clients();
}

std::size_t memory_server::executed_scripts() const {
    return state_->server->executed();
}

}  // namespace holdfast::testing
