#include "core/sentinel_tally.hpp"

namespace holdfast::detail {

void sentinel_tally::begin_round() noexcept {
    heard_ = named_ = 0;
    newest_.reset();
    refusal_.clear();
    all_permanent_ = true;
}

bool sentinel_tally::agrees(sentinel_answer const& what) const noexcept {
    return known_ && known_->host == what.host && known_->port == what.port;
}

void sentinel_tally::learn(sentinel_answer const& what, time_point now) {
    if (!agrees(what)) {
        ++version_;
    }
    known_ = {what.host, what.port, what.config_epoch, version_};
    confirmed_at_ = now;
}

void sentinel_tally::on_news(sentinel_answer const& what, time_point now) {
    if (!what.names_one()) {
        return;
    }
    bool const newer = !known_ || what.config_epoch > known_->config_epoch;
    bool const same = known_ && what.config_epoch == known_->config_epoch && agrees(what);
    if (newer || same) {
        learn(what, now);
    }
}

void sentinel_tally::on_answer(sentinel_answer const& what, time_point now) {
    ++heard_;
    if (what.names_one()) {
        ++named_;
        if (!newest_ || what.config_epoch > newest_->config_epoch) {
            newest_ = what;
        }
        on_news(what, now);
    } else if (what.cause != errc::unreachable) {
        if (!refusal_) {
            refusal_ = what.cause;
        }
        all_permanent_ = all_permanent_ && what.permanent;
    }
}

bool sentinel_tally::decided() const noexcept {
    // mutant: one-sentinel-decides
    return heard_ >= sentinels_ || named_ > sentinels_ / 2;
}

sentinel_tally::outcome sentinel_tally::conclude(time_point now) {
    if (newest_) {
        if (now - confirmed_at_ >= longest_memory) {
            learn(*newest_, now);
        }
        return {};
    }
    if (refusal_) {
        return {refusal_, all_permanent_};
    }
    return {errc::unreachable, false};
}

}  // namespace holdfast::detail
