#include "redis/boost_redis_port.hpp"

#include "redis/command_link.hpp"
#include "redis/notice_link.hpp"

#include <utility>

namespace holdfast::detail {

namespace {

class boost_redis_port final : public redis_port {
public:
    boost_redis_port(
        asio::any_io_executor strand,
        std::shared_ptr<config const> settings,
        std::shared_ptr<counters> count
    )
        : settings_{std::move(settings)},
          strand_{std::move(strand)},
          count_{std::move(count)} {}

    void start(port_events& events) override {
        auto commands = std::make_shared<command_link>(
            strand_,
            settings_,
            count_,
            command_link::events{
                .up = [&events] { events.on_commands_up(); },
                .down = [&events] { events.on_commands_down(); },
                .failure = [&events](error_code cause) { events.on_failure(cause); },
            }
        );
        auto notices = std::make_shared<notice_link>(
            strand_,
            settings_,
            count_,
            notice_link::events{
                .up = [&events] { events.on_notices_up(); },
                .down = [&events] { events.on_notices_down(); },
                .failure = [&events](error_code cause) { events.on_failure(cause); },
                .subscribed =
                    [&events](std::string_view channel, bool again) {
                        events.on_subscribed(channel, again);
                    },
                .refused =
                    [&events](std::string_view channel, error_code cause) {
                        events.on_subscribe_refused(channel, cause);
                    },
                .notice = [&events](std::string_view channel) { events.on_notice(channel); },
            }
        );
        commands_ = std::move(commands);
        notices_ = std::move(notices);
        commands_->start();
        notices_->start();
    }

    void stop() override {
        if (commands_) {
            commands_->stop_link();
            notices_->stop();
        }
    }

    void exec(
        script const& what,
        boost::span<std::string_view const> keys,
        boost::span<std::string_view const> args,
        std::chrono::nanoseconds timeout,
        exec_handler handler
    ) override {
        commands_->exec(what, keys, args, timeout, std::move(handler));
    }

    void subscribe(std::string channel) override { notices_->subscribe(std::move(channel)); }
    void unsubscribe(std::string_view channel) override { notices_->unsubscribe(channel); }

    [[nodiscard]] bool commands_up() const override { return commands_ && commands_->usable(); }
    [[nodiscard]] bool notices_up() const override { return notices_ && notices_->up(); }
    [[nodiscard]] error_code failure() const override {
        return !commands_             ? error_code{}
               : commands_->failure() ? commands_->failure()
                                      : notices_->failure();
    }

private:
    std::shared_ptr<config const> settings_;
    asio::any_io_executor strand_;
    std::shared_ptr<counters> count_;
    std::shared_ptr<command_link> commands_;
    std::shared_ptr<notice_link> notices_;
};

}  // namespace

std::unique_ptr<redis_port> make_boost_redis_port(
    asio::any_io_executor strand,
    std::shared_ptr<config const> settings,
    std::shared_ptr<counters> count
) {
    return std::make_unique<boost_redis_port>(
        std::move(strand),
        std::move(settings),
        std::move(count)
    );
}

}  // namespace holdfast::detail
