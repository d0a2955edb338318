// A script touches no key that it was not told of. Servers that keep to that (Dragonfly,
// ElastiCache Serverless, some proxies) run them, with one exception.

#include "unit/protocol/all_calls.hpp"
#include "unit/protocol/on_model.hpp"

#include <boost/test/unit_test.hpp>

#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace std::chrono_literals;
using holdfast::detail::call;
using holdfast::detail::holder_id;
using holdfast::test::calls_about;
using holdfast::test::kinds;
using holdfast::test::on_model;

namespace {

// Behind it, `redis` writes down which keys are touched that are not in KEYS.
constexpr std::string_view watch = R"(
local redis = (function(real)
    local declared, no_keys, many = {}, { TIME = 1, PUBLISH = 1, PUBSUB = 1 }, { DEL = 1, EXISTS = 1 }
    for _, key in ipairs(KEYS) do
        declared[key] = true
    end
    local function check(command, ...)
        local all = { ... }
        for i = 1, no_keys[command] and 0 or many[command] and #all or 1 do
            if not declared[all[i]] then
                real.call('HSET', 'undeclared', command .. ' ' .. all[i], '')
            end
        end
    end
    return {
        call = function(...) check(...) return real.call(...) end,
        pcall = function(...) check(...) return real.pcall(...) end,
    }
end)(redis)
)";

struct world : on_model {
    world() : on_model{"news"} {}

    std::string run_watched(call const& what) {
        auto const text = std::string{watch} + std::string{what.what().text};
        auto const keys = std::to_string(what.keys());
        std::vector<std::string_view> words{"EVAL", text, keys};
        for (std::size_t i = 0; i < what.size(); ++i) {
            words.push_back(what.word(i));
        }
        words.emplace_back("nonce");
        return server.execute(session, words).value().text;
    }
    std::vector<std::string> undeclared() {
        std::vector<std::string> all;
        for (auto const& one : ask({"HKEYS", "undeclared"}).elements) {
            all.push_back(one.text);
        }
        return all;
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(declared_keys_test)

BOOST_AUTO_TEST_CASE(scripts_touch_the_keys_that_they_are_told_of) {
    std::vector<holder_id> const holders{
        holder_id{"0f4b1c5e-7a3d-4e8b-9c21-d5a6f7e80123", 84},
        holder_id{"1f4b1c5e-7a3d-4e8b-9c21-d5a6f7e80123", 85},
        holder_id{"2f4b1c5e-7a3d-4e8b-9c21-d5a6f7e80123", 86},
    };
    std::mt19937 random{1};
    for (auto const& kind : kinds) {
        world all;
        auto const on = kind("", "a");
        // Clients that wait are there: the lock is handed over to them.
        for (auto const& holder : holders) {
            auto const client = holder.view().substr(0, holder_id::client_id_length);
            auto const session = all.server.connect([](auto const&) {});
            all.server.execute(session, {"SUBSCRIBE", "holdfast_client:" + std::string{client}});
        }
        std::vector<call> calls;
        for (auto const& holder : holders) {
            for (auto& each : calls_about(on, holder)) {
                calls.push_back(std::move(each));
            }
        }
        bool granted = false;
        for (int i = 0; i < 2'000; ++i) {
            auto const which =
                std::uniform_int_distribution<std::size_t>{0, calls.size() - 1}(random);
            granted = all.run_watched(calls[which]).starts_with("nonce 1 ") || granted;
            all.later(std::chrono::milliseconds{random() % 2'000});
        }
        BOOST_TEST(granted);
        for (auto const& each : all.undeclared()) {
            // The holds of other readers: only the script knows who they are. Redisson does the
            // same.
            BOOST_TEST(
                (each.starts_with("PTTL {a}:") && each.ends_with(":rwlock_timeout:1")),
                each
            );
        }
    }
}

BOOST_AUTO_TEST_CASE(a_key_that_was_not_declared_is_seen) {
    static constexpr holdfast::detail::script wrong{
        "wrong",
        "redis.call('GET', 'b') return 'x'",
        ""
    };
    world all;
    all.run_watched(call{wrong, 3s}.key("a"));
    BOOST_TEST(
        all.undeclared() == std::vector<std::string>{"GET b"},
        boost::test_tools::per_element()
    );
}

BOOST_AUTO_TEST_SUITE_END()
