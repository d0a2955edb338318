#ifndef HOLDFAST_TEST_HISTORY_CHECKS_HPP
#define HOLDFAST_TEST_HISTORY_CHECKS_HPP

#include "support/history/findings.hpp"
#include "support/history/record.hpp"
#include "support/history/rules.hpp"

#include <cstdint>
#include <map>

namespace holdfast::history {

/// By lock.
using tokens = std::map<std::int64_t, std::int64_t>;

/// Checks who had each lock when, and under which token; of permits only what holds for several at
/// a time. `newest` is the greatest token so far.
void check_grants(rules const& by, record const& said, tokens& newest, findings& found);

/// Checks that no more permits of a semaphore were taken at a time than there are. Those of a
/// holder that does not give them up, such as one that was killed, are taken until its deadline.
void check_permits(rules const& by, record const& said, findings& found);

/// Checks what the observers of an election were told: the right process for each term, never an
/// older term than before, and in calm times each leader that leads for a while.
void check_leaders(rules const& by, record const& said, findings& found);

/// Checks what the protected resource was asked for and what it accepted. `newest` is the greatest
/// token that it has accepted so far.
void check_accesses(record const& said, tokens& newest, findings& found);

/// Checks what every caller is owed: an answer, in time, and to be told when its lease is lost.
void check_answers(rules const& by, record const& said, findings& found);

/// Checks what follows when locks have another server: how soon they are granted there, and how
/// often clients ask the wrong one.
void check_changes(rules const& by, record const& said, findings& found);

}  // namespace holdfast::history

#endif
