#include "lease/lease_group.hpp"

#include "lease/tenure.hpp"
#include "runtime/pending_handler.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <mutex>
#include <utility>

namespace holdfast::detail {

/// A caller who is told once, by whichever thread is the first.
template <class... Results>
class told_once {
public:
    explicit told_once(pending_handler<error_code, Results...> caller)
        : caller_{std::move(caller)} {}

    /// In the initiating function. `Self` is what this belongs to.
    template <class Self>
    void accept_cancellation(std::weak_ptr<Self> self) {
        caller_.on_cancel([self](asio::cancellation_type type) {
            auto const asked = self.lock();
            if (asked && type != asio::cancellation_type::none) {
                asked->end(asio::error::operation_aborted, Results{}...);
            }
        });
    }

    /// False if that was done before.
    bool tell(error_code ec, Results... results) {
        std::unique_lock guard{mutex_};
        auto caller = std::exchange(caller_, {});
        guard.unlock();
        bool const first = static_cast<bool>(caller);
        caller.complete(ec, results...);
        return first;
    }
    /// The caller is told by other means.
    void drop() noexcept {
        std::unique_lock guard{mutex_};
        auto const dropped = std::exchange(caller_, {});
        guard.unlock();
    }

private:
    std::mutex mutex_;
    pending_handler<error_code, Results...> caller_;
};

/// What the members answer to a request that all of them got.
class lease_group::answers {
public:
    answers(pending_handler<error_code> caller, std::size_t members)
        : caller_{std::move(caller)},
          all_(members),
          left_{members} {}

    void accept_cancellation(std::weak_ptr<answers> self) {
        caller_.accept_cancellation(std::move(self));
    }
    void end(error_code ec) { caller_.tell(ec); }

    /// Each has a place of its own; the last one sees them all.
    void on_answer(std::size_t member, error_code ec) {
        all_[member] = ec;
        if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            end(worst());
        }
    }

private:
    [[nodiscard]] error_code worst() const noexcept {
        error_code const lost = errc::lease_lost;
        if (std::find(all_.begin(), all_.end(), lost) != all_.end()) {
            return lost;
        }
        auto const failed =
            std::find_if(all_.begin(), all_.end(), [](auto const& ec) { return ec.failed(); });
        return failed == all_.end() ? error_code{} : *failed;
    }

    told_once<> caller_;
    std::vector<error_code> all_;
    std::atomic<std::size_t> left_;
};

/// One who waits for the loss of any member.
class lease_group::watch : public std::enable_shared_from_this<watch> {
public:
    watch(std::shared_ptr<lease_group> of, pending_handler<error_code, loss_reason> caller)
        : of_{std::move(of)},
          caller_{std::move(caller)} {
        numbers_.reserve(of_->leases_.size());
    }

    void start() {
        caller_.accept_cancellation(weak_from_this());
        try {
            for (auto const& each : of_->leases_) {
                numbers_.push_back(add_to(lease_access::share_of(each)));
            }
        } catch (...) {
            caller_.drop();
            cancel();
            throw;
        }
        std::unique_lock guard{mutex_};
        started_ = true;
        bool const over = over_;
        guard.unlock();
        if (over) {
            cancel();
        }
    }

    void end(error_code ec, loss_reason reason) {
        if (reason != loss_reason::none) {
            auto none = loss_reason::none;
            of_->first_loss_.compare_exchange_strong(none, reason);
        }
        if (!caller_.tell(ec, reason)) {
            return;
        }
        std::unique_lock guard{mutex_};
        over_ = true;
        bool const started = started_;
        guard.unlock();
        if (started) {
            cancel();
        }
    }

private:
    [[nodiscard]] std::uint64_t add_to(std::shared_ptr<lease_share> const& share) {
        auto on_end = [self = shared_from_this()](error_code ec, loss_reason reason) {
            self->end(ec, reason);
        };
        return share->of.wait_lost(share, std::move(on_end));
    }
    void cancel() {
        for (std::size_t i = 0; i < numbers_.size(); ++i) {
            lease_access::share_of(of_->leases_[i])->of.cancel_watch(numbers_[i]);
        }
    }

