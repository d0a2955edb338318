#include "acquire/lock_request.hpp"

#include "protocol/primitive.hpp"

namespace holdfast::detail {

error_code make_lock_request(
    config const& settings,
    acquire_request const& asked,
    lock_request& out
) {
    auto const& on = *asked.key;
    auto const& options = asked.options;
    if (!on.valid()) {
        return errc::invalid_name;
    }
    if (on.permits == 0 || on.limit < 0 || asked.limit < nanos{0}) {
        return errc::invalid_options;
    }
    // A node's attempt neither works a lease out nor reports a lock without an expiry.
    bool const simple = on.kind == target_kind::quorum_lock;
    if (simple && (options.lease.is_learned() || options.orphan_after > nanos{0})) {
        return errc::invalid_options;
    }
    if (auto const wrong = make_terms(settings, options, out.terms)) {
        return wrong;
    }
    out.terms.renew_within = on.speaks->renewed_within();
    out.on = asked.key;
    out.how_long = asked.how_long;
    out.limit = asked.limit;
    out.who = options.owner;
    out.orphan_after = options.orphan_after;
    return {};
}

}  // namespace holdfast::detail
