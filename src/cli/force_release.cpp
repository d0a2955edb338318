#include "cli/force_release.hpp"

#include "cli/exit_code.hpp"
#include "cli/found_lock.hpp"
#include "cli/json.hpp"
#include "cli/messages.hpp"

#include <holdfast/client.hpp>

#include <boost/asio/this_coro.hpp>
#include <boost/json/object.hpp>

#include <fmt/format.h>

namespace holdfast::cli {

asio::awaitable<int> force_release(context const& on, name_options const& options) {
    auto const executor = co_await asio::this_coro::executor;
    holdfast::client const client{executor, on.config};
    error_code ec;
    bool const freed = co_await free_lock(client, options.name, options.kind, ec);
    auto const name = quoted_name(options.name);
    if (ec) {
        say(on, fmt::format("cannot release {}: {}", name, ec.message()));
        co_return to_int(exit_code_of(ec));
    }
    if (on.json) {
        print_json(
            on.out,
            boost::json::object{{"name", json_text(options.name)}, {"released", freed}}
        );
    } else {
        on.out
            << fmt::format("{} {}\n", name, freed ? "was taken from its holder" : "had no holder")
            << std::flush;
    }
    co_return to_int(freed ? exit_code::success : exit_code::failure);
}

}  // namespace holdfast::cli
