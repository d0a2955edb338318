# shellcheck shell=bash
# ./dev fuzz: runs the fuzzers that the `fuzz` preset builds. Read by ./dev, whose functions it calls.

# run_fuzzer NAME SECONDS: what it finds stays in the build folder, both the inputs that reach
# something new, from which the next run goes on, and one that breaks something.
run_fuzzer() {
    local name=$1 seconds=$2
    local program=build/fuzz/test/search/fuzz/fuzz_$name found=build/fuzz/found/$name
    local dictionary=test/search/fuzz/dictionaries/$name.dict log=$found/log result=0 reproducer options=()
    if [[ -e $dictionary ]]; then options+=("-dict=$dictionary"); fi
    mkdir -p "$found/corpus"
    PATH=/usr/lib/llvm-19/bin:$PATH UBSAN_OPTIONS=print_stacktrace=1 \
        ASAN_OPTIONS=detect_stack_use_after_return=1 \
        "$program" -max_total_time="$seconds" -max_len=1024 -timeout=10 -print_final_stats=1 \
        -artifact_prefix="$found/" "${options[@]}" "$found/corpus" "test/search/fuzz/corpus/$name" \
        >"$log" 2>&1 </dev/null || result=$?
    awk -v name="$name" -v result="$result" '
        $1 == "stat::number_of_executed_units:" { runs = $2 }
        $1 == "stat::average_exec_per_sec:" { rate = $2 }
        $1 == "stat::new_units_added:" { added = $2 }
        END { printf "%-12s %9d executions %6d/s %5d new inputs, %s\n",
            name, runs, rate, added, result == 0 ? "no crash" : "CRASH" }' "$log"
    if [[ $result == 0 ]]; then return; fi
    reproducer=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
    grep -E 'violated:|ERROR:|SUMMARY:|runtime error:|^    #[0-9]+ .*/(src|test|include)/[^ ]*[.][ch]pp:' "$log" |
        head -n 20 >&2 || true
    echo "$name: reproduce with $program ${reproducer:-(no input was kept)}; all it said: $log"
    return 1
}

# fuzz [--seconds N] [--keep] [TARGET...]
fuzz() {
    local seconds=60 keep=no targets=() all name
    all=$(basename -s .cpp test/search/fuzz/targets/*.cpp)
    while [[ $# != 0 ]]; do
        case $1 in
            --seconds)
                seconds=${2:-}
                [[ $seconds =~ ^[1-9][0-9]*$ ]] || die "--seconds needs a number from 1"
                shift
                ;;
            --keep) keep=yes ;;
            *)
                grep -qxF -- "$1" <<<"$all" || die "no fuzzer $1: there are ${all//$'\n'/, }"
                targets+=("$1")
                ;;
        esac
        shift
    done
    if [[ ${#targets[@]} == 0 ]]; then mapfile -t targets <<<"$all"; fi

    build fuzz fuzzers
    say "fuzzing for $seconds s each"
    export -f run_fuzzer
    printf '%s\n' "${targets[@]}" |
        xargs -P "$jobs" -I '{}' bash -euo pipefail -c 'run_fuzzer "$@"' - '{}' "$seconds" || return 1
    if [[ $keep == yes ]]; then
        for name in "${targets[@]}"; do
            # The fewest inputs that reach each edge: the corpus is run in every build.
            "build/fuzz/test/search/fuzz/fuzz_$name" -set_cover_merge=1 -use_counters=0 \
                "test/search/fuzz/corpus/$name" "build/fuzz/found/$name/corpus" 2>&1 |
                sed -n "s/^MERGE-OUTER: \(.*new files\)/$name: \1/p"
        done
    fi
}
