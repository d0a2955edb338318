#ifndef TRACES_COLLECTOR_HPP
#define TRACES_COLLECTOR_HPP

#include "finished_spans.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <memory>
#include <string>

namespace traces {

/// An OpenTelemetry collector that listens for OTLP over HTTP, as they do at port 4318.
class collector {
public:
    struct options {
        std::string host = "127.0.0.1";
        std::string port = "4318";
        std::string service_name = "holdfast-example";
    };

    collector(std::shared_ptr<finished_spans> from, options how)
        : from_{std::move(from)},
          how_{std::move(how)} {}

    /// Sends what there is. What the collector does not accept within some seconds is lost: traces
    /// are not worth the memory of keeping them.
    boost::asio::awaitable<void> send();

    /// Sends every second, until it is cancelled.
    boost::asio::awaitable<void> send_often();

    [[nodiscard]] std::size_t sent() const noexcept { return sent_; }
    [[nodiscard]] std::size_t lost() const noexcept { return lost_; }

private:
    boost::asio::awaitable<bool> post(std::string body);

    std::shared_ptr<finished_spans> from_;
    options how_;
    std::size_t sent_ = 0;
    std::size_t lost_ = 0;
};

}  // namespace traces

#endif
