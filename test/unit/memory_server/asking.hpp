#ifndef HOLDFAST_TEST_UNIT_MEMORY_SERVER_ASKING_HPP
#define HOLDFAST_TEST_UNIT_MEMORY_SERVER_ASKING_HPP

#include "memory_server/redis_model.hpp"
#include "protocol/scripts.hpp"

#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::memory {

inline std::ostream& operator<<(std::ostream& out, value const& one) {
    return out << one.describe();
}

/// A server with one session of RESP3, to be asked.
struct asking {
    static constexpr std::int64_t ms = 1'000;
    static constexpr std::int64_t start = 1'700'000'000'000 * ms;

    redis_model server;
    std::vector<value> pushes;
    redis_model::session_id session = connect();

    asking() { server.set_time(start); }
    asking(asking const&) = delete;

    redis_model::session_id connect() {
        auto const id = server.connect([this](value one) { pushes.push_back(std::move(one)); });
        server.execute(id, {"HELLO", "3"});
        return id;
    }

    value ask(std::initializer_list<std::string_view> command) {
        return server.execute(session, command).value();
    }
};

inline value number(std::int64_t of) {
    return value::integer(of);
}
inline value text(std::string_view of) {
    return value::bulk(of);
}

}  // namespace holdfast::memory

#endif
