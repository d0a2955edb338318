#ifndef HOLDFAST_MEMORY_SERVER_LUA_VALUES_HPP
#define HOLDFAST_MEMORY_SERVER_LUA_VALUES_HPP

#include "memory_server/value.hpp"

// Debian keeps the versions of Lua apart, and others do not.
#if __has_include(<lua5.1/lua.hpp>)
#include <lua5.1/lua.hpp>
#else
#include <lua.hpp>
#endif

#include <string>
#include <string_view>

// Replies as scripts see them, and the other way round. Lua leaves a C function by longjmp: while
// one calls what may raise an error, it must own nothing.

namespace holdfast::memory::lua {

/// Pushes a table with the field `err`: "CODE text". The text may bring its code, after a hyphen.
void push_error(lua_State* lua, std::string_view text);
/// The same for the error of a command.
void push_command_error(lua_State* lua, std::string_view text);
void push_reply(lua_State* lua, value const& reply);

/// What the server sends for the value on top of the stack, which stays there.
value reply_at_top(lua_State* lua);

/// A field of the table at `index`, if it is text or a number.
std::string string_field(lua_State* lua, int index, char const* name, bool& there);

/// A line of RESP has no line ends, nor does it begin or end with blanks made of them.
std::string as_line(std::string_view text);

}  // namespace holdfast::memory::lua

#endif
