#ifndef HOLDFAST_TEST_SUPPORT_BACKEND_HOSTS_HPP
#define HOLDFAST_TEST_SUPPORT_BACKEND_HOSTS_HPP

#include "memory_server/server.hpp"
#include "redis/deployment/single.hpp"
#include "support/redis_probe.hpp"
#include "support/redis_server.hpp"

#include <holdfast/config.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace holdfast::test {

/// A server behind a backend, and what a test does to it behind the backend's back.
class host {
public:
    virtual ~host() = default;
    virtual std::unique_ptr<detail::backend> make_backend(
        boost::asio::any_io_executor strand,
        std::shared_ptr<detail::counters> count
    ) = 0;
    virtual bool exists(std::string const& key) = 0;
    virtual std::size_t subscriptions() = 0;
    virtual void set(std::string const& key, std::string const& text) = 0;
    virtual void publish(std::string const& channel) = 0;
    virtual void break_connections() = 0;
    virtual void mend_connections() = 0;
    virtual void pause() = 0;
    virtual void resume() = 0;
};

class memory_host final : public host {
public:
    std::unique_ptr<detail::backend> make_backend(
        boost::asio::any_io_executor strand,
        std::shared_ptr<detail::counters> count
    ) override {
        return server_->make_backend(strand, count);
    }
    bool exists(std::string const& key) override { return server_->exists(key); }
    std::size_t subscriptions() override { return server_->subscriptions(); }
    void set(std::string const& key, std::string const& text) override { server_->set(key, text); }
    void publish(std::string const& channel) override { server_->publish(channel); }
    void break_connections() override { server_->set_up(false); }
    void mend_connections() override { server_->set_up(true); }
    void pause() override { server_->hold_requests(true); }
    void resume() override { server_->hold_requests(false); }

private:
    std::shared_ptr<memory::server> server_ = memory::server::make();
};

class real_host final : public host {
public:
    std::unique_ptr<detail::backend> make_backend(
        boost::asio::any_io_executor strand,
        std::shared_ptr<detail::counters> count
    ) override {
        auto settings = std::make_shared<config>(parse_url(server_.url()));
        settings->reconnect_max = std::chrono::milliseconds{100};
        return detail::make_single_server(strand, settings, count);
    }
    bool exists(std::string const& key) override { return probe().exists(key); }
    std::size_t subscriptions() override { return probe().pubsub_channels().size(); }
    void set(std::string const& key, std::string const& text) override { probe().set(key, text); }
    void publish(std::string const& channel) override { probe().publish(channel, "0"); }
    void break_connections() override {
        probe_.reset();
        server_.kill();
    }
    void mend_connections() override { server_.restart(false); }
    void pause() override { server_.pause(); }
    void resume() override { server_.resume(); }

private:
    redis_probe& probe() {
        if (!probe_) {
            probe_.emplace(server_.probe());
        }
        return *probe_;
    }

    redis_server server_;
    std::optional<redis_probe> probe_;
};

}  // namespace holdfast::test

#endif
