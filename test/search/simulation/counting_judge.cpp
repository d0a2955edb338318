#include "simulation/counting_judge.hpp"

#include "protocol/counted.hpp"
#include "protocol/reply.hpp"
#include "simulation/oracle.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace holdfast::sim {

using claimed = counting_judge::claim::kind;

void counting_judge::begin(std::int64_t permits, std::int64_t count, bool quiet) {
    used_ = true;
    quiet_ = quiet;
    first_permits_ = permits_ = permits;
    count_ = count;
    server_.as_operator({"SET", semaphore, std::to_string(permits)});
    server_.as_operator({"SET", latch, std::to_string(count)});
    look();
}

counting_judge::claim_ref counting_judge::add(
    process& of,
    claim::kind is,
    std::int64_t number,
    bool patient
) {
    std::erase_if(claims_, [](auto const& one) { return one->is == claimed::over; });
    claims_.push_back(std::make_shared<claim>(claim{&of, is, number, patient, in_.now()}));
    return claims_.back();
}

std::int64_t counting_judge::sum(claim::kind is) const {
    std::int64_t all = 0;
    for (auto const& one : claims_) {
        all += one->is == is ? one->number : 0;
    }
    return all;
}

std::int64_t counting_judge::number_of(std::string_view key) {
    auto const text = server_.data().get(key).value_or("0");
    return std::strtoll(text.c_str(), nullptr, 10);
}

// What the users see

counting_judge::claim_ref counting_judge::on_asks(process& of, std::int64_t permits, bool patient) {
    auto made = add(of, claimed::asked, permits, patient);
    watch_again();
    return made;
}

void counting_judge::on_taken(claim_ref const& of) {
    if (of->is == claimed::over) {
        return;  // its client is gone
    }
    of->is = claimed::held;
    oracle_.reached(sometimes::permits_taken);
    look();
}

void counting_judge::on_busy(claim_ref const& of) {
    if (of->is == claimed::over) {
        return;  // its client is gone
    }
    of->is = claimed::over;
    oracle_.reached(sometimes::permits_busy);
}

void counting_judge::on_gave_up(claim_ref const& of) {
    if (of->is == claimed::over) {
        return;  // its client is gone
    }
    of->is = claimed::withdrawn;
}

void counting_judge::on_returns(claim_ref const& of) {
    if (of->is == claimed::over) {
        return;  // its client is gone
    }
    of->is = claimed::returned;
}

counting_judge::claim_ref counting_judge::on_counts(process& of, std::int64_t times) {
    counts_begun_ += times;
    return add(of, claimed::counted, times, false);
}

void counting_judge::on_answered(claim_ref const& of, end how) {
    if (of->is == claimed::over) {
        return;
    }
    bool const counts = of->is == claimed::counted;
    switch (how) {
        case end::done:
            counts_done_ += counts ? of->number : 0;
            of->is = claimed::over;
            look();
            break;
        case end::not_done:
            counts_begun_ -= counts ? of->number : 0;
            of->is = counts ? claimed::over : claimed::held;
            look();
            break;
        case end::unknown:
            oracle_.reached(sometimes::count_unknown);
            perhaps_lost_ += counts ? 0 : of->number;
            incomplete_ = incomplete_ || counts;
            of->is = claimed::over;
            make_up();
            break;
        case end::goes_on:
            // Whether it was answered in time nobody will know, unless nothing fails.
            if (!quiet_) {
                perhaps_lost_ += counts ? 0 : of->number;
                incomplete_ = incomplete_ || counts;
                of->is = claimed::over;
                make_up();
            }
            break;
    }
}

counting_judge::claim_ref counting_judge::on_waits(process& of, bool patient) {
    auto made = add(of, claimed::waiting, 0, patient);
    watch_again();
    return made;
}

void counting_judge::on_waits_no_more(claim_ref const& of) {
    if (of->is == claimed::over) {
        return;  // its client is gone
    }
    of->is = claimed::over;
}

void counting_judge::on_passed(claim_ref const& of) {
    of->is = claimed::over;
    if (!open_ && !excused_) {
        in_.violation("somebody has passed a latch that is not open");
    }
    oracle_.reached(sometimes::latch_passed);
}

// What the server does

void counting_judge::on_script(script_event const& what) {
    if (what.reply->is_error()) {
        return;
    }
    detail::script_reply const said{what.reply->text};
    bool const changes = what.does == "add" || what.does == "count_down";
    bool const withdraws = what.does == "withdraw";
    if ((changes && said.integer(2) == 0) ||
        (withdraws && said.integer(0) == 1 && said.integer(1) == 0)) {
        silent_ = true;
    }
    if (withdraws) {
        oracle_.reached(
            said.integer(0) == 1 ? sometimes::permits_withdrawn : sometimes::withdrawn_in_vain
        );
    }
    look();
}

void counting_judge::look() {
    if (used_) {
        look_at_permits();
        look_at_latch();
    }
}

