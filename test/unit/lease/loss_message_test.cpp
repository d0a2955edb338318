// What the log says of a lost lease: which lock, and why, in words.

#include "lease/loss_message.hpp"

#include "protocol/lock.hpp"

#include <boost/test/unit_test.hpp>

#include <set>
#include <string>

using holdfast::loss_reason;
using holdfast::detail::loss_message;
using holdfast::detail::make_lock_target;

BOOST_AUTO_TEST_SUITE(loss_message_test)

BOOST_AUTO_TEST_CASE(it_names_the_lock_and_the_reason) {
    BOOST_TEST(
        loss_message(make_lock_target("", "a"), loss_reason::taken) ==
        "the lease of \"a\" is lost: another holder has it"
    );
}

BOOST_AUTO_TEST_CASE(a_name_cannot_forge_a_line) {
    auto const message = loss_message(make_lock_target("", "a\nb"), loss_reason::expired);
    BOOST_TEST(message.find('\n') == message.npos);
    BOOST_TEST(message.ends_with(" is lost: it expired"));
}

BOOST_AUTO_TEST_CASE(each_reason_has_words_of_its_own) {
    std::set<std::string> different;
    for (auto const reason :
         {loss_reason::expired,
          loss_reason::taken,
          loss_reason::deleted,
          loss_reason::unreachable,
          loss_reason::max_hold,
          loss_reason::client_stopped,
          loss_reason::max_renewals,
          loss_reason::failed_over}) {
        different.insert(loss_message(make_lock_target("", "a"), reason));
    }
    BOOST_TEST(different.size() == 8U);
}

BOOST_AUTO_TEST_SUITE_END()
