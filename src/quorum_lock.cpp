#include <holdfast/quorum_lock.hpp>

#include "acquire/lock_request.hpp"
#include "acquire/quorum_acquire.hpp"
#include "acquire/start_driver.hpp"
#include "client/client_state.hpp"
#include "core/quorum_tally.hpp"
#include "protocol/quorum_lock.hpp"

#include <boost/asio/system_executor.hpp>

#include <algorithm>
#include <utility>

namespace holdfast {

namespace detail {

/// The nodes, in the order in which the user named them.
struct quorum_members {
    struct one {
        std::shared_ptr<client_state> client;
        std::shared_ptr<target const> on;
    };

    /// Whether they are one server, as far as their settings say.
    [[nodiscard]] static bool same_server(one const& a, one const& b) noexcept {
        return a.client == b.client || a.client->place() == b.client->place();
    }

    /// Whether they cannot be together. Each of them is valid.
    [[nodiscard]] error_code wrong() const noexcept {
        if (all.size() < quorum_tally::fewest_nodes || all.size() > quorum_tally::most_nodes) {
            return errc::invalid_options;
        }
        for (auto a = all.begin(); a != all.end(); ++a) {
            if (a->client->clustered()) {
                // When the server of a slot was started is known once it has been connected to.
                return errc::invalid_options;
            }
            bool const twice = std::any_of(std::next(a), all.end(), [&](one const& b) {
                return same_server(*a, b) || a->on->lock != b.on->lock;
            });
            if (twice) {
                return errc::invalid_options;
            }
        }
        return {};
    }

    std::vector<one> all;
};

asio::any_io_executor executor_of(quorum_request const& request) noexcept {
    auto const& all = request.members->all;
    return all.empty() ? asio::any_io_executor{asio::system_executor{}}
                       : all.front().client->executor();
}

void start_acquire(quorum_request request, asio::any_io_executor holder, quorum_handler handler) {
    auto const& all = request.members->all;
    auto const lead = all.empty() ? nullptr : all.front().client;
    if (lead && lead->gone()) {
        return;
    }
    pending_handler<error_code, quorum_lease> waiting{std::move(handler), executor_of(request)};
    quorum_acquire::request what{
        .nodes = {},
        .how_long = request.how_long,
        .limit = request.limit,
        .who = request.options.owner,
    };
    error_code wrong;
    for (auto const& each : all) {
        lock_request asked;
        if (!wrong) {
            wrong = make_lock_request(
                each.client->settings(),
                {each.client, each.on, request.options, request.how_long, request.limit},
                asked
            );
        }
        what.nodes.push_back({each.client, &each.client->acquires(), each.on, asked.terms});
    }
    wrong = wrong ? wrong : request.members->wrong();
    start_driver<quorum_acquire>(
        lead,
        std::move(what),
        wrong,
        std::move(holder),
        std::move(waiting)
    );
}

}  // namespace detail

quorum_lock::quorum_lock(std::vector<lock> const& nodes)
    : members_{[&] {
          auto made = std::make_shared<detail::quorum_members>();
          for (auto const& each : nodes) {
              auto of = static_cast<lockable<lock> const&>(each).prepared();
              auto on = std::make_shared<detail::target const>(
                  detail::make_quorum_lock_target({}, of.key->lock)
              );
              made->all.push_back({std::move(of.client), std::move(on)});
          }
          return made;
      }()} {}

}  // namespace holdfast
