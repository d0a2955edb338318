#ifndef HOLDFAST_TEST_SIMULATION_SERVER_HPP
#define HOLDFAST_TEST_SIMULATION_SERVER_HPP

#include "memory_server/redis_model.hpp"
#include "simulation/link.hpp"
#include "simulation/machine.hpp"
#include "simulation/script_commands.hpp"
#include "simulation/world.hpp"

#include <holdfast/error.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::sim {

/// What a script did, as the server sees it.
struct script_event {
    /// Such as `lock.acquire`, and what it does, `acquire`.
    std::string_view script;
    std::string_view does;
    std::string_view lock;
    std::string_view holder;
    value const* reply;
    /// The number of the process that sent it.
    std::uint32_t from;
    /// The connection it came on; 0 for one that came once more, out of nowhere.
    std::uint64_t over;
    /// Its client had closed the connection by then.
    bool late;
    /// Sent once more with its text, because the server did not know it: out of order.
    bool again;
    /// The server runs it once more by itself.
    bool repeated;
    /// The server that was the primary, and does not know that it is not any more, if it was that.
    machine* stray;
    /// It respects the queue.
    bool queues;
    /// A renewal that asks for more time, not for tokens alone.
    bool extends;
};

/// A client in the queue of a lock, or a turn of those who do not queue, which has no holder.
struct queue_entry {
    std::string holder;
    double score;
};

/// What happens once to a message that gives a client a lock.
enum class grant_fault { none, late, early, lost, repeated };

