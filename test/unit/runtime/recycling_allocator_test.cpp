// A thread uses the memory again that it has freed, and gives it back when it ends.

#include "runtime/recycling_allocator.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <set>
#include <thread>

using holdfast::detail::make_recycled;
using holdfast::detail::most_recycled_blocks;
using holdfast::detail::recycling_allocator;

namespace {

// Each test has a type of its own: what is kept is kept by type.
template <int>
struct thing {
    std::array<std::byte, 200> bytes{};
};

template <class T>
std::set<T*> allocate(std::size_t count) {
    std::set<T*> made;
    while (made.size() < count) {
        made.insert(recycling_allocator<T>{}.allocate(1));
    }
    return made;
}

template <class T>
void free(std::set<T*> const& all) {
    for (auto* const one : all) {
        recycling_allocator<T>{}.deallocate(one, 1);
    }
}

struct keep_only {
    explicit keep_only(std::size_t blocks) { most_recycled_blocks = blocks; }
    keep_only(keep_only const&) = delete;
    keep_only& operator=(keep_only const&) = delete;
    ~keep_only() { most_recycled_blocks = before_; }

private:
    std::size_t before_ = most_recycled_blocks;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(recycling_allocator_test)

BOOST_AUTO_TEST_CASE(freed_memory_is_used_again) {
    keep_only const limit{500};
    auto const first = allocate<thing<0>>(500);
    BOOST_TEST(recycling_allocator<thing<0>>::kept() == 0U);
    free(first);
    BOOST_TEST(recycling_allocator<thing<0>>::kept() == 500U);
    auto const again = allocate<thing<0>>(500);
    BOOST_TEST((again == first));
    BOOST_TEST(recycling_allocator<thing<0>>::kept() == 0U);
    free(again);
}

BOOST_AUTO_TEST_CASE(no_more_than_so_many_blocks_are_kept) {
    keep_only const limit{10};
    free(allocate<thing<1>>(20));
    BOOST_TEST(recycling_allocator<thing<1>>::kept() == 10U);
}

BOOST_AUTO_TEST_CASE(nothing_is_kept_where_the_limit_is_zero) {
    keep_only const limit{0};
    for (int i = 0; i < 2; ++i) {
        free(allocate<thing<2>>(20));
        BOOST_TEST(recycling_allocator<thing<2>>::kept() == 0U);
    }
}

BOOST_AUTO_TEST_CASE(several_objects_in_a_row_are_not_kept) {
    keep_only const limit{10};
    recycling_allocator<thing<3>> memory;
    memory.deallocate(memory.allocate(2), 2);
    BOOST_TEST(memory.kept() == 0U);
}

BOOST_AUTO_TEST_CASE(memory_is_kept_by_the_thread_that_frees_it) {
    keep_only const limit{100};
    auto const made = allocate<thing<4>>(100);
    std::thread{[&] {
        free(made);
        BOOST_TEST(recycling_allocator<thing<4>>::kept() == 100U);
    }}.join();
    BOOST_TEST(recycling_allocator<thing<4>>::kept() == 0U);
}

BOOST_AUTO_TEST_CASE(objects_that_share_their_ownership_are_destroyed_and_made_anew) {
    keep_only const limit{10};
    struct counted {
        explicit counted(int& alive) : alive_{alive} { ++alive_; }
        ~counted() { --alive_; }
        counted(counted const&) = delete;
        counted& operator=(counted const&) = delete;

    private:
        int& alive_;
    };
    int alive = 0;
    for (int i = 0; i < 100; ++i) {
        auto const one = make_recycled<counted>(alive);
        BOOST_TEST(alive == 1);
        auto const two = make_recycled<counted>(alive);
        BOOST_TEST(alive == 2);
    }
    BOOST_TEST(alive == 0);
}

BOOST_AUTO_TEST_CASE(nothing_is_kept_any_more_when_the_thread_ends) {
    keep_only const limit{10};
    using memory = recycling_allocator<thing<5>>;
    struct late {
        thing<5>* held = nullptr;
        std::size_t* kept_before = nullptr;
        std::size_t* kept_after = nullptr;

        ~late() {
            *kept_before = memory::kept();
            memory{}.deallocate(held, 1);
            *kept_after = memory::kept();
        }
    };
    std::size_t before = 1;
    std::size_t after = 1;
    std::size_t at_work = 0;
    std::thread{[&] {
        // It is destroyed after what the thread keeps, because it was made before.
        thread_local late last;
        last.kept_before = &before;
        last.kept_after = &after;
        last.held = memory{}.allocate(1);
        free(allocate<thing<5>>(3));
        at_work = memory::kept();
    }}.join();
    BOOST_TEST(at_work == 3U);
    BOOST_TEST(before == 0U);
    BOOST_TEST(after == 0U);
}

BOOST_AUTO_TEST_SUITE_END()
