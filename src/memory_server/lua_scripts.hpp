#ifndef HOLDFAST_MEMORY_SERVER_LUA_SCRIPTS_HPP
#define HOLDFAST_MEMORY_SERVER_LUA_SCRIPTS_HPP

#include "memory_server/script_text.hpp"
#include "memory_server/value.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace holdfast::memory {

/// Executes the commands of a running script.
class script_host {
public:
    struct answer {
        value reply;
        /// The server refused to run the command at all. Scripts cannot tell, but the text has to
        /// be given a code: "ERR" unless it starts with a hyphen and a code.
        bool rejected = false;
    };

    virtual answer execute(std::span<std::string_view const> words) = 0;

protected:
    ~script_host() = default;
};

std::string sha1_hex(std::string_view text);

/// Compiles a script, or finds it among those that this thread compiled before. An error is the
/// text of the server's reply, without a code.
std::variant<std::shared_ptr<script_text const>, std::string> compile_script(std::string_view text);

/// Runs a script in this thread's interpreter, whichever thread compiled it.
value run_script(
    script_text const& script,
    std::span<std::string_view const> keys,
    std::span<std::string_view const> args,
    script_host& host
);

}  // namespace holdfast::memory

#endif
