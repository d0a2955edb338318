#ifndef HOLDFAST_TEST_FIDELITY_TWIN_HPP
#define HOLDFAST_TEST_FIDELITY_TWIN_HPP

#include "fidelity/server_link.hpp"
#include "memory_server/redis_model.hpp"
#include "support/redis_server.hpp"

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

/// A server and the model of it, which are told the same.
class twin {
public:
    using words = std::vector<std::string>;

    explicit twin(server_options options = {});

    redis_server& server() { return server_; }
    memory::redis_model& model() { return model_; }
    bool is_newer() const { return is_newer_; }

    /// Both begin a new connection, which speaks RESP2.
    void reconnect();

    /// Sends the commands, many at a time, and checks (with Boost.Test) that they are answered
    /// alike, the pushes too. The clock of the model follows that of the server. An answer that
    /// depends on the clock to the microsecond, or on the server's order of a set, is not for here.
    void compare(std::vector<words> const& commands);
    void compare(std::initializer_list<std::string_view> command);

    /// Both server and model answer; nothing is checked.
    void tell(std::initializer_list<std::string_view> command);

    /// Checks that both have the same keys with the same content, and about the same ends.
    void compare_data();

private:
    void follow_clock();
    void compare_at_once(std::span<words const> commands);

    redis_server server_;
    std::unique_ptr<server_link> link_;
    server_link inspector_;
    memory::redis_model model_;
    std::vector<memory::value> pushes_;
    memory::redis_model::session_id session_ = 0;
    memory::redis_model::session_id model_inspector_ = 0;
    bool is_newer_ = false;
};

/// Asks for all that a key of this type has.
twin::words content_command(std::string const& type, std::string const& key);

/// Of its reply to HELLO 3: it is Valkey, or Redis 7.2 or newer, from which Valkey has its words.
bool is_newer_server(memory::value const& hello);

/// What Redis 7.0 would have said, for a server that may be newer.
memory::value in_words_of_redis(memory::value message, bool is_newer);

/// Without the hash of the script in the text of an error: Valkey 9 leaves it out.
memory::value without_script_hash(memory::value message);

/// With the parts in order whose order only the server knows: maps and sets, and arrays if `all`.
memory::value in_order(memory::value message, bool all);

/// For messages of failing tests.
std::string describe(twin::words const& command);

}  // namespace holdfast::test

#endif
