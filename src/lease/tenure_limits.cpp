// The limits of a lease that begin after its grant.

#include "lease/hold.hpp"
#include "lease/tenure.hpp"

#include <utility>

namespace holdfast::detail {

void tenure::limit(
    lease_share const& asking,
    lease_terms const& as,
    bool renews,
    std::function<void(error_code)> done
) {
    if (!shares_.is_first(asking)) {
        done({});
        return;
    }
    auto begin = [self = shared_from_this(), as, done = std::move(done)](error_code ec) {
        if (!ec) {
            self->on_new_limits(as);
        }
        done(ec);
    };
    if (renews) {
        hold_->send_renewal(shared_from_this(), std::move(begin));
    } else {
        begin({});
    }
}

}  // namespace holdfast::detail
