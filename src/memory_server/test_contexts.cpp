#include "memory_server/test_contexts.hpp"

#include "runtime/runtime.hpp"

#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/require.hpp>
#include <boost/asio/strand.hpp>

#include <algorithm>
#include <cstddef>
#include <set>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace holdfast::memory {

namespace {

// A context that has so many ready at one instant has a loop in it.
constexpr std::size_t most_handlers = 1'000'000;

using plain = asio::io_context::executor_type;
using tracked = std::decay_t<
    decltype(asio::require(std::declval<plain>(), asio::execution::outstanding_work.tracked))>;

template <class Executor>
asio::io_context* context_if(asio::any_io_executor const& executor) {
    if (auto const* const direct = executor.target<Executor>()) {
        return &direct->context();
    }
    if (auto const* const strand = executor.target<asio::strand<Executor>>()) {
        return &strand->get_inner_executor().context();
    }
    return nullptr;
}

// Makes the context's timers fire that are due: it is woken by one that is.
std::shared_ptr<bool> look_at_clock(asio::any_io_executor const& executor) {
    auto const look = std::make_shared<detail::timer>(executor);
    auto looked = std::make_shared<bool>(false);
    look->expires_at(lease_clock::time_point::min());
    look->async_wait([look, looked](boost::system::error_code) { *looked = true; });
    return looked;
}

void count(std::size_t& handlers) {
    if (++handlers > most_handlers) {
        throw std::logic_error{"there is no end of handlers that are ready"};
    }
}

std::size_t run_ready(asio::io_context& context) {
    bool const inside = context.get_executor().running_in_this_thread();
    if (context.stopped()) {
        if (inside) {
            return 0;
        }
        context.restart();
    }
    auto const looked = look_at_clock(context.get_executor());
    std::size_t handlers = 0;
    // The system's timer may take a moment.
    while (!*looked && context.run_one() > 0) {
        count(handlers);
    }
    while (context.poll_one() > 0) {
        count(handlers);
    }
    return handlers - (*looked ? 1 : 0);
}

}  // namespace

asio::io_context* io_context_of(asio::any_io_executor const& executor) {
    if (auto* const found = context_if<plain>(executor)) {
        return found;
    }
    if (auto* const found = context_if<tracked>(executor)) {
        return found;
    }
    using strand = asio::strand<asio::any_io_executor>;
    auto const* const nested = executor.target<strand>();
    return nested ? io_context_of(nested->get_inner_executor()) : nullptr;
}

test_contexts& test_contexts::all() {
    static auto* const made = new test_contexts;
    return *made;
}

std::shared_ptr<void> test_contexts::add(asio::any_io_executor const& executor) {
    auto made = std::make_shared<entry>(
        asio::prefer(executor, asio::execution::outstanding_work.tracked),
        io_context_of(executor)
    );
    std::lock_guard const guard{mutex_};
    std::erase_if(entries_, [](auto const& one) { return one.expired(); });
    entries_.push_back(made);
    return made;
}

std::vector<std::shared_ptr<test_contexts::entry>> test_contexts::living() {
    std::vector<std::shared_ptr<entry>> all;
    std::lock_guard const guard{mutex_};
    for (auto const& one : entries_) {
        if (auto still = one.lock()) {
            all.push_back(std::move(still));
        }
    }
    return all;
}

void test_contexts::settle() {
    for (std::size_t last = 1; last > 0;) {
        std::set<asio::io_context*> contexts;
        for (auto const& one : living()) {
            if (!one->context) {
                throw std::logic_error{
                    "a client of a memory server runs on an executor that is not an io_context's"
                };
            }
            contexts.insert(one->context);
        }
        last = 0;
        for (auto* const context : contexts) {
            last += run_ready(*context);
        }
    }
}

void test_contexts::look_at_clock() {
    for (auto const& one : living()) {
        static_cast<void>(memory::look_at_clock(one->executor));
    }
}

}  // namespace holdfast::memory
