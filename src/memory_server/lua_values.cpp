#include "memory_server/lua_values.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

namespace holdfast::memory::lua {

using kind = value::kind;

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

std::string string_field(lua_State* lua, int index, char const* name, bool& there) {
    ::lua_getfield(lua, index, name);
    there = ::lua_isstring(lua, -1) != 0;
    std::string const text = there ? ::lua_tostring(lua, -1) : "";
    lua_pop(lua, 1);
    return text;
}

// --- from replies to Lua

namespace {

void push_elements(lua_State* lua, value const& reply) {
    ::lua_createtable(lua, static_cast<int>(reply.elements.size()), 0);
    for (std::size_t i = 0; i < reply.elements.size(); ++i) {
        push_reply(lua, reply.elements[i]);
        ::lua_rawseti(lua, -2, static_cast<int>(i) + 1);
    }
}

void push_text(lua_State* lua, std::string_view text) {
    ::lua_pushlstring(lua, text.data(), text.size());
}

}  // namespace

void push_reply(lua_State* lua, value const& reply) {
    ::luaL_checkstack(lua, 6, "a reply is nested too deeply");
    switch (reply.type) {
        case kind::nil: ::lua_pushboolean(lua, 0); break;
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
        case kind::push: push_elements(lua, reply); break;
    }
}

// --- from Lua to replies

namespace {

std::int64_t truncated(lua_Number number) {
    constexpr lua_Number end = 9223372036854775808.0;
    // What the processor makes of a number that does not fit.
    return number >= -end && number < end ? static_cast<std::int64_t>(number)
                                          : std::numeric_limits<std::int64_t>::min();
}

std::string on_one_line(std::string text) {
    std::ranges::replace(text, '\r', ' ');
    std::ranges::replace(text, '\n', ' ');
    return text;
}

std::string text_at_top(lua_State* lua) {
    std::size_t size = 0;
    char const* const text = ::lua_tolstring(lua, -1, &size);
    return {text, size};
}

value pop_reply(lua_State* lua);

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

std::optional<value> special_at_top(lua_State* lua) {
    std::optional<value> reply;
    if (has_field(lua, "err", LUA_TSTRING)) {
        reply = value::error(as_line(::lua_tostring(lua, -1)));
    } else if (has_field(lua, "ok", LUA_TSTRING)) {
        reply = value::status(on_one_line(::lua_tostring(lua, -1)));
    } else {
        return reply;
    }
    lua_pop(lua, 1);
    return reply;
}

value table_at_top(lua_State* lua) {
    if (auto special = special_at_top(lua)) {
        return std::move(*special);
    }
    auto reply = value::array();
    for (int i = 1;; ++i) {
        ::lua_rawgeti(lua, -1, i);
        if (lua_isnil(lua, -1)) {
            lua_pop(lua, 1);
            return reply;
        }
        reply.elements.push_back(pop_reply(lua));
    }
}

value pop_reply(lua_State* lua) {
    auto reply = reply_at_top(lua);
    lua_pop(lua, 1);
    return reply;
}

}  // namespace

value reply_at_top(lua_State* lua) {
    if (!::lua_checkstack(lua, 4)) {
        return value::error("ERR reached lua stack limit");
    }
    switch (::lua_type(lua, -1)) {
        case LUA_TSTRING: return value::bulk(text_at_top(lua));
        case LUA_TBOOLEAN: return ::lua_toboolean(lua, -1) != 0 ? value::integer(1) : value::nil();
        case LUA_TNUMBER: return value::integer(truncated(::lua_tonumber(lua, -1)));
        case LUA_TTABLE: return table_at_top(lua);
        default: return value::nil();
    }
}

std::string as_line(std::string_view text) {
    auto const first = std::min(text.find_first_not_of("\r\n"), text.size());
    text.remove_prefix(first);
    return on_one_line(std::string{text.substr(0, text.find_last_not_of("\r\n") + 1)});
}

}  // namespace holdfast::memory::lua
