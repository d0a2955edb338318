#include "support/foreign/protocol.hpp"

#include <boost/uuid/random_generator.hpp>
#include <boost/uuid/uuid_io.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <ostream>
#include <random>
#include <stdexcept>
#include <string_view>

namespace holdfast::test {

namespace {

using std::chrono::milliseconds;
using steady_clock = std::chrono::steady_clock;

std::string random_uuid() {
    return boost::uuids::to_string(boost::uuids::random_generator{}());
}

std::uint64_t random_number() {
    std::random_device device;
    return std::uniform_int_distribution<std::uint64_t>{}(device);
}

redis_value const& checked(redis_value const& reply) {
    if (reply.is_error()) {
        throw std::runtime_error{"a foreign client was refused: " + reply.text};
    }
    return reply;
}

std::optional<milliseconds> end_of_lease(std::int64_t pttl) {
    if (pttl < 0) {
        return std::nullopt;
    }
    return milliseconds{pttl};
}

std::string text(milliseconds duration) {
    return std::to_string(duration.count());
}

class redisson_protocol final : public foreign_protocol {
public:
    explicit redisson_protocol(bool fenced) : fenced_{fenced} {}

    std::string holder(std::int64_t thread) override {
        return fmt::format("{}:{}", client_id_, thread);
    }

    foreign_call acquire(foreign_keys const& on, std::string const& holder, millis lease) override {
        if (fenced_) {
            return {
                &foreign_scripts::redisson_fenced_acquire(),
                {"2", on.lock, on.counter, text(lease), holder}
            };
        }
        return {&foreign_scripts::redisson_acquire(), {"1", on.lock, text(lease), holder}};
    }

    foreign_answer read_acquire(redis_value const& reply) override {
        if (fenced_) {
            auto const& pair = checked(reply).as_array();
            auto const token = pair.at(1).as_integer();
            if (token > 0) {
                return {.granted = true, .token = static_cast<std::uint64_t>(token)};
            }
            return {.remaining = end_of_lease(pair.at(0).as_integer())};
        }
        if (checked(reply).is_nil()) {
            return {.granted = true};
        }
        return {.remaining = end_of_lease(reply.as_integer())};
    }

    foreign_call renew(foreign_keys const& on, std::string const& holder, millis lease) override {
        return {&foreign_scripts::redisson_renew(), {"1", on.lock, text(lease), holder}};
    }

    bool read_renew(redis_value const& reply) override {
        return checked(reply).as_array().at(0).as_integer() == 1;
    }

    foreign_call release(foreign_keys const& on, std::string const& holder, millis lease) override {
        bool const tagged = on.lock.find('{') != std::string::npos;
        auto const latch = fmt::format(
            "redisson_unlock_latch:{}{}{}:{:016x}{:016x}",
            tagged ? "" : "{",
            on.lock,
            tagged ? "" : "}",
            client_number_,
            ++releases_
        );
        return {
            &foreign_scripts::redisson_release(),
            {"3", on.lock, on.channel, latch, "0", text(lease), holder, "PUBLISH", "20000"}
        };
    }

    foreign_release read_release(redis_value const& reply) override {
        if (checked(reply).is_nil()) {
            return foreign_release::not_held;
        }
        return reply.as_integer() == 1 ? foreign_release::freed : foreign_release::still_held;
    }

    std::vector<std::string> after(foreign_call const& release) override {
        return {"DEL", release.words.at(3)};
    }

private:
    bool fenced_;
    std::string client_id_ = random_uuid();
    std::uint64_t client_number_ = random_number();
    std::uint64_t releases_ = 0;
};

// The greatest token below which a counter may be out of date: the server then looks at its clock.
class first_version_floor {
public:
    void on_granted(std::uint64_t token) {
        auto const now = steady_clock::now();
        if (first_ == 0) {
            first_ = token;
        } else if (token <= server_time(now)) {
            return;
        }
        newest_ = token;
        at_ = now;
    }