void counting_judge::look_at_permits() {
    auto const available = number_of(semaphore);
    auto const held = sum(claimed::held);
    if (!excused_ && available + held + lost_ > permits_) {
        in_.violation(fmt::format(
            "{} permits are available while {} of {} are held, and {} are lost",
            available,
            held,
            permits_,
            lost_
        ));
    }
    bool more = false;
    for (std::size_t wanted = 1; wanted <= most_wanted; ++wanted) {
        auto& since = enough_since_[wanted];
        if (available < static_cast<std::int64_t>(wanted)) {
            since = -1ns;
        } else if (since < 0ns) {
            since = in_.now();
            more = true;
        }
    }
    if (more) {
        watch_again();
    }
}

void counting_judge::look_at_latch() {
    auto const left = number_of(latch);
    if (!excused_ && !open_ && !opened_by_hand_ &&
        (count_ - left > counts_begun_ || (left > 0 && count_ - left < counts_done_))) {
        in_.violation(fmt::format(
            "the latch has {} of {} left after {} to {} count-downs",
            left,
            count_,
            counts_done_,
            counts_begun_
        ));
    }
    if (left == 0 && !open_) {
        open_ = true;
        open_since_ = in_.now();
        oracle_.reached(sometimes::latch_opened);
        watch_again();
    }
}

// Whoever could have what he waits for gets it soon.
void counting_judge::watch_again() {
    watch(in_.now() + oracle_.slowest_wake_up(semaphore));
}

void counting_judge::watch(nanos when) {
    in_.at(
        when,
        [this] {
            if (silent_ || excused_) {
                return;
            }
            if (oracle_.disturbed()) {
                watch(in_.now() + 1s);
                return;
            }
            auto const limit = oracle_.slowest_wake_up(semaphore);
            auto soonest = nanos::max();
            for (auto const& one : claims_) {
                bool const asks = one->is == claimed::asked;
                if ((!asks && one->is != claimed::waiting) || !one->patient || one->of->paused()) {
                    continue;
                }
                auto const possible = asks ? enough_since_[static_cast<std::size_t>(one->number)]
                                           : (open_ ? open_since_ : -1ns);
                if (possible < 0ns) {
                    continue;
                }
                auto const since = std::max(
                    {possible, oracle_.last_disturbance(), one->since, one->of->free_since()}
                );
                if (in_.now() - since >= limit) {
                    in_.violation(fmt::format(
                        "p{} waits for {}, which it could have had for {:.3f} s",
                        one->of->number(),
                        asks ? "permits" : "a latch to open",
                        std::chrono::duration<double>{in_.now() - since}.count()
                    ));
                    return;
                }
                soonest = std::min(soonest, since + limit);
            }
            if (soonest != nanos::max()) {
                watch(soonest);
            }
        },
        only_looks
    );
}

// Coming and going

void counting_judge::on_gone(process const& of) {
    incomplete_ = true;
    for (auto const& one : claims_) {
        if (one->of != &of) {
            continue;
        }
        switch (one->is) {
            case claimed::held:
                lost_ += one->number;
                oracle_.reached(sometimes::permits_lost);
                break;
            case claimed::asked:
            case claimed::withdrawn:
            case claimed::returned: perhaps_lost_ += one->number; break;
            default: break;
        }
        one->is = claimed::over;
    }
}

void counting_judge::heal(bool lenient) {
    if (!used_) {
        return;
    }
    if (lenient) {
        perhaps_lost_ += sum(claimed::returned);
        incomplete_ = true;
    }
    healed_ = true;
    make_up();
    if (silent_) {
        tell();
        silent_ = false;
    }
}

void counting_judge::make_up() {
    if (!healed_) {
        return;
    }
    bool const permits_missing = made_up_ < lost_ + perhaps_lost_ || excused_;
    if (permits_missing) {
        // Requests under way may take some yet, and never give them back.
        auto const may_take = perhaps_lost_ + sum(claimed::asked) + sum(claimed::withdrawn);
        auto const missing =
            excused_ ? first_permits_ + may_take : lost_ + perhaps_lost_ - made_up_;
        made_up_ += missing;
        permits_ += missing;
        server_.as_operator({"INCRBY", semaphore, std::to_string(missing)});
    }
    bool const opens = (incomplete_ || excused_) && !std::exchange(opened_by_hand_, true);
    if (opens) {
        server_.as_operator({"DEL", latch});
    }
    if (permits_missing || opens) {
        tell();
    }
    look();
}

void counting_judge::tell() {
    auto const available = std::to_string(number_of(semaphore));
    auto const on = detail::make_counting_semaphore_target({}, semaphore);
    server_.as_operator({"PUBLISH", on.channel(), available});
    server_.as_operator({"PUBLISH", detail::make_latch_target({}, latch).channel(), "0"});
}

bool counting_judge::settled() {
    auto const available = number_of(semaphore);
    return !used_ || excused_ ||
           (available <= permits_ - lost_ && available >= permits_ - lost_ - perhaps_lost_);
}

void counting_judge::on_settled() {
    if (!used_) {
        return;
    }
    if (!settled()) {
        in_.violation(fmt::format(
            "{} of {} permits are available in the end, although {} to {} are lost",
            number_of(semaphore),
            permits_,
            lost_,
            lost_ + perhaps_lost_
        ));
    }
    used_ = false;
    server_.as_operator({"DEL", semaphore, latch});
}

}  // namespace holdfast::sim