    std::shared_ptr<lease_group> of_;
    told_once<loss_reason> caller_;
    std::vector<std::uint64_t> numbers_;
    std::mutex mutex_;
    // All members are watched: the numbers do not change any more.
    bool started_ = false;
    bool over_ = false;
};

lease_group::lease_group(std::shared_ptr<client_context> client, std::vector<lease>&& leases)
    : client_{std::move(client)},
      leases_{std::move(leases)} {}

multi_lease lease_group::make(std::shared_ptr<client_context> client, std::vector<lease>&& leases) {
    return multi_lease{std::make_shared<lease_group>(std::move(client), std::move(leases))};
}

// Released members are empty. They are released together.
lease_state lease_group::state() const noexcept {
    auto worst = lease_state::held;
    for (auto const& each : leases_) {
        auto const now = each.state();
        if (now == lease_state::empty) {
            return now;
        }
        if (now == lease_state::lost) {
            static_cast<void>(loss());
            worst = now;
        } else if (now == lease_state::in_doubt && worst == lease_state::held) {
            worst = now;
        }
    }
    return worst;
}

loss_reason lease_group::loss() const noexcept {
    auto known = first_loss_.load();
    for (auto const& each : leases_) {
        if (known != loss_reason::none) {
            break;
        }
        auto const reason = each.loss();
        if (reason != loss_reason::none && first_loss_.compare_exchange_strong(known, reason)) {
            known = reason;
        }
    }
    return known;
}

time_point lease_group::deadline() const noexcept {
    auto earliest = time_point::max();
    for (auto const& each : leases_) {
        earliest = std::min(earliest, each.deadline());
    }
    return earliest;
}

std::shared_ptr<lease_group::answers> lease_group::expect_answers(plain_handler handler) {
    auto made = std::make_shared<answers>(
        pending_handler<error_code>{std::move(handler), executor()},
        leases_.size()
    );
    made->accept_cancellation(made);
    return made;
}

void lease_group::renew(plain_handler handler) {
    if (client_->gone()) {
        return;
    }
    auto const all = expect_answers(std::move(handler));
    for (std::size_t i = 0; i < leases_.size(); ++i) {
        auto const& share = lease_access::share_of(leases_[i]);
        share->of.renew(share, [all, i](error_code ec) { all->on_answer(i, ec); });
    }
}

// What was lost before is told by then. The requests of a client leave in one turn of its strand,
// and so together.
void lease_group::release(plain_handler handler) {
    if (client_->gone()) {
        abandon();
        return;
    }
    static_cast<void>(loss());
    auto const all = expect_answers(std::move(handler));
    std::vector<given_back> left;
    left.reserve(leases_.size());
    for (std::size_t i = 0; i < leases_.size(); ++i) {
        auto const& share = lease_access::share_of(leases_[i]);
        auto rest =
            share->of.begin_release(share, [all, i](error_code ec) { all->on_answer(i, ec); });
        if (rest) {
            left.push_back(*std::move(rest));
        }
    }
    while (!left.empty()) {
        auto& client = left.back().of->over().client();
        auto const first = std::stable_partition(left.begin(), left.end(), [&](auto const& each) {
            return &each.of->over().client() != &client;
        });
        std::vector<given_back> own(
            std::make_move_iterator(first),
            std::make_move_iterator(left.end())
        );
        left.erase(first, left.end());
        client.enter_strand([own = std::move(own), at = client.shared_from_this()]() mutable {
            at->in_one_burst([&own] {
                for_each_in_spite_of_exceptions(own, [](given_back& each) { each(); });
            });
        });
    }
}

void lease_group::wait_lost(loss_handler handler) {
    if (client_->gone()) {
        return;
    }
    auto const& first = lease_access::share_of(leases_.front());
    std::make_shared<watch>(
        shared_from_this(),
        pending_handler<error_code, loss_reason>{std::move(handler), first->of.told_on(*first)}
    )
        ->start();
}

void lease_group::abandon() noexcept {
    static_cast<void>(loss());
    for (auto const& each : leases_) {
        auto const& share = lease_access::share_of(each);
        share->of.abandon(*share);
    }
}

}  // namespace holdfast::detail
