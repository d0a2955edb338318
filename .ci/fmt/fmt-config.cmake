# The fmt that `./dev newest` fetches. Headers only: its library may need a newer libc than there is.
get_filename_component(include "${CMAKE_CURRENT_LIST_DIR}/../../build/newest/fmt/usr/include" ABSOLUTE)
file(STRINGS "${include}/fmt/base.h" fmt_VERSION REGEX "^#define FMT_VERSION [0-9]+$")
string(REGEX REPLACE ".* ([0-9]+)([0-9][0-9])([0-9][0-9])$" "\\1.\\2.\\3" fmt_VERSION "${fmt_VERSION}")

add_library(fmt::fmt INTERFACE IMPORTED)
target_include_directories(fmt::fmt INTERFACE "${include}")
target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY)
