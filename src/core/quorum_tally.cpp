#include "core/quorum_tally.hpp"

#include <algorithm>

namespace holdfast::detail {

std::size_t quorum_tally::count(vote::kind what) const noexcept {
    return static_cast<std::size_t>(std::count_if(
        votes_.begin(),
        votes_.end(),
        [what](vote const& each) { return each.what == what; }
    ));
}

std::size_t quorum_tally::majority_of(std::size_t nodes) noexcept {
    // mutant: quorum-majority-by-half-the-nodes
    return nodes / 2 + 1;
}

void quorum_tally::on_granted(std::size_t node, fencing_token token) noexcept {
    votes_[node].what = vote::kind::granted;
    votes_[node].token = token;
    // Of the first majority. What comes later may be ahead.
    if (token_ == fencing_token{} && count(vote::kind::granted) == needed()) {
        for (auto const& each : votes_) {
            token_ = std::max(token_, each.token);
        }
    }
}

void quorum_tally::on_refused(std::size_t node, std::optional<millis> remaining) noexcept {
    votes_[node].what = vote::kind::refused;
    votes_[node].remaining = remaining;
}

void quorum_tally::on_failed(std::size_t node, error_code cause) noexcept {
    votes_[node].what = vote::kind::failed;
    votes_[node].token = {};
    votes_[node].cause = cause;
}

void quorum_tally::on_raised(std::size_t node) noexcept {
    if (votes_[node].what == vote::kind::granted) {
        votes_[node].token = std::max(votes_[node].token, token_);
    }
}

bool quorum_tally::is_behind(std::size_t node) const noexcept {
    auto const& of = votes_[node];
    return of.what == vote::kind::granted && of.token < token_ && !of.raising;
}

bool quorum_tally::has_stragglers() const noexcept {
    auto const answered = count(vote::kind::granted) + count(vote::kind::refused);
    return !late_ && count(vote::kind::open) > 0 && answered >= needed();
}

quorum_tally::verdict quorum_tally::look() const noexcept {
    auto const granted = count(vote::kind::granted);
    auto const open = count(vote::kind::open);
    if (granted >= needed()) {
        auto const have_it = std::count_if(votes_.begin(), votes_.end(), [&](vote const& each) {
            // mutant: quorum-token-not-written-back
            return each.what == vote::kind::granted && each.token >= token_;
        });
        return static_cast<std::size_t>(have_it) >= needed() ? verdict::granted
                                                             : verdict::write_back;
    }
    auto const for_good = std::count_if(votes_.begin(), votes_.end(), [](vote const& each) {
        return each.what == vote::kind::failed && !is_retryable(each.cause);
    });
    if (votes_.size() - static_cast<std::size_t>(for_good) < needed()) {
        return verdict::failed;
    }
    auto const answered = granted + count(vote::kind::refused);
    if (answered < needed()) {
        // Whether a majority could be asked decides what the caller is told, and is waited for.
        return answered + open >= needed() ? verdict::open : verdict::not_reached;
    }
    bool const may_be_won = granted + open >= needed();
    return may_be_won && !late_ ? verdict::open : verdict::busy;
}

error_code quorum_tally::cause() const noexcept {
    if (look() == verdict::failed) {
        auto const first = std::find_if(votes_.begin(), votes_.end(), [](vote const& each) {
            return each.what == vote::kind::failed && !is_retryable(each.cause);
        });
        return first->cause;
    }
    auto const crowded = std::count_if(votes_.begin(), votes_.end(), [](vote const& each) {
        return each.what == vote::kind::failed && each.cause == errc::too_many_waiters;
    });
    auto const answered = count(vote::kind::granted) + count(vote::kind::refused);
    // The round ends when too few can answer any more, be some of them still open.
    auto const others = answered + count(vote::kind::open);
    bool const decides =
        answered < needed() && others + static_cast<std::size_t>(crowded) >= needed();
    return decides ? make_error_code(errc::too_many_waiters) : error_code{};
}

}  // namespace holdfast::detail
