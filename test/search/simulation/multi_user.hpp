#ifndef HOLDFAST_TEST_SIMULATION_MULTI_USER_HPP
#define HOLDFAST_TEST_SIMULATION_MULTI_USER_HPP

#include "simulation/user.hpp"

#include <holdfast/multi_lease.hpp>
#include <holdfast/multi_lock.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::sim {

/// A user who also takes several locks as one. The oracle judges the lease of each member; here it
/// is judged that they come, and go, together.
class multi_user : public user {
public:
    using user::user;

protected:
    /// One of several locks.
    struct member {
        std::string lock;
        /// Of a semaphore.
        std::int64_t permits = 1;
    };

    ~multi_user() = default;

    /// Acquires them, and holds them for so long. Of `what` name and permits are not used.
    [[nodiscard]] asio::awaitable<void> use_several(
        std::vector<member> members,
        request what,
        nanos work
    );
    /// Asks for what cannot be had.
    [[nodiscard]] asio::awaitable<void> ask_in_vain(
        std::vector<member> members,
        request what,
        error_code why
    );

private:
    using multi_call = call<multi_lease>;

    void start(std::vector<member> const& members, request const& what, multi_call& asked);
    void judge_answer(
        std::vector<member> const& members,
        request const& what,
        multi_call const& asked,
        nanos started
    );
    [[nodiscard]] asio::awaitable<void> hold(
        std::vector<member> const& members,
        multi_lease& held,
        request const& what,
        nanos started,
        nanos work
    );
};

}  // namespace holdfast::sim

#endif
