# shellcheck shell=bash
# What ./dev needs before it can build: packages of the system, and newer Boost and Valkey, unpacked
# under build/. Read by ./dev, whose functions it calls.

as_root() {
    if [[ $(id -u) == 0 ]]; then "$@"; else sudo "$@"; fi
}

is_there() {
    case $1 in
        */*) compgen -G "/usr/$1" >/dev/null || compgen -G "/usr/local/$1" >/dev/null ;;
        *) command -v "$1" >/dev/null ;;
    esac
}

install_missing() {
    local tool missing=()
    for tool; do
        is_there "${tool%=*}" || missing+=("${tool##*=}")
    done
    if [[ ${#missing[@]} == 0 ]]; then return; fi

    say "installing ${missing[*]}"
    command -v apt-get >/dev/null || die "no apt-get here: please install ${missing[*]} yourself"
    [[ $(id -u) == 0 ]] || command -v sudo >/dev/null ||
        die "no sudo here: please install ${missing[*]} as root"
    # The tests start servers of their own. The policy keeps the package from starting one too.
    as_root sh -euc '
        export DEBIAN_FRONTEND=noninteractive
        policy=/usr/sbin/policy-rc.d
        if [ ! -e "$policy" ]; then
            trap "rm -f $policy" EXIT
            trap "exit 1" HUP INT TERM
            printf "#!/bin/sh\nexit 101\n" >"$policy"
            chmod 755 "$policy"
        fi
        apt-get -qq update
        apt-get -qq -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$@" >/dev/null
        # Nor shall one start with the machine.
        case " $* " in
            *" redis-server "*) systemctl -q disable redis-server 2>/dev/null || true ;;
        esac
    ' sh "${missing[@]}" </dev/null >&2
}

# An installed Boost counts when it is new enough and brings its CMake files.
boost_is_installed() {
    local prefix prefixes
    IFS=';:' read -ra prefixes <<<"${Boost_ROOT:-};${CMAKE_PREFIX_PATH:-};/usr/local;/usr;$PWD/build/boost/usr"
    for prefix in "${prefixes[@]}"; do
        [[ -n $prefix && -r $prefix/include/boost/version.hpp ]] || continue
        compgen -G "$prefix/lib*/cmake/Boost-*" >/dev/null ||
            compgen -G "$prefix/lib/*/cmake/Boost-*" >/dev/null || continue
        awk -v minimum="$((100000 + boost_minimum * 100))" \
            '$2 == "BOOST_VERSION" { found = $3 >= minimum } END { exit !found }' \
            "$prefix/include/boost/version.hpp" && return
    done
    return 1
}

# The machine's own mirror serves the newer suites too.
debian_mirror() {
    {
        cat /etc/apt/sources.list.d/*.sources 2>/dev/null |
            awk '$1 == "URIs:" { for (i = 2; i <= NF; ++i) print $i }'
        cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
            sed -n 's/^deb[[:space:]]\+\(\[[^]]*\][[:space:]]*\)\?\([^[:space:]]\+\).*/\2/p'
    } | sed 's,/*$,,' | grep -m 1 '/debian$' || true
}

# Apt with a state of its own: the system's lists stay as they are, and no root is needed.
# Only a configuration file can clear the hooks of the system.
private_apt() {
    local state=$1 suite=$2 mirror=$3
    mkdir -p "$state"/{lists/partial,cache/archives/partial,parts}
    : >"$state/status"
    printf 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s %s main\n' \
        "$mirror" "$suite" >"$state/sources.list"
    cat >"$state/apt.conf" <<END
Dir::State "$state";
Dir::State::lists "$state/lists";
Dir::State::status "$state/status";
Dir::Cache "$state/cache";
Dir::Etc::SourceList "$state/sources.list";
Dir::Etc::SourceParts "$state/parts";
Dir::Etc::Preferences "/dev/null";
Dir::Etc::PreferencesParts "$state/parts";
APT::Sandbox::User "$(id -un)";
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Post-Invoke;
END
}

