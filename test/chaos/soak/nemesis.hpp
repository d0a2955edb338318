#ifndef HOLDFAST_TEST_SOAK_NEMESIS_HPP
#define HOLDFAST_TEST_SOAK_NEMESIS_HPP

#include "soak/cell.hpp"

#include <random>
#include <string_view>
#include <vector>

namespace holdfast::soak {

/// Something that goes wrong, and is mended again.
struct fault {
    std::string_view name;
    std::string_view what;
    /// Does the harm and mends it. Tells the cell what the checker has to know.
    void (*strike)(cell& where, std::mt19937_64& random);
};

/// All of them, in the order in which they take turns.
std::vector<fault> const& all_faults();
/// Those of cells with a semaphore.
std::vector<fault> const& permit_faults();
/// Those of cells with an election.
std::vector<fault> const& leader_faults();
/// Those of cells whose workers hold locks in pairs.
std::vector<fault> const& pair_faults();
/// Those of cells with a quorum.
std::vector<fault> const& quorum_faults();
/// Those of cells with Sentinels: the primary becomes another one.
std::vector<fault> const& failover_faults();
/// Those of cells with a cluster: a primary becomes another one, or a slot moves to another one.
std::vector<fault> const& cluster_faults();
/// That of them that moves slots.
inline constexpr std::string_view migration_fault = "migration";

}  // namespace holdfast::soak

#endif
