// Which names a lock may have, what is said of the others, and that no two that it may have share a
// key or a channel.

#include "protocol/names.hpp"

#include "protocol/counted.hpp"
#include "protocol/election.hpp"
#include "protocol/hand_over_message.hpp"
#include "protocol/lock.hpp"
#include "protocol/semaphore.hpp"
#include "protocol/server.hpp"
#include "unit/protocol/all_calls.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace holdfast::detail;
using namespace std::chrono_literals;
using namespace std::string_literals;
using holdfast::config;
using holdfast::test::calls_about;
using holdfast::test::kinds;

namespace {

holder_id const id{"0f4b1c5e-7a3d-4e8b-9c21-d5a6f7e80123", 84};

config with_prefix(std::string_view prefix) {
    config settings;
    settings.key_prefix = prefix;
    return settings;
}

config of_cluster(std::string_view prefix = {}) {
    auto settings = with_prefix(prefix);
    settings.cluster_nodes = {{"127.0.0.1", 7000}};
    return settings;
}

using words = std::vector<std::string>;

// All keys and channels of one kind, besides the key of the name itself.
words derived_of(target const& on) {
    words all;
    for (auto const& each : calls_about(on, id)) {
        for (std::size_t i = 0; i < each.keys(); ++i) {
            all.emplace_back(each.word(i));
        }
    }
    if (on.kind == target_kind::lock) {
        all.push_back(channel_of_client("client", on));
        all.emplace_back(on.waiters());
    }
    all.emplace_back(on.channel());
    if (on.speaks && on.speaks->queues_each()) {
        all.push_back(on.speaks->channel_of_waiter(on, id));
    }
    std::erase(all, on.lock);
    return all;
}

// Which lock each key and channel belongs to, of any kind. Two cannot be told apart.
class owners {
public:
    /// The keys that belong to no lock, of a client with this prefix.
    void add_server(std::string const& prefix) {
        for (auto const& key : {server_key(prefix), server_key(prefix, 1)}) {
            claim(key, "the server");
        }
    }
    void add(std::string_view prefix, std::string const& name) {
        if (!fault_of_name(with_prefix(prefix), name).empty()) {
            return;
        }
        auto const full = std::string{prefix} + name;
        claim(full, full);
        for (auto const& kind : kinds) {
            for (auto const& key : derived_of(kind(prefix, name))) {
                claim(key, full);
            }
        }
        ++count_;
    }
    [[nodiscard]] int count() const noexcept { return count_; }

private:
    void claim(std::string const& key, std::string const& full) {
        auto const& owner = owner_of_.try_emplace(key, full).first->second;
        BOOST_TEST(owner == full, key << " is a key of " << owner << " and of " << full);
    }

