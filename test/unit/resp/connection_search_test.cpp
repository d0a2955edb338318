// A search through random schedules: requests, cancellations, timeouts, writes and reads of any
// size, errors, pushes, moved slots and cuts, against a model of a server. Each request must end
// exactly once, in order, with its own reply, and "not sent" must be true.

#include "resp/connection_fsm.hpp"
#include "resp/decoder.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

using namespace holdfast::detail::resp;
using namespace std::chrono_literals;
using holdfast::error_code;
using holdfast::lease_clock;

namespace {

std::string bulk_of(std::string_view text) {
    return "$" + std::to_string(text.size()) + "\r\n" + std::string{text} + "\r\n";
}

class dice {
public:
    explicit dice(unsigned seed) : random_{seed} {}
    std::size_t below(std::size_t end) {
        return std::uniform_int_distribution<std::size_t>{0, end - 1}(random_);
    }
    bool one_in(std::size_t n) { return below(n) == 0; }

private:
    std::mt19937 random_;
};

/// Executes commands in their order.
class model_server {
public:
    explicit model_server(dice& random) : random_{random} {}

    /// What the kernel passes on.
    std::string input;
    std::string output;
    /// The requests that were executed, by their numbers.
    std::set<std::string, std::less<>> executed;

    bool execute_one() {
        if (in_.resume(input) != decode_status::complete) {
            return false;
        }
        std::vector<std::string> words;
        auto const command = in_.current(input);
        for (std::size_t i = 1; i < command.nodes().size(); ++i) {
            words.emplace_back(command.text(i));
        }
        input.erase(0, in_.message_size());
        in_.next();
        execute(words);
        return true;
    }
    /// The slot of a channel moves, or comes back.
    void move(std::string const& channel) {
        if (sharded_.erase(channel) != 0) {
            push("sunsubscribe", channel);
        }
        if (!moved_.insert(channel).second) {
            moved_.erase(channel);
        }
    }
    void publish() { output += ">3\r\n+message\r\n+c\r\n" + bulk_of("u1"); }
    void evict() { scripts_.clear(); }

private:
    void push(std::string_view kind, std::string_view channel) {
        output += ">3\r\n" + bulk_of(kind) + bulk_of(channel) + ":0\r\n";
    }
    void execute(std::vector<std::string> const& words) {
        auto const& name = words[0];
        if (random_.one_in(6)) {
            publish();
        }
        if (name == "EVAL" || name == "EVALSHA") {
            script(words);
        } else if (name == "ECHO" || name == "PING") {
            output += random_.one_in(5) ? "-BUSY x\r\n" : bulk_of(words[1]);
        } else if (name == "SUNSUBSCRIBE") {
            static constexpr std::array errors{
                "-MOVED 1 h:1\r\n",
                "-CLUSTERDOWN x\r\n",
                "-NOSUB y\r\n"
            };
            sharded_.erase(words[1]);
            if (moved_.contains(words[1])) {
                output += errors[random_.below(3)];
            } else {
                push("sunsubscribe", words[1]);
            }
        } else if (name == "SSUBSCRIBE" && moved_.contains(words[1])) {
            output += "-MOVED 1 h:1\r\n";
        } else if (random_.one_in(5)) {
            output += "-NOPERM x\r\n";
        } else {
            if (name == "SSUBSCRIBE") {
                sharded_.insert(words[1]);
            }
            auto kind = name;
            std::ranges::transform(kind, kind.begin(), [](char c) {
                return static_cast<char>(c | 0x20);
            });
            push(kind, words[1]);
        }
    }
    void script(std::vector<std::string> const& words) {
        if (words[0] == "EVAL") {
            scripts_.insert(words[1]);
        } else if (!scripts_.contains(words[1])) {
            output += "-NOSCRIPT x\r\n";
            return;
        }
        if (random_.one_in(5)) {
            output += "-OOM x\r\n";
            return;
        }
        executed.insert(words[3]);
        output += bulk_of(words.back() + " " + words[3]);
    }

    dice& random_;
    decoder in_{{}};
    std::set<std::string, std::less<>> scripts_;
    std::set<std::string, std::less<>> sharded_;
    std::set<std::string, std::less<>> moved_;
};

class schedule;

template <class Kind>
class counted : public Kind {
public:
    template <class... Arguments>
    counted(schedule& on, std::string number, Arguments&&... rest)
        : Kind{std::forward<Arguments>(rest)...},
          on_{on},
          number_{std::move(number)} {}
    void on_end(request_end how, message const* reply) override;

protected:
    schedule& on_;
    std::string number_;
};

class numbered_script : public counted<script_request> {
public:
    numbered_script(schedule& on, std::string number, std::string_view sha1)
        : counted<script_request>{on, std::move(number), 3s},
          sha1_{sha1} {
        append_word(words_, number_);
    }

private:
    std::string_view script() const noexcept override { return sha1_; }
    // The model knows a script by its text, too.
    script_call call() const override {
        return {sha1_, sha1_, 0, {{words_.data(), words_.size()}, 1}};
    }

