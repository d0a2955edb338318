#ifndef HOLDFAST_CLI_LOCK_READER_HPP
#define HOLDFAST_CLI_LOCK_READER_HPP

#include "cli/lock_keys.hpp"
#include "cli/lock_row.hpp"
#include "cli/lock_scan.hpp"
#include "redis/replies.hpp"

#include <boost/redis/request.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// From the keys of a name to what is shown of it: which questions to ask, and what the replies say.
// Several names share a request.
namespace holdfast::cli {

/// So many waiters are named.
inline constexpr std::size_t most_waiters_named = 100;
/// A hash with more fields is no lock.
inline constexpr std::int64_t most_holders = 10'000;

/// The first questions about a name: what is there.
class name_look {
public:
    static constexpr std::size_t questions = 3;
    static void ask(boost::redis::request& to, std::string_view name);

    explicit name_look(std::span<detail::raw_reply const> replies);

    /// There may be a lock, by the size of its hash.
    [[nodiscard]] bool may_be_lock() const noexcept {
        return fields_ > 0 && fields_ <= most_holders;
    }
    [[nodiscard]] bool has_mode() const noexcept { return has_mode_; }
    [[nodiscard]] std::optional<std::chrono::milliseconds> remaining() const noexcept;

private:
    std::int64_t fields_ = 0;
    bool has_mode_ = false;
    std::int64_t pttl_ = -2;
};

/// What the rows of one server have in common.
struct surroundings {
    clients_by_id const* clients;
    /// In microseconds; zero: it is not known.
    std::uint64_t server_time = 0;
    bool sharded = false;
};

/// The second questions about a name that may be a lock of this kind, and the row that the answers
/// make. Nothing: it is something else, or gone.
class row_look {
public:
    row_look(std::string name, candidate const& seen, name_look const& first, bool sharded);

    /// None: nothing says that it is a lock.
    [[nodiscard]] std::size_t questions() const noexcept { return asked_.size(); }
    void ask(boost::redis::request& to) const;
    [[nodiscard]] std::optional<lock_row> read(
        std::span<detail::raw_reply const> replies,
        surroundings const& in
    ) const;

    /// The keys of a reader's holds: until when it has the lock. For each reader of a row in turn.
    [[nodiscard]] static std::string hold_key(std::string_view name, std::string_view reader);

private:
    enum class as : std::uint8_t { lock, read_write, semaphore, counted, number, nothing };

    void add(std::vector<std::string> words) { asked_.push_back(std::move(words)); }
    [[nodiscard]] std::optional<lock_row> read_lock(
        std::span<detail::raw_reply const> replies,
        surroundings const& in
    ) const;
    [[nodiscard]] std::optional<lock_row> read_read_write_lock(
        std::span<detail::raw_reply const> replies,
        surroundings const& in
    ) const;
    [[nodiscard]] std::optional<lock_row> read_semaphore(
        std::span<detail::raw_reply const> replies,
        surroundings const& in
    ) const;
    [[nodiscard]] std::optional<lock_row> read_counted(std::span<detail::raw_reply const> replies
    ) const;

    std::string name_;
    candidate seen_;
    name_look first_;
    as as_ = as::nothing;
    std::vector<std::vector<std::string>> asked_;
};

}  // namespace holdfast::cli

#endif
