// The fencing recipe of the documentation, on the table of examples/fencing.cpp.

#include "../../examples/stock_table.hpp"

#include <boost/test/unit_test.hpp>

namespace {

// The first holder is paused between its read and its write, the second one comes in between.
template <class Purchase>
struct two_holders {
    stock_table stock{1};
    Purchase paused{stock, holdfast::fencing_token{1}};
    Purchase successor{stock, holdfast::fencing_token{2}};
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_token_that_only_the_writes_show_lets_one_item_be_sold_twice) {
    two_holders<careless_purchase> sale;
    BOOST_TEST(sale.paused.read());
    BOOST_TEST(sale.successor.read());
    BOOST_TEST(sale.paused.write());
    BOOST_TEST(sale.successor.write());
}

BOOST_AUTO_TEST_CASE(a_token_that_is_claimed_before_the_read_lets_it_be_sold_once) {
    two_holders<purchase> sale;
    BOOST_TEST(sale.paused.read());
    BOOST_TEST(sale.successor.read());
    BOOST_TEST(!sale.paused.write());
    BOOST_TEST(sale.successor.write());
    BOOST_TEST(sale.stock.items() == 0);
}

BOOST_AUTO_TEST_CASE(a_former_holder_cannot_begin_after_its_successor) {
    two_holders<purchase> sale;
    BOOST_TEST(sale.successor.read());
    BOOST_TEST(!sale.paused.read());
    BOOST_TEST(!sale.paused.write());
}

BOOST_AUTO_TEST_CASE(a_holder_may_claim_and_write_more_than_once) {
    stock_table stock{2};
    for (int left : {1, 0}) {
        purchase each{stock, holdfast::fencing_token{7}};
        BOOST_TEST(each.read());
        BOOST_TEST(each.write());
        BOOST_TEST(stock.items() == left);
    }
}

BOOST_AUTO_TEST_CASE(a_write_without_a_claim_is_refused) {
    stock_table stock{1};
    BOOST_TEST(!stock.write(0, holdfast::fencing_token{1}));
}
