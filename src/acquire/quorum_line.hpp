#ifndef HOLDFAST_ACQUIRE_QUORUM_LINE_HPP
#define HOLDFAST_ACQUIRE_QUORUM_LINE_HPP

#include "acquire/quorum_node.hpp"

#include <holdfast/error.hpp>
#include <holdfast/owner.hpp>

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::detail {

class lease_group;

/// One who stands in line for a quorum.
class quorum_waiter {
public:
    virtual ~quorum_waiter() = default;
    /// It is the first now.
    virtual void on_turn() = 0;
    /// A node was freed, or may have been. Only the first one is told.
    virtual void on_news(std::size_t node) = 0;
    /// Another one relies on its next round: the first one is told. `brief`: it gives up soon. Or
    /// another operation of its owner has got the lock: its round joins that lease, wherever it
    /// stands in line.
    virtual void on_newcomer(bool brief) = 0;
    /// A round has found the lock busy. Only those are told that are overdue.
    virtual void on_busy() = 0;
    /// It cannot wait any longer: the client stops, or so many nodes refuse to tell what is
    /// published that too few are left.
    virtual void on_ended(error_code cause) = 0;
};

/// Those of a client's operations that wait for the same quorum. Only the first one tries: a
/// release does not wake them all. They share the subscriptions. Used on the strand of the client
/// that leads.
class quorum_line : public std::enable_shared_from_this<quorum_line> {
public:
    explicit quorum_line(std::shared_ptr<client_context> lead) : lead_{std::move(lead)} {}

    using place = std::list<std::shared_ptr<quorum_waiter>>::iterator;
    /// It is kept alive until it leaves.
    place enter(std::shared_ptr<quorum_waiter> who);
    /// The next one has its turn, in another turn of the strand.
    void leave(place of);
    [[nodiscard]] bool is_first(place of) const noexcept { return of == waiters_.begin(); }
    [[nodiscard]] std::size_t size() const noexcept { return waiters_.size(); }

    /// Listens to the nodes' channels, until the line is empty.
    void listen(std::vector<quorum_node> const& nodes);
    /// What a majority of the nodes publish arrives.
    [[nodiscard]] bool hears() const noexcept;
    /// The first one has begun a round.
    void on_round(time_point now) noexcept { asked_at_ = now; }
    /// What came of a round that began at `began`. `busy`: another one has the lock, if only the
    /// operation itself that made the round.
    void on_round_over(bool busy, time_point began);
    /// Notes an operation of this owner, whether it stands in line or not.
    void note_owner(owner const& who, std::weak_ptr<quorum_waiter> which);
    /// An operation of this owner has got the lock.
    void on_grant_to(owner const& who, std::weak_ptr<lease_group const> lease);
    /// An attempt of this owner joins a lease that it has.
    [[nodiscard]] bool has_lock(owner const& who) const;
    /// Whether a round began after `start`; and found the lock busy.
    [[nodiscard]] bool asked_since(time_point start) const noexcept { return asked_at_ >= start; }
    [[nodiscard]] bool busy_since(time_point start) const noexcept { return busy_at_ >= start; }
    /// Someone relies on the first one's next round; or waits for nothing else any more.
    void ask_again(bool brief) const;
    void on_overdue(std::weak_ptr<quorum_waiter> who);
    void end_all(error_code cause);
    /// The client's context is being destroyed.
    void clear() noexcept;

private:
    class listener;
    enum class hearing : char { none, confirmed, refused };

    void on_heard(std::size_t node, hearing how, bool news, error_code cause);
    [[nodiscard]] std::shared_ptr<quorum_waiter> first() const {
        return waiters_.empty() ? nullptr : waiters_.front();
    }
    void stop_listening() noexcept;

    std::shared_ptr<client_context> lead_;
    std::list<std::shared_ptr<quorum_waiter>> waiters_;
    std::vector<std::shared_ptr<listener>> listeners_;
    std::vector<hearing> heard_;
    // Those whose time is up, and some that have gone since.
    std::vector<std::weak_ptr<quorum_waiter>> overdue_;
    // Operations that have an owner, in line or not, and some that have gone since.
    std::vector<std::pair<owner, std::weak_ptr<quorum_waiter>>> owned_;
    // Leases that have an owner, and some that are over. They keep the line alive.
    std::vector<std::pair<owner, std::weak_ptr<lease_group const>>> leases_;
    time_point asked_at_ = time_point::min();
    // When the newest round began that found the lock busy. A later one that decides nothing takes
    // nothing back.
    time_point busy_at_ = time_point::min();
    bool cleared_ = false;
};

/// The lines of a client, one for each quorum that somebody waits for.
class quorum_lines {
public:
    [[nodiscard]] std::shared_ptr<quorum_line> of(std::vector<quorum_node> const& nodes);
    void end_all(error_code cause);
    void clear() noexcept;
    [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }

private:
    // The name and the clients.
    using key = std::pair<std::string, std::vector<client_context const*>>;

    [[nodiscard]] static key key_of(std::vector<quorum_node> const& nodes);

    static constexpr std::size_t few = 64;

    std::map<key, std::weak_ptr<quorum_line>> all_;
    // With so many, those that are over are forgotten.
    std::size_t look_at_ = few;
};

}  // namespace holdfast::detail

#endif
