#include "cli/lock_scan.hpp"

#include "cli/server_texts.hpp"

#include <boost/system/system_error.hpp>

#include <functional>
#include <string_view>
#include <utility>

namespace holdfast::cli {

namespace asio = boost::asio;
using boost::redis::request;

namespace {

using on_key = std::function<void(std::string_view)>;

asio::awaitable<void> scan(
    server_session& from,
    std::string_view pattern,
    std::string_view type,
    on_key const& tell
) {
    std::string cursor = "0";
    do {
        request ask;
        if (type.empty()) {
            ask.push("SCAN", cursor, "MATCH", pattern, "COUNT", "1000");
        } else {
            ask.push("SCAN", cursor, "MATCH", pattern, "COUNT", "1000", "TYPE", type);
        }
        auto asking = from.ask(ask);
        auto const replies = co_await std::move(asking);
        auto const& reply = replies.front();
        if (reply.is_error) {
            throw boost::system::system_error{
                detail::classify(reply.error).error,
                detail::loggable(reply.error)
            };
        }
        if (reply.values.empty()) {
            break;
        }
        cursor = text_of(reply.values.front());
        for (std::size_t i = 1; i < reply.values.size(); ++i) {
            tell(reply.text(i));
        }
    } while (cursor != "0");
}

asio::awaitable<void> look_at_channels(server_session& from, bool sharded, on_key const& tell) {
    request ask;
    auto const* const which = sharded ? "SHARDCHANNELS" : "CHANNELS";
    ask.push("PUBSUB", which, "redisson_countdownlatch__channel__*");
    ask.push("PUBSUB", which, "redisson_sc:*");
    auto asking = from.ask(ask);
    auto const replies = co_await std::move(asking);
    // Without the right to ask, who waits is not known.
    for (auto const& reply : replies) {
        for (std::size_t i = 0; !reply.is_error && i < reply.values.size(); ++i) {
            tell(reply.text(i));
        }
    }
}

}  // namespace

asio::awaitable<candidates> scan_for_locks(server_session& from, scan_options options) {
    candidates found;
    auto const add_trace = [&](std::optional<trace> const& seen) {
        if (!seen) {
            return;
        }
        for (auto const& name : seen->names) {
            if (matches(options.pattern, name)) {
                found[name].traces.insert(seen->what);
            }
        }
    };
    on_key const hash = [&](std::string_view key) { found[std::string{key}].is_hash = true; };
    on_key const number = [&](std::string_view key) {
        if (!is_part_of_a_lock(key)) {
            found[std::string{key}].is_number = true;
        }
    };
    on_key const key_of_ours = [&](std::string_view key) { add_trace(trace_of_key(key)); };
    on_key const channel = [&](std::string_view name) { add_trace(trace_of_channel(name)); };

    auto hashes = scan(from, options.pattern, "hash", hash);
    co_await std::move(hashes);
    auto ours = scan(from, "holdfast_*:*", {}, key_of_ours);
    co_await std::move(ours);
    auto permits = scan(from, "*:timeout", "zset", key_of_ours);
    co_await std::move(permits);
    if (options.numbers) {
        auto numbers = scan(from, options.pattern, "string", number);
        co_await std::move(numbers);
    }
    auto channels = look_at_channels(from, options.sharded, channel);
    co_await std::move(channels);
    co_return found;
}

}  // namespace holdfast::cli
