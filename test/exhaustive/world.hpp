#ifndef HOLDFAST_EXHAUSTIVE_WORLD_HPP
#define HOLDFAST_EXHAUSTIVE_WORLD_HPP

#include "exhaustive/machines.hpp"
#include "exhaustive/scope.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <type_traits>

namespace holdfast::exhaustive {

/// A short sequence inside a value: what is behind its end is zero.
template <class T, std::size_t Capacity>
struct sequence {
    std::array<T, Capacity> items{};
    std::uint8_t size = 0;

    [[nodiscard]] bool empty() const noexcept { return size == 0; }
    [[nodiscard]] T* begin() noexcept { return items.data(); }
    [[nodiscard]] T* end() noexcept { return items.data() + size; }
    [[nodiscard]] T const* begin() const noexcept { return items.data(); }
    [[nodiscard]] T const* end() const noexcept { return items.data() + size; }
    [[nodiscard]] T& operator[](std::size_t i) noexcept { return items[i]; }
    [[nodiscard]] T const& operator[](std::size_t i) const noexcept { return items[i]; }

    void push_back(T const& item) {
        if (size == Capacity) {
            throw std::logic_error("a sequence is too short for this scope");
        }
        items[size++] = item;
    }
    void erase(std::size_t i) noexcept {
        std::copy(begin() + i + 1, end(), begin() + i);
        items[--size] = T{};
    }
    void clear() noexcept { *this = {}; }
};

enum class phase : std::uint8_t {
    /// Not asked for yet.
    unused,
    /// In a room, or alone with its one attempt.
    waiting,
    /// Ended without a lease; the answer to an attempt is still on its way.
    gone,
    /// Its lease was delivered.
    holding,
    /// The lease was given back; what was set going for it still runs.
    released,
    over,
};

enum class keep_alive : std::uint8_t { none, starting, sleeping, ended };

/// One acquisition (`acquire_op`) and the grant that it led to (`grant`).
struct acquisition {
    phase where = phase::unused;
    keep_alive coroutine = keep_alive::none;
    /// Numbers of machines.
    std::uint16_t acquire = 0;
    std::uint16_t lease = 0;
    tick sent_at = 0;
    tick limit_at = never;
    tick wakes_at = 0;
    /// The timer of the keep-alive was cancelled.
    bool woken = false;
    // Turns that were posted to the client's strand.
    bool renewal_posted = false;
    bool hand_over_posted = false;

    /// The watchers were told of the loss.
    bool told = false;
    // What the checks have to remember.
    bool cancelled_in_total = false;
    bool has_been_unsure = false;
    /// If there is a `max_hold`.
    tick granted_at = 0;

    bool operator==(acquisition const&) const = default;
};

enum class script : std::uint8_t { none, acquire, renew, release };

enum class stage : std::uint8_t {
    /// With the server, or on its way there.
    queued,
    /// The answer is on its way back.
    executed,
    /// There was no connection: the answer is posted.
    not_sent,
};

enum class outcome : std::uint8_t {
    none,
    /// Granted, renewed or freed.
    yes,
    /// Busy, or not ours.
    no,
    /// An error that passes.
    refused,
    unknown_script,
};

/// A request on the command connection (`command_link`), until its answer has been read.
struct request {
    script what = script::none;
    /// Whose holder id.
    std::uint8_t of = 0;
    /// Of a release: its place among the pending ones.
    std::uint8_t task = 0;
    stage at = stage::queued;
    outcome answer = outcome::none;
    /// Of a refused acquire: the ticks to the end of the holder's lease. Of a refused renewal:
    /// whether somebody else has the lock.
    std::uint8_t value = 0;
    tick sent_at = 0;
    tick give_up_at = 0;
    /// Somebody still waits for the answer.
    bool awaited = true;
    bool sent_again = false;

    bool operator==(request const&) const = default;
};

/// An entry of the `releaser`. Whether it is a release or a withdrawal makes a difference for the
/// caller alone.
struct release_task {
    std::uint8_t of = 0;
    tick until = 0;
    tick retry_at = never;
    bool in_flight = false;

    bool operator==(release_task const&) const = default;
};

/// SUBSCRIBE or UNSUBSCRIBE on its way to the server.
struct notice_request {
    bool subscribe = false;
    /// Of the latest generation.
    bool current = false;
    bool old = false;

    bool operator==(notice_request const&) const = default;
};

enum class push_kind : std::uint8_t { none, subscribed, notice };

/// What the server sends on the notice connection of its own accord. That a subscription has ended
/// changes nothing for a client.
struct push {
    push_kind what = push_kind::none;
    /// Of a confirmation: the request was of the latest generation.
    bool current = false;
    bool old = false;

