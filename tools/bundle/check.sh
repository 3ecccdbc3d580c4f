#!/bin/sh
# Runs the cases of this bundle, one process each, and writes a line of JSON after each.
#
#   check.sh [--from N] [--only N] [--stage STAGE] [--seconds S] [--retry] [--quick]
#            [--arch sm_80|sm_90|sm_90a] [--results FILE] [--interpreter] [--peers]
#
# What is in the results file (results.jsonl beside this script, with the architecture in its name
# where one is given) is done: called again, the script goes on behind it; with --retry what did not
# pass runs again. --from leaves out the cases before N, --only all but N. --seconds: no case runs
# longer than S seconds after the start, and what was cut off counts as not run. --quick measures
# tiny sizes, which shows that it works. --interpreter runs everything on the interpreter of PTX in
# the `fovea` of $FOVEA or the PATH. --peers measures PyTorch beside each measurement, where python3
# has it, into peers.json.
#
# Exit status: 0 all that ran is right, 1 something is not, 2 no GPU or no runner (one sentence).
set -u
here=$(cd "$(dirname "$0")" && pwd)
from=1 only='' stage='' seconds=0 retry='' quick='' arch='' results='' interpreter='' peers=''
replays=3
fail() { echo "check.sh: $1" >&2; exit 2; }
number() { case $2 in '' | *[!0-9]*) fail "$1 takes a whole number, not '$2'" ;; esac; }
while [ $# -gt 0 ]; do
    case $1 in
    --from | --only | --seconds | --stage | --arch | --results)
        [ $# -gt 1 ] || fail "$1 lacks its value" ;;
    esac
    case $1 in
    --from) number "$1" "$2"; from=$2; shift ;;
    --only) number "$1" "$2"; only=$2; shift ;;
    --seconds) number "$1" "$2"; seconds=$2; shift ;;
    --stage) stage=$2; shift ;;
    --arch) arch=$2; shift ;;
    --results) results=$2; shift ;;
    --retry) retry=1 ;;
    --quick) quick=--quick ;;
    --interpreter) interpreter=1; replays=0 ;;
    --peers) peers=1 ;;
    --help | -h) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
    *) fail "unknown option '$1'; --help lists them" ;;
    esac
    shift
done
[ -n "$results" ] || results=$here/results${interpreter:+.interpreter}${arch:+.$arch}.jsonl
logs=$results.logs
mkdir -p "$logs" && touch "$results" || fail "cannot write $results"

# The runner: the one in the bundle, or one that is made here from the sources beside it.
if [ -n "$interpreter" ]; then
    fovea=${FOVEA:-fovea}
    run() { "$fovea" bundle --case "$@"; }
    device='the interpreter of PTX'
    runner="$fovea bundle --case"
else
    runner=$here/runner
    device=$("$runner" "$here" --device 2>"$logs/device.log")
    status=$?
    if [ $status -gt 100 ] || { [ $status = 1 ] && grep -q GLIBC "$logs/device.log"; }; then
        runner=$here/runner.made
        if [ ! -x "$runner" ]; then
            echo "the runner of the bundle does not start here: making one with ${CXX:-g++}" >&2
            # shellcheck disable=SC2046
            "${CXX:-g++}" -std=c++20 -O1 -fopenmp -I"$here/src" \
                $(find "$here/src" -name '*.cpp') -o "$runner" -ldl -lpthread ||
                fail "the runner does not start, and cannot be made with ${CXX:-g++}"
        fi
        device=$("$runner" "$here" --device 2>"$logs/device.log")
        status=$?
    fi
    # A GPU whose memory is full is there all the same: its cases say so.
    [ $status = 0 ] || grep -q 'out of memory' "$logs/device.log" || {
        sed 's/^[^:]*: //' "$logs/device.log" >&2
        exit 2
    }
fi
echo "$device: results in $results" >&2

