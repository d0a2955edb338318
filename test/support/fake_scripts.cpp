// What the scripts of src/redis/scripts do, said once more without Lua. The contract tests hold the
// two together.

#include "fake_port.hpp"
#include "redis/scripts.hpp"

#include <algorithm>
#include <regex>
#include <string>

namespace holdfast::test {

using detail::exec_result;
using detail::exec_status;
using detail::reply_value;
using std::chrono::milliseconds;

namespace {

exec_result replied(std::initializer_list<reply_value> values) {
    exec_result result{exec_status::replied, {}, {}};
    result.reply.values.assign(values.begin(), values.end());
    return result;
}

exec_result wrong_type() {
    return {exec_status::failed, errc::corrupt_state, {}};
}

// `<id>:<number>`, or Redisson's longer form for other kinds of its locks; never a write lock's.
bool is_holder(std::string const& field) {
    static std::regex const shape{"[^]+:-?[0-9]+|[0-9a-f]+(-[0-9a-f]+){4}:-?[0-9]+:[^]+"};
    return std::regex_match(field, shape) && !field.ends_with(":write");
}

template <class Map>
bool only_holders(Map const& fields) {
    return std::all_of(fields.begin(), fields.end(), [](auto const& field) {
        return is_holder(field.first);
    });
}

}  // namespace

exec_result fake_server::execute(
    std::string_view script,
    std::vector<std::string> const& keys,
    std::vector<std::string> const& args
) {
    auto const* const found = find(keys.at(0));
    if (found && !found->is_hash) {
        return wrong_type();
    }
    if (script == detail::scripts::acquire.name) {
        return acquire(keys, args);
    }
    if (script == detail::scripts::release.name) {
        return release(keys, args);
    }
    if (script == detail::scripts::renew.name) {
        return renew(keys, args);
    }
    if (script == detail::scripts::force_release.name) {
        return force_release(keys);
    }
    if (script == detail::scripts::inspect.name) {
        return inspect(keys);
    }
    return {exec_status::failed, errc::unsupported_server, {}};
}

exec_result fake_server::acquire(
    std::vector<std::string> const& keys,
    std::vector<std::string> const& args
) {
    milliseconds const lease{std::stoll(args.at(0))};
    auto const& holder = args.at(1);
    if (auto const* const found = find(keys.at(0))) {
        if (!only_holders(found->fields)) {
            return replied({std::int64_t{2}});
        }
        if (!found->fields.contains(holder)) {
            return replied({std::int64_t{0}, pttl_of(keys.at(0))});
        }
    }
    auto const token = next_token(keys.at(1), milliseconds{std::stoll(args.at(2))});
    constexpr std::int64_t most_exact = (std::int64_t{1} << 53) - 1;
    if (token < 1 || token > most_exact) {
        return replied({std::int64_t{2}});
    }
    auto& lock = data_[keys.at(0)];
    lock.fields[holder] = "1";
    lock.ends = lease_clock::now() + lease;
    return replied({std::int64_t{1}, token});
}

std::int64_t fake_server::next_token(std::string const& counter, milliseconds keep) {
    auto* found = find(counter);
    if (found) {
        auto const token = std::stoll(found->text) + 1;
        found->text = std::to_string(token);
        if (found->ends && keep > milliseconds{0}) {
            found->ends = lease_clock::now() + keep;
        }
        return token;
    }
    auto const since_1970 = std::chrono::system_clock::now().time_since_epoch();
    auto const token = std::chrono::floor<std::chrono::microseconds>(since_1970).count();
    data_[counter] = {false, {}, std::to_string(token), {}};
    if (keep > milliseconds{0}) {
        data_[counter].ends = lease_clock::now() + keep;
    }
    return token;
}

exec_result fake_server::release(
    std::vector<std::string> const& keys,
    std::vector<std::string> const& args
) {
    auto* const found = find(keys.at(0));
    if (!found || found->fields.erase(args.at(0)) == 0) {
        return replied({std::int64_t{0}});
    }
    if (found->fields.empty()) {
        data_.erase(keys.at(0));
    }
    publish_now(keys.at(1));
    return replied({std::int64_t{1}, std::int64_t{1}});
}

exec_result fake_server::renew(
    std::vector<std::string> const& keys,
    std::vector<std::string> const& args
) {
    auto* const found = find(keys.at(0));
    if (!found || !found->fields.contains(args.at(1))) {
        return replied({std::int64_t{0}, std::int64_t{found ? 1 : 0}});
    }
    found->ends = lease_clock::now() + milliseconds{std::stoll(args.at(0))};
    return replied({std::int64_t{1}});
}

exec_result fake_server::force_release(std::vector<std::string> const& keys) {
    auto const* const found = find(keys.at(0));
    if (!found) {
        return replied({std::int64_t{0}});
    }
    if (!only_holders(found->fields)) {
        return replied({std::int64_t{2}});
    }
    data_.erase(keys.at(0));
    publish_now(keys.at(1));
    return replied({std::int64_t{1}, std::int64_t{1}});
}

exec_result fake_server::inspect(std::vector<std::string> const& keys) {
    auto const* const counter = find(keys.at(1));
    std::string holder;
    std::string count;
    if (auto const* const found = find(keys.at(0))) {
        if (found->fields.size() != 1 || !only_holders(found->fields)) {
            return replied({std::int64_t{-3}});
        }
        std::tie(holder, count) = *found->fields.begin();
    }
    return replied({pttl_of(keys.at(0)), counter ? counter->text : std::string{}, holder, count});
}

}  // namespace holdfast::test
