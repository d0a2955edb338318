#include <holdfast/multi_lock.hpp>

#include "acquire/lock_request.hpp"
#include "acquire/multi_acquire.hpp"
#include "acquire/start_driver.hpp"
#include "client/client_state.hpp"
#include "lease/lease_group.hpp"

#include <boost/asio/system_executor.hpp>

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

namespace holdfast {

namespace detail {

namespace {

constexpr std::size_t fewest_members = 2;
constexpr auto most_members = lease_group::most_members;

}  // namespace

/// In the order in which the user named them.
struct multi_members {
    struct one {
        std::shared_ptr<client_state> client;
        std::shared_ptr<target const> on;
        std::size_t named;

        /// The order in which they are taken. Each process has the same.
        [[nodiscard]] auto place() const noexcept {
            auto const& number = client->settings().database;
            return std::tie(on->lock, client->place(), number, on->kind, on->permits);
        }
        /// Of one server, where a name can be a member once.
        [[nodiscard]] bool same_name(one const& other) const noexcept {
            return on->lock == other.on->lock && client->place() == other.client->place() &&
                   client->settings().database == other.client->settings().database;
        }
    };

    explicit multi_members(std::vector<multi_lock::member> const& named) {
        for (auto const& each : named) {
            all.push_back({each.client_, each.key_, all.size()});
        }
        if (!all.empty()) {
            lead = all.front().client;
        }
        std::sort(all.begin(), all.end(), [](one const& a, one const& b) {
            return a.place() < b.place();
        });
    }

    /// Whether they cannot be together. Each of them is valid.
    [[nodiscard]] error_code wrong() const noexcept {
        bool const twice = std::adjacent_find(all.begin(), all.end(), [](auto& a, auto& b) {
                               return a.same_name(b);
                           }) != all.end();
        bool const right = all.size() >= fewest_members && all.size() <= most_members && !twice;
        return right ? error_code{} : errc::invalid_options;
    }

    // In the order in which they are taken.
    std::vector<one> all;
    // Of the first one that the user named.
    std::shared_ptr<client_state> lead;
};

asio::any_io_executor executor_of(multi_request const& request) noexcept {
    auto const& lead = request.members->lead;
    return lead ? lead->executor() : asio::any_io_executor{asio::system_executor{}};
}

void start_acquire(multi_request request, asio::any_io_executor holder, multi_handler handler) {
    auto const& members = *request.members;
    auto const lead = members.lead;
    if (lead && lead->gone()) {
        return;
    }
    pending_handler<error_code, multi_lease> waiting{std::move(handler), executor_of(request)};
    std::vector<multi_acquire::member> what;
    error_code wrong;
    for (auto const& each : members.all) {
        auto& made = what.emplace_back(
            multi_acquire::member{each.client, &each.client->acquires(), {}, each.named}
        );
        if (!wrong) {
            wrong = make_lock_request(
                each.client->settings(),
                {each.client, each.on, request.options, request.how_long, request.limit},
                made.asked
            );
        }
    }
    wrong = wrong ? wrong : members.wrong();
    start_driver<multi_acquire>(
        lead,
        std::move(what),
        wrong,
        std::move(holder),
        std::move(waiting)
    );
}

}  // namespace detail

multi_lock::multi_lock(std::vector<member> members)
    : members_{std::make_shared<detail::multi_members const>(members)} {}

}  // namespace holdfast
