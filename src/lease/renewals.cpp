#include "lease/renewals.hpp"

#include "lease/tenure.hpp"
#include "protocol/primitive.hpp"
#include "protocol/slot.hpp"
#include "protocol/target.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <utility>

namespace holdfast::detail {

namespace {

constexpr millis longest_wait{5};

// The error may be that of one lock, or of so many locks in one script.
bool concerns_one(exec_result const& result) {
    return result.status == exec_status::failed || result.keys_apart ||
           (result.status == exec_status::unknown && result.error == errc::server_refused);
}

// There may be as many slots as leases.
void sort_by_slot(std::span<std::shared_ptr<tenure>> due) {
    std::vector<std::pair<std::uintptr_t, std::shared_ptr<tenure>*>> order;
    order.reserve(due.size());
    for (auto& one : due) {
        auto const& on = *one->over().on();
        auto const kind = reinterpret_cast<std::uintptr_t>(on.speaks);
        order.emplace_back(kind * slot_count + on.slot, &one);
    }
    std::sort(order.begin(), order.end());
    std::vector<std::shared_ptr<tenure>> sorted;
    sorted.reserve(due.size());
    for (auto const& [key, one] : order) {
        sorted.push_back(std::move(*one));
    }
    std::move(sorted.begin(), sorted.end(), due.begin());
}

void renew_alone(std::shared_ptr<tenure> const& one) {
    one->over().send_renewal(one);
}

}  // namespace

renewals::renewals(client_context& client) : client_{client} {}
renewals::~renewals() = default;

void renewals::hand_in(std::shared_ptr<tenure> due) {
    std::lock_guard const lock{mutex_};
    if (client_.gone()) {
        return;
    }
    auto const count = waiting_.size() + 1;
    if (count == 1 || count % most_in_a_batch == 0) {
        client_.on_strand([this, client = client_.shared_from_this()] { on_handed_in(); });
    }
    waiting_.push_back(std::move(due));
}

void renewals::on_handed_in() {
    std::size_t count = 0;
    {
        std::lock_guard const lock{mutex_};
        count = waiting_.size();
    }
    // With all leases of the client there is nothing to wait for.
    bool const all = count >= client_.count().leases_now.get();
    if (auto const now = all ? count : count - count % most_in_a_batch; now > 0) {
        send(now);
    } else if (count > 0) {
        wait();
    }
}

void renewals::wait() {
    if (armed_) {
        return;
    }
    if (!timer_) {
        timer_.emplace(client_.strand());
    }
    sleep_until(*timer_, lease_clock::now() + longest_wait);
    timer_->async_wait([this, client = client_.shared_from_this()](error_code ec) {
        armed_ = false;
        if (!ec) {
            send(most_in_a_batch);
        }
    });
    armed_ = true;
}

// Sends the first `count` of those that wait.
void renewals::send(std::size_t count) {
    list due;
    bool more = false;
    {
        std::lock_guard const lock{mutex_};
        count = std::min(count, waiting_.size());
        list left;
        left.reserve(std::max(most_in_a_batch, waiting_.size() - count));
        auto const rest = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
        std::move(rest, waiting_.end(), std::back_inserter(left));
        waiting_.erase(rest, waiting_.end());
        more = !left.empty();
        due = std::exchange(waiting_, std::move(left));
    }
    auto const is_alone = [](auto const& one) { return one->over().renewed_alone(); };
    auto first = std::partition(due.begin(), due.end(), is_alone);
    std::for_each(due.begin(), first, renew_alone);
    if (client_.clustered()) {
        sort_by_slot({first, due.end()});
    }
    while (first != due.end()) {
        auto const is_other = [&](auto const& one) {
            return !client_.may_share_a_call(*(*first)->over().on(), *one->over().on());
        };
        auto const rest = std::next(first);
        auto const end = client_.clustered()
                             ? std::find_if(rest, due.end(), is_other)
                             : std::partition(rest, due.end(), std::not_fn(is_other));
        for (std::span group{first, end}; !group.empty();) {
            auto const size = std::min(group.size(), most_in_a_batch);
            send_together(group.first(size));
            group = group.subspan(size);
        }
        first = end;
    }
    if (more) {
        wait();
    }
}

void renewals::add(batch& to, std::vector<primitive::member>& locks, hold::request request) {
    auto& over = request.asking->over();
    auto number = locks.size();
    if (over.shared()) {
        auto const same =
            std::find_if(to.requests.begin(), to.requests.end(), [&](auto const& each) {
                return &each.asking->over() == &over;
            });
        if (same != to.requests.end()) {
            number = to.numbers[static_cast<std::size_t>(same - to.requests.begin())];
        }
    }
    auto const lease = over.lease_to_ask(request);
    to.requests.push_back(std::move(request));
    to.numbers.push_back(number);
    if (number < locks.size()) {
        locks[number].lease = std::max(locks[number].lease, lease);
    } else {
        locks.push_back({over.on().get(), over.id(), lease});
    }
}

void renewals::send_together(std::span<std::shared_ptr<tenure> const> due) {
    auto const sent = std::make_shared<batch>();
    sent->requests.reserve(due.size());
    sent->numbers.reserve(due.size());
    std::vector<primitive::member> what;
    what.reserve(due.size());
    auto timeout = nanos::max();
    auto const sent_at = lease_clock::now();
    for (auto const& one : due) {
        // mutant: released-lease-renewed-with-others
        if (one->over().may_renew(*one, sent_at)) {
            add(*sent, what, hold::request::of(one, sent_at));
            timeout = std::min(timeout, sent->requests.back().terms.request_timeout);
        }
    }
    if (sent->requests.size() == 1) {
        renew_alone(sent->requests.front().asking);
    }
    if (sent->requests.size() < 2) {
        return;
    }
    client_.exec_confirmed(
        sent->requests.front().asking->over().on()->speaks->renew_many(what, timeout),
        [sent](exec_result result) { on_answer(*sent, result); }
    );
}

// Some of the tenures may be over by now, and others may have begun.
void renewals::on_answer(batch const& sent, exec_result const& result) {
    auto number = sent.numbers.begin();
    for (auto const& one : sent.requests) {
        auto const which = *number++;
        auto& over = one.asking->over();
        bool const replied = result.status == exec_status::replied;
        if (replied || result.status == exec_status::unconfirmed) {
            auto const lost = over.on()->speaks->read_renew_many(result.reply, which);
            // What is not ours any more needs no replica to say so.
            if (lost && (replied || *lost != loss_reason::none)) {
                static_cast<void>(over.on_answered(one, *lost));
                continue;
            }
        }
        if (!replied && !concerns_one(result)) {
            static_cast<void>(over.on_failed(one, result.error));
            continue;
        }
        // Only a renewal of its own would say why. Until then it may be anybody's.
        over.fsm().on_doubt(one.sent_at);
        over.send_renewal(one.asking);
    }
}

void renewals::on_context_gone() noexcept {
    timer_.reset();
    list dropped;
    std::lock_guard const lock{mutex_};
    dropped.swap(waiting_);
}

}  // namespace holdfast::detail
