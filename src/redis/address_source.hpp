#ifndef HOLDFAST_REDIS_ADDRESS_SOURCE_HPP
#define HOLDFAST_REDIS_ADDRESS_SOURCE_HPP

#include <holdfast/config.hpp>
#include <holdfast/error.hpp>

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace holdfast::detail {

/// Says where a server is, where that can change. Used on the client's strand.
class address_source {
public:
    struct answer {
        /// What to connect with: its host and port are the server's. Nothing if that is not known.
        std::shared_ptr<config const> settings;
        /// Of two answers the one with the greater number is right.
        std::uint64_t version = 0;
        /// Why it is not known.
        error_code cause;
        bool permanent = false;
        /// The same for people.
        std::string text = {};
    };

    using move_handler = std::function<void(config const& there)>;

    /// `moved` is called when the server is known to be at another address than before. May be
    /// called again after it threw.
    virtual void start(move_handler moved) = 0;
    /// Asks no more questions, and does not call `moved` again. Those who wait for an answer get
    /// `client_stopped`.
    virtual void stop() = 0;
    /// Asked before each epoch of a connection. It takes no longer than `connect_timeout`.
    [[nodiscard]] virtual asio::awaitable<answer> find() = 0;

protected:
    ~address_source() = default;
};

}  // namespace holdfast::detail

#endif
