#include "interop/fleet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace holdfast::test {

namespace {

// Longer ones are listed.
constexpr std::chrono::milliseconds remarkable{100};

double in_ms(nanoseconds time) {
    return std::chrono::duration<double, std::milli>{time}.count();
}

nanoseconds quantile(std::vector<nanoseconds> const& sorted, double part) {
    auto const index = static_cast<std::size_t>(part * static_cast<double>(sorted.size()));
    return sorted.empty() ? nanoseconds{0} : sorted[std::min(index, sorted.size() - 1)];
}

nanoseconds read_time(std::istream& in) {
    std::int64_t count = 0;
    in >> count;
    return nanoseconds{count};
}

std::size_t process_of(history::turn const& of) {
    return static_cast<std::size_t>(of.process);
}

}  // namespace

std::size_t fleet_record::add_process(std::string language, std::string name) {
    processes_.push_back({std::move(language), std::move(name)});
    return processes_.size() - 1;
}

void fleet_record::take(std::size_t process, std::string_view line) {
    std::istringstream in{std::string{line}};
    std::string kind;
    in >> kind;
    if (kind == "pause") {
        auto const from = read_time(in);
        pauses_.push_back({process, from, read_time(in)});
    } else if (kind == "grant") {
        int thread = 0;
        grant one{.process = static_cast<std::int64_t>(process)};
        in >> thread >> one.asked >> one.granted >> one.released >> one.token >> one.number;
        grants_.push_back(one);
    } else {
        return;
    }
    if (!in) {
        throw std::runtime_error{fmt::format("not a record: \"{}\"", line)};
    }
}

void fleet_record::sort() {
    std::ranges::sort(grants_, {}, &grant::granted);
}

bool fleet_record::waited(std::size_t index) const {
    return index > 0 && grants_[index].asked < grants_[index - 1].released;
}

nanoseconds fleet_record::hand_over(std::size_t index) const {
    return nanoseconds{grants_[index].granted - grants_[index - 1].released};
}

std::vector<nanoseconds> fleet_record::hand_overs() const {
    std::vector<nanoseconds> times;
    for (std::size_t i = 1; i < grants_.size(); ++i) {
        if (waited(i)) {
            times.push_back(hand_over(i));
        }
    }
    std::ranges::sort(times);
    return times;
}

std::string fleet_record::longest_pauses(nanoseconds from, nanoseconds to) const {
    std::string text;
    for (std::size_t i = 0; i < processes_.size(); ++i) {
        nanoseconds longest{0};
        for (auto const& one : pauses_) {
            if (one.process == i && one.from < to && one.to > from) {
                longest = std::max(longest, one.to - one.from);
            }
        }
        text += fmt::format("{} {} {:.0f} ms", i ? "," : "", processes_[i].name, in_ms(longest));
    }
    return text;
}

std::string fleet_record::describe() const {
    struct share {
        std::size_t grants = 0;
        nanoseconds longest_wait{0};
        nanoseconds time{0};  // from its grants to those after them
    };
    std::map<std::string, share> shares;
    std::map<std::string, std::size_t> by_process;
    nanoseconds all_time{1};
    for (std::size_t i = 0; i < grants_.size(); ++i) {
        auto const& one = grants_[i];
        auto& of = shares[processes_[process_of(one)].language];
        ++of.grants;
        auto const next = i + 1 < grants_.size() ? grants_[i + 1].granted : one.released;
        of.time += nanoseconds{next - one.granted};
        all_time += nanoseconds{next - one.granted};
        of.longest_wait = std::max(of.longest_wait, nanoseconds{one.granted - one.asked});
        ++by_process[processes_[process_of(one)].name];
    }
    std::string text;
    for (auto const& [language, of] : shares) {
        text += fmt::format(
            "  {:<5} {:6} grants, {:4.1f} %, {:4.1f} % of the time; longest wait {:.0f} ms\n",
            language,
            of.grants,
            100.0 * static_cast<double>(of.grants) / static_cast<double>(grants_.size()),
            100.0 * in_ms(of.time) / in_ms(all_time),
            in_ms(of.longest_wait)
        );
    }
    text += " ";
    for (auto const& [name, count] : by_process) {
        text += fmt::format(" {}: {}", name, count);
    }
    std::map<std::string, std::vector<nanoseconds>> ways{{"all", hand_overs()}};
    for (std::size_t i = 1; i < grants_.size(); ++i) {
        if (waited(i)) {
            auto const& from = processes_[process_of(grants_[i - 1])].language;
            auto const& to = processes_[process_of(grants_[i])].language;
            ways[from + " to " + to].push_back(hand_over(i));
        }
    }
    text += "\n";
    for (auto& [way, times] : ways) {
        std::ranges::sort(times);
        text += fmt::format(
            "  {:<12} {:6} hand-overs: p50 {:.2f}, p99 {:.2f}, p99.9 {:.2f}, longest {:.2f} ms\n",
            way,
            times.size(),
            in_ms(quantile(times, 0.5)),
            in_ms(quantile(times, 0.99)),
            in_ms(quantile(times, 0.999)),
            in_ms(quantile(times, 1))
        );
    }
    for (std::size_t i = 1; i < grants_.size(); ++i) {
        if (waited(i) && hand_over(i) > remarkable) {
            text += fmt::format(
                "  {:.0f} ms from {} to {}; longest pause then:{}\n",
                in_ms(hand_over(i)),
                processes_[process_of(grants_[i - 1])].name,
                processes_[process_of(grants_[i])].name,
                longest_pauses(
                    nanoseconds{grants_[i - 1].released},
                    nanoseconds{grants_[i].granted}
                )
            );
        }
    }
    return text;
}

}  // namespace holdfast::test
