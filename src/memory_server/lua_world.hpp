#ifndef HOLDFAST_MEMORY_SERVER_LUA_WORLD_HPP
#define HOLDFAST_MEMORY_SERVER_LUA_WORLD_HPP

// Debian keeps the versions of Lua apart, and others do not.
#if __has_include(<lua5.1/lua.hpp>)
#include <lua5.1/lua.hpp>
#else
#include <lua.hpp>
#endif

#include <array>
#include <string_view>

namespace holdfast::memory::lua {

/// Raises an error of the server's, as opposed to one of Lua's.
int raise(lua_State* lua, char const* text);

/// The message handler of a script's call: makes a table of every error, with its place.
int on_error(lua_State* lua);

/// Sets up the globals of a fresh state: Lua's libraries as far as the server has them, and an
/// empty table `redis`.
void open_libraries(lua_State* lua);

/// From here on nothing that can be reached from the global names can be changed by a script.
/// Returns a reference (see luaL_ref) to the table in which KEYS and ARGV are to be set.
int protect_globals(lua_State* lua);

std::array<char, 40> digits_of_sha1(std::string_view text);

}  // namespace holdfast::memory::lua

#endif
