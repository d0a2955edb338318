# shellcheck shell=bash
# ./dev package debian: builds Debian packages from this checkout, installs them in a clean root of
# this machine's Debian, and compiles and runs programs there. Read by ./dev, whose functions it
# calls.
#
# Where the suite has no Boost that is new enough, the packages are built with the one that ./dev
# unpacked, and they do not depend on a package of it: the clean root gets its headers in the same way.

debian_tools=(dpkg-buildpackage=dpkg-dev dh=debhelper lintian=lintian mmdebstrap=mmdebstrap)

# The sources as a maintainer would have them, with debian/ in its place.
prepare_debian_source() {
    local source=$1
    rm -rf "$source"
    mkdir -p "$source/test/packaging"
    cp -r CMakeLists.txt LICENSE README.md CHANGELOG.md include src examples "$source"
    cp -r test/packaging/consumers "$source/test/packaging"
    cp -r test/packaging/debian "$source/debian"
}

# build_debian SOURCE OPTION...
build_debian() {
    local source=$1
    shift
    # debhelper builds with a home folder of its own.
    (
        cd "$source"
        export CCACHE_DIR CCACHE_BASEDIR=$PWD DEB_BUILD_OPTIONS="parallel=$jobs"
        CCACHE_DIR=$(ccache -k cache_dir)
        dpkg-buildpackage -b -uc -us "$@"
    )
}

# In the root: a program's compilation and its run, what gdb says of one, and that nothing stays of
# packages that are removed.
cat_root_script() {
    cat <<'END'
set -eu
cd /packages
test/packaging/debian/tests/consumer
# shellcheck disable=SC2046 # pkg-config writes words
c++ -std=c++20 -g -O0 test/packaging/gdb/program.cpp $(pkg-config --cflags --libs holdfast) -o program
said=$(test/packaging/gdb/check ./program)
echo "$said"
[ "${said#*lease of}" != "$said" ]
if [ -x /usr/bin/holdfast ]; then
    holdfast --version
    examples/with_server sh -c 'holdfast run --url "$0" packages -- echo "run under the lock"'
fi
dpkg -P $(dpkg-query -W -f '${Package} ' '*holdfast*') >/dev/null
left=$(find /usr /etc /var/lib/dpkg/info -name '*holdfast*')
[ -z "$left" ] || { echo "the packages leave behind: $left"; exit 1; }
END
}

# What the packages depend on, apart from each other.
dependencies_of() {
    local deb
    for deb; do dpkg-deb -f "$deb" Pre-Depends Depends; done | sed -E 's/^[A-Za-z-]+: //; s/\([^)]*\)//g; s/\|[^,]*//g' |
        tr -s ', ' '\n\n' | grep -v '^\(lib\)\?holdfast\|^$' | sort -u
}

# install_in_clean_root FOLDER SUITE MIRROR BOOST
install_in_clean_root() {
    local out=$1 suite=$2 mirror=$3 boost=$4 include hooks=()
    include=$(dependencies_of "$out"/*.deb | paste -sd ,)
    cat_root_script >"$out/root.sh"
    hooks+=(
        "--customize-hook=mkdir -p \"\$1/packages/test\""
        "--customize-hook=copy-in examples $(printf '%s ' "$out"/*.deb) $out/root.sh /packages"
        "--customize-hook=copy-in test/packaging /packages/test"
        # It refuses to configure a package that misses a dependency.
        "--customize-hook=chroot \"\$1\" sh -c 'dpkg -i /packages/*.deb'"
    )
    if [[ -n $boost ]]; then
        # Where a compiler looks by itself, as somebody would unpack it who has no package.
        hooks+=("--customize-hook=tar -C \"$boost\" -cf - include lib | tar -C \"\$1/usr/local\" -xf -")
    fi
    hooks+=("--customize-hook=chroot \"\$1\" sh /packages/root.sh")
    mmdebstrap --quiet --variant=apt --format=null \
        --include="$include,cmake,g++,gdb,ninja-build,pkgconf,redis-server" \
        --aptopt='APT::Install-Recommends "false"' "${hooks[@]}" "$suite" /dev/null "deb $mirror $suite main"
}

package_debian() {
    local out=$PWD/build/debian version suite mirror boost='' profiles=()
    setup
    install_missing "${debian_tools[@]}"
    version=$(sed -n 's/^ *VERSION \([0-9.]*\)$/\1/p' CMakeLists.txt)
    suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
    mirror=$(debian_mirror)
    [[ -n $mirror ]] || die "no Debian mirror in apt's sources for a clean root"

    say "building the packages in build/debian"
    rm -rf "$out"
    prepare_debian_source "$out/holdfast-$version"
    if ! dpkg -s libboost1.92-dev >/dev/null 2>&1; then
        export Boost_ROOT=${Boost_ROOT:-$PWD/build/boost/usr}
        boost=$Boost_ROOT
        profiles=(pkg.holdfast.boost)
    fi
    # Where the sources have the program.
    if grep -q HOLDFAST_BUILD_CLI CMakeLists.txt; then profiles+=(pkg.holdfast.program); fi
    build_debian "$out/holdfast-$version" "-P$(IFS=,; echo "${profiles[*]}")" >"$out/build.log" 2>&1 ||
        { tail -n 20 "$out/build.log" | cut -c1-300 >&2; return 1; }
    say "lintian"
    # It is no upload to Debian.
    lintian --allow-root --suppress-tags initial-upload-closes-no-bugs --fail-on error,warning "$out"/holdfast_*.changes
    if grep -rlaF "$PWD" "$out/holdfast-$version/debian/libholdfast0.1" "$out/holdfast-$version/debian/libholdfast-dev"; then
        die "these name folders of the build"
    fi
    say "installing them in a clean root of $suite, and compiling a program there"
    install_in_clean_root "$out" "$suite" "$mirror" "$boost"
    (cd "$out" && ls -l -- *.deb)
}
