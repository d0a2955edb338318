#ifndef HOLDFAST_RESP_REQUEST_HPP
#define HOLDFAST_RESP_REQUEST_HPP

#include "resp/encoder.hpp"
#include "resp/message.hpp"

#include <holdfast/lease_clock.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::detail::resp {

/// What is known about a request when it is over.
enum class request_end : std::uint8_t {
    not_sent,  ///< the server has not executed it and will not
    replied,
    refused,  ///< the server answered with an error
    unknown,  ///< it may have been executed, or may be later
};

/// What is sent to a server, and how its reply is recognized. See the classes below.
class request {
public:
    /// What a reply is to the request that it should belong to.
    enum class verdict : std::uint8_t {
        replied,
        refused,
        no_script,  ///< refused, because the server does not know the script
        more,       ///< another reply belongs to the request, too
        mismatch,
    };

    /// After `timeout` the request ends without its reply. `opens_connection`: it belongs to the
    /// handshake, and is sent before HELLO has succeeded.
    explicit request(lease_clock::duration timeout, bool opens_connection = false) noexcept
        : timeout_{timeout},
          opens_connection_{opens_connection} {}
    request(request const&) = delete;
    request& operator=(request const&) = delete;
    virtual ~request() = default;

    /// How the request ended. Called once, unless it was cancelled. `reply` is there if the server
    /// answered, and is valid during the call.
    virtual void on_end(request_end how, message const* reply) = 0;

    /// When it was sent last: just before the kernel got the bytes.
    [[nodiscard]] lease_clock::time_point sent_at() const noexcept { return sent_at_; }
    /// It has neither ended nor been cancelled.
    [[nodiscard]] bool pending() const noexcept {
        return phase_ == phase::queued || phase_ == phase::handed;
    }

protected:
    [[nodiscard]] std::uint32_t tag() const noexcept { return tag_; }
    [[nodiscard]] bool by_text() const noexcept { return by_text_; }

private:
    friend class connection_fsm;
    enum class phase : std::uint8_t { made, queued, handed, ended };

    /// The hash of its script. It lives as long as the program. Empty: it is no script.
    [[nodiscard]] virtual std::string_view script() const noexcept { return {}; }
    [[nodiscard]] virtual bool may_repeat() const noexcept { return true; }
    /// Appends the commands. The result counts bytes of `to`: with so many of them the server
    /// executes something.
    virtual std::size_t encode(byte_buffer& to) const = 0;
    [[nodiscard]] virtual verdict judge(message const& reply) = 0;
    /// A push that confirms a command about a channel.
    [[nodiscard]] virtual verdict judge(std::string_view /*kind*/, std::string_view /*channel*/) {
        return verdict::mismatch;
    }
    /// The server unsubscribed from a sharded channel, asked or not.
    virtual void on_sunsubscribe(std::string_view /*channel*/) {}

    lease_clock::duration timeout_;
    lease_clock::time_point sent_at_{};
    lease_clock::time_point deadline_{};
    std::uint64_t runs_at_ = 0;  // bytes of the connection that the server needs to execute it
    std::uint32_t tag_ = 0;
    phase phase_ = phase::made;
    bool by_text_ = false;
    bool opens_connection_;
};

/// A command that any reply answers.
class command_request : public request {
public:
    command_request(
        std::initializer_list<std::string_view> words,
        lease_clock::duration timeout,
        bool opens_connection = false
    )
        : request{timeout, opens_connection} {
        append_command(command_, words);
    }

private:
    std::size_t encode(byte_buffer& to) const final;
    verdict judge(message const& reply) final;

    byte_buffer command_;
};

/// A script. Its reply is a line whose first word is the tag.
class script_request : public request {
public:
    using request::request;

private:
    [[nodiscard]] virtual script_call call() const = 0;
    std::size_t encode(byte_buffer& to) const final;
    verdict judge(message const& reply) final;
};

/// A PING, whose reply is its tag. An error is a sign of life, too.
class ping_request final : public request {
public:
    using request::request;
    void on_end(request_end, message const*) override {}

private:
    std::size_t encode(byte_buffer& to) const override;
    verdict judge(message const& reply) override;
};

/// SUBSCRIBE, UNSUBSCRIBE or SSUBSCRIBE for one channel. A push confirms it, or it is refused with
/// an error.
class channel_request : public request {
public:
    enum class verb : std::uint8_t { subscribe, unsubscribe, ssubscribe };

    channel_request(verb what, std::string channel, lease_clock::duration timeout)
        : request{timeout},
          verb_{what},
          channel_{std::move(channel)} {}
    [[nodiscard]] std::string const& channel() const noexcept { return channel_; }

private:
    std::size_t encode(byte_buffer& to) const final;
    verdict judge(message const& reply) final;
    verdict judge(std::string_view kind, std::string_view channel) final;

    verb verb_;
    std::string channel_;
};

/// SUNSUBSCRIBE for one channel.
///
/// A server also unsubscribes unasked, when a slot moves, and its push looks like a confirmation.
/// So an ECHO follows as a fence, and the request is over at the reply of the ECHO.
class sunsubscribe_request : public request {
public:
    sunsubscribe_request(std::string channel, lease_clock::duration timeout)
        : request{timeout},
          channel_{std::move(channel)} {}
    [[nodiscard]] std::string const& channel() const noexcept { return channel_; }

private:
    std::size_t encode(byte_buffer& to) const final;
    verdict judge(message const& reply) final;
    void on_sunsubscribe(std::string_view channel) final;

    std::string channel_;
    bool unsubscribed_ = false;  // a push said so after the request was handed over
    bool refused_ = false;
};

}  // namespace holdfast::detail::resp

#endif
