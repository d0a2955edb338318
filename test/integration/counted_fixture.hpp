#ifndef HOLDFAST_TEST_INTEGRATION_COUNTED_FIXTURE_HPP
#define HOLDFAST_TEST_INTEGRATION_COUNTED_FIXTURE_HPP

#include "integration/quiet_client.hpp"
#include "support/one_server.hpp"
#include "support/tcp_proxy.hpp"

#include <cstddef>
#include <string>
#include <vector>

// What the tests of latches and counting semaphores share.
namespace holdfast::test::counts {

/// What may become of a request and its answer.
inline std::vector<command_fault> const faults{
    command_fault::lose,
    command_fault::cut_before,
    command_fault::lose_reply,
    command_fault::lose_reply_and_cut,
    command_fault::drop_replies,
    command_fault::duplicate,
    command_fault::unknown_script,
};

/// How many requests the server remembers.
inline std::size_t marks(redis_probe& probe) {
    return probe.keys("holdfast_done:*").size();
}

}  // namespace holdfast::test::counts

#endif
