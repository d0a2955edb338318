#include "prometheus/metric_values.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace holdfast::detail {

namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using label = ClientMetric::Label;

constexpr std::array our_labels{"lock", "result", "reason", "by", "outcome", "le"};

bool is_label_name(std::string_view name) {
    auto const is_letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    auto const is_digit = [](char c) { return c >= '0' && c <= '9'; };
    return !name.empty() && is_letter(name.front()) && !name.starts_with("__") &&
           std::ranges::all_of(name, [&](char c) { return is_letter(c) || is_digit(c); });
}

void check_bounds(std::string const& member, std::vector<double> const& bounds) {
    bool const ascend =
        std::ranges::adjacent_find(bounds, std::ranges::greater_equal{}) == bounds.end();
    bool const usable =
        std::ranges::all_of(bounds, [](double bound) { return std::isfinite(bound) && bound > 0; });
    if (bounds.empty() || !ascend || !usable) {
        throw std::invalid_argument{
            "holdfast::prometheus_options::" + member + ": bounds must be positive and ascend"
        };
    }
}

ClientMetric labelled(std::initializer_list<label> labels) {
    ClientMetric result;
    result.label = labels;
    return result;
}

ClientMetric counter_of(std::uint64_t value, std::initializer_list<label> labels = {}) {
    auto result = labelled(labels);
    result.counter.value = static_cast<double>(value);
    return result;
}

MetricFamily counters_of(char const* name, char const* help, std::vector<ClientMetric> values) {
    return {name, help, MetricType::Counter, std::move(values)};
}

MetricFamily counter(char const* name, char const* help, std::uint64_t value) {
    return counters_of(name, help, {counter_of(value)});
}

MetricFamily gauge(char const* name, char const* help, std::uint64_t value) {
    ClientMetric one;
    one.gauge.value = static_cast<double>(value);
    return {name, help, MetricType::Gauge, {std::move(one)}};
}

// From `client::stats()`.
std::vector<MetricFamily> of_clients(client_totals::sums const& sums) {
    auto const& all = sums.all;
    return {
        gauge("holdfast_clients", "Clients that are there.", sums.clients),
        gauge("holdfast_connections", "Connections that are up.", all.connections_now),
        gauge("holdfast_subscriptions", "Channels subscribed to.", all.subscriptions_now),
        gauge("holdfast_waiters", "Acquisitions that are waiting.", all.waiters_now),
        gauge("holdfast_leases", "Grants that were not released yet.", all.leases_now),
        counter("holdfast_attempts_total", "Acquire requests sent.", all.attempts),
        counter("holdfast_grants_total", "Acquire requests that were granted.", all.grants),
        counter("holdfast_refusals_total", "Acquire requests refused as busy.", all.refusals),
        counter("holdfast_waits_total", "Acquisitions that had to wait.", all.waits),
        counter("holdfast_re_entries_total", "Acquisitions that joined a lease.", all.re_entries),
        counters_of(
            "holdfast_hand_overs_total",
            "Acquisitions that were granted after having waited.",
            {
                counter_of(all.hand_overs_by.own_client, {{"by", "own_client"}}),
                counter_of(all.hand_overs_by.other_client, {{"by", "other_client"}}),
                counter_of(all.hand_overs_by.notification, {{"by", "notification"}}),
                counter_of(all.hand_overs_by.expiry, {{"by", "expiry"}}),
            }
        ),
        counters_of(
            "holdfast_claims_total",
            "Locks that were handed over between clients, by what became of that.",
            {
                counter_of(all.claims_confirmed, {{"outcome", "confirmed"}}),
                counter_of(all.claims_passed_on, {{"outcome", "passed_on"}}),
                counter_of(all.claims_lost, {{"outcome", "lost"}}),
            }
        ),
        counter("holdfast_renewals_total", "Renewals that were confirmed.", all.renewals),
        counter(
            "holdfast_failed_renewals_total",
            "Renewals that failed or were not answered in time.",
            all.failed_renewals
        ),
        counter("holdfast_releases_total", "Releases that were confirmed.", all.releases),
        counter("holdfast_withdrawals_total", "Attempts that were withdrawn.", all.withdrawals),
        counter("holdfast_reconnects_total", "Connections made again.", all.reconnects),
        counter("holdfast_notifications_total", "Messages received.", all.notifications),
        counter(
            "holdfast_refused_notifications_total",
            "Releases that the server's access rules did not allow to announce.",
            all.refused_notifications
        ),
        counter("holdfast_commands_total", "Commands sent.", all.commands),
    };
}

