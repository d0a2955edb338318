#include "exhaustive/explorer.hpp"

#include "exhaustive/checks.hpp"
#include "exhaustive/machines.hpp"
#include "exhaustive/moves.hpp"
#include "exhaustive/world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace holdfast::exhaustive {

namespace {

/// What clients do by themselves. It depends on nothing but the value of a client and the tick, so
/// it is worked out once for each.
class behaviour {
public:
    struct step {
        std::uint32_t becomes;
        move by;
    };
    struct entry {
        std::uint32_t client = 0;  // 0: none
        tick now = 0;
        standing stands;
        std::uint32_t first = 0;
        std::uint32_t count = 0;
    };

    behaviour(context& ctx, packer& values) : ctx_{ctx}, values_{values}, entries_(1U << 12U) {}

    /// If that breaks a rule, `ctx` says so, and `broken_by` by which move, if by any.
    entry const& of(std::uint32_t client, tick now) {
        auto const mask = entries_.size() - 1;
        for (auto at = hash_of(client, now) & mask;; at = (at + 1) & mask) {
            auto const& there = entries_[at];
            if (there.client == 0) {
                return add(client, now);
            }
            if (there.client == client && there.now == now) {
                return there;
            }
        }
    }

    [[nodiscard]] step const* begin(entry const& e) const { return steps_.data() + e.first; }
    [[nodiscard]] step const* end(entry const& e) const { return begin(e) + e.count; }
    [[nodiscard]] std::optional<move> const& broken_by() const { return broken_by_; }

private:
    static std::uint64_t hash_of(std::uint32_t client, tick now) {
        return mixed(static_cast<std::uint64_t>(client) << 8U | now);
    }

    entry const& add(std::uint32_t number, tick now) {
        auto const before = values_.client_at(number);
        entry e{number, now, look_at(ctx_.of, before, now), 0, 0};
        e.first = static_cast<std::uint32_t>(steps_.size());
        check_client(ctx_, before, now);
        if (!ctx_.broken) {
            list_local_moves(ctx_.of, before, now, moves_);
            for (auto const& m : moves_) {
                auto after = before;
                make_local_move(ctx_, after, now, m);
                check_change(ctx_, before, now, after, now);
                steps_.push_back({values_.number_of(after), m});
                if (ctx_.broken) {
                    broken_by_ = m;
                    break;
                }
            }
        }
        e.count = static_cast<std::uint32_t>(steps_.size()) - e.first;
        if (4 * ++used_ > 3 * entries_.size()) {
            grow();
        }
        return place(e);
    }

    entry const& place(entry const& e) {
        auto const mask = entries_.size() - 1;
        auto at = hash_of(e.client, e.now) & mask;
        while (entries_[at].client != 0) {
            at = (at + 1) & mask;
        }
        return entries_[at] = e;
    }

    void grow() {
        auto const old = std::exchange(entries_, std::vector<entry>(2 * entries_.size()));
        for (auto const& e : old) {
            if (e.client != 0) {
                place(e);
            }
        }
    }

    context& ctx_;
    packer& values_;
    std::vector<entry> entries_;
    std::size_t used_ = 0;
    std::vector<step> steps_;
    std::vector<move> moves_;
    std::optional<move> broken_by_;
};

struct visit {
    packed_world where;
    std::uint32_t from = 0;
    std::uint16_t by = 0;
    std::uint16_t depth = 0;
};

/// The worlds in the order in which they were found, each once.
class visited {
public:
    visited() : places_(1U << 16U) {}

    [[nodiscard]] std::size_t size() const noexcept { return visits_.size(); }
    [[nodiscard]] visit const& operator[](std::size_t i) const { return visits_[i]; }

    void add(packed_world const& where, std::size_t from, move const& by) {
        auto const hash = hash_of(where);
        auto const mask = places_.size() - 1;
        auto at = hash & mask;
        for (; places_[at].number != 0; at = (at + 1) & mask) {
            if (places_[at].tag == tag_of(hash) && visits_[places_[at].number - 1].where == where) {
                return;
            }
        }
        auto const depth = visits_.empty() ? 0 : visits_[from].depth + 1;
        visits_.push_back(
            {where, static_cast<std::uint32_t>(from), by.packed(), static_cast<std::uint16_t>(depth)
            }
        );
        places_[at] = {static_cast<std::uint32_t>(visits_.size()), tag_of(hash)};
        if (4 * visits_.size() > 3 * places_.size()) {
            grow();
        }
    }

private:
    struct place {
        /// Of a visit, from 1; 0: none.
        std::uint32_t number = 0;
        /// A part of its hash: most others differ in it.
        std::uint32_t tag = 0;
    };

    static std::uint64_t hash_of(packed_world const& where) {
        auto const both = static_cast<std::uint64_t>(where.clients[0]) << 32U | where.clients[1];
        return mixed(where.rest ^ mixed(both));
    }
    static std::uint32_t tag_of(std::uint64_t hash) {
        return static_cast<std::uint32_t>(hash >> 32U);
    }

    void grow() {
        places_.assign(2 * places_.size(), {});
        auto const mask = places_.size() - 1;
        for (std::size_t i = 0; i < visits_.size(); ++i) {
            auto const hash = hash_of(visits_[i].where);
            auto at = hash & mask;
            while (places_[at].number != 0) {
                at = (at + 1) & mask;
            }
            places_[at] = {static_cast<std::uint32_t>(i + 1), tag_of(hash)};
        }
    }

