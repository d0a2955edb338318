// Names that are tried. The rest is tested with real servers.

#include "cli/doctor_probes.hpp"

#include "protocol/reply.hpp"
#include "protocol/slot.hpp"

#include <boost/test/unit_test.hpp>

#include <memory>
#include <string>

using namespace holdfast::cli;
using holdfast::config;
using holdfast::detail::script_reply;
using holdfast::detail::slot_map;
using holdfast::detail::slot_of;

namespace {

primary with_prefix(std::string prefix, std::uint32_t number = 0) {
    config settings;
    settings.key_prefix = std::move(prefix);
    return {
        .settings = std::make_shared<config const>(std::move(settings)),
        .address = "a",
        .number = number,
    };
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_name_for_tries_is_nobodys) {
    primaries const all;
    auto const one = with_prefix("app:");
    auto const name = name_for_tries(all, one);
    BOOST_TEST(name.starts_with("holdfast-doctor-"));
    BOOST_TEST(name != name_for_tries(all, one));
}

BOOST_AUTO_TEST_CASE(on_a_cluster_the_server_has_its_slot) {
    primaries all;
    all.slots = std::make_shared<slot_map>();
    auto const number = all.slots->number_of({"10.0.0.1", 7000});
    script_reply const said{"0 0 8191 10.0.0.1 7000 8192 16383 10.0.0.2 7000"};
    BOOST_REQUIRE(all.slots->on_answer(number, said, [](auto) { return false; }));
    for (std::uint32_t wanted : {0U, 1U}) {
        auto const name = name_for_tries(all, with_prefix("app:", wanted));
        BOOST_TEST(all.slots->server_of(slot_of("app:" + name)).value() == wanted);
    }
    // All names with this prefix have one slot.
    BOOST_TEST(!name_for_tries(all, with_prefix("{app}", 0)).empty());
    BOOST_TEST(!name_for_tries(all, with_prefix("{app}", 1)).empty());
}