// From what the observer was told, by the label `lock` if there is one.
class of_locks {
public:
    void add(std::string const& lock, lock_values const& values) {
        auto const put = [&](MetricFamily& to, ClientMetric one) {
            if (!lock.empty()) {
                one.label.push_back({"lock", lock});
            }
            to.metric.push_back(std::move(one));
        };
        auto const put_histogram = [&](MetricFamily& to, duration_histogram const& from) {
            ClientMetric one;
            one.histogram = from.read();
            put(to, std::move(one));
        };
        for (std::size_t i = 0; i < values.acquisitions.size(); ++i) {
            auto const value = values.acquisitions[i].load(std::memory_order_relaxed);
            if (value > 0 || acquisition_result::always_shown(i)) {
                std::string const name{acquisition_result::name(i)};
                put(acquisitions_, counter_of(value, {{"result", name}}));
            }
        }
        for (std::size_t i = 1; i < values.losses.size(); ++i) {
            std::string const name{to_string(static_cast<loss_reason>(i))};
            auto const value = values.losses[i].load(std::memory_order_relaxed);
            if (value > 0 || name != "unknown") {
                put(losses_, counter_of(value, {{"reason", name}}));
            }
        }
        put(doubts_, counter_of(values.doubts.load(std::memory_order_relaxed)));
        put_histogram(waits_, values.waits);
        put_histogram(holds_, values.holds);
        put_histogram(renewals_, values.renewals);
    }

    void move_to(std::vector<MetricFamily>& all) {
        for (auto* const one : {&acquisitions_, &losses_, &doubts_, &waits_, &holds_, &renewals_}) {
            all.push_back(std::move(*one));
        }
    }

private:
    MetricFamily acquisitions_ =
        counters_of("holdfast_acquisitions_total", "Acquisitions that ended, by how.", {});
    MetricFamily losses_ =
        counters_of("holdfast_leases_lost_total", "Leases that were lost, by the reason.", {});
    MetricFamily doubts_ =
        counters_of("holdfast_leases_in_doubt_total", "How often a lease came into doubt.", {});
    MetricFamily waits_{
        "holdfast_acquire_wait_seconds",
        "From the start of an acquisition to its grant.",
        MetricType::Histogram,
        {}
    };
    MetricFamily holds_{
        "holdfast_hold_seconds",
        "From a grant to its release.",
        MetricType::Histogram,
        {}
    };
    MetricFamily renewals_{
        "holdfast_renewal_delay_seconds",
        "From sending a renewal to its confirmation.",
        MetricType::Histogram,
        {}
    };
};

}  // namespace

void check_options(prometheus_options const& options) {
    for (auto const& [name, value] : options.labels) {
        if (!is_label_name(name) || std::ranges::find(our_labels, name) != our_labels.end()) {
            throw std::invalid_argument{
                "holdfast::prometheus_options::labels: \"" + name + "\" cannot be used"
            };
        }
    }
    check_bounds("wait_buckets", options.wait_buckets);
    check_bounds("hold_buckets", options.hold_buckets);
    check_bounds("renewal_buckets", options.renewal_buckets);
}

std::vector<MetricFamily> metric_values::families() {
    auto result = of_clients(clients.read());
    of_locks from_observer;
    locks.for_each([&](std::string const& lock, lock_values const& values) {
        from_observer.add(lock, values);
    });
    from_observer.move_to(result);
    for (auto& family : result) {
        for (auto& one : family.metric) {
            for (auto const& [name, value] : options_.labels) {
                one.label.push_back({name, value});
            }
        }
    }
    return result;
}

}  // namespace holdfast::detail
