#ifndef HOLDFAST_TEST_SUPPORT_FOREIGN_CONTEST_HPP
#define HOLDFAST_TEST_SUPPORT_FOREIGN_CONTEST_HPP

#include "support/foreign/client.hpp"

#include <holdfast.hpp>

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace holdfast::test {

/// Contestants of this library and of others that take one lock in turns, on one thread, and what
/// was wrong with that. It must outlive its run.
class contest {
public:
    enum class manner {
        pausing,  // for a short time of random length, after each release
        eager,    // asks again at once
    };

    void add(lock on, manner how = manner::pausing);
    void add(foreign_client& by, std::string name, std::int64_t thread = 1);

    /// Each takes the lock over and over for that long, and longer until each had so many grants,
    /// or some seconds more have passed.
    [[nodiscard]] boost::asio::awaitable<void> run(std::chrono::milliseconds duration, int grants);

    /// Of the one who had it least often.
    [[nodiscard]] int fewest_grants() const;
    /// The grants of each, in the order in which they were added.
    [[nodiscard]] std::string describe() const;
    /// How often somebody was granted the lock while another one had it.
    [[nodiscard]] int overlaps() const noexcept { return overlaps_; }
    /// Of the grants with a token, how many had one that was not greater than all before.
    [[nodiscard]] int tokens_that_did_not_grow() const noexcept { return bad_tokens_; }
    /// How many leases of this library were lost.
    [[nodiscard]] int losses() const noexcept { return losses_; }

private:
    using task = boost::asio::awaitable<void>;
    // Takes the lock, calls `hold` with the token, or 0, and gives it back.
    using turn = std::function<task(contest&)>;
    struct contestant {
        turn take;
        manner how = manner::pausing;
        int grants = 0;
    };

    task our_turn(lock const& on);
    task foreign_turn(foreign_client& by, std::string const& name, std::int64_t thread);
    task repeat(contestant& who);
    [[nodiscard]] bool goes_on() const;
    task hold(std::uint64_t token);
    std::chrono::microseconds draw(int from_us, int to_us);

    std::vector<contestant> contestants_;
    std::mt19937 random_{1};
    std::size_t running_ = 0;
    std::chrono::steady_clock::time_point end_;
    std::chrono::steady_clock::time_point latest_end_;
    int enough_ = 0;
    int holders_ = 0;
    int overlaps_ = 0;
    int bad_tokens_ = 0;
    int losses_ = 0;
    std::uint64_t greatest_token_ = 0;
};

}  // namespace holdfast::test

#endif