# The exact package if the suite has it, else the newest one after it.
boost_package() {
    apt-cache -c "$1/apt.conf" pkgnames libboost1. | sort -V | awk -F '[.-]' -v minimum="$boost_minimum" '
        /^libboost1\.[0-9]+-dev$/ && $2 >= minimum { if ($2 == minimum) exact = $0; newest = $0 }
        END { print exact ? exact : newest }'
}

# fetch PLACE CHOOSE FINISH SUITE...: unpacks into PLACE the package that CHOOSE, given a state of
# apt, names; from the first suite that has one with which FINISH, run where it lies, succeeds.
# Where that is impossible it says why, and fails.
fetch() {
    local place=$1 choose=$2 finish=$3 mirror suite state package
    shift 3
    command -v apt-get >/dev/null || { say "no apt-get here to fetch $place with"; return 1; }
    mirror=$(debian_mirror)
    [[ -n $mirror ]] || { say "no Debian mirror in apt's sources to fetch $place from"; return 1; }

    state=$(mktemp -d)
    # shellcheck disable=SC2064 # the folder's name must be taken now
    trap "rm -rf '$state'" EXIT
    for suite; do
        say "fetching $place from $suite"
        rm -rf "${state:?}"/*
        private_apt "$state" "$suite" "$mirror"
        apt-get -c "$state/apt.conf" -qq update >&2 || continue
        package=$("$choose" "$state") || continue
        [[ -n $package ]] || continue
        (cd "$state" && apt-get -c apt.conf -qq download "$package" >&2) || continue
        # Unpacked beside its place and renamed: an interrupted run leaves nothing half.
        rm -rf "$place.new" "$place"
        mkdir -p "$place.new" && dpkg-deb -x "$state/$package"_*.deb "$place.new" || continue
        (cd "$place.new" && "$finish") || continue
        mv "$place.new" "$place" || continue
        rm -rf "$state"
        trap - EXIT
        return
    done
    rm -rf "$state" "$place.new"
    trap - EXIT
    say "no suite of the Debian mirror gave $place: tried $*"
    return 1
}

fetch_boost() {
    fetch build/boost boost_package true "${boost_suites[@]}" ||
        die "set Boost_ROOT to an installed Boost >= 1.$boost_minimum, or build with Conan"
}

valkey_package() { apt-cache -c "$1/apt.conf" pkgnames valkey-tools | grep -x valkey-tools; }

# Valkey is one program, which its name tells what to do.
name_valkey() {
    ln -s valkey-check-rdb usr/bin/valkey-server && usr/bin/valkey-server --version >/dev/null 2>&1 &&
        touch .  # for build(): the package's own date is older
}

prometheus_package() { apt-cache -c "$1/apt.conf" pkgnames prometheus | grep -x prometheus; }

# fetch_optional NAME CHOOSE FINISH WITHOUT SUITE...: as fetch(), but says WITHOUT where there is none.
# Only `setup` asks again for what was not there.
fetch_optional() {
    local place=build/$1 choose=$2 finish=$3 without=$4
    shift 4
    if [[ -e $place || -e $place.absent ]]; then return; fi
    fetch "$place" "$choose" "$finish" "$@" && return
    say "$without"
    mkdir -p build
    touch "$place.absent"
}

# Nothing else of the package is used.
keep_promtool() { usr/bin/promtool --version >/dev/null && rm -rf etc lib usr/share usr/bin/prometheus && touch .; }

# For the test of the alerts.
fetch_promtool() {
    if command -v promtool >/dev/null; then return; fi
    fetch_optional prometheus prometheus_package keep_promtool "no promtool: the test of the alerts will be skipped" \
        bookworm trixie forky
}

valkey_is_there() { command -v valkey-server >/dev/null || [[ -x build/valkey/usr/bin/valkey-server ]]; }

setup() {
    install_missing "${build_tools[@]}" "$@"
    mkdir -p build
    boost_is_installed || fetch_boost
    valkey_is_there ||
        fetch_optional valkey valkey_package name_valkey "no Valkey: the tests against it will be skipped" \
            "${valkey_suites[@]}"
}
