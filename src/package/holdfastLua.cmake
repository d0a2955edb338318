# Lua 5.1 as `holdfast::lua`, if it can be found: Debian's liblua5.1-0-dev, Conan's lua/5.1.5, or another
# installed one. There is no other Lua that Redis' scripts are written for.
if(NOT TARGET holdfast::lua)
    find_path(HOLDFAST_LUA_INCLUDE_DIR NAMES lua5.1/lua.hpp lua.hpp)
    find_library(HOLDFAST_LUA_LIBRARY NAMES lua5.1 lua-5.1 lua51 lua)
    mark_as_advanced(HOLDFAST_LUA_INCLUDE_DIR HOLDFAST_LUA_LIBRARY)
    if(HOLDFAST_LUA_INCLUDE_DIR AND HOLDFAST_LUA_LIBRARY)
        add_library(holdfast::lua INTERFACE IMPORTED GLOBAL)
        # A static one needs the other two.
        set_target_properties(
            holdfast::lua
            PROPERTIES
                INTERFACE_LINK_LIBRARIES "${HOLDFAST_LUA_LIBRARY};m;${CMAKE_DL_LIBS}"
                INTERFACE_INCLUDE_DIRECTORIES "${HOLDFAST_LUA_INCLUDE_DIR}"
        )
    endif()
endif()
