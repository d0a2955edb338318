#include "support/history/event.hpp"
#include "support/history/outages.hpp"

#include <boost/test/unit_test.hpp>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using namespace holdfast::history;

namespace {

class scratch_file {
public:
    scratch_file() {
        auto name = (std::filesystem::temp_directory_path() / "holdfast-XXXXXX").string();
        BOOST_REQUIRE(::mkdtemp(name.data()) != nullptr);
        folder_ = name;
    }
    ~scratch_file() { std::filesystem::remove_all(folder_); }
    std::filesystem::path path() const { return folder_ / "history"; }

private:
    std::filesystem::path folder_;
};

event const full{
    .at = 12,
    .what = happening::written,
    .process = 3,
    .op = 4,
    .lock = 0,
    .token = 9007199254740991,
    .deadline = -5,
    .since = 6,
    .limit = -1,
    .owner = 8,
    .flags = was_accepted | undid_another,
    .permits = 2,
    .word = "ok",
};

}  // namespace

BOOST_AUTO_TEST_CASE(an_event_survives_its_line) {
    event const plain{.at = -7, .what = happening::healed};
    BOOST_TEST(to_line(plain) == "-7 healed");
    BOOST_TEST((parse_line(to_line(plain)) == plain));
    BOOST_TEST((parse_line(to_line(full)) == full));
}

BOOST_AUTO_TEST_CASE(every_happening_survives_its_line) {
    for (auto i = 0; i <= static_cast<int>(happening::died); ++i) {
        event const e{.at = i, .what = static_cast<happening>(i)};
        BOOST_TEST(name_of(e.what) != "?");
        BOOST_TEST((parse_line(to_line(e)) == e));
    }
}

BOOST_AUTO_TEST_CASE(what_is_not_an_event_is_refused) {
    for (auto const* const line :
         {"",
          "x granted",
          "1",
          "1 nothing",
          "1 granted op",
          "1 granted op=x",
          "1 granted what=1",
          "1 granted op=1x",
          "1 granted  op=1"}) {
        BOOST_TEST_CONTEXT(line) {
            BOOST_CHECK_THROW(parse_line(line), unreadable);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_reader_gets_what_was_added_and_leaves_half_a_line) {
    scratch_file const scratch;
    history_reader reader{scratch.path()};
    BOOST_TEST(reader.read().empty());
    {
        history_file file{scratch.path()};
        file.add(full);
        file.add({.at = 13, .what = happening::healed});
    }
    auto const first = reader.read();
    BOOST_REQUIRE(first.size() == 2U);
    BOOST_TEST((first[0] == full));
    BOOST_TEST(reader.read().empty());

    std::ofstream{scratch.path(), std::ios::app} << "14 heal";
    BOOST_TEST(reader.read().empty());
    std::ofstream{scratch.path(), std::ios::app} << "ed\n";
    auto const second = reader.read();
    BOOST_REQUIRE(second.size() == 1U);
    BOOST_TEST((second[0] == event{.at = 14, .what = happening::healed}));

    std::ofstream{scratch.path(), std::ios::app} << "15 heal\n";
    BOOST_CHECK_THROW(reader.read(), unreadable);
}

BOOST_AUTO_TEST_CASE(outages_that_overlap_count_once) {
    outages stopped;
    BOOST_TEST(stopped.free_time(0, 100) == 100);
    BOOST_TEST(stopped.free_time(100, 0) == 0);
    stopped.add(10, 20);
    stopped.add(15, 30);
    stopped.add(40, 50);
    stopped.add(60, 60);
    BOOST_TEST(stopped.free_time(0, 100) == 70);
    BOOST_TEST(stopped.free_time(12, 45) == 10);
    BOOST_TEST(stopped.free_time(30, 40) == 10);
    stopped.add(5, 60);
    BOOST_TEST(stopped.free_time(0, 100) == 45);
    BOOST_TEST(stopped.free_time(5, 60) == 0);
}