    std::vector<visit> visits_;
    std::vector<place> places_;
};

class explorer {
public:
    explicit explorer(scope const& of)
        : of_{of},
          ctx_{of, all_, {}, 0},
          packer_{of.acquisitions[0] == of.acquisitions[1]},
          behaviour_{ctx_, packer_} {}

    exploration run() {
        auto const began = std::chrono::steady_clock::now();
        visited_.add(packer_.pack(first_world(of_)), 0, {});
        for (std::size_t i = 0; i < visited_.size() && !found_; ++i) {
            expand(i);
        }
        exploration result;
        result.worlds = visited_.size();
        result.moves = moves_made_;
        result.depth = visited_[visited_.size() - 1].depth;
        result.client_values = packer_.client_values();
        result.machine_values = all_.acquires.size() + all_.rooms.size() + all_.leases.size();
        result.reached = ctx_.reached;
        result.found = found_;
        result.seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
        return result;
    }

private:
    void expand(std::size_t i) {
        auto const here = visited_[i].where;
        auto const before = packer_.unpack(here);
        check_world(ctx_, before);
        if (stopped_at(i, {})) {
            return;
        }
        auto const rest_of_other = packer::rest_of_other(here.rest);
        std::array<standing, client_count> all;
        std::size_t possible = 0;
        for (std::uint8_t number = 0; number < client_count; ++number) {
            auto const does = behaviour_.of(here.clients[number], before.now);
            if (auto broken_by = behaviour_.broken_by()) {
                broken_by->client = number;
                stopped_at(i, broken_by);
                return;
            }
            if (stopped_at(i, {})) {
                return;
            }
            all[number] = does.stands;
            possible += does.count;
            for (auto const* step = behaviour_.begin(does); step != behaviour_.end(does); ++step) {
                auto next = here;
                next.clients[number] = step->becomes;
                if (packer_.stands_for_other(next)) {
                    std::swap(next.clients[0], next.clients[1]);
                    next.rest = rest_of_other;
                }
                visited_.add(next, i, {step->by.kind, number, step->by.which});
            }
        }
        list_moves(of_, before, all, moves_);
        possible += moves_.size();
        moves_made_ += possible;
        for (auto const& m : moves_) {
            auto after = before;
            make_move(ctx_, after, m);
            check(before, m, after);
            if (stopped_at(i, m)) {
                return;
            }
            visited_.add(packer_.pack(after, here), i, m);
        }
        if (possible == 0) {
            check_end(ctx_, before);
            stopped_at(i, {});
        }
    }

    void check(world const& before, move const& m, world const& after) {
        for (std::size_t number = 0; number < before.clients.size(); ++number) {
            auto const& c = before.clients[number];
            auto const& next = after.clients[number];
            check_change(ctx_, c, before.now, next, after.now);
            if (m.kind == move_kind::pass_time) {
                check_passing(ctx_, c, before.now);
            }
        }
    }

    // A rule was broken in world `last`, or by a move from there.
    bool stopped_at(std::size_t last, std::optional<move> then) {
        if (!ctx_.broken) {
            return false;
        }
        if (!found_) {
            auto const broken = *ctx_.broken;
            std::vector<move> way;
            if (then) {
                way.push_back(*then);
            }
            for (auto i = last; i != 0; i = visited_[i].from) {
                way.push_back(move::unpacked(visited_[i].by));
            }
            std::reverse(way.begin(), way.end());
            found_ = {broken, replay(way)};
        }
        return true;
    }

    // The way leads through worlds that stand for those with the clients changed about: the names
    // go with the clients.
    std::vector<std::string> replay(std::vector<move> const& way) {
        std::vector<std::string> lines;
        std::array<char, client_count> names{'A', 'B'};
        auto w = first_world(of_);
        for (auto const& m : way) {
            auto const line = describe(of_, w, m, names);
            make_move(ctx_, w, m);
            lines.push_back(fmt::format("{:<72} {}", line, describe(all_, w, names)));
            packed_world const same{
                {packer_.number_of(w.clients[0]), packer_.number_of(w.clients[1])},
                0
            };
            if (packer_.stands_for_other(same)) {
                std::swap(names[0], names[1]);
            }
            w = packer_.unpack(packer_.pack(w));
        }
        return lines;
    }

    scope const& of_;
    machines all_;
    context ctx_;
    packer packer_;
    behaviour behaviour_;
    visited visited_;
    std::vector<move> moves_;
    std::size_t moves_made_ = 0;
    std::optional<counter_example> found_;
};

}  // namespace

exploration explore(scope const& of) {
    return explorer{of}.run();
}

std::string to_text(scope const& of, exploration const& result) {
    return fmt::format(
        "{}: {} worlds, {} moves, depth {}, {:.1f} s ({} values of a client, {} of a machine)",
        of.name,
        result.worlds,
        result.moves,
        result.depth,
        result.seconds,
        result.client_values,
        result.machine_values
    );
}

std::string to_text(counter_example const& found) {
    auto text = fmt::format("{}: {}\n", found.broken.rule, found.broken.what);
    for (auto const& line : found.trace) {
        text += line + '\n';
    }
    return text;
}

}  // namespace holdfast::exhaustive
