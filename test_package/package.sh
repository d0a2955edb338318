# shellcheck shell=bash
# ./dev package: builds projects that use the library, creates the Conan package in four variants,
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
    local shared type kind log all unity
    for shared in False True; do
        kind=$([[ $shared == True ]] && echo shared || echo static)
        for type in Release Debug; do
            say "conan create ($kind, $type)"
            log=$logs/$kind-$type.log
            # Everything that is optional once: its own variants are not of interest.
            all=$([[ $kind-$type == shared-Release ]] && echo True || echo False)
            # Once it is compiled file by file, as users do it by default, without the time that
            # optimising each file takes.
            unity=$([[ $kind-$type == static-Debug ]] && echo OFF || echo ON)
            quietly "$log" conan create . "$@" -s build_type="$type" -o "holdfast/*:shared=$shared" \
                -o "holdfast/*:cli=$all" -o "holdfast/*:prometheus=$all" -o "holdfast/*:testing=$all" \
                -c "tools.cmake.cmaketoolchain:extra_variables*={'HOLDFAST_BUILD_UNITY': '$unity', 'CMAKE_CXX_FLAGS_DEBUG': '-O0'}" \
                -c tools.build:jobs="$jobs" -c tools.cmake.cmake_layout:test_folder="$logs"
            grep '^holdfast .*: ok$' "$log"
        done
    done
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
