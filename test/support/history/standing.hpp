#ifndef HOLDFAST_TEST_HISTORY_STANDING_HPP
#define HOLDFAST_TEST_HISTORY_STANDING_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::history {

/// How somebody has a lock.
enum class mode { alone, reads, permits };

/// Those who have something of one lock at a time, in a history or in the simulator: one holder,
/// who may have several leases of one grant; or many readers, and no writer but one who reads, too;
/// or the holders of permits.
template <class T, class Holder = std::string_view>
class standing {
public:
    struct one {
        T who;
        mode how = mode::alone;
        Holder holder{};
        std::int64_t token = 0;
        /// Of a reader: the holder that writes for the same owner.
        Holder writes_as{};
        std::int64_t permits = 0;
    };

    /// Calls `clash` with each that must not stand beside it.
    template <class F>
    void add(one next, F clash) {
        for (auto const& other : all_) {
            if (!may_coexist(other, next)) {
                clash(other.who);
            }
        }
        all_.push_back(std::move(next));
    }

    template <class F>
    void erase_if(F is_over) {
        std::erase_if(all_, [&](one const& each) { return is_over(each.who); });
    }

    /// What those have who count. All leases of a holder have its permits together.
    struct share {
        std::size_t holders = 0;
        std::int64_t permits = 0;
    };
    template <class F>
    [[nodiscard]] share taken(F counts) const {
        share sum;
        for (auto each = all_.begin(); each != all_.end(); ++each) {
            bool const first = std::none_of(all_.begin(), each, [&](one const& other) {
                return other.holder == each->holder && counts(other.who);
            });
            if (first && counts(each->who)) {
                ++sum.holders;
                sum.permits += each->permits;
            }
        }
        return sum;
    }

private:
    static bool may_coexist(one const& a, one const& b) {
        if (a.how != b.how) {
            auto const& reader = a.how == mode::reads ? a : b;
            auto const& writer = a.how == mode::reads ? b : a;
            return reader.writes_as != Holder{} && reader.writes_as == writer.holder;
        }
        return a.how != mode::alone || (a.holder == b.holder && a.token == b.token);
    }

    std::vector<one> all_;
};

}  // namespace holdfast::history

#endif
