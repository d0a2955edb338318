#ifndef HOLDFAST_EXHAUSTIVE_CHECKS_HPP
#define HOLDFAST_EXHAUSTIVE_CHECKS_HPP

#include "exhaustive/context.hpp"
#include "exhaustive/world.hpp"

namespace holdfast::exhaustive {

/// What must hold of a client at any tick, whatever the others do.
void check_client(context& ctx, client const& c, tick now);
/// What must hold of a change of a client, at the same tick or from one to the next.
void check_change(context& ctx, client const& before, tick then, client const& after, tick now);
/// What must hold when time goes on.
void check_passing(context& ctx, client const& c, tick now);
/// What must hold of everything at every instant.
void check_world(context& ctx, world const& w);
/// Nothing can happen any more, or time is up: everything must have come to its end.
void check_end(context& ctx, world const& w);

}  // namespace holdfast::exhaustive

#endif
