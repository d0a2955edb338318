# shellcheck shell=bash
# Building, and saying how long it takes. Read by ./dev, whose functions it calls.

in_words() { if [[ $1 -lt 90 ]]; then echo "$1 s"; else echo "$((($1 + 30) / 60)) min"; fi; }

# timed NAME USUAL COMMAND...: says before a long step how many seconds it took last time, or usually
# takes where that is not known, and keeps what it takes now.
timed() {
    local name=$1 usual=$2 kept=build/times/$1 started=$SECONDS result=0
    shift 2
    if [[ -r $kept ]]; then
        say "$name (last time it took $(in_words "$(<"$kept")"))"
    else
        say "$name (usually takes $(in_words "$usual"))"
    fi
    "$@" || result=$?
    if [[ $result == 0 ]]; then
        mkdir -p build/times
        echo $((SECONDS - started)) >"$kept"
    fi
    return "$result"
}

# Ninja's own line moves on a terminal. Elsewhere one line every few seconds shows that it goes on.
show_progress() {
    local line status='' started=$SECONDS next=$SECONDS
    while true; do
        if IFS= read -r -t 5 line; then
            if [[ $line =~ ^\[[0-9]+/[0-9]+\]\ (.*) ]]; then status=$line; else printf '%s\n' "$line"; fi
        elif [[ $? -le 128 ]]; then
            return
        fi
        if [[ -n $status && $SECONDS -ge $next ]]; then
            printf '%4d s  %s\n' $((SECONDS - started)) "${status:0:110}"
            next=$((SECONDS + 5))
        fi
    done
}

run_ninja() {
    if [[ -t 1 ]]; then ninja "$@"; else ninja "$@" | show_progress; fi
}

# Says how long the steps that are left will take, at the speed of the last build that had many.
announce() {
    local preset=$1 kept=build/times/steps.$1 steps seconds=0 of=1
    shift
    ninja -C "build/$preset" build.ninja >/dev/null
    # By its own name it would only say that it looks for new files first.
    cp "build/$preset/build.ninja" "build/$preset/steps.ninja"
    steps=$(ninja -C "build/$preset" -f steps.ninja -n "$@" | grep -c '^\[') || true
    if [[ -r $kept ]]; then
        read -r seconds of <"$kept"
    else
        # Two cores take so many seconds for a hundred steps.
        case $preset in
            release) seconds=140 ;;
            debug) seconds=200 ;;
            *) seconds=250 ;;
        esac
        of=$((50 * jobs))
    fi
    say "building build/$preset: $steps steps, about $(in_words $((steps * seconds / of)))"
    left=$steps
}

# configure PRESET. Ninja configures again by itself, but it does not look at the presets, nor for
# what was fetched.
configure() {
    local preset=$1 dir=build/$1
    if [[ $dir/build.ninja -nt CMakePresets.json && ! build/valkey -nt $dir/build.ninja &&
        ! build/prometheus -nt $dir/build.ninja ]]; then return; fi
    say "configuring $dir"
    cmake --preset "$preset" >"build/$preset.log" 2>&1 || { cat "build/$preset.log" >&2; exit 1; }
}

# build PRESET TARGET...
build() {
    local preset=$1 left started
    shift
    case $preset in
        release | debug) setup ;;
        asan | tsan) setup "${sanitizer_tools[@]}" ;;
        fuzz) setup "${fuzz_tools[@]}" ;;
        newest) setup ;;
        *) die "no preset $preset: there are release, debug, asan, tsan" ;;
    esac
    # Two that build the same at a time, as CI does, take turns.
    exec {turn}>"build/$preset.turn"
    flock -n "$turn" || { say "waiting for another ./dev that builds build/$preset"; flock "$turn"; }
    configure "$preset"
    announce "$preset" "$@"
    started=$SECONDS
    run_ninja -C "build/$preset" -j "$jobs" "$@"
    if [[ $left -ge 40 ]]; then
        mkdir -p build/times
        echo "$((SECONDS - started)) $left" >"build/times/steps.$preset"
    fi
    exec {turn}>&-
}
