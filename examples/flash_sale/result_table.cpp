#include "result_table.hpp"

#include <fmt/format.h>

#include <string_view>

namespace flash_sale {

namespace {

void print_row(std::string_view name, std::string_view without, std::string_view with) {
    fmt::print("{:<24}{:>14}{:>12}\n", name, without, with);
}

template <class Number>
void print_numbers(std::string_view name, Number without, Number with) {
    print_row(name, fmt::format("{}", without), fmt::format("{}", with));
}

}  // namespace

void print_table(sale_result const& without, sale_result const& with) {
    constexpr std::string_view none = "-";
    fmt::print("\n");
    print_row("", "without lock", "with lock");
    print_numbers("items", without.items, with.items);
    print_numbers("sold", without.sold, with.sold);
    print_numbers("oversold", without.oversold(), with.oversold());
    print_row("stale writes refused", none, fmt::format("{}", with.refused));
    print_numbers("unanswered", without.unanswered, with.unanswered);
    print_row(
        "purchases per second",
        fmt::format("{:.0f}", without.per_second),
        fmt::format("{:.0f}", with.per_second)
    );
    print_row("lock waits", none, fmt::format("{}", with.locks.waits));
    print_row("longest wait", none, fmt::format("{:.2f} s", with.locks.longest_wait.count()));
    print_row("renewals", none, fmt::format("{}", with.locks.renewals));
    if (with.killed) {
        fmt::print(
            "\nServer {} held the lock for {:.1f} s until it was killed; the next sale came {:.1f} "
            "s later, when its lease "
            "was over.\nPurchases per second leave this time out.\n",
            with.killed->server + 1,
            with.killed->held.count(),
            with.killed->stood_still.count()
        );
    }
    if (with.failed_over) {
        fmt::print(
            "\nFailover: the locks' primary was killed, and the sale stood still for {:.1f} s "
            "until a "
            "replica had taken its place.\nPurchases per second leave this time out. The stock's "
            "server refuses older fencing tokens:\na lock that the replica did not know of does no "
            "harm.\n",
            with.failed_over->stood_still.count()
        );
    }
}

std::string find_fault(sale_result const& without, sale_result const& with) {
    if (without.oversold() == 0) {
        return "without the lock, nothing was oversold";
    }
    if (with.sold != with.items) {
        return fmt::format("with the lock, {} of {} items were sold", with.sold, with.items);
    }
    if (!with.killed && !with.failed_over) {
        return "nothing was killed";
    }
    return {};
}

}  // namespace flash_sale
