#ifndef HOLDFAST_TEST_INTEGRATION_ELECTION_FIXTURE_HPP
#define HOLDFAST_TEST_INTEGRATION_ELECTION_FIXTURE_HPP

// Candidates of an election, and observers of its leaders.

#include "integration/quiet_client.hpp"
#include "support/one_server.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::test {

inline constexpr auto leader_key = "holdfast_leader:{E}";

// An observer that writes down all that it reports.
class witness {
public:
    witness(asio::any_io_executor const& executor, leader_observer observer)
        : state_{std::make_shared<state>(std::move(observer))} {
        asio::co_spawn(executor, watch(state_), asio::detached);
    }
    // Nobody is `-`.
    std::vector<std::string> const& told() const { return state_->told; }
    std::string last() const { return told().empty() ? "" : told().back(); }
    error_code ended() const { return state_->ended; }
    // Each leader's term is greater than that of the one before, or the same with another value.
    bool terms_grow() const { return state_->terms_grow; }
    std::vector<std::string> leaders() const {
        auto all = told();
        std::erase(all, "-");
        return all;
    }
    void stop() { state_->observer = {}; }

private:
    struct state {
        explicit state(leader_observer of) : observer{std::move(of)} {}
        leader_observer observer;
        std::vector<std::string> told;
        error_code ended;
        bool terms_grow = true;
        fencing_token term;
    };
    static task watch(std::shared_ptr<state> of) {
        while (!of->ended) {
            auto [ec, leader] = co_await of->observer.next(as_result);
            of->ended = ec;
            if (!ec) {
                of->told.push_back(leader ? leader.value : "-");
                if (leader) {
                    of->terms_grow = of->terms_grow && leader.term >= of->term;
                    of->term = leader.term;
                }
            }
        }
    }
    std::shared_ptr<state> state_;
};

// A candidate: what became of its campaign.
struct candidate {
    candidate(election const& in, std::string const& value) {
        in.campaign(value, [this](error_code how, leadership given) {
            ++completions;
            ec = how;
            won = std::move(given);
        });
    }
    bool leads() const { return completions == 1 && !ec && won.valid(); }

    int completions = 0;
    error_code ec;
    leadership won;
};

inline std::vector<std::string> list(std::initializer_list<std::string> all) {
    return all;
}

}  // namespace holdfast::test

#endif