    std::string_view sha1_;
    byte_buffer words_;
};

class schedule : private connection_events {
public:
    explicit schedule(unsigned seed)
        : random_{seed},
          exact_{!random_.one_in(3)},
          server_{random_},
          fsm_{settings(random_), *this} {
        fsm_.on_connecting(now_ + 1s);
        fsm_.on_connected(exact_, now_);
        fsm_.open(now_);
    }

    void run() {
        auto const steps = 50 + random_.below(300);
        for (std::size_t i = 0; i < steps && running(); ++i) {
            step();
        }
        bool const cut = random_.one_in(2);
        if (running() && !cut) {
            drain();
            BOOST_REQUIRE((fsm_.idle() || !running()));
        }
        fsm_.close(close_reason::stopped);
        fsm_.finish();
        fsm_.finish();
        BOOST_REQUIRE(downs_ == 1);
        BOOST_REQUIRE(why_ != close_reason::mismatch);
        BOOST_REQUIRE(why_ != close_reason::malformed);
        // The server executes what the kernel has, however late.
        while (server_.execute_one()) {
        }
        for (auto const& [number, how] : ends_) {
            BOOST_REQUIRE_MESSAGE(how.times == 1, number << " ended " << how.times << " times");
            if (how.last == request_end::not_sent) {
                BOOST_REQUIRE_MESSAGE(!server_.executed.contains(number), number);
            }
        }
    }

    void on_end(std::string const& number, request_end how, message const* reply, bool script) {
        auto& ended = ends_.at(number);
        ++ended.times;
        ended.last = how;
        BOOST_REQUIRE(downs_ == 0);
        if (how == request_end::replied && script) {
            auto const text = reply->text();
            BOOST_REQUIRE(text.substr(text.find(' ') + 1) == number);
            BOOST_REQUIRE(server_.executed.contains(number));
        }
        if (how != request_end::replied && how != request_end::refused) {
            BOOST_REQUIRE(!reply);
        }
        std::erase_if(open_, [&](auto const& one) { return one.first == number; });
        react();
    }

private:
    struct outcome {
        int times = 0;
        request_end last{};
    };

    static connection_settings settings(dice& random) {
        connection_settings all;
        all.max_requests = 1 + random.below(40);
        all.first_tag = random.one_in(3) ? 0xffffffffU - 3 : 1;
        all.push_limit = 200;
        return all;
    }
    bool running() const { return fsm_.current() == connection_fsm::state::up; }

    void step() {
        switch (random_.below(12)) {
            case 0:
            case 1:
            case 2: submit(); break;
            case 3:
            case 4: write(); break;
            case 5:
            case 6:
                for (auto n = random_.below(6); n > 0 && server_.execute_one(); --n) {
                }
                break;
            case 7:
            case 8: read(1 + random_.below(60)); break;
            case 9: server_.move(channel()); break;
            case 10:
                if (random_.one_in(3)) {
                    server_.evict();
                } else {
                    cancel();
                }
                break;
            default:
                now_ += random_.below(random_.one_in(20) ? 3000 : 200) * 1ms;
                fsm_.on_time(now_);
        }
    }
    void react() {
        if (random_.one_in(8)) {
            submit();
        } else if (random_.one_in(16)) {
            cancel();
        } else if (random_.one_in(500)) {
            fsm_.close(close_reason::stopped);
        }
    }
    std::string channel() { return "c" + std::to_string(random_.below(3)); }

