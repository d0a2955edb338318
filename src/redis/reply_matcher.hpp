#ifndef HOLDFAST_REDIS_REPLY_MATCHER_HPP
#define HOLDFAST_REDIS_REPLY_MATCHER_HPP

#include <boost/circular_buffer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace holdfast::detail {

/// Matches the replies of one connection with its requests.
///
/// A server answers in the order of the requests, so replies are matched by counting, and checked:
/// each script returns the nonce of its request. A wrong nonce means that the connection is
/// desynchronised. An error reply carries no nonce: it stays in doubt until the next right nonce on
/// the same connection proves that the count is still right. If no later reply is expected, a check
/// has to be sent, whose reply is its nonce.
template <class Request, class Error>
class reply_matcher {
public:
    struct doubt {
        Request request;
        Error error;
    };

    /// `request` is left as it was if there is no memory for it.
    void on_sent(Request&& request, std::uint64_t nonce, bool is_check = false) {
        if (in_flight_.full()) {
            in_flight_.set_capacity(std::max(least_capacity, 2 * in_flight_.capacity()));
        }
        in_flight_.push_back({std::move(request), nonce, is_check});
    }

    [[nodiscard]] bool empty() const noexcept { return in_flight_.empty(); }
    [[nodiscard]] std::size_t in_flight() const noexcept { return in_flight_.size(); }
    [[nodiscard]] bool next_is(std::uint64_t nonce) const noexcept {
        return !in_flight_.empty() && in_flight_.front().nonce == nonce;
    }
    [[nodiscard]] bool next_is_check() const noexcept {
        return !in_flight_.empty() && in_flight_.front().is_check;
    }
    /// The request that the next reply is for.
    [[nodiscard]] Request const& next() const noexcept { return in_flight_.front().request; }
    [[nodiscard]] Request& next() noexcept { return in_flight_.front().request; }
    /// The next reply has come: its request.
    Request take() {
        auto request = std::move(in_flight_.front().request);
        in_flight_.pop_front();
        return request;
    }

    /// The reply to `request` was an error.
    void put_in_doubt(Request request, Error error) {
        in_doubt_.push_back({std::move(request), std::move(error)});
    }
    /// A check has to be sent to learn whether an error was for the request that it was taken for.
    /// `overdue`: the error came for a request that had been given up. Then a reply may be missing,
    /// and every later error would be matched to the previous request.
    [[nodiscard]] bool needs_check(bool overdue) const noexcept {
        return in_flight_.empty() || (overdue && !in_flight_.back().is_check);
    }
    /// The right nonce has come, or the check was refused: those in doubt until now.
    std::vector<doubt> settle() noexcept { return std::exchange(in_doubt_, {}); }
    [[nodiscard]] bool any_doubt() const noexcept { return !in_doubt_.empty(); }

    /// The connection has ended: the requests that no reply will come for, in their order.
    std::vector<Request> end() {
        std::vector<Request> lost;
        lost.reserve(in_flight_.size());
        for (auto& one : in_flight_) {
            lost.push_back(std::move(one.request));
        }
        in_flight_.rset_capacity(0);
        return lost;
    }

    template <class F>
    void for_each_in_flight(F f) {
        for (auto& one : in_flight_) {
            f(one.request);
        }
    }
    template <class F>
    void for_each_in_doubt(F f) {
        for (auto& one : in_doubt_) {
            f(one.request);
        }
    }

private:
    struct entry {
        Request request;
        std::uint64_t nonce;
        bool is_check;
    };

    static constexpr std::size_t least_capacity = 16;

    // Its memory is used again: requests come and go all the time.
    boost::circular_buffer<entry> in_flight_;
    std::vector<doubt> in_doubt_;
};

}  // namespace holdfast::detail

#endif
