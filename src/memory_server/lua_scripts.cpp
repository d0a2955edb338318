#include "memory_server/lua_scripts.hpp"

#include "memory_server/lua_values.hpp"
#include "memory_server/lua_world.hpp"

#include <lua5.1/lua.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <exception>
#include <functional>
#include <new>
#include <unordered_map>
#include <vector>

// Lua leaves a C function by longjmp: while one calls what may raise an error, it must own nothing.

namespace holdfast::memory {

namespace {

using lua::push_error;
using lua::raise;

/// The interpreter of one thread. Its state shows no script what another one did: all that can be
/// reached from the global names is protected against changes, KEYS and ARGV are made anew.
class interpreter {
public:
    interpreter();
    interpreter(interpreter const&) = delete;
    interpreter& operator=(interpreter const&) = delete;
    ~interpreter() { ::lua_close(lua_); }

    static interpreter& of_this_thread() {
        thread_local interpreter one;
        return one;
    }

    std::variant<std::shared_ptr<script_text const>, std::string> compile(std::string_view text);
    value run(
        script_text const& script,
        std::span<std::string_view const> keys,
        std::span<std::string_view const> args,
        script_host& host
    );

private:
    struct text_hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const noexcept {
            return std::hash<std::string_view>{}(text);
        }
    };
    template <class Value>
    using by_text = std::unordered_map<std::string, Value, text_hash, std::equal_to<>>;

    static constexpr std::size_t most_scripts = 4096;
    static constexpr std::size_t number_size = 32;

    // Functions of the script's world; each has the interpreter as its upvalue.
    static interpreter& self(lua_State* lua) {
        return *static_cast<interpreter*>(::lua_touserdata(lua, lua_upvalueindex(1)));
    }
    static int call(lua_State* lua) { return self(lua).command(lua, true); }
    static int pcall(lua_State* lua) { return self(lua).command(lua, false); }
    int command(lua_State* lua, bool raises);
    bool read_words(lua_State* lua, int count);

    void add(char const* table, char const* name, lua_CFunction function);
    int load(script_text const& script, std::string& error);
    value failure(script_text const& script);
    void forget_scripts();

    lua_State* lua_;
    int handler_ = LUA_NOREF;
    int globals_ = LUA_NOREF;
    by_text<std::shared_ptr<script_text const>> scripts_;
    by_text<int> functions_;  // by SHA-1
    script_host* host_ = nullptr;
    std::exception_ptr thrown_;
    std::vector<std::string_view> words_;
    std::vector<std::array<char, number_size>> numbers_;
};

}  // namespace

interpreter::interpreter() : lua_{::luaL_newstate()} {
    if (lua_ == nullptr) {
        throw std::bad_alloc{};
    }
    lua::open_libraries(lua_);
    add("redis", "call", call);
    add("redis", "pcall", pcall);
    ::lua_pushcfunction(lua_, lua::on_error);
    handler_ = ::luaL_ref(lua_, LUA_REGISTRYINDEX);
    globals_ = lua::protect_globals(lua_);
}

void interpreter::add(char const* table, char const* name, lua_CFunction function) {
    lua_getglobal(lua_, table);
    ::lua_pushlightuserdata(lua_, this);
    ::lua_pushcclosure(lua_, function, 1);
    ::lua_setfield(lua_, -2, name);
    lua_pop(lua_, 1);
}

// --- what scripts call

// Views of the stack, where the words stay until the command has been executed.
bool interpreter::read_words(lua_State* lua, int count) {
    auto const size = static_cast<std::size_t>(count);
    words_.resize(size);
    if (numbers_.size() < size) {
        numbers_.resize(size);
    }
    for (std::size_t i = 0; i < size; ++i) {
        int const index = static_cast<int>(i) + 1;
        switch (::lua_type(lua, index)) {
            case LUA_TNUMBER: {
                auto const number = ::lua_tonumber(lua, index);
                auto& digits = numbers_[i];
                char* end = digits.data();
                // A whole number is the common case, and "%.17g" writes it in the same way.
                if (std::abs(number) < 1e15 && number == std::floor(number) &&
                    !(number == 0 && std::signbit(number))) {
                    auto const whole = static_cast<std::int64_t>(number);
                    end = std::to_chars(digits.data(), digits.data() + number_size, whole).ptr;
                } else {
                    end += std::snprintf(digits.data(), number_size, "%.17g", number);
                }
                words_[i] = {digits.data(), static_cast<std::size_t>(end - digits.data())};
                break;
            }
            case LUA_TSTRING: {
                std::size_t length = 0;
                char const* const text = ::lua_tolstring(lua, index, &length);
                words_[i] = {text, length};
                break;
            }
            default: return false;
        }
    }
    return true;
}

