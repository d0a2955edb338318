#ifndef HOLDFAST_TEST_UNIT_RESP_MACHINE_HPP
#define HOLDFAST_TEST_UNIT_RESP_MACHINE_HPP

#include "resp/connection_fsm.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::test {

/// What happened, in order: `a replied 7 x`, `down a reply does not belong to its request`.
using happened = std::vector<std::string>;

inline std::string_view name_of(detail::resp::request_end how) {
    switch (how) {
        case detail::resp::request_end::not_sent: return "not_sent";
        case detail::resp::request_end::replied: return "replied";
        case detail::resp::request_end::refused: return "refused";
        case detail::resp::request_end::unknown: return "unknown";
    }
    return "?";
}

/// A request that notes how it ended.
template <class Kind>
class noted : public Kind {
public:
    template <class... Arguments>
    noted(happened& to, std::string name, Arguments&&... rest)
        : Kind{std::forward<Arguments>(rest)...},
          to_{to},
          name_{std::move(name)} {}

    /// Called after the end was noted.
    std::function<void()> then;

    void on_end(detail::resp::request_end how, detail::resp::message const* reply) override {
        auto line = name_ + " " + std::string{name_of(how)};
        if (reply && !reply->text().empty()) {
            line += " " + std::string{reply->text()};
        }
        to_.push_back(std::move(line));
        if (then) {
            std::exchange(then, {})();
        }
    }

private:
    happened& to_;
    std::string name_;
};

/// A script without keys.
class plain_script : public detail::resp::script_request {
public:
    plain_script(std::string_view sha1, lease_clock::duration timeout)
        : script_request{timeout},
          sha1_{sha1} {}
    bool withdrawn = false;

private:
    std::string_view script() const noexcept override { return sha1_; }
    bool may_repeat() const noexcept override { return !withdrawn; }
    detail::resp::script_call call() const override { return {"text", sha1_, 0, {}}; }

    std::string_view sha1_;
};

/// A command that consists of one word, of the handshake or not.
class one_word : public detail::resp::command_request {
public:
    one_word(std::string_view word, bool opens, lease_clock::duration timeout)
        : command_request{{word}, timeout, opens} {}
};

/// A machine, driven by hand.
class machine : private detail::resp::connection_events {
public:
    using duration = lease_clock::duration;
    using fsm_type = detail::resp::connection_fsm;
    template <class Kind>
    using ptr = std::shared_ptr<noted<Kind>>;

    static constexpr std::chrono::seconds timeout{3};

    explicit machine(
        detail::resp::connection_settings const& settings = {},
        bool exact = true,
        bool open = true
    )
        : fsm{settings, *this} {
        fsm.on_connecting(now + timeout);
        fsm.on_connected(exact, now);
        if (open) {
            fsm.open(now);
        }
        log.clear();
    }

    happened log;
    lease_clock::time_point now{std::chrono::hours{1}};
    fsm_type fsm;
    std::function<void()> at_push;

    template <class Kind, class... Arguments>
    ptr<Kind> make(std::string name, Arguments&&... rest) {
        return std::make_shared<noted<Kind>>(
            log,
            std::move(name),
            std::forward<Arguments>(rest)...,
            timeout
        );
    }
    /// Submits a script whose hash is its name, unless another one is given.
    ptr<plain_script> script(std::string name, std::string_view sha1 = "hash") {
        auto one = make<plain_script>(std::move(name), sha1);
        submit(one);
        return one;
    }
    template <class Kind>
    ptr<Kind> submit(ptr<Kind> one) {
        if (!fsm.submit(one, now)) {
            log.push_back("not taken");
        }
        return one;
    }
    ptr<detail::resp::channel_request> channel(
        std::string name,
        detail::resp::channel_request::verb what,
        std::string of
    ) {
        return submit(make<detail::resp::channel_request>(std::move(name), what, std::move(of)));
    }

    /// Everything that is to be written, or the first bytes of it and no more.
    std::string write(std::size_t most = std::string::npos) {
        std::string all;
        for (;;) {
            auto const bytes = fsm.to_write(now);
            if (bytes.empty()) {
                return all;
            }
            auto const taken = std::min(most - std::min(most, all.size()), bytes.size());
            all += bytes.substr(0, taken);
            fsm.on_written(taken, taken < bytes.size(), now);
        }
    }
    /// As over TLS: all is taken, and nothing can be written after it.
    std::string write_blocked() {
        std::string const all{fsm.to_write(now)};
        fsm.on_written(all.size(), true, now);
        return all;
    }
    void read(std::string_view bytes) {
        while (!bytes.empty()) {
            auto const space = fsm.read_space();
            auto const size = std::min(space.size(), bytes.size());
            std::copy_n(bytes.data(), size, space.data());
            fsm.on_read(size, now);
            bytes.remove_prefix(size);
        }
        finish_if_closing();
    }
    void wait(duration length) {
        now += length;
        fsm.on_time(now);
        finish_if_closing();
    }
    void close() {
        fsm.close(detail::resp::close_reason::stopped);
        finish_if_closing();
    }
    void finish_if_closing() {
        if (fsm.current() == fsm_type::state::closing) {
            fsm.finish();
        }
    }
    /// What happened since it was asked for last.
    happened take() { return std::exchange(log, {}); }

private:
    void on_connected() override { log.push_back("connected"); }
    void on_push(detail::resp::message const& push) override {
        log.push_back("push " + std::string{push.text(1)} + " " + std::string{push.text(2)});
        if (at_push) {
            std::exchange(at_push, {})();
        }
    }
    void on_push_flood() override { log.push_back("flood"); }
    void on_down(detail::resp::close_reason why, error_code) override {
        log.push_back("down: " + std::string{detail::resp::describe(why)});
    }
};

}  // namespace holdfast::test

/// Compares what happened since the last check.
#define CHECK_HAPPENED(on, ...)                                                     \
    do {                                                                            \
        ::holdfast::test::happened const expected_here{__VA_ARGS__};                \
        BOOST_TEST((on).take() == expected_here, boost::test_tools::per_element()); \
    } while (false)

#endif
