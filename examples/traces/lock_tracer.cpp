#include "lock_tracer.hpp"

#include <boost/asio/error.hpp>

#include <fmt/format.h>

#include <optional>

namespace traces {

namespace {

thread_local span_context next_parent;

// A trace that lacks a span for want of memory is better than a program that ends.
template <class F>
void in_spite_of_exceptions(F f) noexcept {
    try {
        f();
    } catch (...) {
    }
}

span begin(std::string name, std::string_view lock, span_context const& parent) {
    span made{.self = new_span_context(parent), .parent = parent.span, .name = std::move(name)};
    made.attributes.emplace_back("holdfast.lock", lock);
    return made;
}

std::string result_of(holdfast::error_code why) {
    if (!why) {
        return "busy";
    }
    return why == boost::asio::error::operation_aborted ? "cancelled" : why.message();
}

}  // namespace

void lock_tracer::begin_below(span_context const& parent) noexcept {
    next_parent = parent;
}

void lock_tracer::on_acquire(acquisition const& what) noexcept {
    auto const parent = std::exchange(next_parent, {});
    in_spite_of_exceptions([&] {
        auto made = begin("acquire", what.lock, parent);
        std::lock_guard const guard{mutex_};
        acquiring_.emplace(what.number, std::move(made));
    });
}

void lock_tracer::on_wait(acquisition const& what) noexcept {
    in_spite_of_exceptions([&] {
        std::lock_guard const guard{mutex_};
        if (auto const found = acquiring_.find(what.number); found != acquiring_.end()) {
            found->second.add_event("wait");
        }
    });
}

void lock_tracer::on_grant(acquisition const& what, grant const& of) noexcept {
    in_spite_of_exceptions([&] {
        std::unique_lock guard{mutex_};
        auto found = acquiring_.extract(what.number);
        if (found.empty()) {
            return;
        }
        auto& acquired = found.mapped();
        bool const has_hold = of.kind != holdfast::grant_kind::joined && of.token.value != 0;
        if (has_hold) {
            // Beside the acquisition, or below it where that is all there is.
            auto const parent = acquired.parent != 0
                                    ? span_context{acquired.self.trace, acquired.parent}
                                    : acquired.self;
            holding_.insert_or_assign(
                {std::string{what.lock}, of.token.value},
                begin("hold", what.lock, parent)
            );
        }
        guard.unlock();
        acquired.attributes.emplace_back("holdfast.result", "granted");
        acquired.attributes.emplace_back("holdfast.grant", to_string(of.kind));
        acquired.attributes.emplace_back("holdfast.token", fmt::format("{}", of.token.value));
        to_->add(std::move(acquired));
    });
}

void lock_tracer::on_no_grant(
    acquisition const& what,
    holdfast::error_code why,
    std::chrono::nanoseconds
) noexcept {
    in_spite_of_exceptions([&] {
        std::unique_lock guard{mutex_};
        auto found = acquiring_.extract(what.number);
        guard.unlock();
        if (found.empty()) {
            return;
        }
        auto& ended = found.mapped();
        ended.attributes.emplace_back("holdfast.result", result_of(why));
        // To give up is no failure.
        if (why && why != boost::asio::error::operation_aborted) {
            ended.failure = why.message();
        }
        to_->add(std::move(ended));
    });
}

void lock_tracer::on_renewal(held_lock const& what, std::chrono::nanoseconds) noexcept {
    add_event(what, "renewed");
}

void lock_tracer::on_doubt(held_lock const& what) noexcept {
    add_event(what, "in doubt");
}

void lock_tracer::on_loss(held_lock const& what, holdfast::loss_reason why) noexcept {
    in_spite_of_exceptions([&] {
        std::lock_guard const guard{mutex_};
        if (auto const found = find(what); found != holding_.end()) {
            found->second.add_event("lost");
            found->second.failure = fmt::format("lost: {}", to_string(why));
        }
    });
}

void lock_tracer::on_release(held_lock const& what, std::chrono::nanoseconds) noexcept {
    in_spite_of_exceptions([&] {
        std::unique_lock guard{mutex_};
        auto const found = find(what);
        if (found == holding_.end()) {
            return;
        }
        auto ended = std::move(holding_.extract(found).mapped());
        guard.unlock();
        to_->add(std::move(ended));
    });
}

void lock_tracer::add_event(held_lock const& what, char const* name) {
    in_spite_of_exceptions([&] {
        std::lock_guard const guard{mutex_};
        if (auto const found = find(what); found != holding_.end()) {
            found->second.add_event(name);
        }
    });
}

// A quorum lock may have raised the token since the grant.
lock_tracer::holds::iterator lock_tracer::find(held_lock const& what) {
    auto const after = holding_.upper_bound({std::string{what.lock}, what.token.value});
    if (after == holding_.begin()) {
        return holding_.end();
    }
    auto const found = std::prev(after);
    return found->first.first == what.lock ? found : holding_.end();
}

}  // namespace traces
