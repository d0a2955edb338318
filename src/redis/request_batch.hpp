#ifndef HOLDFAST_REDIS_REQUEST_BATCH_HPP
#define HOLDFAST_REDIS_REQUEST_BATCH_HPP

#include "protocol/bulk_strings.hpp"
#include "protocol/call.hpp"
#include "protocol/script.hpp"

#include <boost/redis/request.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::detail {

/// A word as it is sent.
struct ready_word {
    std::string_view bulk_string;
};

/// The words of a script's command, while it is added to a request: memory that is used again.
struct script_words {
    std::vector<ready_word> all;
    bulk_strings own;
};

/// Adds a script to a request. `by_text`: the server does not know it by its hash.
void push_script(
    boost::redis::request& to,
    call const& what,
    bool by_text,
    std::uint64_t nonce,
    script_dialect dialect,
    script_words& words
);

/// What leaves as one request of Boost.Redis: the commands of several operations.
class request_batch {
public:
    /// See `push_script`.
    void add(
        call const& what,
        bool by_text,
        std::uint64_t nonce,
        script_dialect dialect = script_dialect::single
    );
    /// Has a node of a cluster execute the next command though another one has the slot. It is
    /// answered with `OK`.
    void add_asking();
    /// A PING, whose reply is its nonce.
    void add_check(std::uint64_t nonce);
    void clear();

    /// What has to live while it is under way. A handler that held that itself would be large, and
    /// Boost.Redis and Asio move it a dozen times.
    using kept = std::array<std::shared_ptr<void const>, 2>;
    void keep(kept what) noexcept { kept_ = std::move(what); }
    [[nodiscard]] kept take_kept() noexcept { return std::exchange(kept_, {}); }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// What comes next should have one of its own. In one that grows as far as a burst of requests
    /// wants, the text would be copied again and again, and its memory could not be kept.
    [[nodiscard]] bool full() const noexcept { return request_.payload().size() >= full_at; }
    static constexpr std::size_t full_at = 16 * 1024;  // bytes
    [[nodiscard]] boost::redis::request const& request() const noexcept { return request_; }

private:
    boost::redis::request request_;
    std::size_t size_ = 0;
    script_words words_;
    kept kept_;
};

/// Keeps batches, so that their memory is used again.
class spare_batches {
public:
    spare_batches() { kept_.reserve(most); }

    [[nodiscard]] std::shared_ptr<request_batch> take();
    /// Not kept if there are enough, or if one request has made it large.
    void give_back(std::shared_ptr<request_batch> const& used);

private:
    // Of a thousand requests at once.
    static constexpr std::size_t most = 16;
    static constexpr std::size_t largest = 2 * request_batch::full_at;

    std::vector<std::shared_ptr<request_batch>> kept_;
};

}  // namespace holdfast::detail

#endif
