# shellcheck shell=bash
# ./dev package abi: compares the shared library of this checkout with that of a tag, by abidiff. Read
# by ./dev, whose functions it calls.

abi_tools=(abidiff=abigail-tools)

abi_help() {
    cat <<'END'
usage: ./dev package abi [TAG]
  Builds the shared library of TAG (the newest one; any commit will do) and of this checkout, and
  compares their exported functions and the types of the public headers, by abidiff. Fails if a
  program that was linked to the former does not run with the latter although the library's name is
  the same.
       ./dev package abi --self-test
  Plants a change of a type and one of a function in copies of this checkout. Fails if either is not
  found.
END
}

# build_abi NAME: the library of the sources in build/abi/NAME/source.
build_abi() {
    local name=$1 place=$PWD/build/abi/$1
    say "building the library of $name"
    # Sources that are the same are compiled once.
    (
        export CCACHE_BASEDIR=$place CCACHE_NOHASHDIR=1
        # What it is optimised for does not show in the ABI.
        cmake -G Ninja -S "$place/source" -B "$place/build" -DCMAKE_BUILD_TYPE=None "-DCMAKE_CXX_FLAGS=-g -O0" \
            -DBUILD_SHARED_LIBS=ON -DHOLDFAST_BUILD_UNITY=ON -DCMAKE_PREFIX_PATH="${Boost_ROOT:-$PWD/build/boost/usr}"
        ninja -C "$place/build" -j "$jobs" holdfast
    ) >"$place/log" 2>&1 || { tail -n 30 "$place/log" >&2; return 1; }
}

checkout_abi() {
    local place=build/abi/$1/source
    rm -rf "build/abi/$1"
    mkdir -p "$place"
    if [[ -n ${2:-} ]]; then
        git archive "$2" CMakeLists.txt LICENSE include src | tar -xf - -C "$place"
    else
        cp -r CMakeLists.txt LICENSE include src "$place"
    fi
}

soname() { readelf -d "build/abi/$1/build/libholdfast.so" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p'; }

# compare_abi OLD NEW: fails if they have one name and NEW cannot take the place of OLD. What is only
# added is no difference.
compare_abi() {
    local old=build/abi/$1 new=build/abi/$2 result=0
    abidiff --no-added-syms --suppressions test/packaging/abi.suppressions --headers-dir1 "$old/source/include" --headers-dir2 "$new/source/include" \
        "$old/build/libholdfast.so" "$new/build/libholdfast.so" >"build/abi/report" || result=$?
    cat build/abi/report
    if ((result & 3)); then die "abidiff failed"; fi
    if ((result & 4)); then
        if [[ $(soname "$1") != "$(soname "$2")" ]]; then
            echo "They are different, and so are their names: $(soname "$1"), $(soname "$2")"
            return
        fi
        return 1
    fi
}

plant() {
    local name=$1 file=$2 change=$3
    checkout_abi "$name"
    cp "$file" build/abi/before
    sed -i -E "$change" "build/abi/$name/source/$file"
    ! cmp -s build/abi/before "build/abi/$name/source/$file" || die "nothing was planted in $file"
    build_abi "$name"
    if compare_abi here "$name"; then die "the change of $file was not found"; fi
    say "the change of $file is found"
}

package_abi() {
    local tag=${1:-}
    case $tag in
        --help | -h) abi_help && return ;;
        --self-test) ;;
        '')
            tag=$(git describe --tags --abbrev=0 2>/dev/null) || die "there is no tag yet: name a commit to compare with"
            ;;
        *) git rev-parse -q --verify "$tag^{commit}" >/dev/null || die "there is no $tag" ;;
    esac
    setup
    install_missing "${abi_tools[@]}"
    checkout_abi here
    build_abi here
    if [[ $tag == --self-test ]]; then
        compare_abi here here || die "a library differs from itself"
        plant function src/error.cpp 's/^bool is_retryable\(/bool is_planted(/'
        plant type include/holdfast/quorum_lease.hpp 's/^    fencing_token token_;/    int planted_ = 0;\n&/'
        return
    fi
    checkout_abi there "$tag"
    build_abi there
    compare_abi there here || die "$tag and this checkout have the same library name ($(soname here)), and different ABIs"
    echo "A program that was linked to the library of $tag runs with that of this checkout, or asks for another name."
}
