// What a Sentinel's replies mean, and a Sentinel that cannot be reached. What real ones say is
// tested with them.

#include "redis/sentinel_query.hpp"

#include "unit/redis/nowhere.hpp"

#include <boost/test/unit_test.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

using holdfast::config;
using holdfast::errc;
using holdfast::detail::raw_reply;
using holdfast::detail::sentinel_answer;
using holdfast::detail::sentinel_query;
using holdfast::test::nowhere;

namespace {

raw_reply map(std::initializer_list<std::string> words) {
    raw_reply made;
    for (auto const& word : words) {
        made.values.emplace_back(word);
    }
    return made;
}

raw_reply error(std::string text) {
    raw_reply made;
    made.is_error = true;
    made.error = std::move(text);
    return made;
}

raw_reply const hello = map({"server", "redis", "version", "7.0.15", "mode", "sentinel"});
raw_reply const address = map({"10.0.0.7", "7001"});
// Of one that leads a failover, which has not changed the address here yet.
raw_reply const primary = map(
    {"name",
     "port",
     "ip",
     "10.0.0.6",
     "port",
     "7000",
     "runid",
     "",
     "flags",
     "master",
     "config-epoch",
     "5",
     "num-slaves",
     "2"}
);

sentinel_answer judged(std::vector<raw_reply> const& replies) {
    return sentinel_query::judge(replies).answer;
}

holdfast::detail::sentinel_place place(nowhere& at) {
    return {
        at.strand,
        at.settings,
        std::make_shared<holdfast::detail::tls_trust>(at.settings->tls)
    };
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sentinel_query_test)

BOOST_AUTO_TEST_CASE(address_and_config_epoch_are_read) {
    auto const answer = judged({hello, address, primary});
    BOOST_TEST(answer.names_one());
    BOOST_TEST(answer.host == "10.0.0.7");
    BOOST_TEST(answer.port == 7001);
    BOOST_TEST(answer.config_epoch == 5U);
    auto const six = judged({hello, map({"::1", "1"}), map({"ip", "::1"})});
    BOOST_TEST(six.host == "::1");
    BOOST_TEST(six.config_epoch == 0U);
}

BOOST_AUTO_TEST_CASE(an_answer_that_names_no_server_is_none) {
    for (auto const& odd :
         {map({}), map({"a"}), map({"", "1"}), map({"a", "0"}), map({"a", "x"}), map({"a", "65536"})
         }) {
        auto const answer = judged({hello, odd, primary});
        BOOST_TEST((answer.cause == errc::unsupported_server));
        BOOST_TEST(!answer.permanent);
    }
    auto const answer = judged({hello, address, map({"config-epoch", "-1"})});
    BOOST_TEST((answer.cause == errc::unsupported_server));
}

BOOST_AUTO_TEST_CASE(what_a_sentinel_refuses_has_a_cause) {
    struct {
        std::vector<raw_reply> replies;
        errc cause;
        bool permanent;
    } const table[] = {
        {{}, errc::unreachable, false},
        {{hello}, errc::unreachable, false},
        {{hello, address}, errc::unreachable, false},
        {{map({"server", "redis"}), address, primary}, errc::unreachable, false},
        {{hello, map({""}), error("ERR No such master with that name")}, errc::unknown_primary, true
        },
        {{hello, error("NOPERM no permissions"), primary}, errc::no_permission, true},
        {{hello, address, error("NOPERM no permissions")}, errc::no_permission, true},
        {{error("WRONGPASS invalid username-password pair or user is disabled.")},
         errc::auth_failed,
         true},
        {{error("NOAUTH HELLO must be called with the client already authenticated")},
         errc::auth_failed,
         true},
        {{error("ERR unknown command 'HELLO'")}, errc::unsupported_server, true},
        {{map({"server", "redis", "mode", "standalone"}), error("ERR unknown command")},
         errc::unsupported_server,
         true},
        {{hello, address, error("BUSY")}, errc::server_refused, false},
    };
    for (auto const& row : table) {
        auto const said = sentinel_query::judge(row.replies);
        BOOST_TEST((said.answer.cause == row.cause), said.remark);
        BOOST_TEST(said.answer.permanent == row.permanent, said.remark);
        BOOST_TEST(!said.remark.empty());
    }
}

BOOST_AUTO_TEST_CASE(one_that_is_not_there_is_told_once_and_not_inside_the_call) {
    nowhere at;
    std::vector<sentinel_answer> told;
    std::string why;
    std::weak_ptr<sentinel_query> left;
    {
        auto const one = std::make_shared<sentinel_query>(
            place(at),
            "mymaster",
            [&](sentinel_answer const& what, std::string const& remark) {
                told.push_back(what);
                why = remark;
            }
        );
        left = one;
        one->start();
        BOOST_TEST(told.empty());
    }
    BOOST_TEST(at.ends());
    BOOST_REQUIRE(told.size() == 1U);
    BOOST_TEST((told[0].cause == errc::unreachable));
    BOOST_TEST(!told[0].permanent);
    BOOST_TEST(why.starts_with("cannot be asked: "));
    BOOST_TEST(left.expired());
}

BOOST_AUTO_TEST_CASE(files_that_cannot_be_used_are_a_refusal_for_good) {
    nowhere at{"/nowhere/ca.crt"};
    std::vector<sentinel_answer> told;
    std::make_shared<sentinel_query>(
        place(at),
        "mymaster",
        [&](sentinel_answer const& what, std::string const&) { told.push_back(what); }
    )->start();
    BOOST_TEST(at.ends());
    BOOST_REQUIRE(told.size() == 1U);
    BOOST_TEST((told[0].cause == errc::tls_failed));
    BOOST_TEST(told[0].permanent);
}

BOOST_AUTO_TEST_CASE(one_that_is_cancelled_tells_nothing) {
    nowhere at;
    bool told = false;
    auto const one = std::make_shared<sentinel_query>(
        place(at),
        "mymaster",
        [&](sentinel_answer const&, std::string const&) { told = true; }
    );
    one->start();
    one->cancel();
    BOOST_TEST(at.ends());
    BOOST_TEST(!told);
}

BOOST_AUTO_TEST_SUITE_END()
