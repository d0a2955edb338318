// The scripts as they are built in: whole, and known under the hash that the server computes.

#include "protocol/scripts.hpp"

#include <boost/test/unit_test.hpp>

#include <openssl/evp.h>

#include <array>
#include <cstddef>
#include <string>

using holdfast::detail::script;
namespace scripts = holdfast::detail::scripts;

namespace {

std::string sha1_of(std::string_view text) {
    std::array<unsigned char, 20> digest{};
    std::size_t size = 0;
    EVP_Q_digest(nullptr, "SHA1", nullptr, text.data(), text.size(), digest.data(), &size);
    std::string hex;
    for (auto const byte : digest) {
        constexpr std::string_view digits = "0123456789abcdef";
        hex += digits[byte / 16];
        hex += digits[byte % 16];
    }
    return hex;
}

script const* const all[] = {
#define HOLDFAST_SCRIPT(symbol, name, sha1, text, ...) &scripts::symbol,
#include "protocol/scripts.inc"
#undef HOLDFAST_SCRIPT
};

}  // namespace

BOOST_AUTO_TEST_SUITE(scripts_test)

BOOST_AUTO_TEST_CASE(each_script_has_the_hash_of_its_text) {
    for (auto const* one : all) {
        BOOST_TEST(one->sha1 == sha1_of(one->text), one->name);
    }
}

BOOST_AUTO_TEST_CASE(what_a_script_includes_is_in_it) {
    for (auto const* one : all) {
        BOOST_TEST(one->text.find("#include") == std::string_view::npos, one->name);
    }
    BOOST_TEST(
        (scripts::lock_acquire.text.find("local function is_holder") != std::string_view::npos)
    );
}

BOOST_AUTO_TEST_CASE(a_script_is_named_after_its_folder_and_file) {
    BOOST_TEST(scripts::lock_acquire.name == "lock.acquire");
    BOOST_TEST(scripts::lock_force_release.name == "lock.force_release");
}

BOOST_AUTO_TEST_CASE(what_a_script_publishes_or_counts_it_does_on_sharded_channels_on_a_cluster) {
    using holdfast::detail::script_dialect;
    for (auto const* one : all) {
        for (auto const dialect : {script_dialect::cluster, script_dialect::sharded}) {
            auto const form = one->in(dialect);
            BOOST_TEST(form.sha1 == sha1_of(form.text), one->name);
            // A client has a channel in each lock's slot.
            BOOST_TEST(form.text.find("'holdfast_client:'") == std::string_view::npos, one->name);
        }
        auto const sharded = one->in(script_dialect::sharded).text;
        BOOST_TEST(sharded.find("'PUBLISH'") == std::string_view::npos, one->name);
        BOOST_TEST(sharded.find("'NUMSUB'") == std::string_view::npos, one->name);
        BOOST_TEST(one->in(script_dialect::single).text == one->text, one->name);
    }
    auto const& release = scripts::lock_release;
    BOOST_TEST((release.sharded.text.find("'SPUBLISH'") != std::string_view::npos));
    BOOST_TEST((release.sharded.text.find("'SHARDNUMSUB'") != std::string_view::npos));
    BOOST_TEST((release.cluster.text.find("'PUBLISH'") != std::string_view::npos));
    BOOST_TEST((release.cluster.text.find("holdfast_client") != std::string_view::npos));
    // What neither publishes nor counts is the same everywhere.
    BOOST_TEST(
        scripts::lock_inspect.in(script_dialect::cluster).sha1 == scripts::lock_inspect.sha1
    );
}

BOOST_AUTO_TEST_SUITE_END()