start=$(date +%s)
plain() { tr -d '\000-\037\\"' | cut -c1-300; }
# A line for a case that left none; $1 to $5: case, stage, name, status, seconds.
line() {
    at=$(sed -n 's/^at: //p' "$logs/$1.log" 2>/dev/null | tail -n 1 | plain)
    text=$(grep -v '^at: ' "$logs/$1.log" 2>/dev/null | tail -n 3 | tr '\n' ' ' | plain)
    printf '{"case":%s,"stage":"%s","name":"%s","status":"%s","seconds":%s,"at":"%s","text":"%s"}\n' \
        "$1" "$2" "$(printf %s "$3" | plain)" "$4" "$5" "$at" "$text"
}
is_done() {
    grep "^{\"case\":$1," "$results" | tail -n 1 >"$logs/last"
    [ -s "$logs/last" ] || return 1
    [ -z "$retry" ] || grep -q '"status":"\(ok\|skipped\)"' "$logs/last"
}
stopped=''
while read -r case its_stage limit name <&3; do
    [ "$case" -ge "$from" ] || continue
    [ -z "$only" ] || [ "$case" = "$only" ] || continue
    [ -z "$stage" ] || [ "$its_stage" = "$stage" ] || continue
    [ -z "$interpreter" ] || [ "$its_stage" != bench ] || continue
    is_done "$case" && continue
    [ -z "$interpreter" ] || limit=$((limit * 10))
    limit=${CHECK_LIMIT:-$limit}
    cut=''
    if [ "$seconds" -gt 0 ]; then
        left=$((start + seconds - $(date +%s) - 2))
        if [ $left -lt 1 ]; then stopped=$case; break; fi
        if [ $left -lt "$limit" ]; then limit=$left cut=1; fi
    fi
    began=$(date +%s)
    # shellcheck disable=SC2086
    timeout -k 2 "$limit" $runner "$here" "$case" ${arch:+--arch "$arch"} --replays $replays \
        $quick >"$logs/$case.json" 2>"$logs/$case.log" </dev/null
    status=$?
    took=$(($(date +%s) - began))
    if { [ $status = 124 ] || [ $status = 137 ]; } && [ $took -ge "$limit" ]; then
        if [ -n "$cut" ]; then stopped=$case; break; fi
        line "$case" "$its_stage" "$name" hang $took >>"$results"
    elif [ -s "$logs/$case.json" ] && [ $status -le 4 ]; then
        tail -n 1 "$logs/$case.json" >>"$results"
    elif [ $status -gt 128 ]; then
        line "$case" "$its_stage" "$name" "crash, signal $((status - 128))" $took >>"$results"
    else
        line "$case" "$its_stage" "$name" "ended with status $status" $took >>"$results"
    fi
    word=$(tail -n 1 "$results" | sed 's/^.*"status":"\([^"]*\)".*$/\1/')
    [ "$word" = ok ] || echo "case $case, $its_stage: $name: $word" >&2
done 3<"$here/index.txt"

# The summary: a line a stage, what is not right, measurements, what to do next.
awk -v index_file="$here/index.txt" -v stopped="$stopped" -v interpreter="$interpreter" \
    -v script="$0" -v logs="$logs" '
function value(line, key,   at) {
    if (!match(line, "\"" key "\":(\"([^\"\\\\]|\\\\.)*\"|[^,}]*)")) return ""
    at = substr(line, RSTART + length(key) + 3, RLENGTH - length(key) - 3)
    gsub(/^"|"$/, "", at)
    return at
}
BEGIN {
    while ((getline row <index_file) > 0) {
        split(row, part, " ")
        if (interpreter != "" && part[2] == "bench") continue
        stage_of[part[1]] = part[2]
        if (!(part[2] in cases)) order[++stages] = part[2]
        ++cases[part[2]]
        all = part[1]
    }
}
{ last[value($0, "case")] = $0 }
END {
    printf "%-13s %6s %6s %6s %8s %8s\n", "stage", "cases", "right", "wrong", "skipped", "not run"
    for (n in stage_of) {
        if (!(n in last)) { ++missing[stage_of[n]]; continue }
        status = value(last[n], "status")
        if (status == "ok") ++right[stage_of[n]]
        else if (status == "skipped") ++skipped[stage_of[n]]
        else { ++wrong[stage_of[n]]; bad = 1 }
    }
    for (i = 1; i <= stages; ++i) {
        s = order[i]
        printf "%-13s %6d %6d %6d %8d %8d\n", s, cases[s], right[s], wrong[s], skipped[s], missing[s]
        total += missing[s]
    }
    for (n = 1; n <= all; ++n) {
        if (!(n in last) || !(n in stage_of)) continue
        status = value(last[n], "status")
        if (status == "ok" && value(last[n], "median_ms") != "") {
            if (!titled++) printf "\n%-56s %10s %10s\n", "measured", "ms", "TFLOP/s"
            printf "%-56s %10.3f %10.1f\n", value(last[n], "name"), value(last[n], "median_ms"),
                value(last[n], "tflops")
        }
    }
    if (bad) printf "\nnot right:\n"
    for (n = 1; n <= all; ++n) {
        if (!(n in last) || !(n in stage_of)) continue
        status = value(last[n], "status")
        if (status == "ok" || status == "skipped") continue
        printf "case %d, %s: %s\n    at: %s\n    %s\n", n, value(last[n], "name"), status,
            value(last[n], "at"), value(last[n], "text")
    }
    if (bad) {
        printf "\nmiss: the kernel that is named writes wrong values. error: the driver call that is\n"
        printf "named failed. hang, crash: the log says what ran. out of memory: other processes\n"
        printf "hold it (nvidia-smi), or the case needs a larger GPU. Logs: %s/N.log;\n", logs
        printf "again: %s --only N --retry\n", script
    }
    if (total && stopped != "") printf "\nstopped before case %s; the same command goes on there\n", stopped
    exit bad
}' "$results"
wrong=$?

if [ -n "$peers" ]; then
    if python3 -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then
        python3 "$here/peers/gpu.py" --bundle "$here" --runner "$runner" $quick \
            --json "$here/peers.json" || wrong=1
    else
        echo "python3 has no PyTorch that finds the GPU: nothing is measured beside it" >&2
    fi
fi
exit $wrong
