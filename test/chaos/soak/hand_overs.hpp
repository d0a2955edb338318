#ifndef HOLDFAST_TEST_SOAK_HAND_OVERS_HPP
#define HOLDFAST_TEST_SOAK_HAND_OVERS_HPP

#include "soak/cell.hpp"
#include "support/redis_probe.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <string>

namespace holdfast::soak {

/// Hears what the server tells the receivers of locks, as soon as they hear it.
class hand_overs {
public:
    /// Who had a part in one; null if it is not known, or not there any more.
    struct parts {
        worker_handle* releaser = nullptr;
        worker_handle* receiver = nullptr;
        worker_handle* next = nullptr;
    };

    explicit hand_overs(cell& where);

    /// The next one, or what the server told the one behind the receiver. Nothing if there is none
    /// in time.
    std::optional<parts> wait(std::chrono::milliseconds limit);

private:
    cell& where_;
    test::redis_probe probe_;
    // By lock: the client that got it last.
    std::map<std::string, std::string> holders_;
};

}  // namespace holdfast::soak

#endif