    void submit() {
        static constexpr std::array<std::string_view, 3> scripts{"s1", "s2", "s3"};
        auto number = std::to_string(++last_number_);
        std::shared_ptr<request> one;
        switch (random_.below(8)) {
            case 0: one = subscription(channel_request::verb::subscribe, number); break;
            case 1: one = subscription(channel_request::verb::unsubscribe, number); break;
            case 2: one = subscription(channel_request::verb::ssubscribe, number); break;
            case 3:
            case 4:
                one = std::make_shared<counted<sunsubscribe_request>>(*this, number, channel(), 3s);
                break;
            default:
                one = std::make_shared<numbered_script>(*this, number, scripts[random_.below(3)]);
        }
        ends_.emplace(number, outcome{});
        if (fsm_.submit(one, now_)) {
            open_.emplace_back(number, one);
        } else {
            ends_.erase(number);
        }
    }
    std::shared_ptr<request> subscription(channel_request::verb what, std::string const& number) {
        return std::make_shared<counted<channel_request>>(*this, number, what, channel(), 3s);
    }
    void cancel() {
        if (open_.empty()) {
            return;
        }
        auto const at = open_.begin() + static_cast<std::ptrdiff_t>(random_.below(open_.size()));
        if (at->second->pending()) {
            auto& ended = ends_.at(at->first);
            ++ended.times;
            ended.last = fsm_.cancel(*at->second);
            open_.erase(at);
        }
    }
    void write() {
        fsm_.on_writable();
        auto const out = fsm_.to_write(now_);
        bool const part = exact_ && random_.one_in(2);
        auto const taken = part ? random_.below(out.size() + 1) : out.size();
        server_.input += out.substr(0, taken);
        fsm_.on_written(taken, !exact_ || taken < out.size(), now_);
    }
    void read(std::size_t size) {
        size = std::min(size, server_.output.size());
        auto const space = fsm_.read_space();
        std::copy_n(server_.output.data(), size, space.data());
        server_.output.erase(0, size);
        fsm_.on_read(size, now_);
    }
    void drain() {
        for (int i = 0; i < 1000 && running() && !fsm_.idle(); ++i) {
            write();
            while (server_.execute_one()) {
            }
            read(1000);
        }
    }

    void on_connected() override {}
    void on_push(message const& push) override {
        BOOST_REQUIRE(push.text(1) == "message" || push.text(1) == "sunsubscribe");
        react();
    }
    void on_push_flood() override { react(); }
    void on_down(close_reason why, error_code) override {
        ++downs_;
        why_ = why;
    }

    dice random_;
    bool exact_;
    model_server server_;
    connection_fsm fsm_;
    lease_clock::time_point now_{1h};
    std::map<std::string, outcome> ends_;
    std::vector<std::pair<std::string, std::shared_ptr<request>>> open_;
    int last_number_ = 0;
    int downs_ = 0;
    close_reason why_ = close_reason::none;
};

template <class Kind>
void counted<Kind>::on_end(request_end how, message const* reply) {
    on_.on_end(number_, how, reply, std::is_base_of_v<script_request, Kind>);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(connection_search_test)

BOOST_AUTO_TEST_CASE(each_request_ends_once_and_with_its_own_reply) {
    for (unsigned seed = 1; seed <= 500; ++seed) {
        BOOST_TEST_CONTEXT("seed " << seed) {
            schedule{seed}.run();
        }
    }
}

// The server moves the slot of a channel just before, while and after it executes SUNSUBSCRIBE.
BOOST_AUTO_TEST_CASE(an_unasked_unsubscription_shifts_no_reply) {
    dice random{1};
    model_server server{random};
    struct noted_events final : connection_events {
        void on_connected() override {}
        void on_push(message const&) override { ++pushes; }
        void on_down(close_reason, error_code) override { down = true; }
        int pushes = 0;
        bool down = false;
    } events;
    struct ended final : sunsubscribe_request {
        ended() : sunsubscribe_request{"c", 3s} {}
        void on_end(request_end, message const*) override { ++times; }
        int times = 0;
    };
    struct subscribed final : channel_request {
        subscribed() : channel_request{verb::ssubscribe, "c", 3s} {}
        void on_end(request_end, message const*) override {}
    };
    connection_fsm fsm{{}, events};
    lease_clock::time_point const now{1h};
    fsm.on_connecting(now + 1s);
    fsm.on_connected(true, now);
    fsm.open(now);
    for (int i = 0; i < 10'000; ++i) {
        auto const one = std::make_shared<ended>();
        BOOST_REQUIRE(fsm.submit(std::make_shared<subscribed>(), now));
        BOOST_REQUIRE(fsm.submit(one, now));
        BOOST_REQUIRE(fsm.submit(std::make_shared<subscribed>(), now));
        auto const out = fsm.to_write(now);
        server.input += out;
        fsm.on_written(out.size(), false, now);
        do {
            if (random.one_in(2)) {
                server.move("c");
            }
        } while (server.execute_one());
        while (!server.output.empty()) {
            auto const space = fsm.read_space();
            auto const size = std::min(server.output.size(), 1 + random.below(100));
            std::copy_n(server.output.data(), size, space.data());
            server.output.erase(0, size);
            fsm.on_read(size, now);
        }
        BOOST_REQUIRE(one->times == 1);
        BOOST_REQUIRE(fsm.idle());
        BOOST_REQUIRE((fsm.current() == connection_fsm::state::up));
    }
    BOOST_TEST(events.pushes > 1000);
    BOOST_TEST(!events.down);
}

BOOST_AUTO_TEST_SUITE_END()
