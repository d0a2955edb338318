// Holds that several of a client's holders have at a time.

#include "lease/holds.hpp"
#include "lease/shared_hold.hpp"

#include <memory>
#include <utility>

namespace holdfast::detail {

std::shared_ptr<hold> holds::make_hold(grant const& of) {
    auto client = client_.shared_from_this();
    if (!of.shared) {
        return std::make_shared<hold>(std::move(client), of.on, of.id, of.fsm);
    }
    return std::make_shared<shared_hold>(std::move(client), of.on, of.id, of.fsm, *of.shared);
}

void holds::list_shared(hold& of) {
    if (of.shared()) {
        // The name in the key of the one before may go with that.
        shared_.erase(target_key{*of.on()});
        shared_.emplace(target_key{*of.on()}, static_cast<shared_hold*>(&of));
    }
}

void holds::unlist_shared(hold const& of) noexcept {
    auto const at = of.shared() ? shared_.find(target_key{*of.on()}) : shared_.end();
    if (at != shared_.end() && at->second == &of) {
        shared_.erase(at);
    }
}

shared_hold* holds::shared_hold_of(target const& on) const noexcept {
    auto const at = shared_.find(target_key{on});
    return at == shared_.end() ? nullptr : at->second;
}

lease holds::share(shared_hold& of, holder const& to, bool waited, time_point now) {
    auto const terms = of.terms_for(to.terms);
    if (!of.current() || !of.sharing().admits(waited, of.fsm(), terms, now)) {
        return {};
    }
    return begin_tenure(
        of,
        of.current()->token(),
        times_within(of, terms, now),
        {terms, to.who, to.executor}
    );
}

void holds::stop_sharing(target const& on) noexcept {
    if (auto* const of = shared_hold_of(on)) {
        of->sharing().close();
    }
}

}  // namespace holdfast::detail
