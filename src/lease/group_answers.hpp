#ifndef HOLDFAST_LEASE_GROUP_ANSWERS_HPP
#define HOLDFAST_LEASE_GROUP_ANSWERS_HPP

#include "lease/told_once.hpp"
#include "runtime/pending_handler.hpp"

#include <holdfast/error.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace holdfast::detail {

/// What the members answer to a request that all of them got. The caller is told when so many have
/// done it as are needed, or when all have answered.
class group_answers {
public:
    group_answers(pending_handler<error_code> caller, std::size_t members, std::size_t enough)
        : caller_{std::move(caller)},
          all_(members),
          enough_{enough},
          left_{members} {}

    void accept_cancellation(std::weak_ptr<group_answers> self) {
        caller_.accept_cancellation(std::move(self));
    }
    void end(error_code ec) { caller_.tell(ec); }

    /// Each has a place of its own; the last one sees them all.
    void on_answer(std::size_t member, error_code ec) {
        all_[member] = ec;
        bool const enough = !ec && done_.fetch_add(1, std::memory_order_acq_rel) + 1 == enough_;
        if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            end(worst());
        } else if (enough) {
            end({});
        }
    }

private:
    [[nodiscard]] error_code worst() const noexcept {
        std::size_t done = 0;
        std::size_t lost = 0;
        error_code failed;
        for (auto const& ec : all_) {
            done += ec ? 0U : 1U;
            lost += ec == errc::lease_lost ? 1U : 0U;
            if (ec && ec != errc::lease_lost && !failed) {
                failed = ec;
            }
        }
        if (done >= enough_) {
            return {};
        }
        bool const too_few = all_.size() - lost < enough_;
        return too_few || !failed ? make_error_code(errc::lease_lost) : failed;
    }

    told_once<> caller_;
    std::vector<error_code> all_;
    std::size_t enough_;
    std::atomic<std::size_t> done_{0};
    std::atomic<std::size_t> left_;
};

}  // namespace holdfast::detail

#endif
