#include "support/foreign/client.hpp"

#include "support/foreign/subscriptions.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace holdfast::test {

namespace asio = boost::asio;
using std::chrono::milliseconds;
using time_point = std::chrono::steady_clock::time_point;

namespace {

// A Redisson process keeps a message for which nobody waits, and the next waiter makes one more
// attempt. Version 0.1 only knows that there was one.
int most_kept(dialect speaks) {
    return speaks == dialect::first_version ? 1 : std::numeric_limits<int>::max();
}

time_point after(std::optional<milliseconds> duration) {
    return duration ? std::chrono::steady_clock::now() + *duration : time_point::max();
}

// An empty line of version 0.1 keeps its subscription so long.
constexpr milliseconds linger{500};
// How often version 0.1 looks at a key without an expiry.
constexpr milliseconds poll_interval{5000};
// Of version 0.1, after the end of a holder's lease.
constexpr int longest_jitter_ms = 16;

// The use of a channel for as long as a waiter needs it.
class channel_use {
public:
    channel_use(foreign_subscriptions& all, std::string const& name)
        : all_{all},
          channel_{all.join(name)} {}
    channel_use(channel_use const&) = delete;
    channel_use& operator=(channel_use const&) = delete;
    ~channel_use() { all_.leave(channel_); }

    foreign_channel& get() { return channel_; }

private:
    foreign_subscriptions& all_;
    foreign_channel& channel_;
};

// The waiters of version 0.1 for one lock. The first of them tries for all.
struct line {
    explicit line(asio::any_io_executor const& executor) : unsubscribes{executor} {}

    int length = 0;
    time_point look_at{};
    wake_ups turn;
    std::optional<channel_use> channel;
    asio::steady_timer unsubscribes;
};

}  // namespace

class foreign_client::state : public std::enable_shared_from_this<state> {
public:
    state(asio::any_io_executor const& executor, foreign_options options)
        : executor_{executor},
          options_{std::move(options)},
          protocol_{speak(options_.speaks)},
          commands_{executor, options_.server},
          subscriptions_{
              executor,
              options_.server,
              most_kept(options_.speaks),
              [this](foreign_channel& channel, std::string const& payload) {
                  on_message(channel, payload);
              }
          },
          watchdog_{executor} {}

    void start() {
        if (options_.renews) {
            asio::co_spawn(executor_, watch(shared_from_this()), asio::detached);
        }
    }

    void close() {
        closed_ = true;
        commands_.close();
        subscriptions_.close();
        watchdog_.cancel();
        for (auto& [name, line] : lines_) {
            line.turn.give_all();
            line.unsubscribes.cancel();
        }
    }

    static asio::awaitable<foreign_grant> acquire(
        std::shared_ptr<state> self,
        foreign_keys on,
        std::int64_t thread
    ) {
        foreign_grant grant{.name = on.lock, .holder = self->protocol_->holder(thread)};
        if (self->options_.speaks == dialect::first_version) {
            co_await self->wait_in_line(on, grant);
        } else {
            co_await self->wait_as_a_thread(on, grant);
        }
        self->held_.push_back(grant);
        co_return grant;
    }

    static asio::awaitable<foreign_release> release(
        std::shared_ptr<state> self,
        foreign_grant grant
    ) {
        foreign_keys const on{grant.name};
        auto const call = self->protocol_->release(on, grant.holder, self->options_.lease);
        self->forget(grant);
        auto const reply = co_await self->call(call);
        auto const result = self->protocol_->read_release(reply);
        if (auto const words = self->protocol_->after(call); !words.empty()) {
            self->commands_.send(words);
        }
        if (auto const at = self->lines_.find(grant.name);
            at != self->lines_.end() && at->second.length > 0 && at->second.channel) {
            at->second.channel->get().messages.give();
        }
        co_return result;
    }

    static asio::awaitable<bool> renew(std::shared_ptr<state> self, foreign_grant grant) {
        foreign_keys const on{grant.name};
        auto const call = self->protocol_->renew(on, grant.holder, self->options_.lease);
        auto const reply = co_await self->call(call);
        co_return self->protocol_->read_renew(reply);
    }

private:
    // A server that does not know the script gets its text: not every user may load one.
    asio::awaitable<redis_value> call(foreign_call const& what) {
        std::vector<std::string> words{"EVALSHA", what.script->sha1};
        words.insert(words.end(), what.words.begin(), what.words.end());
        auto reply = co_await commands_.command(words);
        if (reply.is_error() && reply.text.starts_with("NOSCRIPT")) {
            words[0] = "EVAL";
            words[1] = what.script->text;
            reply = co_await commands_.command(words);
        }
        co_return reply;
    }

    asio::awaitable<foreign_answer> attempt(foreign_keys const& on, foreign_grant& grant) {
        auto const what = protocol_->acquire(on, grant.holder, options_.lease);
        auto const reply = co_await call(what);
        auto const answer = protocol_->read_acquire(reply);
        grant.token = answer.token;
        co_return answer;
    }