int interpreter::command(lua_State* lua, bool raises) {
    int const count = ::lua_gettop(lua);
    if (host_ == nullptr) {
        return raise(lua, "redis.call/pcall can only be called inside a script invocation");
    }
    bool failed = true;
    if (count == 0) {
        push_error(lua, "Please specify at least one argument for this redis lib call");
    } else if (!read_words(lua, count)) {
        push_error(lua, "Lua redis lib command arguments must be strings or integers");
    } else {
        try {
            auto const answer = host_->execute(words_);
            failed = answer.rejected || answer.reply.is_error();
            if (answer.rejected) {
                lua::push_command_error(lua, answer.reply.text);
            } else {
                lua::push_reply(lua, answer.reply);
            }
        } catch (...) {
            thrown_ = std::current_exception();
        }
        if (thrown_) {
            raises = true;
            ::lua_pushliteral(lua, "interrupted");
        }
    }
    return failed && raises ? ::lua_error(lua) : 1;
}

// --- scripts

void interpreter::forget_scripts() {
    for (auto const& [sha1, function] : functions_) {
        ::luaL_unref(lua_, LUA_REGISTRYINDEX, function);
    }
    functions_.clear();
    scripts_.clear();
}

int interpreter::load(script_text const& script, std::string& error) {
    auto const known = functions_.find(script.sha1);
    if (known != functions_.end()) {
        return known->second;
    }
    if (::luaL_loadbuffer(lua_, script.text.data(), script.text.size(), "@user_script") != 0) {
        error = std::string{"Error compiling script (new function): "} + ::lua_tostring(lua_, -1);
        lua_pop(lua_, 1);
        return LUA_NOREF;
    }
    int const function = ::luaL_ref(lua_, LUA_REGISTRYINDEX);
    functions_.emplace(script.sha1, function);
    return function;
}

std::variant<std::shared_ptr<script_text const>, std::string> interpreter::compile(
    std::string_view text
) {
    auto const known = scripts_.find(text);
    if (known != scripts_.end()) {
        return known->second;
    }
    if (scripts_.size() >= most_scripts) {
        forget_scripts();
    }
    auto made = std::make_shared<script_text>();
    made->text = text;
    auto const digits = lua::digits_of_sha1(text);
    made->sha1.assign(digits.data(), digits.size());
    std::string error;
    if (load(*made, error) == LUA_NOREF) {
        return error;
    }
    scripts_.emplace(made->text, made);
    return std::shared_ptr<script_text const>{made};
}

// The error on top of the stack.
value interpreter::failure(script_text const& script) {
    if (!lua_istable(lua_, -1)) {
        constexpr std::size_t longest = 100;
        bool const there = ::lua_isstring(lua_, -1) != 0;
        std::string const text = there ? ::lua_tostring(lua_, -1) : "execution failure";
        return value::error(
            "ERR " +
            lua::as_line("Error running script " + script.sha1 + ", " + text.substr(0, longest))
        );
    }
    bool has_text = false;
    bool has_source = false;
    bool has_line = false;
    int const table = ::lua_gettop(lua_);
    auto text = lua::string_field(lua_, table, "err", has_text);
    auto const source = lua::string_field(lua_, table, "source", has_source);
    auto const line = lua::string_field(lua_, table, "line", has_line);
    if (has_source && has_line) {
        text += " script: " + script.sha1 + ", on " + source + ":" + line + ".";
    }
    return value::error(lua::as_line(text));
}

void push_words(lua_State* lua, std::span<std::string_view const> words) {
    ::lua_createtable(lua, static_cast<int>(words.size()), 0);
    for (std::size_t i = 0; i < words.size(); ++i) {
        ::lua_pushlstring(lua, words[i].data(), words[i].size());
        ::lua_rawseti(lua, -2, static_cast<int>(i) + 1);
    }
}

value interpreter::run(
    script_text const& script,
    std::span<std::string_view const> keys,
    std::span<std::string_view const> args,
    script_host& host
) {
    std::string error;
    int const function = load(script, error);
    if (function == LUA_NOREF) {
        return value::error("ERR " + error);
    }
    ::lua_rawgeti(lua_, LUA_REGISTRYINDEX, handler_);
    ::lua_rawgeti(lua_, LUA_REGISTRYINDEX, globals_);
    push_words(lua_, keys);
    ::lua_setfield(lua_, -2, "KEYS");
    push_words(lua_, args);
    ::lua_setfield(lua_, -2, "ARGV");
    lua_pop(lua_, 1);
    ::lua_rawgeti(lua_, LUA_REGISTRYINDEX, function);

    host_ = &host;
    bool const failed = ::lua_pcall(lua_, 0, 1, -2) != 0;
    host_ = nullptr;
    auto reply = failed ? failure(script) : lua::reply_at_top(lua_);
    ::lua_settop(lua_, 0);
    if (thrown_) {
        std::rethrow_exception(std::exchange(thrown_, nullptr));
    }
    return reply;
}

std::string sha1_hex(std::string_view text) {
    auto const digits = lua::digits_of_sha1(text);
    return {digits.data(), digits.size()};
}

std::variant<std::shared_ptr<script_text const>, std::string> compile_script(std::string_view text
) {
    return interpreter::of_this_thread().compile(text);
}

value run_script(
    script_text const& script,
    std::span<std::string_view const> keys,
    std::span<std::string_view const> args,
    script_host& host
) {
    return interpreter::of_this_thread().run(script, keys, args, host);
}

}  // namespace holdfast::memory