/// How the network behaves towards one process.
struct route {
    nanos shortest{50'000};
    nanos longest{500'000};
    /// Now and then a message takes so many times as long.
    int slow_by_factor = 20;
    /// Added to each way.
    nanos slower_by{0};
    /// What is sent that way waits until the partition ends.
    bool stalled_to_server = false;
    bool stalled_to_client = false;
    std::vector<task> held_to_server;
    std::vector<task> held_to_client;

    [[nodiscard]] bool stalled(direction which) const noexcept {
        return which == direction::to_server ? stalled_to_server : stalled_to_client;
    }
    std::vector<task>& held(direction which) noexcept {
        return which == direction::to_server ? held_to_server : held_to_client;
    }
};

/// A Redis server with its network. It may have replicas, and Sentinels that watch over it: then it
/// is the primary of the moment that is looked at and acted upon, unless another machine is named.
class server {
public:
    server(world& in, double rate);
    ~server();
    [[nodiscard]] static server& current() noexcept;

    [[nodiscard]] world& in() noexcept { return in_; }
    [[nodiscard]] chosen_database& data() { return data_of(*primary_); }
    [[nodiscard]] chosen_database& data_of(machine& which);
    /// The locks are in this one from now on. There is one server.
    void choose_database(int number) {
        primary_->data.number = number;
        primary_->ghost = primary_->data.connect_there();
    }
    /// Its wall clock, µs since 1970.
    [[nodiscard]] std::int64_t wall_clock() const noexcept { return wall_clock_of(*primary_); }
    [[nodiscard]] std::int64_t wall_clock_of(machine const& which) const noexcept;
    [[nodiscard]] nanos true_duration_of(std::chrono::milliseconds by_server) const noexcept;

    route& route_of(std::uint32_t whose);
    [[nodiscard]] nanos delay(route const& on);
    std::vector<std::shared_ptr<link>> links();

    /// The process is killed: its kernel closes what it had.
    void close_all_of(std::uint32_t whose);
    /// Whether a connection is open at this end only.
    [[nodiscard]] static bool has_half_open(machine const& at);

    // What the client's end asks.
    void connect(
        std::shared_ptr<connection> const& client,
        std::string const& host,
        std::string const& port,
        nanos limit
    );

    // Replication.
    machine& add(std::string host, std::uint16_t port, bool is_sentinel);
    [[nodiscard]] machine& primary() noexcept { return *primary_; }
    [[nodiscard]] auto const& machines() const noexcept { return machines_; }
    [[nodiscard]] machine& machine_at(std::size_t number) { return *machines_.at(number); }
    /// Has one other machine that gets all that is written, sooner or later.
    void replicate();
    /// Each machine says who it is, and since when it has been there: for long.
    void tell_apart();
    /// The machine is the primary from now on, and has all but the last so many writes, or as many
    /// fewer as are known.
    void promote(machine& to, std::size_t behind);
    /// It takes no writes any more.
    void demote(machine& old);
    /// One of them is another process than at first.
    [[nodiscard]] bool has_restarted() const noexcept { return restarted_; }
    /// A name without a machine of its own leads there. At first it leads to the first machine.
    void lead_to(machine& there) noexcept { named_ = &there; }

    // A cluster: the machines are its nodes. The first one and its replica may fail over.
    /// Adds what is missing. The first node and the last one are primaries with half of the slots
    /// each, and the second one is the replica of the first.
    [[nodiscard]] memory::cluster_view add_nodes();
    /// Who has which slots; nodes that are no replicas are its primaries.
    void make_cluster(memory::cluster_view truth);
    [[nodiscard]] bool is_cluster() const noexcept { return truth_.has_value(); }
    /// The primary of the key's slot.
    [[nodiscard]] machine& owner_of(std::string_view key) noexcept;
    /// Another primary than `but`.
    [[nodiscard]] machine& other_primary(machine const& but) noexcept;
    /// What it does is done: it is a primary of the moment.
    [[nodiscard]] bool counts(machine const& which) const noexcept {
        return &which == primary_ || which.is_member;
    }
    void give_slot(std::uint16_t slot, machine& to);
    /// A node learns what is true.
    void tell(machine& which);
    /// Somebody to whom no rule applies tells all that listen, wherever they do.
    void publish(std::string_view channel, std::string_view message);
    /// Who listens to a channel at the server whose script runs, or anywhere if none does.
    [[nodiscard]] std::size_t subscribers(std::string_view channel) const;
    /// At none of those that count, unless a connection is open at its end only.
    [[nodiscard]] bool subscriptions_are_left() const;

    /// The queue of a lock, in its order.
    [[nodiscard]] std::vector<queue_entry> queue_of(std::string_view lock);
    /// A command of somebody to whom no rule applies.
    value as_operator(std::initializer_list<std::string_view> command);

    // Faults.
    void pause() { pause(*primary_); }
    void pause(machine& which);
    void resume() { resume(*primary_); }
    void resume(machine& which);
    [[nodiscard]] bool paused() const noexcept { return primary_->paused; }
    void kill() { kill(*primary_); }
    void kill(machine& which);
    void start(bool keep_data) { start(*primary_, keep_data); }
    void start(machine& which, bool keep_data);
    [[nodiscard]] bool up() const noexcept { return primary_->up; }
    /// Of the primary, or of all nodes of a cluster.
    void step_clock(nanos by) noexcept;
    void stall(std::uint32_t whose, direction which, bool on);
    /// The next execution of a script of this name (any, if empty) happens so often …
    void run_twice(std::string script, nanos second_after) {
        twice_ = {std::move(script), second_after};
    }
    /// … is not answered, and its connection breaks.
    void break_after(std::string script) { break_after_ = std::move(script); }
    void break_before(std::string script) { break_before_ = std::move(script); }
    /// The next message that gives a lock to a client is late, or lost with its connection, or
    /// comes once more, by so much later; or what the client is told otherwise is late (it is
    /// early).
    void set_grant_fault(grant_fault what, nanos by) noexcept {
        grant_fault_ = what;
        grant_fault_by_ = by;
    }
    /// The next scripts are refused, so many of them; not those that come with their text.
    static void refuse_scripts(machine& which, std::size_t count, std::string const& error) {
        which.refusals.insert(which.refusals.end(), count, error);
    }
    /// What was to go wrong with a message, and has not, does not any more.
    void disarm();
    /// New connections are refused, wherever they lead.
    void set_refuses_connections(bool refuses) noexcept {
        for (auto const& one : machines_) {
            one->refuses = refuses;
        }
    }
    /// A client that is never idle checks nothing.
    void set_clients_idle(bool idle) noexcept { clients_idle_ = idle; }
    /// As long as it refuses pings, health checks fail.
    void set_pings_fail(machine& which, bool fail);

    /// Called before a script that may give a lock to somebody.
    std::function<void(std::string_view script, std::string_view lock)> before_script;
    /// Called for each lock that a script is about.
    std::function<void(script_event const&)> on_script;
    std::function<void()> on_grant_lost;
    /// A fault that was prepared has happened to a message.
    std::function<void()> on_fault;
    std::function<void()> on_renewed_together;
    /// Several locks were granted, or refused, by one script.
    std::function<void()> on_taken_together;
    std::function<void(std::uint32_t process, std::string_view channel)> on_subscribe;
    /// An answer has come to this process.
    std::function<void(std::uint32_t process, value const& answer)> on_answer;

private:
    friend class link;

    struct second_run {
        std::string script;
        nanos after{0};
    };

    using words = command_words;

    void tell_of_fault() const {
        if (on_fault) {
            on_fault();
        }
    }

    [[nodiscard]] machine& find(std::string const& host, std::string const& port);
    void establish(machine& at, std::shared_ptr<connection> const& client);
    void on_bytes(link& from);
    void run_next(link& from);
    void run_command(link& from, words const& command);
    std::optional<value> execute(
        machine& at,
        link const* from,
        std::uint32_t process,
        words const& command,
        std::string_view script,
        bool repeated = false
    );
    void note_writes(machine const& at);
    [[nodiscard]] bool has_replica(machine const& at) const;
    void promote_node(machine& to, redis_model::data_copy const& what);
    void send_over_bus(
        machine const& from,
        bool sharded,
        std::string_view channel,
        std::string_view message
    );
    void new_process(machine& which, std::chrono::seconds age = {});
    void run_again_later(
        machine& at,
        std::uint32_t from,
        words const& command,
        std::string_view script,
        nanos after
    );

    world& in_;
    double rate_;
    std::vector<std::unique_ptr<machine>> machines_;
    machine* primary_;
    machine* named_;
    machine const* executing_ = nullptr;
    // Which nodes of a cluster have which slots, whatever a node knows of it.
    std::optional<memory::cluster_view> truth_;
    // What the primary had after each of its last writes: any of it may be all that a replica has.
    std::deque<redis_model::data_copy> written_;
    bool replicates_ = false;
    bool told_apart_ = false;
    // How many writes there were, and how many of them a replica has said that it has.
    std::uint64_t writes_ = 0;
    std::uint64_t confirmed_ = 0;
    std::uint64_t promotions_ = 0;
    bool restarted_ = false;
    std::uint64_t processes_ = 0;
    std::vector<std::pair<std::uint32_t, std::unique_ptr<route>>> routes_;
    std::optional<second_run> twice_;
    std::optional<std::string> break_after_;
    std::optional<std::string> break_before_;
    grant_fault grant_fault_ = grant_fault::none;
    nanos grant_fault_by_{0};
    bool clients_idle_ = true;
    server* outer_;
};

}  // namespace holdfast::sim

#endif
