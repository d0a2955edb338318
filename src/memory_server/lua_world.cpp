#include "memory_server/lua_world.hpp"

#include "memory_server/lua_values.hpp"

#include <openssl/evp.h>

#include <cstring>
#include <utility>

// Lua leaves a C function by longjmp: while one calls what may raise an error, it must own nothing.

namespace holdfast::memory::lua {

int raise(lua_State* lua, char const* text) {
    push_error(lua, text);
    return ::lua_error(lua);
}

namespace {

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

}  // namespace

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

std::array<char, 40> digits_of_sha1(std::string_view text) {
    constexpr std::size_t sha1_size = 20;
    std::array<unsigned char, sha1_size> digest{};
    unsigned size = 0;
    ::EVP_Digest(text.data(), text.size(), digest.data(), &size, ::EVP_sha1(), nullptr);
    std::array<char, 2 * sha1_size> digits{};
    for (std::size_t i = 0; i < sha1_size; ++i) {
        constexpr char const* hexadecimal = "0123456789abcdef";
        digits[2 * i] = hexadecimal[digest[i] >> 4];
        digits[2 * i + 1] = hexadecimal[digest[i] & 0xF];
    }
    return digits;
}

namespace {

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

int raw_set(lua_State* lua) {
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

void push_redis(lua_State* lua) {
    ::lua_newtable(lua);
    constexpr std::pair<char const*, lua_CFunction> functions[] = {
        {"sha1hex", sha1hex},
        {"error_reply", error_reply},
        {"status_reply", status_reply},
        {"log", log},
        {"set_repl", nothing},
        {"replicate_commands", always},
        {"breakpoint", never},
        {"debug", nothing},
    };
    for (auto const& [name, function] : functions) {
        ::lua_pushcfunction(lua, function);
        ::lua_setfield(lua, -2, name);
    }
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
        ::lua_pushinteger(lua, number);
        ::lua_setfield(lua, -2, name);
    }
    ::lua_pushliteral(lua, "7.0.15");
    ::lua_setfield(lua, -2, "REDIS_VERSION");
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

void protect_library(lua_State* lua, char const* name) {
    ::lua_getglobal(lua, name);
    push_shield(lua, ::lua_gettop(lua));
    ::lua_setglobal(lua, name);
    lua_pop(lua, 1);
}

}  // namespace

void open_libraries(lua_State* lua) {
    constexpr std::pair<char const*, lua_CFunction> libraries[] = {
        {"", luaopen_base},
        {LUA_TABLIBNAME, luaopen_table},
        {LUA_STRLIBNAME, luaopen_string},
        {LUA_MATHLIBNAME, luaopen_math},
    };
    for (auto const& [name, open] : libraries) {
        ::lua_pushcfunction(lua, open);
        ::lua_pushstring(lua, name);
        ::lua_call(lua, 1, 0);
    }
    // The server has none of these, but for setfenv: with it a script would outlive its call.
    for (auto const* name :
         {"dofile", "loadfile", "print", "module", "require", "newproxy", "setfenv"}) {
        ::lua_pushnil(lua);
        ::lua_setglobal(lua, name);
    }
    ::lua_pushcfunction(lua, protected_call);
    ::lua_setglobal(lua, "pcall");
    ::lua_pushcfunction(lua, raw_set);
    ::lua_setglobal(lua, "rawset");
    push_redis(lua);
    ::lua_setglobal(lua, "redis");
}

int protect_globals(lua_State* lua) {
    for (auto const* name : {"string", "table", "math", "coroutine", "redis"}) {
        protect_library(lua, name);
    }
    ::lua_pushliteral(lua, "");
    ::lua_getmetatable(lua, -1);
    ::lua_pushboolean(lua, 0);
    ::lua_setfield(lua, -2, "__metatable");
    lua_pop(lua, 2);

    ::lua_pushvalue(lua, LUA_GLOBALSINDEX);
    int const globals = ::lua_gettop(lua);
    ::lua_createtable(lua, 0, 1);
    ::lua_pushcfunction(lua, no_such_global);
    ::lua_setfield(lua, -2, "__index");
    ::lua_setmetatable(lua, globals);
    push_shield(lua, globals);
    ::lua_pushvalue(lua, -1);
    ::lua_setfield(lua, globals, "_G");
    ::lua_replace(lua, LUA_GLOBALSINDEX);
    return ::luaL_ref(lua, LUA_REGISTRYINDEX);
}

}  // namespace holdfast::memory::lua
