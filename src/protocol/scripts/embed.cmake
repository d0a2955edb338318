# Writes OUTPUT: for each file of SCRIPTS a line
# HOLDFAST_SCRIPT(symbol, "name", "sha1", R"lua(text)lua", {cluster's text, sha1}, {sharded text, sha1}).
# Redis names a script by the SHA-1 of its text, so what is embedded is what is sent, byte for byte.
set(entries "")
foreach(script IN LISTS SCRIPTS)
    get_filename_component(name "${script}" NAME_WE)
    get_filename_component(primitive "${script}" DIRECTORY)
    get_filename_component(primitive "${primitive}" NAME)
    file(READ "${script}" text)
    string(SHA1 raw_sha "${text}")
    file(SHA1 "${script}" file_sha)

    # `--#include FILE` stands for the text of a file in include/, which may include others.
    while(text MATCHES "--#include ([a-z_.]+)\n")
        set(line "${CMAKE_MATCH_0}")
        file(READ "${CMAKE_CURRENT_LIST_DIR}/include/${CMAKE_MATCH_1}" included_text)
        string(REPLACE "${line}" "${included_text}" text "${text}")
    endwhile()

    # A server that does not know a script gets its text: of the comments only the name, and no indentation.
    string(REGEX REPLACE "\n *--[^\n]*" "" text "\n${text}")
    string(REGEX REPLACE "\n[\n ]+" "\n" text "${text}")
    set(text "-- holdfast ${primitive}.${name}${text}")

    # CMake drops a NUL byte, a compiler may turn CR LF into LF.
    if(NOT raw_sha STREQUAL file_sha OR text MATCHES "\r")
        message(FATAL_ERROR "${script}: plain text with LF line ends is needed")
    endif()
    string(FIND "${text}" ")lua\"" closing)
    if(NOT closing EQUAL -1)
        message(FATAL_ERROR "${script}: must not contain )lua\"")
    endif()

    string(SHA1 text_sha "${text}")

    # On a cluster a client has a channel for each lock, in the lock's slot. The second key is one of the lock's with the same hash
    # tag behind its first word.
    string(REPLACE "'holdfast_client:' .." "string.gsub(KEYS[2], '^[^:]+', 'holdfast_client') .. ':' .." cluster "${text}")
    string(REPLACE "'PUBLISH'" "'SPUBLISH'" sharded "${cluster}")
    string(REPLACE "'NUMSUB'" "'SHARDNUMSUB'" sharded "${sharded}")
    set(forms "")
    foreach(form IN ITEMS cluster sharded)
        if("${${form}}" STREQUAL "${text}")
            string(APPEND forms ", {}")
        else()
            string(SHA1 form_sha "${${form}}")
            string(APPEND forms ", {R\"lua(${${form}})lua\", \"${form_sha}\"}")
        endif()
    endforeach()
    string(APPEND entries "HOLDFAST_SCRIPT(${primitive}_${name}, \"${primitive}.${name}\", \"${text_sha}\", R\"lua(${text})lua\"${forms})\n")
endforeach()
file(WRITE "${OUTPUT}" "${entries}")
