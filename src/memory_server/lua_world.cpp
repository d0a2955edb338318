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
    // With `rawset` and `setfenv` a script would outlive its call. The server has none of the
    // others.
    for (auto const* name :
         {"dofile", "loadfile", "print", "module", "require", "newproxy", "rawset", "setfenv"}) {
        ::lua_pushnil(lua);
        ::lua_setglobal(lua, name);
    }
    // Lua's own random numbers are those of the process: no run would be like the one before.
    ::lua_getglobal(lua, LUA_MATHLIBNAME);
    for (auto const* name : {"random", "randomseed"}) {
        ::lua_pushnil(lua);
        ::lua_setfield(lua, -2, name);
    }
    lua_pop(lua, 1);
    ::lua_pushcfunction(lua, protected_call);
    ::lua_setglobal(lua, "pcall");
    ::lua_newtable(lua);
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
