// Moves and worlds in words.

#include "exhaustive/moves.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::exhaustive {

namespace {

std::string_view name_of(script what) {
    constexpr std::array<std::string_view, 4> names{"nothing", "acquire", "renew", "release"};
    return names.at(static_cast<std::size_t>(what));
}

std::string_view name_of(lease_state state) {
    constexpr std::array<std::string_view, 4> names{"empty", "held", "in doubt", "lost"};
    return names.at(static_cast<std::size_t>(state));
}

class narrator {
public:
    narrator(world const& w, std::array<char, client_count> names) : w_{w}, names_{names} {}

    [[nodiscard]] std::string who(unsigned client, unsigned acquisition) const {
        return fmt::format("{}{}", names_[client], acquisition + 1);
    }
    [[nodiscard]] std::string who(std::uint8_t holder) const {
        return who(
            static_cast<unsigned>(client_of(holder)),
            static_cast<unsigned>(acquisition_of(holder))
        );
    }
    [[nodiscard]] request const* next(unsigned client, stage at) const {
        auto const& all = w_.clients[client].requests;
        auto const found =
            std::find_if(all.begin(), all.end(), [at](request const& r) { return r.at == at; });
        return found == all.end() ? nullptr : found;
    }
    [[nodiscard]] std::string requested(unsigned client, stage at) const {
        auto const* const r = next(client, at);
        return r ? fmt::format("{} of {}", name_of(r->what), who(client, r->of)) : "nothing";
    }
    [[nodiscard]] std::string answered(unsigned client) const {
        auto const* const r = next(client, stage::executed);
        if (!r) {
            return "nothing";
        }
        auto const said = [&]() -> std::string {
            switch (r->answer) {
                case outcome::yes: return "yes";
                case outcome::no:
                    return r->what == script::acquire ? fmt::format("busy for {}", r->value) : "no";
                case outcome::refused: return "an error that passes";
                case outcome::unknown_script: return "no such script";
                case outcome::none: break;
            }
            return "nothing";
        }();
        return fmt::format(
            "{} of {}: {}{}",
            name_of(r->what),
            who(client, r->of),
            said,
            r->awaited ? "" : ", which nobody waits for"
        );
    }

private:
    world const& w_;
    std::array<char, client_count> names_;
};

}  // namespace

std::string describe(
    scope const& of,
    world const& w,
    move const& m,
    std::array<char, client_count> names
) {
    narrator const tell{w, names};
    auto const client = std::string{names[m.client]};
    auto const op = tell.who(m.client, m.which);
    auto const asked = tell.requested(m.client, stage::queued);
    switch (m.kind) {
        case move_kind::start: return op + " asks for the lock";
        case move_kind::cancel_at_once: return op + " is cancelled (terminal)";
        case move_kind::cancel_in_total: return op + " is cancelled (total)";
        case move_kind::release: return op + " releases its lease";
        case move_kind::crash: return client + " crashes";
        case move_kind::crash_stray: return client + " crashes; still under way: " + asked;
        case move_kind::execute: return "the server executes " + asked;
        case move_kind::execute_twice: return "the server executes a first copy of " + asked;
        case move_kind::refuse: return "the server refuses " + asked;
        case move_kind::forget_script: return "the server does not know the script of " + asked;
        case move_kind::read_answer:
            return client + " reads the answer to " + tell.answered(m.client);
        case move_kind::read_not_sent:
            return client + " learns that it could not send " +
                   tell.requested(m.client, stage::not_sent);
        case move_kind::time_out: return client + " waits no longer for an answer";
        case move_kind::poison: return client + "'s command connection is of no use any more";
        case move_kind::report_commands_down:
        case move_kind::commands_down: return client + "'s command connection ends";
        case move_kind::commands_down_stray:
            return client + "'s command connection ends; still under way: " + asked;
        case move_kind::report_commands_up: return client + " has a command connection again";
        case move_kind::notices_down: return client + "'s notice connection ends";
        case move_kind::report_notices_up: return client + " has a notice connection again";
        case move_kind::execute_subscription:
            return fmt::format(
                "the server executes {} of {}",
                w.clients[m.client].notice_requests[0].subscribe ? "SUBSCRIBE" : "UNSUBSCRIBE",
                client
            );
        case move_kind::read_push: {
            constexpr std::array<std::string_view, 3> kinds{
                "nothing",
                "that it is subscribed",
                "a notice"
            };
            auto const what = w.clients[m.client].pushes[0].what;
            return fmt::format("{} reads {}", client, kinds.at(static_cast<std::size_t>(what)));
        }
        case move_kind::room_timer: return "the waiting room of " + client + " wakes up";
        case move_kind::run_keep_alive: return "the keep-alive of " + op + " runs";
        case move_kind::send_renewal: return client + " turns to the renewal of " + op;
        case move_kind::hand_over: return client + " takes over the release of " + op;
        case move_kind::release_timer: return client + " looks after its releases";
        case move_kind::sweep_timer: return client + " looks for empty rooms";
        case move_kind::limit_timer: return "the time of " + op + " is up";
        case move_kind::execute_stray:
            return fmt::format(
                "the server executes a stray {} of {}",
                name_of(w.strays[m.which].what),
                tell.who(w.strays[m.which].holder)
            );
        case move_kind::remove: return "somebody removes the key";
        case move_kind::pass_time:
            return fmt::format(
                "-- tick {}{}",
                w.now + 1,
                w.now + 1 == of.quiet_from ? ": nothing goes wrong any more" : ""
            );
    }
    return "";
}

std::string describe(machines const& all, world const& w, std::array<char, client_count> names) {
    narrator const tell{w, names};
    auto text = w.server.holder == 0
                    ? std::string{"| free"}
                    : fmt::format("| {} until {}", tell.who(w.server.holder), w.server.ends);
    for (unsigned place = 0; place < client_count; ++place) {
        unsigned const number = names[0] < names[1] ? place : 1 - place;
        auto const& c = w.clients[number];
        for (unsigned i = 0; i < most_acquisitions; ++i) {
            auto const& op = c.acquisitions[i];
            if (op.where == phase::holding) {
                auto machine = all.leases[op.lease];
                text += fmt::format(
                    ", {} {} until {}",
                    tell.who(number, i),
                    name_of(machine.look(time_at(w.now))),
                    tick_at(machine.deadline())
                );
            } else if (op.where == phase::waiting) {
                text += fmt::format(", {} waits", tell.who(number, i));
            }
        }
        if (!c.waiting.waiters.empty() && c.waiting.armed_for != never) {
            text += fmt::format(", {} wakes at {}", names[number], c.waiting.armed_for);
        }
    }
    return text;
}

}  // namespace holdfast::exhaustive
