#include "redis/deployment/sentinels.hpp"

#include "core/backoff.hpp"
#include "redis/endpoint.hpp"
#include "redis/tls.hpp"
#include "runtime/counters.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

namespace holdfast::detail {

namespace {

constexpr auto as_over = asio::as_tuple(asio::deferred);

// The settings of a connection to this Sentinel.
std::shared_ptr<config const> login_of(config const& settings, config::address const& at) {
    auto made = settings;
    made.host = at.host;
    made.port = at.port;
    made.username = settings.sentinel_username;
    made.password = settings.sentinel_password;
    made.tls = settings.sentinel_tls;
    made.database = 0;
    made.sentinels.clear();
    return std::make_shared<config const>(std::move(made));
}

// The settings of a connection to the primary.
std::shared_ptr<config const> settings_with(
    config const& settings,
    sentinel_tally::primary const& at
) {
    auto made = settings;
    made.host = at.host;
    made.port = at.port;
    made.sentinels.clear();
    return std::make_shared<config const>(std::move(made));
}

}  // namespace

/// One Sentinel: how it is reached, and the connection that listens to it.
class sentinels::sentinel final : public subscriber, public std::enable_shared_from_this<sentinel> {
public:
    sentinel(sentinels& all, config::address const& at)
        : all_{all},
          place_{
              all.strand_,
              login_of(*all.settings_, at),
              std::make_shared<tls_trust>(all.settings_->sentinel_tls),
          },
          pause_{all.strand_},
          backoff_{all.settings_->reconnect_min, all.settings_->reconnect_max} {}

    /// May be called again after it threw.
    void start() {
        if (!listener_) {
            listener_ = std::make_shared<subscription_connection>(
                server_context{
                    .strand = place_.strand,
                    .settings = place_.settings,
                    // What users count is what goes to and from their servers.
                    .count = std::make_shared<counters>(),
                    .trust = place_.trust,
                    .log = all_.log_,
                    .with = handshake::peer::sentinel,
                },
                supervisor::events{}
            );
        }
        if (!switches_) {
            switches_ = listener_->subscribe("+switch-master", *this);
        }
        if (!started_) {
            listener_->start();
            started_ = true;
        }
    }

    void stop() {
        auto const looking = looking_;
        forget();
        if (looking) {
            looking->cancel();
        }
        if (listener_) {
            listener_->stop();
        }
    }

    /// The others are gone, and nothing is told to them any more.
    void forget() noexcept {
        forgotten_ = true;
        looking_.reset();
        switches_ = {};
        pause_.cancel();
    }

    [[nodiscard]] std::shared_ptr<sentinel_query> ask(
        std::function<void(sentinel_answer const&)> done
    ) {
        auto const made = std::make_shared<sentinel_query>(
            place_,
            all_.settings_->primary_name,
            [self = shared_from_this(),
             done = std::move(done)](sentinel_answer const& what, std::string const& remark) {
                if (!self->forgotten_) {
                    self->note(what, remark);
                    done(what);
                }
            }
        );
        made->start();
        return made;
    }

    /// Why it named no primary when it was asked last. Success: it named one.
    [[nodiscard]] error_code cause() const noexcept { return cause_; }
    /// The same as a sentence, with its address.
    [[nodiscard]] std::string const& text() const noexcept { return text_; }

private:
    // What was said before it was listened to, or while the connection was down, is not known.
    void on_confirmed(bool) override { look(); }
    void on_unconfirmed() override {}
    void on_refused(error_code) override {}
    void on_notification(std::string_view message) override {
        auto const name = message.substr(0, message.find(' '));
        if (name == all_.settings_->primary_name) {
            look();
        }
    }

    void look() {
        if (looking_) {
            look_again_ = true;
            return;
        }
        looking_ = ask([this](sentinel_answer const& what) {
            looking_.reset();
            if (what.names_one()) {
                backoff_.reset();
            } else if (!what.permanent) {
                look_later();
            }
            if (std::exchange(look_again_, false)) {
                look();
            }
            all_.on_news(what);
        });
    }

    // It announces a switch once, and has not said where to. A connection to the former primary
    // need not notice, if nothing is written there.
    void look_later() {
        pause_.expires_after(backoff_.next(all_.random_part()));
        pause_.async_wait([weak = weak_from_this()](error_code ec) {
            if (auto const self = weak.lock(); self && !ec && !self->forgotten_) {
                self->look();
            }
        });
    }

    void note(sentinel_answer const& what, std::string const& remark) {
        cause_ = what.cause;
        if (what.names_one()) {
            return;
        }
        auto const place = describe_endpoint(*place_.settings);
        text_ = fmt::format("the Sentinel at {} {}", place, remark);
        // A listener that cannot connect logs the same cause.
        if (!listener_ || listener_->up()) {
            auto const level = what.permanent ? log_level::error : log_level::warning;
            all_.log_->write(level, remark, place, text_);
        }
    }