    bool operator==(push const&) const = default;
};

enum class link : std::uint8_t {
    up,
    /// Of no use any more, but its end has not been reported yet.
    poisoned,
    down,
};

/// A `waiting_room`, and what the `room_table` keeps for it.
struct room {
    std::uint16_t machine = 0;
    bool exists = false;
    bool wants_subscription = false;
    bool confirmed = false;
    bool sweeping = false;
    tick armed_for = never;
    tick empty_since = 0;
    sequence<std::uint8_t, most_acquisitions> waiters;
    std::uint8_t unused = 0;
};

/// One client: what `client_state` and the port keep for one key.
struct client {
    std::array<acquisition, most_acquisitions> acquisitions{};
    room waiting;
    sequence<request, 7> requests;
    sequence<release_task, 3> releases;
    tick release_timer = never;
    tick sweep_at = never;
    sequence<notice_request, 4> notice_requests;
    sequence<push, 5> pushes;
    link commands = link::up;
    bool commands_down_long = false;
    bool notices_up = true;
    bool notices_down_long = false;
    // What `notice_link` wants.
    bool subscription_wanted = false;
    bool subscription_confirmed_once = false;
    bool crashed = false;
    /// A release was given up, its lease being over.
    bool gave_up_release = false;
    std::uint8_t unused = 0;
};

static_assert(std::has_unique_object_representations_v<client>);

inline bool operator==(client const& a, client const& b) noexcept {
    return std::memcmp(&a, &b, sizeof a) == 0;
}

/// Who may have the lock: an acquisition of a client, numbered from 1 over both clients; 0 is
/// nobody.
constexpr std::uint8_t holder_of(int client, int acquisition) noexcept {
    return static_cast<std::uint8_t>(1 + client * most_acquisitions + acquisition);
}
constexpr int client_of(std::uint8_t holder) noexcept {
    return (holder - 1) / most_acquisitions;
}
constexpr int acquisition_of(std::uint8_t holder) noexcept {
    return (holder - 1) % most_acquisitions;
}

constexpr std::uint8_t robbed_bit(std::uint8_t holder) noexcept {
    return static_cast<std::uint8_t>(1U << (holder - 1U));
}
constexpr bool is_robbed(std::uint8_t robbed, std::uint8_t holder) noexcept {
    return (robbed & robbed_bit(holder)) != 0;
}

/// The lock's key and the subscribers of its channel. Tokens are left out: the machines know
/// nothing of them.
struct lock_server {
    std::uint8_t holder = 0;
    tick ends = 0;
    /// The value in the key's hash.
    std::uint8_t count = 0;
    std::array<bool, client_count> subscribed{};
};

/// A request whose connection has ended, or a second copy of one: executed at some time or never.
struct stray {
    script what = script::none;
    std::uint8_t holder = 0;
};

/// How many more of each may come.
struct faults {
    std::uint8_t crashes = 0;
    std::uint8_t late = 0;
    std::uint8_t duplicates = 0;
    std::uint8_t losses = 0;
    std::uint8_t refusals = 0;
    std::uint8_t flushes = 0;
    std::uint8_t removals = 0;
};

/// Everything: an instant of a run.
struct world {
    std::array<client, client_count> clients;
    lock_server server;
    sequence<stray, 2> strays;
    faults left;
    tick now = 0;
    // What the checks have to remember.
    /// A stray acquire or renewal gave the key more time.
    bool strayed = false;
    /// From whom the lock was taken by hand: a bit each.
    std::uint8_t robbed = 0;
    /// Nothing has gone wrong yet.
    bool faultless = true;
};

world first_world(scope const& of);

struct hash_of_client {
    std::uint64_t operator()(client const& c) const noexcept { return hash_of_bytes(c); }
};

/// A world in 16 bytes: the numbers of its clients, and the rest.
struct packed_world {
    std::array<std::uint32_t, client_count> clients{};
    std::uint64_t rest = 0;

    bool operator==(packed_world const&) const = default;
};

class packer {
public:
    /// With `symmetric`, both clients may do the same. Then a world is as good as the one in which
    /// they have changed places, and one of the two stands for both.
    explicit packer(bool symmetric) noexcept : symmetric_{symmetric} {}

    /// `last` is what was unpacked before, if most of it is the same.
    packed_world pack(world const& w, packed_world const& last);
    packed_world pack(world const& w);
    [[nodiscard]] world unpack(packed_world const& packed) const;
    [[nodiscard]] static tick now_of(packed_world const& packed) noexcept;

    /// Whether the world in which the clients have changed places stands for this one.
    [[nodiscard]] bool stands_for_other(packed_world const& packed) const noexcept {
        return symmetric_ && packed.clients[0] > packed.clients[1];
    }
    /// The rest of the world in which the clients have changed places.
    [[nodiscard]] static std::uint64_t rest_of_other(std::uint64_t rest);
    [[nodiscard]] packed_world other(packed_world const& packed) const {
        return {{packed.clients[1], packed.clients[0]}, rest_of_other(packed.rest)};
    }

    std::uint32_t number_of(client const& c) { return clients_.number_of(c); }
    [[nodiscard]] client const& client_at(std::uint32_t number) const { return clients_[number]; }
    [[nodiscard]] std::size_t client_values() const noexcept { return clients_.size(); }

private:
    bool symmetric_;
    value_table<client, hash_of_client> clients_;
};

}  // namespace holdfast::exhaustive

#endif