    // Redisson: each thread tries for itself, and sleeps on the semaphore that its process has for
    // the channel.
    asio::awaitable<void> wait_as_a_thread(foreign_keys const& on, foreign_grant& grant) {
        auto answer = co_await attempt(on, grant);
        if (answer.granted) {
            co_return;
        }
        channel_use channel{subscriptions_, on.channel};
        co_await subscriptions_.confirmed(channel.get());
        for (;;) {
            answer = co_await attempt(on, grant);
            if (answer.granted) {
                co_return;
            }
            co_await channel.get().messages.take(after(answer.remaining));
        }
    }

    // Version 0.1: the others wait for their turn to be first.
    asio::awaitable<void> wait_in_line(foreign_keys const& on, foreign_grant& grant) {
        auto& line = line_of(on.lock);
        line.unsubscribes.cancel();
        if (line.length++ == 0) {
            line.look_at = {};
        } else {
            co_await line.turn.take();
        }
        try {
            co_await try_as_first(line, on, grant);
        } catch (...) {
            next_in(line);
            throw;
        }
        // The next one looks when this lease is over, unless there is news.
        line.look_at = after(options_.lease);
        next_in(line);
    }

    asio::awaitable<void> try_as_first(line& in, foreign_keys const& on, foreign_grant& grant) {
        for (;;) {
            if (in.channel) {
                auto& messages = in.channel->get().messages;
                co_await messages.take(in.look_at);
                messages.forget();
            }
            auto const answer = co_await attempt(on, grant);
            if (answer.granted) {
                co_return;
            }
            milliseconds const jitter{1 + jitter_(random_)};
            in.look_at = after(answer.remaining.value_or(poll_interval) + jitter);
            if (!in.channel) {
                co_await subscribe(in, on);
                in.look_at = {};
            }
        }
    }

    asio::awaitable<void> subscribe(line& in, foreign_keys const& on) {
        if (!in.channel) {
            in.channel.emplace(subscriptions_, on.channel);
        }
        co_await subscriptions_.confirmed(in.channel->get());
    }

    void next_in(line& in) {
        if (--in.length > 0) {
            in.turn.give();
        } else if (!closed_) {
            in.unsubscribes.expires_after(linger);
            in.unsubscribes.async_wait([self = shared_from_this(),
                                        &in](boost::system::error_code ec) {
                if (!ec && in.length == 0) {
                    in.channel.reset();
                }
            });
        }
    }

    // `1` on a Redisson channel is for all; a lock's own message is `0`, and any other number
    // nobody's.
    void on_message(foreign_channel& channel, std::string const& payload) {
        if (options_.speaks == dialect::first_version || payload == "0") {
            channel.messages.give();
        } else if (payload == "1") {
            channel.messages.give_all();
        }
    }

    line& line_of(std::string const& name) {
        return lines_.try_emplace(name, executor_).first->second;
    }

    void forget(foreign_grant const& grant) {
        auto const same = [&](foreign_grant const& other) {
            return other.name == grant.name && other.holder == grant.holder;
        };
        if (auto const at = std::find_if(held_.begin(), held_.end(), same); at != held_.end()) {
            held_.erase(at);
        }
    }

    static asio::awaitable<void> watch(std::shared_ptr<state> self) {
        while (!self->closed_) {
            self->watchdog_.expires_after(self->options_.lease / 3);
            co_await self->watchdog_.async_wait(asio::as_tuple(asio::use_awaitable));
            auto const held = self->held_;
            for (auto const& grant : held) {
                if (self->closed_) {
                    break;
                }
                // Named: GCC 12 destroys some temporaries of a co_await expression twice.
                auto renewal = renew(self, grant);
                if (!co_await std::move(renewal)) {
                    self->forget(grant);
                }
            }
        }
    }

    asio::any_io_executor executor_;
    foreign_options options_;
    std::unique_ptr<foreign_protocol> protocol_;
    std::vector<foreign_grant> held_;
    std::minstd_rand random_{std::random_device{}()};
    std::uniform_int_distribution<int> jitter_{0, longest_jitter_ms - 1};
    foreign_connection commands_;
    foreign_subscriptions subscriptions_;
    // Each stays where it is. They use the subscriptions.
    std::map<std::string, line> lines_;
    asio::steady_timer watchdog_;
    bool closed_ = false;
};

foreign_client::foreign_client(asio::any_io_executor executor, foreign_options options)
    : state_{std::make_shared<state>(executor, std::move(options))} {
    state_->start();
}

foreign_client::~foreign_client() {
    state_->close();
}

asio::awaitable<foreign_grant> foreign_client::acquire(
    std::string const& name,
    std::int64_t thread
) {
    return state::acquire(state_, foreign_keys{name}, thread);
}

asio::awaitable<foreign_release> foreign_client::release(foreign_grant const& grant) {
    return state::release(state_, grant);
}

asio::awaitable<bool> foreign_client::renew(foreign_grant const& grant) {
    return state::renew(state_, grant);
}

}  // namespace holdfast::test
