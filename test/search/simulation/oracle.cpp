#include "simulation/oracle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

namespace holdfast::sim {

namespace {

constexpr nanos shortest_lease = 1s;

}  // namespace

oracle::oracle(world& in, server& of)
    : in_{in},
      server_{of},
      hand_overs_{in, of, [this](sometimes what) { reached(what); }},
      queue_{in, [this](sometimes what) { reached(what); }},
      fair_{of, queue_},
      permits_{in, of, queue_},
      counting_{in, of, *this},
      reading_{in, of, queue_, [this](sometimes what) { reached(what); }} {
    server_.before_script = [this](std::string_view script, std::string_view lock) {
        if (is_read_write(lock)) {
            reading_.on_before(lock);
        } else if (script.starts_with("lock.")) {
            hand_overs_.on_before(lock);
        } else if (script.starts_with("semaphore.")) {
            permits_.on_before(lock);
        } else if (script.starts_with("fair_lock.")) {
            fair_.on_before(lock);
        }
    };
    server_.on_script = [this](script_event const& what) { on_script(what); };
    server_.on_fault = [this] { on_disturbance(); };
    server_.on_renewed_together = [this] { reached(sometimes::renewed_together); };
    server_.on_taken_together = [this] { reached(sometimes::taken_together); };
    server_.on_answer = [this](std::uint32_t process, value const& answer) {
        on_answer(process, answer);
    };
    server_.on_subscribe = [this](std::uint32_t process, std::string_view channel) {
        if (!subscribed_.insert({process, std::string{channel}}).second) {
            reached(sometimes::resubscribed);
        }
    };
}

// What the users see

oracle::belief_ref oracle::on_delivered(
    process& of,
    lane& on,
    std::string const& lock,
    holdfast::lease const& held,
    lease_kind kind
) {
    reached(sometimes::granted);
    auto const token = held.token().value;
    auto& known = truths_[lock_of(lock)];
    auto const* const granted_to = holder_of(known, token, of);
    if (!granted_to) {
        in_.violation(fmt::format("a lease of {} with token {}, which was not granted", lock, token)
        );
        return beliefs_.insert(beliefs_.end(), {&of, &on, &held, lock, token, {}, kind.permits});
    }
    auto const& holder = *granted_to;
    if (!excused_.contains(holder) && !lost_in_failover(holder, of)) {
        // Readers that share a hold share its token.
        judge_token(known, lock, held, kind.owned || is_reader(lock));
    }
    if (!known.delivered.insert(holder).second && is_reader(lock) && !kind.owned) {
        reading_.on_shared();
    }
    if (known.executions[holder] > 1) {
        reached(sometimes::granted_after_unknown);
    }
    if (passed_on_.erase({of.number(), lock}) > 0) {
        reached(sometimes::forwarded);
    }
    beliefs_.push_back({&of, &on, &held, lock, token, holder, kind.permits, of.clock(), in_.now()});
    auto const made = std::prev(beliefs_.end());
    made->lease = kind.lease > 0ns ? kind.lease : lease_;
    made->margin_part = kind.margin_part;
    made->request_timeout = kind.request_timeout;
    made->learned = kind.learned || is_reader(lock);
    made->endless = kind.endless;
    made->seen_at = in_.now();
    // The options of an owner's first lease govern the others, too.
    if (kind.owned || kind.learned || is_reader(lock)) {
        made->lease = std::min(made->lease, shortest_lease);
    }
    auto const part = 1 - kind.drift - kind.margin_part - kind.renew_at;
    made->time_to_renew =
        nanos{static_cast<nanos::rep>(static_cast<double>(made->lease.count()) * part)};
    if (kind.max_hold > 0ns && !kind.owned) {
        made->longest_until = made->since + kind.max_hold;
    }
    if (kind.asked_at >= 0ns) {
        judge_length(*made, kind);
    }
    processes_.emplace(of.number(), &of);
    watch_deadline(made);
    check(lock);
    return made;
}

std::string const* oracle::truth::holder_of(std::string_view client, std::uint64_t token) const {
    auto const all = granted.find(client);
    if (all == granted.end()) {
        return nullptr;
    }
    auto const after = all->second.upper_bound(token);
    if (after == all->second.begin() || token > std::prev(after)->second.last) {
        return nullptr;
    }
    return &std::prev(after)->second.holder;
}

// A process that was started again has another client than before.
std::string const* oracle::holder_of(truth const& known, std::uint64_t token, process const& of)
    const {
    std::string const* newest = nullptr;
    nanos newest_at{};
    for (auto const& [client, number] : clients_) {
        auto const* const holder = number == of.number() ? known.holder_of(client, token) : nullptr;
        if (!holder) {
            continue;
        }
        auto const at = known.granted_at.find(*holder);
        auto const when = at == known.granted_at.end() ? nanos{} : at->second;
        if (!newest || when > newest_at) {
            newest = holder;
            newest_at = when;
        }
    }
    return newest;
}

// No two leases have the same token, and whoever may act has a greater one than those before.
void oracle::judge_token(truth& known, std::string const& lock, lease const& held, bool owned) {
    auto const token = held.token().value;
    // An owner may have several leases of one grant.
    bool const excused = tokens_excused_ || token <= known.given_again;
    if (!known.used.insert(token).second && !owned && !excused) {
        in_.violation(fmt::format("token {} of {} was given out twice", token, lock));
    }
    // Others have permits beside it.
    if (held.valid() && token < known.newest_ended && !excused && !is_pool(lock)) {
        in_.violation(fmt::format(
            "{} is given out with token {} after token {} was done with",
            lock,
            token,
            known.newest_ended
        ));
    }
}

void oracle::on_parted(belief_ref of) {
    // What others wrote since then has a greater one; what they read may have a smaller one.
    if (!excused(*of) && !is_reader(of->lock)) {
        auto& newest = truths_[lock_of(of->lock)].newest_ended;
        newest = std::max(newest, of->token);
    }
    std::erase_if(by_serial_, [&of](auto const& one) { return one.second == of; });
    look_at_end(*of);
    watch_given_back(*of, in_.now());
    beliefs_.erase(of);
}

void oracle::on_told(belief& of, nanos when) {
    of.told = true;
    switch (of.held->loss()) {
        case loss_reason::taken:
        case loss_reason::deleted:
        case loss_reason::failed_over:
        case loss_reason::client_stopped: return;  // it had ended before it was known
        default: break;
    }
    nanos const end = of.held->deadline().time_since_epoch();
    // A lease that was short from the beginning has a short margin.
    auto const length = static_cast<double>(std::min(of.lease, end - of.since).count());
    nanos const margin{static_cast<nanos::rep>(length * of.margin_part)};
    auto const due = of.of->true_time_of(end - margin);
    bool const in_time = when <= std::max(due, of.of->punctual_since()) + 1us;
    if (!in_time && !kept_from_running(of, due - 1ms, when)) {
        in_.violation(fmt::format(
            "the holder of {} was told {:.3f} ms too late that its lease ends",
            of.lock,
            static_cast<double>((when - due).count()) / 1e6
        ));
    }
}

// Whether its process or its thread stood still at some time between the two.
bool oracle::kept_from_running(belief const& one, nanos from, nanos to) {
    return one.of->paused() || one.on->blocked || one.of->freed_between(from, to);
}

void oracle::on_lost(loss_reason why, belief* of) {
    if (of) {
        judge_reason(why, *of);
        look_at_end(*of);
    }
    switch (why) {
        case loss_reason::none: break;
        case loss_reason::expired: reached(sometimes::lost_expired); break;
        case loss_reason::taken: reached(sometimes::lost_taken); break;
        case loss_reason::deleted: reached(sometimes::lost_deleted); break;
        case loss_reason::unreachable: reached(sometimes::lost_unreachable); break;
        case loss_reason::max_hold: reached(sometimes::lost_max_hold); break;
        case loss_reason::max_renewals: reached(sometimes::lost_max_renewals); break;
        case loss_reason::client_stopped: reached(sometimes::lost_client_stopped); break;
        case loss_reason::failed_over: reached(sometimes::lost_failed_over); break;
    }
}

bool oracle::busy_is_right(process const& of, std::string const& side, nanos asked) {
    auto const lock = lock_of(side);
    // Its own client has it.
    bool const own = std::any_of(beliefs_.begin(), beliefs_.end(), [&](belief const& one) {
        return one.of == &of && lock_of(one.lock) == lock;
    });
    auto const is_here = [&](std::string const& holder) {
        auto const client = clients_.find(client_of(holder));
        return client != clients_.end() && client->second == of.number();
    };
    // One from whom it was taken by force does not know it yet, and may not know that it had it.
    auto const& of_lock = truths_[lock];
    bool const forced =
        (excused_.contains(of_lock.last_holder) && is_here(of_lock.last_holder)) ||
        std::any_of(of_lock.granted_at.begin(), of_lock.granted_at.end(), [&](auto const& one) {
            return excused_.contains(one.first) && is_here(one.first) &&
                   !of_lock.delivered.contains(one.first);
        });
    // The answer may have been kept from its user until now.
    bool const had_it =
        std::any_of(of_lock.used_until.begin(), of_lock.used_until.end(), [&](auto const& one) {
            return one.second >= asked && is_here(one.first);
        });
    // One that takes several keeps what it has of them while it waits for the rest.
    bool const kept = takes_beside_others(of, lock);
    if (own || forced || had_it || kept || is_here(of_lock.holder_now)) {
        return true;
    }
    auto const told = busy_.find({of.number(), lock});
    return told != busy_.end() && told->second >= asked;
}

bool oracle::holds_on_server(std::string const& lock, std::string const& holder) {
    if (is_pool(lock)) {
        return permits_.holds(lock, holder);
    }
    auto const fields = server_.data().hgetall(lock);
    return std::any_of(fields.begin(), fields.end(), [&](auto const& field) {
        return field.first == holder || field.first == holder + ":write";
    });
}

void oracle::on_killed(process const& of) {
    hand_overs_.on_stopped(of.number());
    on_closed(of);
    counting_.on_gone(of);
    std::erase_if(waiters_, [&of](waiter const& one) { return one.of == &of; });
    std::erase_if(by_serial_, [&of](auto const& one) { return one.second->of == &of; });
    std::erase_if(beliefs_, [&of](belief const& one) { return one.of == &of; });
}

// What the faults do

void oracle::excuse(std::string const& lock) {
    auto& data = server_.data();
    for (auto const& [name, unused] : truths_) {
        if (is_pool(name) && (lock.empty() || name == lock)) {
            auto const& holders = permits_.holders(name);
            excused_.insert(holders.begin(), holders.end());
        }
    }
    for (auto const& key : lock.empty() ? data.lock_keys() : std::vector<std::string>{lock}) {
        truths_[key].forgotten_at = in_.now();
        for (auto const& [field, unused] : data.hgetall(key)) {
            auto const end = field.rfind(":write");
            excused_.insert(field.substr(0, end));
            truths_[key].freed_in_silence = true;
        }
    }
}

void oracle::on_endless_holder(std::string const& lock) {
    reached(sometimes::endless_holder);
    auto& known = truths_[lock];
    known.free_since = -1ns;
    known.endless_since = in_.now();
}

// Nobody is told of that end, nor when it was set.
void oracle::on_endless_limited(std::string const& lock) {
    auto& known = truths_[lock];
    known.endless_since.reset();
    known.freed_in_silence = true;
    on_held(lock);
}

void oracle::on_other_holder(std::string const& lock, bool took) {
    truths_[lock].endless_since.reset();
    if (took) {
        reached(sometimes::other_holder);
        truths_[lock].free_since = -1ns;
        on_held(lock);
    } else {
        on_maybe_free(lock);
    }
}

void oracle::on_disturbance_ends() {
    --disturbances_;
    last_disturbance_ = in_.now();
}

bool oracle::excused(belief const& one) const {
    return excused_.contains(one.holder) || lost_in_failover(one.holder, *one.of);
}

std::string oracle::describe(belief const& one) const {
    view_of const view{*one.of};
    return fmt::format(
        "p{}'s with token {} until its {:.3f} s (now {:.3f} s)",
        one.of->number(),
        one.token,
        std::chrono::duration<double>{one.held->deadline().time_since_epoch()}.count(),
        std::chrono::duration<double>{one.of->clock()}.count()
    );
}

}  // namespace holdfast::sim
