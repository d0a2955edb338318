#ifndef HOLDFAST_ACQUIRE_OP_LIST_HPP
#define HOLDFAST_ACQUIRE_OP_LIST_HPP

#include <boost/intrusive/list.hpp>
#include <boost/intrusive/list_hook.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace holdfast::detail {

class acquire_op;

/// An acquisition's place in a list of them.
class list_place : public boost::intrusive::list_base_hook<> {
    friend class op_list;

    std::shared_ptr<acquire_op> keeps_;
};

/// Acquisitions in the order of their arrival. It owns them, and needs no memory for that.
class op_list {
public:
    op_list() = default;
    op_list(op_list const&) = delete;
    op_list& operator=(op_list const&) = delete;
    ~op_list() { clear(); }

    [[nodiscard]] bool empty() const noexcept { return all_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
    [[nodiscard]] std::shared_ptr<acquire_op> const& front() const noexcept {
        return all_.front().keeps_;
    }
    /// Those that are in it now; it may change meanwhile.
    [[nodiscard]] std::vector<std::shared_ptr<acquire_op>> copy() const {
        std::vector<std::shared_ptr<acquire_op>> made;
        made.reserve(size());
        for (auto const& each : all_) {
            made.push_back(each.keeps_);
        }
        return made;
    }
    /// What `of` returns for the first one for which that is not zero; else zero.
    template <class F>
    [[nodiscard]] std::int64_t first_of(F of) const {
        for (auto const& each : all_) {
            if (std::int64_t const found = of(*each.keeps_); found != 0) {
                return found;
            }
        }
        return 0;
    }
    /// `at` is that of `op`, which is in no list.
    void push_back(list_place& at, std::shared_ptr<acquire_op> op) noexcept {
        at.keeps_ = std::move(op);
        all_.push_back(at);
    }
    /// @returns what may be the last owner.
    [[nodiscard]] std::shared_ptr<acquire_op> remove(list_place& at) noexcept {
        all_.erase(all_.iterator_to(at));
        return std::move(at.keeps_);
    }
    void clear() noexcept {
        while (!all_.empty()) {
            auto const dropped = remove(all_.front());
        }
    }

private:
    boost::intrusive::list<list_place> all_;
};

}  // namespace holdfast::detail

#endif
