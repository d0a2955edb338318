# Runs the portfile without vcpkg: what it calls does here, in short, what vcpkg documents of it.
#     cmake -DPORT_DIR=… -DPACKAGES_DIR=… -DBUILD_DIR=… -DLINKAGE=static|dynamic -P functions.cmake
cmake_minimum_required(VERSION 3.25)

set(PORT holdfast)
set(CURRENT_PORT_DIR "${PORT_DIR}")
set(CURRENT_PACKAGES_DIR "${PACKAGES_DIR}")
set(kinds "Release" "Debug")
set(folder_of_Release "")
set(folder_of_Debug "/debug")

function(run)
    execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
endfunction()

function(vcpkg_cmake_configure)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS")
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "vcpkg_cmake_configure has no ${arg_UNPARSED_ARGUMENTS}")
    endif()
    set(shared OFF)
    if(LINKAGE STREQUAL dynamic)
        set(shared ON)
    endif()
    foreach(kind IN LISTS kinds)
        # That it links and runs is what counts, as for the other consumers.
        run(
            "${CMAKE_COMMAND}" -G Ninja -S "${arg_SOURCE_PATH}" -B "${BUILD_DIR}/${kind}"
            -DCMAKE_BUILD_TYPE=${kind} "-DCMAKE_CXX_FLAGS_RELEASE=-O0 -DNDEBUG"
            "-DCMAKE_CXX_FLAGS_DEBUG=-O0" -DBUILD_SHARED_LIBS=${shared}
            "-DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR}${folder_of_${kind}}"
            -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_INSTALL_BINDIR=bin ${arg_OPTIONS}
        )
    endforeach()
endfunction()

function(vcpkg_cmake_install)
    foreach(kind IN LISTS kinds)
        run("${CMAKE_COMMAND}" --build "${BUILD_DIR}/${kind}" --target install)
    endforeach()
endfunction()

# The files move from lib/cmake/X to share/X, one folder up. Those of the debug build join them.
function(vcpkg_cmake_config_fixup)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "CONFIG_PATH" "")
    set(share "${CURRENT_PACKAGES_DIR}/share/${PORT}")
    set(debug "${CURRENT_PACKAGES_DIR}/debug/${arg_CONFIG_PATH}")
    file(MAKE_DIRECTORY "${share}")
    file(GLOB files "${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH}/*" "${debug}/*-debug.cmake")
    if(NOT files)
        message(FATAL_ERROR "nothing is in ${arg_CONFIG_PATH}")
    endif()
    foreach(file IN LISTS files)
        get_filename_component(name "${file}" NAME)
        file(READ "${file}" content)
        string(REPLACE "/../../../\" ABSOLUTE" "/../../\" ABSOLUTE" content "${content}")
        set(up "get_filename_component(_IMPORT_PREFIX \"\${_IMPORT_PREFIX}\" PATH)\n")
        string(REPLACE "${up}${up}${up}" "${up}${up}" content "${content}")
        if(name MATCHES "-debug\\.cmake$")
            string(REPLACE "\${_IMPORT_PREFIX}/lib" "\${_IMPORT_PREFIX}/debug/lib" content "${content}")
        endif()
        file(WRITE "${share}/${name}" "${content}")
    endforeach()
    file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/lib/cmake" "${CURRENT_PACKAGES_DIR}/debug/lib/cmake")
endfunction()

# It checks only that there is something to fix.
function(vcpkg_fixup_pkgconfig)
    foreach(folder "" /debug)
        if(NOT EXISTS "${CURRENT_PACKAGES_DIR}${folder}/lib/pkgconfig/${PORT}.pc")
            message(FATAL_ERROR "no ${folder}/lib/pkgconfig/${PORT}.pc")
        endif()
    endforeach()
endfunction()

function(vcpkg_install_copyright)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
    file(
        INSTALL ${arg_FILE_LIST}
        DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}"
        RENAME copyright
    )
endfunction()

include("${PORT_DIR}/portfile.cmake")
