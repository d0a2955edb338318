# shellcheck shell=bash
# ./dev newest: compiles with the newest Boost and fmt that Debian has. The other builds show that the
# oldest promised ones do. Read by ./dev, whose functions it calls.

newest_suites=(experimental sid forky)

newest_boost() {
    apt-cache -c "$1/apt.conf" pkgnames libboost1. | grep -x 'libboost1\.[0-9]*-dev' | sort -V | tail -n 1
}
newest_fmt() { apt-cache -c "$1/apt.conf" pkgnames libfmt-dev | grep -x libfmt-dev; }

# The value of a header's macro.
version() { awk -v name="$2" '$1 == "#define" && $2 == name { print $3 }' "build/newest/$3/usr/include/$1"; }

newest() {
    mkdir -p build/newest
    [[ -d build/newest/boost ]] || fetch build/newest/boost newest_boost true "${newest_suites[@]}"
    [[ -d build/newest/fmt ]] || fetch build/newest/fmt newest_fmt true "${newest_suites[@]}"
    say "Boost: $(version boost/version.hpp BOOST_LIB_VERSION boost), fmt: $(version fmt/base.h FMT_VERSION fmt)"
    build newest compile_checks unit_tests
    build/newest/test/unit_tests --report_level=short
}
