# shellcheck shell=bash
# ./dev package vcpkg [static|dynamic...]: checks the vcpkg port as far as that goes without vcpkg and its registry. The
# manifest is looked at, the portfile is run with functions of our own that do what vcpkg's are said
# to do, and a program is built with what that installs. Whether vcpkg's own Boost, fmt and OpenSSL
# fit is not seen. Read by ./dev, whose functions it calls.

check_vcpkg_manifest() {
    python3 - "$1" "$2" <<'END'
import json, re, sys

with open(sys.argv[1]) as file:
    manifest = json.load(file)
known = {"name", "version", "port-version", "description", "homepage", "license", "supports", "dependencies"}
wrong = [f"no field is called {field}" for field in manifest.keys() - known]
if manifest["name"] != "holdfast" or manifest["version"] != sys.argv[2]:
    wrong.append(f"name or version is not holdfast {sys.argv[2]}")
for dependency in manifest["dependencies"]:
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", dependency["name"]):
        wrong.append(f"{dependency['name']} is no name of a port")
    if dependency.keys() - {"name", "host", "version>=", "default-features", "features", "platform"}:
        wrong.append(f"{dependency} has a field that vcpkg does not know")
names = [dependency["name"] for dependency in manifest["dependencies"]]
if names != sorted(names):
    wrong.append("the dependencies are not in order")
sys.exit("\n".join(wrong) or None)
END
}

# What vcpkg itself refuses after a port was built.
check_vcpkg_package() {
    local package=$1 wrong=0 path
    for path in share/holdfast/copyright share/holdfast/usage share/holdfast/holdfastConfig.cmake include/holdfast.hpp; do
        [[ -e $package/$path ]] || { say "no $path"; wrong=1; }
    done
    for path in debug/include debug/share lib/cmake debug/lib/cmake; do
        [[ ! -e $package/$path ]] || { say "there is a $path"; wrong=1; }
    done
    if find "$package" -type d -empty | grep .; then say "these folders are empty"; wrong=1; fi
    if grep -rlaF -e "$package" -e "$PWD/src" "$package"; then say "these name folders of the build"; wrong=1; fi
    return "$wrong"
}

package_vcpkg() {
    local out=$PWD/build/vcpkg port=$PWD/test/packaging/vcpkg/ports/holdfast version linkage kind package
    if [[ $# == 0 ]]; then set -- static; fi  # as vcpkg's triplets for Linux
    setup
    version=$(sed -n 's/^ *VERSION \([0-9.]*\)$/\1/p' CMakeLists.txt)
    say "the manifest"
    check_vcpkg_manifest "$port/vcpkg.json" "$version"
    rm -rf "$out"
    for linkage; do
        package=$out/$linkage
        say "running the portfile ($linkage)"
        CMAKE_PREFIX_PATH=${Boost_ROOT:-$PWD/build/boost/usr} cmake -DPORT_DIR="$port" -DPACKAGES_DIR="$package" -DBUILD_DIR="$out/build-$linkage" \
            -DLINKAGE="$linkage" -P "test/packaging/vcpkg/functions.cmake"
        check_vcpkg_package "$package"
        for kind in Release Debug; do
            say "building a program with it ($linkage, $kind)"
            cmake -G Ninja -S test/packaging/consumers/conan -B "$out/consumer-$linkage-$kind" -DCMAKE_BUILD_TYPE="$kind" \
                -DCMAKE_PREFIX_PATH="$package;${Boost_ROOT:-$PWD/build/boost/usr}" >/dev/null
            cmake --build "$out/consumer-$linkage-$kind" >/dev/null
            timeout 60 examples/with_server "$out/consumer-$linkage-$kind/shop"
        done
    done
    echo "The manifest, the portfile and what it installs are as vcpkg documents them. vcpkg itself was not run."
}
