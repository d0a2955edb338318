// The recipe of the documentation for an observer that makes the spans of a trace.

#include "packaging/compile/lock_spans.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

using namespace std::chrono_literals;
using holdfast::errc;
using holdfast::grant_kind;
using holdfast::loss_reason;

namespace {

struct recorded_span final : trace_span {
    recorded_span(std::string& to, std::string_view called) : log{&to}, name{called} {}
    void add_event(std::string_view event) override { write(event); }
    void set_error(std::string_view) override { write("error"); }
    void end() override { write("end"); }
    void write(std::string_view what) { *log += name + ' ' + std::string{what} + "; "; }

    std::string* log;
    std::string name;
};

struct recording_tracer final : tracer {
    std::shared_ptr<trace_span> start(
        std::string_view name,
        std::string_view lock,
        trace_span* parent
    ) override {
        auto made = std::make_shared<recorded_span>(log, name);
        made->write("of " + std::string{lock});
        if (parent) {
            made->write("in " + dynamic_cast<recorded_span&>(*parent).name);
        }
        return made;
    }

    std::string log;
};

struct world {
    std::shared_ptr<recording_tracer> trace = std::make_shared<recording_tracer>();
    lock_spans spans{trace};
    // The library calls the base class.
    holdfast::observer& told = spans;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(lock_spans_recipe_test, world)

BOOST_AUTO_TEST_CASE(a_lock_that_was_waited_for_and_held_has_two_spans) {
    told.on_acquire({1, "a"});
    told.on_wait({1, "a"});
    told.on_grant({1, "a"}, {grant_kind::other_client, 5ms, {7}});
    told.on_release({"a", {7}}, 5ms);
    BOOST_TEST(
        trace->log == "acquire of a; acquire wait; hold of a; hold in acquire; acquire end; "
                      "hold end; "
    );
}

BOOST_AUTO_TEST_CASE(an_error_is_told_apart_from_giving_up) {
    told.on_acquire({1, "a"});
    told.on_no_grant({1, "a"}, {}, 1ms);
    told.on_acquire({2, "a"});
    told.on_no_grant({2, "a"}, boost::asio::error::operation_aborted, 1ms);
    BOOST_TEST(trace->log == "acquire of a; acquire end; acquire of a; acquire end; ");
    trace->log.clear();
    told.on_acquire({3, "a"});
    told.on_no_grant({3, "a"}, errc::unreachable, 1ms);
    BOOST_TEST(trace->log == "acquire of a; acquire error; acquire end; ");
}

BOOST_AUTO_TEST_CASE(a_lost_lease_ends_as_an_error_also_with_a_raised_token) {
    told.on_acquire({1, "a"});
    told.on_grant({1, "a"}, {grant_kind::uncontended, 0ms, {7}});
    trace->log.clear();
    told.on_loss({"a", {9}}, loss_reason::expired);
    told.on_release({"a", {9}}, 5ms);
    BOOST_TEST(trace->log == "hold error; hold end; ");
}

BOOST_AUTO_TEST_CASE(permits_and_joined_leases_have_no_span_of_their_own) {
    told.on_acquire({1, "permits"});
    told.on_grant({1, "permits"}, {grant_kind::uncontended, 0ms, {}});
    told.on_release({"permits", {}}, 5ms);
    told.on_acquire({2, "a"});
    told.on_grant({2, "a"}, {grant_kind::joined, 0ms, {7}});
    BOOST_TEST(trace->log == "acquire of permits; acquire end; acquire of a; acquire end; ");
}

BOOST_AUTO_TEST_SUITE_END()