    std::map<std::string, std::string> owner_of_;
    int count_ = 0;
};

// Up to so many of the pieces.
std::string random_name(std::mt19937& random, std::vector<std::string> const& of, int longest) {
    std::string name;
    for (auto left = std::uniform_int_distribution{1, longest}(random); left > 0; --left) {
        name += of[std::uniform_int_distribution<std::size_t>{0, of.size() - 1}(random)];
    }
    return name;
}

void check_random_names(std::vector<std::string> const& pieces, int longest, int tries) {
    std::mt19937 random{4'711};
    owners all;
    for (int i = 0; i < tries; ++i) {
        for (std::string_view const prefix : {"", "app:", "{t}"}) {
            all.add(prefix, random_name(random, pieces, longest));
            all.add_server(std::string{prefix} + random_name(random, pieces, 2));
        }
    }
    BOOST_TEST(all.count() > tries);
}

bool is_listed(std::string_view key) {
    return std::ranges::any_of(beginning::all, [key](auto one) { return key.starts_with(one); }) ||
           key.ends_with(ending::permits) || key.ends_with(ending::limit) ||
           key.ends_with(std::string{ending::reader} + "1");
}

bool says(std::string const& text, std::string_view what) {
    return text.find(what) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(names_test)

BOOST_AUTO_TEST_CASE(a_usual_name_has_no_fault) {
    for (std::string const name :
         {"a",
          "stock:7:apple",
          "{tag}:a",
          "a{b}",
          "{a}{b}",
          "a}",
          "a}b",
          "{a",
          "foo:timeout",
          "redisson_lock_token",
          "a:redisson_lock_token:x",
          "a:rwlock_timeout:1",
          "{a}:timeout:x",
          "{a}:rwlock_timeout:",
          "{a}:rwlock_timeout:x",
          "{a}:42",
          "{a}:0f4b1c5e-7a3d-4e8b-9c21-d5a6f7e80123",
          "0f4b1c5e-7a3d-4e8b-9c21-d5a6f7e80123:42",
          "holdfast_servers",
          "holdfast_server:",
          "holdfast_server:x",
          "holdfast_server:12",
          "holdfast_server:{x}",
          "x:holdfast_server1"}) {
        BOOST_TEST(fault_of_name({}, name) == "");
        BOOST_TEST(allowed_by({}, make_lock_target({}, name)).valid(), name);
    }
}

BOOST_AUTO_TEST_CASE(a_name_in_braces_has_the_keys_of_the_name_without_them) {
    for (std::string const name : {"{a}", "{}", "{a}b}", "{}}", "{stock:7}"}) {
        auto const fault = fault_of_name({}, name);
        auto const inner = name.substr(1, name.size() - 2);
        BOOST_TEST(says(fault, "\"" + name + "\" has the same"), fault);
        BOOST_TEST(says(fault, "as \"" + inner + "\": leave out the outer braces"), fault);
        for (auto const& kind : kinds) {
            BOOST_TEST(!allowed_by({}, kind({}, name)).valid(), name);
        }
        BOOST_TEST(!make_election_keys({}, name).lock->valid(), name);
    }
}

BOOST_AUTO_TEST_CASE(a_name_that_looks_like_a_key_of_another_lock_is_none) {
    for (auto const begins : beginning::all) {
        auto const name = std::string{begins} + "{a}";
        auto const fault = fault_of_name({}, name);
        BOOST_TEST(says(fault, "(\"" + std::string{begins} + "\"): write something else before"));
        BOOST_TEST(!allowed_by({}, make_lock_target({}, name)).valid(), name);
    }
    auto const holder = ":" + std::string{id.view()};
    for (auto const& ends :
         {":timeout"s, ":holdfast_limit"s, ":rwlock_timeout:1"s, ":rwlock_timeout:42"s, holder}) {
        for (auto const& name : {"{a}" + ends, "{" + ends, "a{b}c" + ends}) {
            BOOST_TEST(says(fault_of_name({}, name), "write something behind it"), name);
            BOOST_TEST(!allowed_by({}, make_semaphore_target({}, name)).valid(), name);
        }
    }
}

BOOST_AUTO_TEST_CASE(the_key_of_the_server_is_no_name_behind_the_prefix) {
    for (std::string const prefix : {"", "app:", "{t}"}) {
        auto const settings = with_prefix(prefix);
        for (auto const& key : {server_key(prefix), server_key(prefix, 7)}) {
            auto const name = key.substr(prefix.size());
            BOOST_TEST(says(fault_of_name(settings, name), "choose another name"), key);
            BOOST_TEST(!allowed_by(settings, make_lock_target(prefix, name)).valid(), key);
        }
    }
    // Another client's prefix is not known.
    for (std::string const name :
         {"app:holdfast_server", "app:holdfast_server:{12}", "{t}holdfast_server"}) {
        BOOST_TEST(says(fault_of_name({}, name), "choose another name"), name);
        BOOST_TEST(says(fault_of_name(with_prefix("b:"), name), "choose another name"), name);
    }
    BOOST_TEST(fault_of_name(with_prefix("app:"), "x") == "");
}

BOOST_AUTO_TEST_CASE(the_prefix_is_a_part_of_the_name) {
    BOOST_TEST(fault_of_name(with_prefix("app:"), "{a}") == "");
    BOOST_TEST(fault_of_name(with_prefix("app:"), "holdfast_queue:{a}") == "");
    BOOST_TEST(says(fault_of_name(with_prefix("{t}"), "a}"), "\"{t}a}\" has the same"));
    BOOST_TEST(says(fault_of_name(with_prefix("{t"), "}"), "as \"t\""));
    BOOST_TEST(says(fault_of_name(with_prefix("{t}"), ":timeout"), "\"{t}:timeout\" contains"));
    BOOST_TEST(says(fault_of_name(with_prefix("holdfast_queue:"), "a"), "begins as a key"));
    BOOST_TEST(!allowed_by(with_prefix("{t}"), make_lock_target("{t}", "a}")).valid());
    BOOST_TEST(allowed_by(with_prefix("{t}"), make_lock_target("{t}", "a")).valid());
}

BOOST_AUTO_TEST_CASE(an_empty_name_and_one_that_is_too_long_are_named) {
    BOOST_TEST(says(fault_of_name(with_prefix("app:"), ""), "empty"));
    BOOST_TEST(fault_of_name(with_prefix("app:"), std::string(508, 'n')) == "");
    auto const fault = fault_of_name(with_prefix("app:"), std::string(509, 'n'));
    BOOST_TEST(says(fault, "at most 512 bytes"), fault);
    BOOST_TEST(says(fault, "513"), fault);
    BOOST_TEST(!allowed_by({}, make_lock_target({}, "")).valid());
    // It may stand in a log.
    BOOST_TEST(says(fault_of_name({}, "{\r\n}"), "\"{\\x0d\\x0a}\""));
}

BOOST_AUTO_TEST_CASE(the_keys_of_a_usual_name_share_a_slot) {
    for (std::string const name : {"a", "stock:7:apple", "order:{42}:line", "{tag}", "a{b}{c}"}) {
        auto const settings = of_cluster("app:");
        BOOST_TEST(fault_of_name(settings, name) == "");
        for (auto const& kind : kinds) {
            auto const made = allowed_by(settings, kind("app:", name));
            BOOST_REQUIRE(made.valid());
            for (auto const& key : derived_of(made)) {
                // A latch's channel for a cluster is made otherwise.
                bool const outside = made.kind == target_kind::latch && key == made.channel();
                BOOST_TEST((outside || slot_of(key) == made.slot), key);
            }
        }
        auto const latch = make_latch_target("app:", name, true);
        BOOST_TEST(slot_of(latch.channel()) == latch.slot);
    }
}

// Fault 112.
BOOST_AUTO_TEST_CASE(a_name_with_broken_tags_is_not_valid_on_a_cluster) {
    for (std::string const name : {"foo{", "{}foo", "}{", "a}b", "{a", "a}"}) {
        BOOST_TEST(says(fault_of_name(of_cluster(), name), "different slots"), name);
        for (auto const& kind : kinds) {
            BOOST_TEST(!allowed_by(of_cluster(), kind({}, name)).valid(), name);
            BOOST_TEST(allowed_by({}, kind({}, name)).valid(), name);
        }
    }
}

// Otherwise a name could be such a key.
BOOST_AUTO_TEST_CASE(every_key_of_every_kind_begins_or_ends_as_one_of_the_list) {
    for (std::string const name : {"a", "a{b}c"}) {
        for (auto const& kind : kinds) {
            auto const on = kind("app:", name);
            auto const keys = derived_of(on);
            BOOST_TEST(!keys.empty());
            for (auto const& key : keys) {
                BOOST_TEST(is_listed(key), key);
                BOOST_TEST(says(key, tag_of(on.lock)), key);
            }
        }
    }
}

#ifdef HOLDFAST_TEST_SANITIZER
constexpr int random_names = 300;
#else
constexpr int random_names = 3'000;
#endif

BOOST_AUTO_TEST_CASE(no_two_random_names_share_a_key) {
    check_random_names({"{", "}", ":", "a", "b"}, 6, random_names);
}

// Names made of what derived keys are made of.
BOOST_AUTO_TEST_CASE(no_two_names_that_look_like_keys_share_one) {
    check_random_names(
        {"{",
         "}",
         "a",
         ":",
         "{a}",
         ":timeout",
         ":rwlock_timeout:1",
         "redisson_lock_token:",
         "redisson_sc:",
         "redisson_countdownlatch__channel__",
         "holdfast_queue:",
         "holdfast_done:",
         "holdfast_server",
         ":1",
         std::string{id.view()}},
        4,
        random_names
    );
}

BOOST_AUTO_TEST_SUITE_END()
