#ifndef HOLDFAST_PROTOCOL_CALL_HPP
#define HOLDFAST_PROTOCOL_CALL_HPP

#include "protocol/bulk_strings.hpp"
#include "protocol/script.hpp"
#include "protocol/slot.hpp"
#include "protocol/target.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace holdfast::detail {

/// One execution of a script: what is run, its keys and its arguments.
///
/// The words stand one behind the other: a call costs one allocation, and can be sent a second
/// time.
class call {
public:
    /// `timeout` is the longest time to wait for the reply.
    call(script const& what, std::chrono::nanoseconds timeout) : what_{&what}, timeout_{timeout} {
        words_.reserve(usual_words, usual_size);
    }

    /// The keys come before the arguments.
    call& key(std::string_view name) {
        ++keys_;
        words_.add(name);
        return *this;
    }
    /// The first key: that of the lock itself.
    call& key_of(target const& on) {
        slot_ = on.slot;
        return key(on.lock);
    }
    call& arg(std::string_view value) {
        words_.add(value);
        return *this;
    }
    call& arg(std::int64_t value) {
        words_.add(value);
        return *this;
    }

    /// That the user has not the rights for it is no error: the caller can do without.
    call& may_be_forbidden() {
        may_be_forbidden_ = true;
        return *this;
    }
    [[nodiscard]] bool is_optional() const noexcept { return may_be_forbidden_; }

    /// It is not sent a second time once `withdrawn` is true: the request that takes it back may
    /// have been executed by then.
    call& unless(std::shared_ptr<bool const> withdrawn) {
        withdrawn_ = std::move(withdrawn);
        return *this;
    }
    [[nodiscard]] bool is_withdrawn() const noexcept { return withdrawn_ && *withdrawn_; }
    /// It asks to be granted something.
    [[nodiscard]] bool is_attempt() const noexcept { return withdrawn_ != nullptr; }

    /// Room for so many words of so many bytes in all.
    void reserve(std::size_t words, std::size_t bytes) { words_.reserve(words, bytes); }

    [[nodiscard]] script const& what() const noexcept { return *what_; }
    [[nodiscard]] std::chrono::nanoseconds timeout() const noexcept { return timeout_; }
    [[nodiscard]] std::size_t keys() const noexcept { return keys_; }
    /// That of the lock, or of its first one. Empty: it has none.
    [[nodiscard]] std::string_view first_key() const noexcept {
        return keys_ == 0 ? std::string_view{} : word(0);
    }
    /// Of its keys, of which it has one.
    [[nodiscard]] std::uint16_t slot() const noexcept { return slot_ ? *slot_ : slot_of(word(0)); }
    /// Keys and arguments.
    [[nodiscard]] std::size_t size() const noexcept { return words_.size(); }
    [[nodiscard]] std::string_view word(std::size_t i) const noexcept { return words_.word(i); }
    /// As it is sent.
    [[nodiscard]] std::string_view bulk_string(std::size_t i) const noexcept {
        return words_.bulk_string(i);
    }
    /// All of them as they are sent.
    [[nodiscard]] std::string_view bytes() const noexcept { return words_.bytes(); }

private:
    // Two keys of a usual name, a holder id and some numbers.
    static constexpr std::size_t usual_words = 12;
    static constexpr std::size_t usual_size = 192;

    script const* what_;
    std::chrono::nanoseconds timeout_;
    bulk_strings words_;
    std::size_t keys_ = 0;
    std::optional<std::uint16_t> slot_;
    std::shared_ptr<bool const> withdrawn_;
    bool may_be_forbidden_ = false;
};

}  // namespace holdfast::detail

#endif