    [[nodiscard]] std::uint64_t value() const {
        constexpr std::uint64_t greatest = (std::uint64_t{1} << 53U) - 1;
        constexpr std::uint64_t a_moment = 100'000;  // in microseconds, as tokens
        if (first_ == 0) {
            return greatest;
        }
        return std::max(server_time(steady_clock::now()) - a_moment, first_);
    }

private:
    [[nodiscard]] std::uint64_t server_time(steady_clock::time_point now) const {
        auto const passed = std::chrono::duration_cast<std::chrono::microseconds>(now - at_);
        return newest_ + static_cast<std::uint64_t>(passed.count());
    }

    std::uint64_t first_ = 0;
    std::uint64_t newest_ = 0;
    steady_clock::time_point at_;
};

class first_version_protocol final : public foreign_protocol {
public:
    // One id for each acquisition.
    std::string holder(std::int64_t) override {
        return fmt::format("{}:{}", client_id_, next_number_++);
    }

    foreign_call acquire(foreign_keys const& on, std::string const& holder, millis lease) override {
        constexpr std::string_view counter_ttl = "2592000000";  // 30 days
        return {
            &foreign_scripts::first_version_acquire(),
            {"2",
             on.lock,
             on.counter,
             text(lease),
             holder,
             std::string{counter_ttl},
             std::to_string(floor_.value()),
             nonce()}
        };
    }

    foreign_answer read_acquire(redis_value const& reply) override {
        auto const words = numbers_in(reply);
        if (words.at(0) == 1) {
            auto const token = static_cast<std::uint64_t>(words.at(1));
            floor_.on_granted(token);
            return {.granted = true, .token = token};
        }
        if (words.at(0) == 2) {
            throw std::runtime_error{"a foreign client found no lock under its key"};
        }
        return {.remaining = end_of_lease(words.at(1))};
    }

    foreign_call renew(foreign_keys const& on, std::string const& holder, millis lease) override {
        return {
            &foreign_scripts::first_version_renew(),
            {"1", on.lock, text(lease), holder, nonce()}
        };
    }

    bool read_renew(redis_value const& reply) override { return numbers_in(reply).at(0) == 1; }

    foreign_call release(foreign_keys const& on, std::string const& holder, millis) override {
        return {
            &foreign_scripts::first_version_release(),
            {"2", on.lock, on.channel, holder, nonce()}
        };
    }

    foreign_release read_release(redis_value const& reply) override {
        return numbers_in(reply).at(0) == 1 ? foreign_release::freed : foreign_release::not_held;
    }

    std::vector<std::string> after(foreign_call const&) override { return {}; }

private:
    std::string nonce() { return fmt::format("{:x}", next_number_++); }

    // What follows the nonce.
    static std::vector<std::int64_t> numbers_in(redis_value const& reply) {
        auto const& line = checked(reply).as_string();
        auto const* const end = line.data() + line.size();
        std::vector<std::int64_t> numbers;
        for (auto const* at = std::find(line.data(), end, ' '); at != end;) {
            std::int64_t number = 0;
            at = std::from_chars(at + 1, end, number).ptr;
            numbers.push_back(number);
            at = std::find(at, end, ' ');
        }
        return numbers;
    }

    std::string client_id_ = random_uuid();
    std::uint64_t next_number_ = random_number();
    first_version_floor floor_;
};

}  // namespace

std::ostream& operator<<(std::ostream& out, dialect speaks) {
    switch (speaks) {
        case dialect::redisson: return out << "redisson";
        case dialect::redisson_fenced: return out << "redisson_fenced";
        case dialect::first_version: break;
    }
    return out << "first_version";
}

foreign_keys::foreign_keys(std::string name) : lock{std::move(name)} {
    bool const tagged = lock.find('{') != std::string::npos;
    auto const with = [&](std::string_view kind) {
        return fmt::format("{}:{}{}{}", kind, tagged ? "" : "{", lock, tagged ? "" : "}");
    };
    counter = with("redisson_lock_token");
    channel = with("redisson_lock__channel");
}

std::unique_ptr<foreign_protocol> speak(dialect chosen) {
    switch (chosen) {
        case dialect::redisson: return std::make_unique<redisson_protocol>(false);
        case dialect::redisson_fenced: return std::make_unique<redisson_protocol>(true);
        case dialect::first_version: break;
    }
    return std::make_unique<first_version_protocol>();
}

}  // namespace holdfast::test
