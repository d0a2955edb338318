#ifndef HOLDFAST_TEST_UNIT_ACQUIRE_READING_CLIENT_HPP
#define HOLDFAST_TEST_UNIT_ACQUIRE_READING_CLIENT_HPP

#include "lease/tenure.hpp"
#include "protocol/read_write_lock.hpp"
#include "unit/acquire/acquiring.hpp"
#include "unit/scripted_client.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace holdfast::test {

/// A client that reads and writes under one read/write lock, on a scripted server.
struct reading_client : scripted_client {
    explicit reading_client(config settings = {}) : scripted_client{std::move(settings)} {}

    std::shared_ptr<detail::target const> read =
        std::make_shared<detail::target const>(detail::make_read_lock_target("", "a"));
    std::shared_ptr<detail::target const> write =
        std::make_shared<detail::target const>(detail::make_write_lock_target("", "a"));

    [[nodiscard]] acquiring_options reader(std::optional<owner> const& who = {}) const {
        return {.who = who, .on = read};
    }
    [[nodiscard]] acquiring_options writer(std::optional<owner> const& who = {}) const {
        return {.who = who, .on = write};
    }
    /// Granted to a reader; `others`: somebody waits.
    static detail::exec_result granted_reader(bool others = false, std::int64_t token = 7) {
        return replied(1, token, 1, 0, 0, others ? 1 : 0);
    }
    /// Refused, with a place in the queue.
    static detail::exec_result queued() { return replied(0, 500, 0, 1'700'000, 1'700'000, 0); }

    /// The oldest request.
    [[nodiscard]] std::string text(std::size_t at = 0) const {
        return typed(server->requests.at(at).what);
    }
};

}  // namespace holdfast::test

#endif
