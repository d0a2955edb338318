# shellcheck shell=bash
# ./dev package: builds projects that use the library, creates the Conan package in two variants,
# runs test_package with each, and uses the package from a project outside. Read by ./dev, whose
# functions it calls.

conan_tools=(python3=python3 'lib/python3*/ensurepip/__init__.py=python3-venv')

install_conan() {
    PATH=$PWD/build/conan-venv/bin:$PATH
    if conan --version 2>/dev/null | grep -q ' 2\.'; then return; fi
    install_missing "${conan_tools[@]}"
    say "installing Conan into build/conan-venv"
    python3 -m venv --clear build/conan-venv
    build/conan-venv/bin/pip install -q 'conan>=2.4,<3' >&2
    hash -r
}

# Runs a command that says a lot, and shows what it said if it fails.
quietly() {
    local log=$1 result=0
    shift
    "$@" >"$log" 2>&1 || result=$?
    if [[ $result != 0 ]]; then cat "$log" >&2; fi
    return "$result"
}

create_variants() {
    local kind type log all unity
    # In the second one each file is compiled by itself, as users do it by default. That all is built
    # and works is what counts: it is not worth the time of the optimiser.
    while read -r kind type all unity; do
        say "conan create ($kind, $type)"
        log=$logs/$kind-$type.log
        quietly "$log" conan create . "$@" -s build_type="$type" \
            -o "holdfast/*:shared=$([[ $kind == shared ]] && echo True || echo False)" \
            -o "holdfast/*:cli=$all" -o "holdfast/*:prometheus=$all" -o "holdfast/*:testing=$all" \
            -c "tools.cmake.cmaketoolchain:extra_variables*={'HOLDFAST_BUILD_UNITY': '$unity', 'CMAKE_CXX_FLAGS_DEBUG': '-O0', 'CMAKE_CXX_FLAGS_RELEASE': '-O0 -DNDEBUG'}" \
            -c tools.build:jobs="$jobs" -c tools.cmake.cmake_layout:test_folder="$logs" </dev/null
        grep '^holdfast .*: ok$' "$log"
    done <<'END'
shared Debug True ON
static Release False OFF
END
}

use_outside() {
    local outside
    outside=$(mktemp -d)
    # shellcheck disable=SC2064 # the folder's name must be taken now
    trap "rm -rf '$outside'" EXIT
    say "building test/packaging/consumers/conan in $outside"
    cp test/packaging/consumers/conan/* "$outside"
    (
        cd "$outside"
        quietly "$logs/install.log" conan install . "$@" --output-folder=build -g CMakeDeps -g CMakeToolchain
        quietly "$logs/configure.log" cmake --preset conan-release
        quietly "$logs/build.log" cmake --build --preset conan-release
    )

    say "running it with a Redis server of its own"
    timeout 60 examples/with_server "$outside/build/shop"
}

# The public headers alone, and the projects in test/packaging/consumers.
build_consumers() {
    build release holdfast holdfast_cli holdfast_memory_server holdfast_prometheus \
        all_verify_interface_header_sets
    say "building and running the projects in test/packaging/consumers"
    ctest --preset release -C package -L consumer -j "$((2 * jobs))"
}

package() {
    local logs=$PWD/build/package how
    build_consumers
    export CONAN_HOME=${CONAN_HOME:-$PWD/build/conan}
    install_conan
    mkdir -p "$logs"

    # Conan builds in a new folder each time.
    export CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR=$CONAN_HOME CCACHE_NOHASHDIR=1
    quietly "$logs/profile.log" conan profile detect --exist-ok
    how=(-s compiler.cppstd=20 -c tools.cmake.cmaketoolchain:generator=Ninja --build=missing)
    say "asking Conan's repositories for Boost, fmt and OpenSSL"
    if ! timeout 30 conan graph info . "${how[@]}" >"$logs/graph.log" 2>&1; then
        how=(-pr:a "$PWD/test_package/platform.profile" -nr)
        say "not to be had there: taking those of this machine (${how[*]})"
    fi
    create_variants "${how[@]}"
    (use_outside "${how[@]}")
    say "the packages are in CONAN_HOME=$CONAN_HOME; README.md says how to use them"
}
