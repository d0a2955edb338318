#include "lua_scripts.hpp"

#include <lua5.1/lua.hpp>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <limits>
#include <optional>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

// Lua leaves a C function by longjmp: while one calls what may raise an error, it must own nothing.

namespace holdfast::sim {

namespace {

using kind = value::kind;

constexpr std::size_t sha1_size = 20;
using sha1_digits = std::array<char, 2 * sha1_size>;

sha1_digits digits_of_sha1(std::string_view text) {
    std::array<unsigned char, sha1_size> digest{};
    unsigned size = 0;
    ::EVP_Digest(text.data(), text.size(), digest.data(), &size, ::EVP_sha1(), nullptr);
    sha1_digits digits{};
    for (std::size_t i = 0; i < sha1_size; ++i) {
        constexpr char const* hexadecimal = "0123456789abcdef";
        digits[2 * i] = hexadecimal[digest[i] >> 4];
        digits[2 * i + 1] = hexadecimal[digest[i] & 0xF];
    }
    return digits;
}

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
    static int set_resp(lua_State* lua);
    static int acl_check_cmd(lua_State* lua);
    static int random(lua_State* lua);
    static int random_seed(lua_State* lua);
    static int raw_set(lua_State* lua);
    int command(lua_State* lua, bool raises);
    bool read_words(lua_State* lua, int count);

    void open_libraries();
    void add(char const* name, lua_CFunction function);
    void add_redis();
    void protect_library(char const* name);
    void protect_globals();
    int load(script_text const& script, std::string& error);
    value failure(script_text const& script);
    void forget_scripts();
    void seed(std::int32_t seed) {
        random_ = (static_cast<std::uint64_t>(static_cast<std::uint32_t>(seed)) << 16) | 0x330E;
    }
    double next_random();

