#ifndef HOLDFAST_TEST_SIMULATION_MULTI_USER_HPP
#define HOLDFAST_TEST_SIMULATION_MULTI_USER_HPP

#include "simulation/user.hpp"

#include <holdfast/multi_lease.hpp>
#include <holdfast/multi_lock.hpp>

#include <string>
#include <vector>

namespace holdfast::sim {

/// A user who also takes several locks as one. The oracle judges the lease of each member; here it
/// is judged that they come, and go, together.
class multi_user : public user {
public:
    using user::user;

protected:
    ~multi_user() = default;

    /// Acquires them, and holds them for so long. Of `what` the name is not used.
    [[nodiscard]] asio::awaitable<void> use_several(
        std::vector<std::string> locks,
        request what,
        nanos work
    );

private:
    using multi_call = call<multi_lease>;

    void start(std::vector<std::string> const& locks, request const& what, multi_call& asked);
    void judge_answer(
        std::vector<std::string> const& locks,
        request const& what,
        multi_call const& asked,
        nanos started
    );
    [[nodiscard]] asio::awaitable<void> hold(
        std::vector<std::string> const& locks,
        multi_lease& held,
        oracle::lease_kind kind,
        nanos work
    );
    [[nodiscard]] asio::awaitable<void> release_all(std::string const& names, multi_lease& held);
};

}  // namespace holdfast::sim

#endif
