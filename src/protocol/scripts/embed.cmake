# Writes OUTPUT: for each file of SCRIPTS a line HOLDFAST_SCRIPT(symbol, "name", "sha1", R"lua(text)lua").
# Redis names a script by the SHA-1 of its text, so the text must be embedded byte for byte.
set(entries "")
foreach(script IN LISTS SCRIPTS)
    get_filename_component(name "${script}" NAME_WE)
    get_filename_component(primitive "${script}" DIRECTORY)
    get_filename_component(primitive "${primitive}" NAME)
    file(READ "${script}" text)
    string(SHA1 raw_sha "${text}")
    file(SHA1 "${script}" file_sha)

    # `--#include FILE` stands for the text of a file in include/, once each.
    string(REGEX MATCHALL "--#include [a-z_.]+\n" includes "${text}")
    foreach(line IN LISTS includes)
        string(REGEX REPLACE "--#include ([a-z_.]+)\n" "\\1" included "${line}")
        file(READ "${CMAKE_CURRENT_LIST_DIR}/include/${included}" included_text)
        string(REPLACE "${line}" "${included_text}" text "${text}")
    endforeach()

    # CMake drops a NUL byte, a compiler may turn CR LF into LF.
    if(NOT raw_sha STREQUAL file_sha OR text MATCHES "\r")
        message(FATAL_ERROR "${script}: plain text with LF line ends is needed")
    endif()
    string(FIND "${text}" ")lua\"" closing)
    if(NOT closing EQUAL -1)
        message(FATAL_ERROR "${script}: must not contain )lua\"")
    endif()

    string(SHA1 text_sha "${text}")
    string(APPEND entries "HOLDFAST_SCRIPT(${primitive}_${name}, \"${primitive}.${name}\", \"${text_sha}\", R\"lua(${text})lua\")\n")
endforeach()
file(WRITE "${OUTPUT}" "${entries}")