    sentinels& all_;
    sentinel_place place_;
    std::shared_ptr<subscription_connection> listener_;
    subscription switches_;
    std::shared_ptr<sentinel_query> looking_;
    timer pause_;
    backoff backoff_;
    error_code cause_;
    std::string text_;
    bool look_again_ = false;
    bool started_ = false;
    bool forgotten_ = false;
};

struct sentinels::round {
    explicit round(asio::any_io_executor const& strand) : ended{strand} {
        sleep_until(ended, lease_clock::time_point::max());
    }

    std::vector<std::shared_ptr<sentinel_query>> asked;
    // Cancelled when it is over.
    timer ended;
    bool over = false;
    // Why nothing is known.
    error_code cause;
    bool permanent = false;
    std::string text;
};

sentinels::sentinels(asio::any_io_executor strand, std::shared_ptr<config const> settings)
    : strand_{std::move(strand)},
      settings_{std::move(settings)},
      log_{std::make_shared<connection_log>(settings_->log)},
      tally_{settings_->sentinels.size()},
      jitter_{static_cast<std::minstd_rand::result_type>(random_from_system())} {
    for (auto const& at : settings_->sentinels) {
        all_.push_back(std::make_shared<sentinel>(*this, at));
    }
}

sentinels::~sentinels() {
    for (auto const& each : all_) {
        each->forget();
    }
}

void sentinels::start(move_handler moved) {
    moved_ = std::move(moved);
    for (auto const& each : all_) {
        each->start();
    }
}

void sentinels::stop() {
    stopped_ = true;
    moved_ = {};
    for (auto const& each : all_) {
        each->stop();
    }
    if (auto const left = std::exchange(round_, {})) {
        for (auto const& each : left->asked) {
            each->cancel();
        }
        left->cause = errc::client_stopped;
        left->over = true;
        left->ended.cancel();
    }
}

asio::awaitable<address_source::answer> sentinels::find() {
    auto const self = shared_from_this();
    if (stopped_) {
        co_return answer{.settings = {}, .cause = errc::client_stopped};
    }
    auto const asked = round_ ? round_ : begin_round();
    while (!asked->over) {
        auto waiting = asked->ended.async_wait(as_over);
        co_await std::move(waiting);
    }
    answer found;
    found.cause = asked->cause;
    found.permanent = asked->permanent;
    found.text = asked->text;
    if (!found.cause) {
        // A Sentinel that was not waited for may have named a newer primary since the majority
        // answered. The source does not tell the one who asked of that move again.
        found.settings = there_;
        found.version = version_;
    }
    co_return found;
}

std::shared_ptr<sentinels::round> sentinels::begin_round() {
    auto const made = std::make_shared<round>(strand_);
    tally_.begin_round();
    for (auto const& each : all_) {
        made->asked.push_back(each->ask([this,
                                         weak = std::weak_ptr{made}](sentinel_answer const& what) {
            auto const in = weak.lock();
            if (in && in == round_) {
                on_answer(*in, what);
            } else {
                // A majority had answered before it did.
                on_news(what);
            }
        }));
    }
    round_ = made;
    return made;
}

void sentinels::on_answer(round& in, sentinel_answer const& what) {
    tally_.on_answer(what, lease_clock::now());
    if (tally_.decided()) {
        conclude(in);
    }
    tell_if_moved();
}

void sentinels::on_news(sentinel_answer const& what) {
    if (!stopped_) {
        tally_.on_news(what, lease_clock::now());
        tell_if_moved();
    }
}

void sentinels::conclude(round& which) {
    auto const keeps = std::exchange(round_, {});
    auto const came_to = tally_.conclude(lease_clock::now());
    which.over = true;
    which.ended.cancel();
    which.cause = came_to.cause;
    which.permanent = came_to.permanent;
    if (came_to.cause) {
        auto const at = std::find_if(all_.begin(), all_.end(), [&](auto const& each) {
            return each->cause() == came_to.cause;
        });
        constexpr std::string_view none = "no Sentinel names the primary";
        which.text = fmt::format(
            "{} \"{}\": {}",
            none,
            settings_->primary_name,
            at == all_.end() ? came_to.cause.message() : (*at)->text()
        );
        auto const level = came_to.permanent ? log_level::error : log_level::warning;
        log_->write(level, none, {}, which.text);
        return;
    }
    tell_if_moved();
}

void sentinels::tell_if_moved() {
    auto const& known = tally_.known();
    if (stopped_ || !known || known->version == version_) {
        return;
    }
    there_ = settings_with(*settings_, *known);
    version_ = known->version;
    auto const line = fmt::format(
        "the Sentinels say that the primary \"{}\" is {}",
        settings_->primary_name,
        describe_endpoint(*there_)
    );
    log_->write(log_level::info, {}, {}, line);
    if (moved_) {
        moved_(*there_);
    }
}

}  // namespace holdfast::detail
