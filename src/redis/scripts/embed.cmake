# Writes OUTPUT: for each file of SCRIPTS a line HOLDFAST_SCRIPT(name, "sha1", R"lua(text)lua").
# Redis names a script by the SHA-1 of its text, so the text must be embedded byte for byte.
set(entries "")
foreach(script IN LISTS SCRIPTS)
    get_filename_component(name "${script}" NAME_WE)
    file(READ "${script}" text)
    string(SHA1 text_sha "${text}")
    file(SHA1 "${script}" file_sha)

    # CMake drops a NUL byte, a compiler may turn CR LF into LF.
    if(NOT text_sha STREQUAL file_sha OR text MATCHES "\r")
        message(FATAL_ERROR "${script}: plain text with LF line ends is needed")
    endif()
    string(FIND "${text}" ")lua\"" closing)
    if(NOT closing EQUAL -1)
        message(FATAL_ERROR "${script}: must not contain )lua\"")
    endif()

    string(APPEND entries "HOLDFAST_SCRIPT(${name}, \"${text_sha}\", R\"lua(${text})lua\")\n")
endforeach()
file(WRITE "${OUTPUT}" "${entries}")
