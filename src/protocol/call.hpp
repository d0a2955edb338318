#ifndef HOLDFAST_PROTOCOL_CALL_HPP
#define HOLDFAST_PROTOCOL_CALL_HPP

#include "protocol/script.hpp"
#include "protocol/slot.hpp"
#include "protocol/target.hpp"

#include <holdfast/fencing_token.hpp>

#include <boost/container/small_vector.hpp>

#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::detail {

/// One execution of a script: what is run, its keys and its arguments.
///
/// The words stand one behind the other in one string: a call costs one allocation, and can be sent
/// a second time.
class call {
public:
    /// `timeout` is the longest time to wait for the reply.
    call(script const& what, std::chrono::nanoseconds timeout) : what_{&what}, timeout_{timeout} {
        words_.reserve(usual_size);
    }

    /// The keys come before the arguments.
    call& key(std::string_view name) {
        ++keys_;
        return add(name);
    }
    /// The first key: that of the lock itself.
    call& key_of(target const& on) {
        slot_ = on.slot;
        return key(on.lock);
    }
    call& arg(std::string_view value) { return add(value); }
    call& arg(std::int64_t value) {
        std::array<char, 20> digits;
        auto const end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
        return add({digits.data(), static_cast<std::size_t>(end - digits.data())});
    }

    /// An argument: a token counter that has reached it was written a moment ago, on the server
    /// that the call is made for.
    call& token_floor(fencing_token floor) {
        floor_ = ends_.size();
        return arg(static_cast<std::int64_t>(floor.value));
    }
    /// Forgets that floor: the call may go to another server. A replica that has taken over has
    /// counters of a moment ago, too, and they may lack the last tokens.
    void for_another_server();

    /// That the user has not the rights for it is no error: the caller can do without.
    call& may_be_forbidden() {
        may_be_forbidden_ = true;
        return *this;
    }
    [[nodiscard]] bool is_optional() const noexcept { return may_be_forbidden_; }

    /// What the script publishes leaves the server before its own reply, which nobody waits for as
    /// urgently.
    call& publishes_first() {
        publishes_first_ = true;
        return *this;
    }
    [[nodiscard]] bool is_published_first() const noexcept { return publishes_first_; }

    /// It is not sent a second time once `withdrawn` is true: the request that takes it back may
    /// have been executed by then.
    call& unless(std::shared_ptr<bool const> withdrawn) {
        withdrawn_ = std::move(withdrawn);
        return *this;
    }
    [[nodiscard]] bool is_withdrawn() const noexcept { return withdrawn_ && *withdrawn_; }

    /// Room for so many words of so many bytes in all.
    void reserve(std::size_t words, std::size_t bytes) {
        ends_.reserve(words);
        words_.reserve(bytes);
    }

    [[nodiscard]] script const& what() const noexcept { return *what_; }
    [[nodiscard]] std::chrono::nanoseconds timeout() const noexcept { return timeout_; }
    [[nodiscard]] std::size_t keys() const noexcept { return keys_; }
    /// Of its keys, of which it has one.
    [[nodiscard]] std::uint16_t slot() const noexcept { return slot_ ? *slot_ : slot_of(word(0)); }
    /// Keys and arguments.
    [[nodiscard]] std::size_t size() const noexcept { return ends_.size(); }
    [[nodiscard]] std::string_view word(std::size_t i) const noexcept {
        auto const begin = i == 0 ? 0U : ends_[i - 1];
        return std::string_view{words_}.substr(begin, ends_[i] - begin);
    }

private:
    // Two keys of a usual name, a holder id and some numbers.
    static constexpr std::size_t usual_size = 192;

    call& add(std::string_view word) {
        words_ += word;
        ends_.push_back(static_cast<std::uint32_t>(words_.size()));
        return *this;
    }
    void replace(std::size_t i, std::string_view with);

    script const* what_;
    std::chrono::nanoseconds timeout_;
    std::string words_;
    boost::container::small_vector<std::uint32_t, 8> ends_;
    std::size_t keys_ = 0;
    std::optional<std::uint16_t> slot_;
    std::optional<std::size_t> floor_;
    std::shared_ptr<bool const> withdrawn_;
    bool may_be_forbidden_ = false;
    bool publishes_first_ = false;
};

}  // namespace holdfast::detail

#endif