    lua_State* lua_;
    int handler_ = LUA_NOREF;
    int globals_ = LUA_NOREF;
    by_text<std::shared_ptr<script_text const>> scripts_;
    by_text<int> functions_;  // by SHA-1
    script_host* host_ = nullptr;
    std::exception_ptr thrown_;
    std::vector<std::string_view> words_;
    std::vector<std::array<char, number_size>> numbers_;
    std::uint64_t random_ = 0;
};

// --- errors as scripts see them

// A table with the field `err`: "CODE text". The text may bring its code, after a hyphen.
void push_error(lua_State* lua, std::string_view text) {
    // What a script sees is a C string.
    text = text.substr(0, text.find('\0'));
    std::string_view code = "ERR";
    if (text.starts_with('-')) {
        auto const space = text.find(' ');
        if (space != std::string_view::npos) {
            code = text.substr(1, space - 1);
        }
        text.remove_prefix(space == std::string_view::npos ? 1 : space + 1);
    }
    while (!text.empty() && (text.back() == '\r' || text.back() == '\n')) {
        text.remove_suffix(1);
    }
    while (!text.empty() && (text.front() == '\r' || text.front() == '\n')) {
        text.remove_prefix(1);
    }
    ::lua_createtable(lua, 0, 2);
    ::lua_pushlstring(lua, code.data(), code.size());
    ::lua_pushliteral(lua, " ");
    ::lua_pushlstring(lua, text.data(), text.size());
    ::lua_concat(lua, 3);
    ::lua_setfield(lua, -2, "err");
}

void push_command_error(lua_State* lua, std::string_view text) {
    push_error(lua, text);
    ::lua_pushboolean(lua, 1);
    ::lua_setfield(lua, -2, "ignore_error_stats_update");
}

int raise(lua_State* lua, char const* text) {
    push_error(lua, text);
    return ::lua_error(lua);
}

void push_as_text(lua_State* lua, int index) {
    switch (::lua_type(lua, index)) {
        case LUA_TSTRING:
        case LUA_TNUMBER: ::lua_pushvalue(lua, index); break;
        case LUA_TNIL: ::lua_pushliteral(lua, "nil"); break;
        case LUA_TBOOLEAN:
            ::lua_pushstring(lua, ::lua_toboolean(lua, index) ? "true" : "false");
            break;
        default:
            ::lua_pushfstring(
                lua,
                "%s: %p",
                luaL_typename(lua, index),
                ::lua_topointer(lua, index)
            );
    }
}

// Called where an error is raised: adds the place to it.
int on_error(lua_State* lua) {
    lua_Debug place{};
    auto const look_at = [&](int level) {
        return ::lua_getstack(lua, level, &place) != 0 && ::lua_getinfo(lua, "Sl", &place) != 0;
    };
    bool found = look_at(1);
    if (found && std::strcmp(place.what, "C") == 0) {
        found = look_at(2);  // a function of ours: its caller is what the author wants to know
    }
    if (!lua_istable(lua, 1)) {
        ::lua_createtable(lua, 0, 3);
        ::lua_pushliteral(lua, "ERR ");
        push_as_text(lua, 1);
        ::lua_concat(lua, 2);
        ::lua_setfield(lua, -2, "err");
        ::lua_replace(lua, 1);
    }
    if (found) {
        ::lua_pushstring(lua, place.source);
        ::lua_setfield(lua, 1, "source");
        ::lua_pushinteger(lua, place.currentline);
        ::lua_setfield(lua, 1, "line");
    }
    ::lua_settop(lua, 1);
    return 1;
}

std::string string_field(lua_State* lua, int table, char const* name, bool& there) {
    ::lua_getfield(lua, table, name);
    there = ::lua_isstring(lua, -1) != 0;
    std::string const text = there ? ::lua_tostring(lua, -1) : "";
    lua_pop(lua, 1);
    return text;
}

// --- from replies to Lua

void push_reply(lua_State* lua, value const& reply, int resp);

void push_elements(lua_State* lua, value const& reply, int resp) {
    ::lua_createtable(lua, static_cast<int>(reply.elements.size()), 0);
    for (std::size_t i = 0; i < reply.elements.size(); ++i) {
        push_reply(lua, reply.elements[i], resp);
        ::lua_rawseti(lua, -2, static_cast<int>(i) + 1);
    }
}

void push_text(lua_State* lua, std::string_view text) {
    ::lua_pushlstring(lua, text.data(), text.size());
}

// What RESP3 has beyond RESP2 is a table with the name of its kind.
bool push_resp3(lua_State* lua, value const& reply) {
    constexpr int resp = 3;
    switch (reply.type) {
        case kind::nil: ::lua_pushnil(lua); return true;
        case kind::boolean: ::lua_pushboolean(lua, reply.number != 0); return true;
        case kind::map:
            ::lua_createtable(lua, 0, 1);
            ::lua_newtable(lua);
            for (std::size_t i = 0; i + 1 < reply.elements.size(); i += 2) {
                push_reply(lua, reply.elements[i], resp);
                push_reply(lua, reply.elements[i + 1], resp);
                ::lua_rawset(lua, -3);
            }
            ::lua_setfield(lua, -2, "map");
            return true;
        case kind::set:
            ::lua_createtable(lua, 0, 1);
            ::lua_newtable(lua);
            for (auto const& element : reply.elements) {
                push_reply(lua, element, resp);
                ::lua_pushboolean(lua, 1);
                ::lua_rawset(lua, -3);
            }
            ::lua_setfield(lua, -2, "set");
            return true;
        case kind::real:
            ::lua_createtable(lua, 0, 1);
            ::lua_pushnumber(lua, std::strtod(reply.text.c_str(), nullptr));
            ::lua_setfield(lua, -2, "double");
            return true;
        case kind::verbatim:
            ::lua_createtable(lua, 0, 1);
            ::lua_createtable(lua, 0, 2);
            push_text(lua, reply.text);
            ::lua_setfield(lua, -2, "string");
            push_text(lua, "txt");
            ::lua_setfield(lua, -2, "format");
            ::lua_setfield(lua, -2, "verbatim_string");
            return true;
        default: return false;
    }
}

void push_reply(lua_State* lua, value const& reply, int resp) {
    ::luaL_checkstack(lua, 6, "a reply is nested too deeply");
    if (resp == 3 && push_resp3(lua, reply)) {
        return;
    }
    switch (reply.type) {
        case kind::nil: ::lua_pushboolean(lua, 0); break;
        case kind::boolean:
        case kind::integer: ::lua_pushnumber(lua, static_cast<lua_Number>(reply.number)); break;
        case kind::bulk:
        case kind::real:
        case kind::verbatim: push_text(lua, reply.text); break;
        case kind::status:
            ::lua_createtable(lua, 0, 1);
            push_text(lua, reply.text);
            ::lua_setfield(lua, -2, "ok");
            break;
        case kind::error:
            ::lua_pushliteral(lua, "-");
            push_text(lua, reply.text);
            ::lua_concat(lua, 2);
            {
                std::size_t size = 0;
                char const* const text = ::lua_tolstring(lua, -1, &size);
                push_command_error(lua, {text, size});
            }
            ::lua_remove(lua, -2);
            break;
        case kind::array:
        case kind::map:
        case kind::set:
        case kind::push: push_elements(lua, reply, resp); break;
    }
}

// --- from Lua to replies

std::int64_t truncated(lua_Number number) {
    constexpr lua_Number end = 9223372036854775808.0;
    // What the processor makes of a number that does not fit.
    return number >= -end && number < end ? static_cast<std::int64_t>(number)
                                          : std::numeric_limits<std::int64_t>::min();
}

std::string one_line(std::string text) {
    std::replace(text.begin(), text.end(), '\r', ' ');
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

std::string_view trimmed(std::string_view text) {
    auto const first = text.find_first_not_of("\r\n");
    if (first == std::string_view::npos) {
        return {};
    }
    return text.substr(first, text.find_last_not_of("\r\n") - first + 1);
}

std::string text_at_top(lua_State* lua) {
    std::size_t size = 0;
    char const* const text = ::lua_tolstring(lua, -1, &size);
    return {text, size};
}

value pop_reply(lua_State* lua, int resp);

// Leaves the field on the stack if it has this type.
bool has_field(lua_State* lua, char const* name, int type) {
    ::lua_pushstring(lua, name);
    ::lua_rawget(lua, -2);
    if (::lua_type(lua, -1) == type) {
        return true;
    }
    lua_pop(lua, 1);
    return false;
}

value map_at_top(lua_State* lua, int resp, bool with_values) {
    value reply = with_values ? value::map() : value::set();
    ::lua_pushnil(lua);
    while (::lua_next(lua, -2) != 0) {
        ::lua_pushvalue(lua, -2);
        reply.elements.push_back(pop_reply(lua, resp));
        if (with_values) {
            reply.elements.push_back(pop_reply(lua, resp));
        } else {
            lua_pop(lua, 1);
        }
    }
    return reply;
}

std::optional<value> special_at_top(lua_State* lua, int resp) {
    std::optional<value> reply;
    if (has_field(lua, "err", LUA_TSTRING)) {
        std::string const text = ::lua_tostring(lua, -1);
        reply = value::error(one_line(std::string{trimmed(text)}));
    } else if (has_field(lua, "ok", LUA_TSTRING)) {
        reply = value::status(one_line(::lua_tostring(lua, -1)));
    } else if (has_field(lua, "double", LUA_TNUMBER)) {
        char text[64];
        std::snprintf(text, sizeof text, "%.17g", ::lua_tonumber(lua, -1));
        reply = value::real(text);
    } else if (has_field(lua, "map", LUA_TTABLE)) {
        reply = map_at_top(lua, resp, true);
    } else if (has_field(lua, "set", LUA_TTABLE)) {
        reply = map_at_top(lua, resp, false);
    } else {
        return reply;
    }
    lua_pop(lua, 1);
    return reply;
}

value table_at_top(lua_State* lua, int resp) {
    if (auto special = special_at_top(lua, resp)) {
        return std::move(*special);
    }
    auto reply = value::array();
    for (int i = 1;; ++i) {
        ::lua_rawgeti(lua, -1, i);
        if (lua_isnil(lua, -1)) {
            lua_pop(lua, 1);
            return reply;
        }
        reply.elements.push_back(pop_reply(lua, resp));
    }
}

value reply_at_top(lua_State* lua, int resp) {
    if (!::lua_checkstack(lua, 4)) {
        return value::error("ERR reached lua stack limit");
    }
    switch (::lua_type(lua, -1)) {
        case LUA_TSTRING: return value::bulk(text_at_top(lua));
        case LUA_TBOOLEAN: {
            bool const truth = ::lua_toboolean(lua, -1) != 0;
            if (resp == 3) {
                return value::boolean(truth);
            }
            return truth ? value::integer(1) : value::nil();
        }
        case LUA_TNUMBER: return value::integer(truncated(::lua_tonumber(lua, -1)));
        case LUA_TTABLE: return table_at_top(lua, resp);
        default: return value::nil();
    }
}

value pop_reply(lua_State* lua, int resp) {
    auto reply = reply_at_top(lua, resp);
    lua_pop(lua, 1);
    return reply;
}

// --- functions that need no interpreter

int no_such_global(lua_State* lua) {
    return ::luaL_error(
        lua,
        "Script attempted to access nonexistent global variable '%s'",
        ::lua_tostring(lua, 2)
    );
}

int refuse_change(lua_State* lua) {
    return ::luaL_error(lua, "Attempt to modify a readonly table");
}

// An error of a command is a table, which scripts written for older servers take for a string.
int protected_call(lua_State* lua) {
    int const arguments = ::lua_gettop(lua);
    ::luaL_checkany(lua, 1);
    ::lua_pushboolean(lua, 1);
    ::lua_insert(lua, 1);
    if (::lua_pcall(lua, arguments - 1, LUA_MULTRET, 0) != 0) {
        ::lua_remove(lua, 1);
        if (lua_istable(lua, -1)) {
            ::lua_getfield(lua, -1, "err");
            if (::lua_isstring(lua, -1)) {
                ::lua_replace(lua, -2);
            } else {
                lua_pop(lua, 1);
            }
        }
        ::lua_pushboolean(lua, 0);
        ::lua_insert(lua, 1);
    }
    return ::lua_gettop(lua);
}

int sha1hex(lua_State* lua) {
    if (::lua_gettop(lua) != 1) {
        return raise(lua, "wrong number of arguments");
    }
    std::size_t size = 0;
    char const* const text = ::lua_tolstring(lua, 1, &size);
    auto const digits = digits_of_sha1(text ? std::string_view{text, size} : std::string_view{});
    ::lua_pushlstring(lua, digits.data(), digits.size());
    return 1;
}

int error_reply(lua_State* lua) {
    if (::lua_gettop(lua) != 1 || ::lua_type(lua, -1) != LUA_TSTRING) {
        push_error(lua, "wrong number or type of arguments");
        return 1;
    }
    if (*::lua_tostring(lua, 1) != '-') {
        ::lua_pushliteral(lua, "-");
        ::lua_insert(lua, 1);
        ::lua_concat(lua, 2);
    }
    push_error(lua, ::lua_tostring(lua, 1));
    return 1;
}

int status_reply(lua_State* lua) {
    if (::lua_gettop(lua) != 1 || ::lua_type(lua, -1) != LUA_TSTRING) {
        push_error(lua, "wrong number or type of arguments");
        return 1;
    }
    ::lua_createtable(lua, 0, 1);
    ::lua_pushvalue(lua, 1);
    ::lua_setfield(lua, -2, "ok");
    return 1;
}

int log(lua_State* lua) {
    if (::lua_gettop(lua) < 2) {
        return raise(lua, "redis.log() requires two arguments or more.");
    }
    if (!::lua_isnumber(lua, 1)) {
        return raise(lua, "First argument must be a number (log level).");
    }
    auto const level = ::lua_tonumber(lua, 1);
    if (level < 0 || level > 3) {
        return raise(lua, "Invalid debug level.");
    }
    return 0;
}

int nothing(lua_State*) {
    return 0;
}

int always(lua_State* lua) {
    ::lua_pushboolean(lua, 1);
    return 1;
}

int never(lua_State* lua) {
    ::lua_pushboolean(lua, 0);
    return 1;
}

}  // namespace

// --- the interpreter

interpreter::interpreter() : lua_{::luaL_newstate()} {
    if (lua_ == nullptr) {
        throw std::bad_alloc{};
    }
    open_libraries();
    add_redis();
    ::lua_pushcfunction(lua_, on_error);
    handler_ = ::luaL_ref(lua_, LUA_REGISTRYINDEX);
    protect_globals();
}

void interpreter::open_libraries() {
    constexpr std::pair<char const*, lua_CFunction> libraries[] = {
        {"", luaopen_base},
        {LUA_TABLIBNAME, luaopen_table},
        {LUA_STRLIBNAME, luaopen_string},
        {LUA_MATHLIBNAME, luaopen_math},
    };
    for (auto const& [name, open] : libraries) {
        ::lua_pushcfunction(lua_, open);
        ::lua_pushstring(lua_, name);
        ::lua_call(lua_, 1, 0);
    }
    // The server has none of these, but for setfenv: with it a script would outlive its call.
    for (auto const* name :
         {"dofile", "loadfile", "print", "module", "require", "newproxy", "setfenv"}) {
        ::lua_pushnil(lua_);
        ::lua_setglobal(lua_, name);
    }
    ::lua_pushcfunction(lua_, protected_call);
    ::lua_setglobal(lua_, "pcall");
    ::lua_pushcfunction(lua_, raw_set);
    ::lua_setglobal(lua_, "rawset");
    lua_getglobal(lua_, LUA_MATHLIBNAME);
    add("random", random);
    add("randomseed", random_seed);
    lua_pop(lua_, 1);
}

void interpreter::add(char const* name, lua_CFunction function) {
    ::lua_pushlightuserdata(lua_, this);
    ::lua_pushcclosure(lua_, function, 1);
    ::lua_setfield(lua_, -2, name);
}

void interpreter::add_redis() {
    ::lua_newtable(lua_);
    add("call", call);
    add("pcall", pcall);
    add("setresp", set_resp);
    add("acl_check_cmd", acl_check_cmd);
    add("sha1hex", sha1hex);
    add("error_reply", error_reply);
    add("status_reply", status_reply);
    add("log", log);
    add("set_repl", nothing);
    add("replicate_commands", always);
    add("breakpoint", never);
    add("debug", nothing);
    constexpr std::pair<char const*, int> numbers[] = {
        {"LOG_DEBUG", 0},
        {"LOG_VERBOSE", 1},
        {"LOG_NOTICE", 2},
        {"LOG_WARNING", 3},
        {"REPL_NONE", 0},
        {"REPL_AOF", 1},
        {"REPL_SLAVE", 2},
        {"REPL_REPLICA", 2},
        {"REPL_ALL", 3},
        {"REDIS_VERSION_NUM", 0x0007000f},
    };
    for (auto const& [name, number] : numbers) {
        ::lua_pushinteger(lua_, number);
        ::lua_setfield(lua_, -2, name);
    }
    ::lua_pushliteral(lua_, "7.0.15");
    ::lua_setfield(lua_, -2, "REDIS_VERSION");
    ::lua_setglobal(lua_, "redis");
}

// The server's Lua knows tables that cannot be changed. Here an empty table stands before each.
void push_shield(lua_State* lua, int behind) {
    ::lua_newtable(lua);
    ::lua_createtable(lua, 0, 3);
    ::lua_pushvalue(lua, behind);
    ::lua_setfield(lua, -2, "__index");
    ::lua_pushcfunction(lua, refuse_change);
    ::lua_setfield(lua, -2, "__newindex");
    ::lua_pushboolean(lua, 0);
    ::lua_setfield(lua, -2, "__metatable");
    ::lua_setmetatable(lua, -2);
}

void interpreter::protect_library(char const* name) {
    ::lua_getglobal(lua_, name);
    push_shield(lua_, ::lua_gettop(lua_));
    ::lua_setglobal(lua_, name);
    lua_pop(lua_, 1);
}

void interpreter::protect_globals() {
    for (auto const* name : {"string", "table", "math", "coroutine", "redis"}) {
        protect_library(name);
    }
    ::lua_pushliteral(lua_, "");
    ::lua_getmetatable(lua_, -1);
    ::lua_pushboolean(lua_, 0);
    ::lua_setfield(lua_, -2, "__metatable");
    lua_pop(lua_, 2);

    ::lua_pushvalue(lua_, LUA_GLOBALSINDEX);
    int const globals = ::lua_gettop(lua_);
    ::lua_createtable(lua_, 0, 1);
    ::lua_pushcfunction(lua_, no_such_global);
    ::lua_setfield(lua_, -2, "__index");
    ::lua_setmetatable(lua_, globals);
    push_shield(lua_, globals);
    ::lua_pushvalue(lua_, -1);
    ::lua_setfield(lua_, globals, "_G");
    ::lua_replace(lua_, LUA_GLOBALSINDEX);
    globals_ = ::luaL_ref(lua_, LUA_REGISTRYINDEX);
}

int interpreter::raw_set(lua_State* lua) {
    luaL_checktype(lua, 1, LUA_TTABLE);
    ::luaL_checkany(lua, 2);
    ::luaL_checkany(lua, 3);
    ::lua_settop(lua, 3);
    if (::lua_getmetatable(lua, 1) != 0) {
        ::lua_pushliteral(lua, "__newindex");
        ::lua_rawget(lua, -2);
        if (::lua_tocfunction(lua, -1) == refuse_change) {
            ::lua_pushliteral(lua, "Attempt to modify a readonly table");
            return ::lua_error(lua);
        }
        ::lua_settop(lua, 3);
    }
    ::lua_rawset(lua, 1);
    return 1;
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
                push_command_error(lua, answer.reply.text);
            } else {
                push_reply(lua, answer.reply, host_->resp());
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

int interpreter::set_resp(lua_State* lua) {
    if (::lua_gettop(lua) != 1) {
        return raise(lua, "redis.setresp() requires one argument.");
    }
    auto const version = ::lua_tonumber(lua, 1);
    if (version != 2 && version != 3) {
        return raise(lua, "RESP version must be 2 or 3.");
    }
    self(lua).host_->set_resp(static_cast<int>(version));
    return 0;
}

int interpreter::acl_check_cmd(lua_State* lua) {
    int const count = ::lua_gettop(lua);
    auto& me = self(lua);
    if (count == 0) {
        return raise(lua, "Please specify at least one argument for this redis lib call");
    }
    if (!me.read_words(lua, count)) {
        return raise(lua, "Lua redis lib command arguments must be strings or integers");
    }
    bool known = false;
    bool const may = me.host_->may_run(me.words_, known);
    if (!known) {
        return raise(lua, "Invalid command passed to redis.acl_check_cmd()");
    }
    ::lua_pushboolean(lua, may);
    return 1;
}

// The server's generator, which starts anew with each script here.
double interpreter::next_random() {
    constexpr auto mask = (std::uint64_t{1} << 48) - 1;
    random_ = (random_ * 0x5DEECE66D + 0xB) & mask;
    constexpr std::uint64_t end = std::numeric_limits<std::int32_t>::max();
    return static_cast<double>((random_ >> 17) % end) / static_cast<double>(end);
}

int interpreter::random(lua_State* lua) {
    auto const r = self(lua).next_random();
    switch (::lua_gettop(lua)) {
        case 0: ::lua_pushnumber(lua, r); break;
        case 1: {
            int const most = luaL_checkint(lua, 1);
            luaL_argcheck(lua, 1 <= most, 1, "interval is empty");
            ::lua_pushnumber(lua, std::floor(r * most) + 1);
            break;
        }
        case 2: {
            int const least = luaL_checkint(lua, 1);
            int const most = luaL_checkint(lua, 2);
            luaL_argcheck(lua, least <= most, 2, "interval is empty");
            ::lua_pushnumber(lua, std::floor(r * (most - least + 1)) + least);
            break;
        }
        default: return ::luaL_error(lua, "wrong number of arguments");
    }
    return 1;
}

int interpreter::random_seed(lua_State* lua) {
    self(lua).seed(luaL_checkint(lua, 1));
    return 0;
}

// --- scripts

namespace {

// The words of `#!lua name=value ...`; an error text, or nothing.
std::optional<std::string> read_shebang(std::string_view line, script_flags& flags) {
    flags.compatible = false;
    bool first = true;
    while (!line.empty()) {
        auto const space = line.find(' ');
        auto const word = line.substr(0, space);
        line = space == std::string_view::npos ? std::string_view{} : line.substr(space + 1);
        if (word.empty()) {
            continue;
        }
        if (std::exchange(first, false)) {
            if (word != "#!lua") {
                return "Unexpected engine in script shebang: " + std::string{word};
            }
            continue;
        }
        constexpr std::string_view option = "flags=";
        if (!word.starts_with(option)) {
            return "Unknown lua shebang option: " + std::string{word};
        }
        for (auto rest = word.substr(option.size()); !rest.empty();) {
            auto const comma = rest.find(',');
            auto const flag = rest.substr(0, comma);
            rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
            if (flag == "no-writes") {
                flags.no_writes = true;
            } else if (flag == "allow-oom") {
                flags.allow_oom = true;
            } else if (flag == "allow-stale") {
                flags.allow_stale = true;
            } else if (flag != "no-cluster" && flag != "allow-cross-slot-keys") {
                return "Unexpected flag in script shebang: " + std::string{flag};
            }
        }
    }
    return std::nullopt;
}

// Where the Lua text starts: the line feed of a first line that is not Lua counts.
std::size_t shebang_size(std::string_view text) {
    return text.starts_with("#!") ? text.find('\n') : 0;
}

}  // namespace

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
    auto const code = std::string_view{script.text}.substr(shebang_size(script.text));
    if (::luaL_loadbuffer(lua_, code.data(), code.size(), "@user_script") != 0) {
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
    auto const digits = digits_of_sha1(text);
    made->sha1.assign(digits.data(), digits.size());
    auto const line = shebang_size(text);
    if (line == std::string_view::npos) {
        return "Invalid script shebang";
    }
    if (line > 0) {
        if (auto error = read_shebang(text.substr(0, line), made->flags)) {
            return std::move(*error);
        }
    }
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
        std::string text = "ERR Error running script " + script.sha1 + ", ";
        bool const there = ::lua_isstring(lua_, -1) != 0;
        text +=
            std::string_view{there ? ::lua_tostring(lua_, -1) : "execution failure"}.substr(0, 100);
        return value::error(one_line(std::string{trimmed(text)}));
    }
    bool has_text = false;
    bool has_source = false;
    bool has_line = false;
    int const table = ::lua_gettop(lua_);
    auto text = string_field(lua_, table, "err", has_text);
    auto const source = string_field(lua_, table, "source", has_source);
    auto const line = string_field(lua_, table, "line", has_line);
    if (has_source && has_line) {
        text += " script: " + script.sha1 + ", on " + source + ":" + line + ".";
    }
    return value::error(one_line(std::move(text)));
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

    seed(0);
    host_ = &host;
    bool const failed = ::lua_pcall(lua_, 0, 1, -2) != 0;
    host_ = nullptr;
    auto reply = failed ? failure(script) : reply_at_top(lua_, host.resp());
    ::lua_settop(lua_, 0);
    if (thrown_) {
        std::rethrow_exception(std::exchange(thrown_, nullptr));
    }
    return reply;
}

std::string sha1_hex(std::string_view text) {
    auto const digits = digits_of_sha1(text);
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

}  // namespace holdfast::sim
