#!/bin/bash
# Runs the tests: scripts/test.sh all, or the names of parts (scripts/test.sh list shows them). Each part
# builds and installs what it needs, writes build/log/PART.log and prints its duration when it has ended. Two parts
# run at a time, for most of them wait as much as they compute (JOBS=1: one). A part is left out only when the
# repository has no folder for it. Tests that fail are run once more; those
# that pass then are named at the end, "flaky: PART: TEST". Extra arguments after -- go to pytest, or to Playwright:
#     scripts/test.sh api -- -k tokens -x
#     scripts/test.sh api -- tests/api/test_jobs.py
#     scripts/test.sh browser -- gallery
# Tests with containers, mounts and owners of files need root: whoever is not root needs sudo for these parts.
set -u
cd "$(dirname "$0")/.."
root=$PWD

# The sanitizers of gcc 12 and clang 14 fail at random with the address randomisation of new kernels.
if [ -z "${INGOT_TEST_FIXED_ADDRESSES-}" ] && setarch "$(uname -m)" -R true 2>/dev/null; then
    INGOT_TEST_FIXED_ADDRESSES=1 exec setarch "$(uname -m)" -R "$0" "$@"
fi

export ASAN_OPTIONS=${ASAN_OPTIONS-detect_stack_use_after_return=1:strict_string_checks=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS-print_stacktrace=1}
export TSAN_OPTIONS=${TSAN_OPTIONS-second_deadlock_stack=1}
export LSAN_OPTIONS=${LSAN_OPTIONS-suppressions=$root/tests/lsan.supp:print_suppressions=0}
export PATH=$PATH:/usr/sbin:/sbin # where users other than root do not look
export INGOT_BIN=${INGOT_BIN-$root/build/san/ingot}
export PYTHONPATH=$root/python PYTHONDONTWRITEBYTECODE=1
jobs=${JOBS:-$(nproc)}
part_limit=90m # a part that hangs fails instead of holding everything up

# name | exists when this path does | function. In the order they are begun: the browser's part is long and has one
# worker, so it is first; the two longest end together.
parts="
browser | tests/browser         | run_browser
unit    | tests/unit/*/test_*.c | run_unit
tsan    | tests/unit/net/test_*.c | run_tsan
fuzz    | tests/fuzz/fuzz_*.c   | run_fuzz
net     | tests/net             | run_net
gateway | tests/gateway         | run_gateway
sdk     | python/tests          | run_sdk
record  | tests/record          | run_record
exec    | tests/exec            | run_exec
codec   | tests/codec           | run_codec
infer   | tests/infer           | run_infer
metric  | tests/metric          | run_metric
learn   | tests/learn           | run_learn
web     | web/package.json      | run_web
scripts | tests/scripts         | run_scripts
api-s3  | tests/api             | run_api_s3
api     | tests/api             | run_api
api-pg  | tests/api             | run_api_pg
"

# with_root COMMAND...: as root, by sudo when this is another user; what it leaves in the tree is given back
with_root() {
    [ "$(id -u)" != 0 ] || { "$@"; return; }
    command -v sudo >/dev/null || {
        echo "this part has tests that need root: run it as root, or install sudo"
        return 1
    }
    local kept=() name status
    for name in $(compgen -e | grep -E '^(INGOT_.*|[A-Z]+_OPTIONS|PYTHON.*|PATH|TMPDIR|JOBS|CI|LANG)$'); do
        kept+=("$name=${!name}")
    done
    # Only root can end what root started, so the time limit is root's too.
    sudo -n env "${kept[@]}" timeout -k 30 "$part_limit" "$@"
    status=$?
    (cd "$root" && sudo -n chown -R "$(id -u):$(id -g)" build/log $(compgen -G 'build/*/Testing') $(compgen -G test-results))
    return $status
}

# prepare COMMAND...: what builds or installs, one part at a time
prepare() {
    flock "$root/build/log/preparing" "$@"
}

mode_build() {
    prepare make --no-print-directory "build-$1"
}

# units MODE: the C tests of a build. As in scripts/pytest.sh a few that failed are run once more, and named when they
# pass then; what a sanitizer found is not.
units() {
    local output=build/$1/units.txt failed=build/$1/Testing/Temporary/LastTestsFailed.log names
    rm -f "$failed"
    set -o pipefail
    with_root ctest --test-dir "build/$1" -j "$jobs" --output-on-failure --no-tests=error 2>&1 | tee "$output" && return 0
    [ -s "$failed" ] && [ "$(wc -l <"$failed")" -le 5 ] && ! grep -qE 'Sanitizer|: runtime error:' "$output" || return 1
    names=$(cut -d: -f2 "$failed")
    echo "== failed; once more:"
    with_root ctest --test-dir "build/$1" --rerun-failed --output-on-failure || return 1
    printf 'flaky: %s\n' $names
    printf '%s\n' $names >>"$INGOT_FLAKY"
}

run_unit() {
    mode_build san && units san
}

run_tsan() {
    mode_build tsan && units tsan &&
        INGOT_BUILD=$root/build/tsan pytest tests/net &&
        INGOT_BUILD=$root/build/tsan root_pytest tests/gateway
}

run_fuzz() {
    mode_build fuzz || return 1
    local source name failed=0
    for source in tests/fuzz/fuzz_*.c; do
        name=$(basename "$source" .c)
        if ! ls "tests/fuzz/corpus/${name#fuzz_}/"* >/dev/null 2>&1; then
            echo "$name: no corpus in tests/fuzz/corpus/${name#fuzz_}/"
            failed=1
            continue
        fi
        echo "== $name"
        "build/fuzz/tests/fuzz/$name" -runs=0 -timeout=60 -rss_limit_mb=4096 \
            "tests/fuzz/corpus/${name#fuzz_}" || failed=1
    done
    return $failed
}

# Whether one of the arguments is a file of tests, or a test in one: then the part is those.
names_tests() {
    local one
    for one; do
        [ -e "${one%%::*}" ] && return 0
    done
    return 1
}

pytest() {
    ! names_tests "${extra[@]}" || set --
    prepare scripts/venv.sh && scripts/pytest.sh "$@" "${extra[@]}"
}

root_pytest() {
    ! names_tests "${extra[@]}" || set --
    prepare scripts/venv.sh && with_root scripts/pytest.sh "$@" "${extra[@]}"
}

run_net() {
    mode_build san && INGOT_BUILD=$root/build/san pytest tests/net
}

# Its server opens the executor, which needs root.
run_gateway() {
    mode_build san && INGOT_BUILD=$root/build/san root_pytest tests/gateway
}

# The programs that containers offer people; VS Code is too large for every run.
tools() {
    prepare scripts/tools.sh .cache/tools jupyter tensorboard netron
}

# The programs whose data folders tests/api/test_upgrade.py opens. In a clone without their commits the test says that it
# was left out, and so does the log.
older() {
    local commit
    for commit in tests/fixtures/*/; do
        [ ! -e "$commit/forward-only" ] || continue
        prepare scripts/older.sh "$(basename "$commit")" || [ $? = 3 ] || return 1
    done
}

run_api() {
    mode_build san && tools && older && INGOT_TEST_DB=sqlite root_pytest tests/api
}

run_api_pg() {
    mode_build san && tools && older && INGOT_TEST_DB=postgres root_pytest tests/api
}

# What keeps files, with the blobs in a bucket.
run_api_s3() {
    mode_build san && INGOT_TEST_STORE=s3 pytest tests/api/test_datasets.py tests/api/test_files.py \
        tests/api/test_data_out.py &&
        INGOT_TEST_STORE=s3 root_pytest tests/api/test_services.py -k a_model_version_is_served
}

run_sdk() {
    mode_build san && pytest python/tests
}

run_record() {
    pytest tests/record
}

run_metric() {
    mode_build san && pytest tests/metric
}
run_codec() {
    mode_build san && INGOT_BUILD=build/san pytest tests/codec
}

run_infer() {
    mode_build san && INGOT_BUILD=$root/build/san pytest tests/infer
}

run_learn() {
    mode_build san && INGOT_BUILD=$root/build/san pytest tests/learn --dist loadfile # files share trained models
}

run_exec() {
    mode_build san && root_pytest tests/exec
}

run_scripts() {
    pytest tests/scripts
}

run_web() {
    prepare scripts/web.sh deps || return 1
    cd web || return 1
    local failed=0 script
    # Scripts of web/package.json: types and ESLint, then Vitest.
    for script in lint test; do
        echo "== npm run $script"
        CI=1 ../scripts/node.sh npm run --silent "$script" || failed=1
    done
    return $failed
}

run_browser() {
    prepare make --no-print-directory all && mode_build san && tools && prepare scripts/venv.sh || return 1
    (cd web && CI=1 with_root ../scripts/node.sh npm run --silent browser -- "${extra[@]}")
}

table() {
    echo "$parts" | sed 's/ *| */|/g' | grep .
}

exists() {
    compgen -G "$1" >/dev/null
}

# run_part NAME FUNCTION: 0 when it passed
run_part() {
    local log=build/log/$1.log start=$SECONDS status
    export INGOT_FLAKY=$root/build/log/$1.flaky
    rm -f "$INGOT_FLAKY"
    printf '%-8s ' "$1"
    # A job of its own, so that the time limit ends everything the part started.
    local TIMEFORMAT='%U %S' cpu
    {
        # Ctrl-C means something to tests, and the shell takes it from what runs beside it.
        time env --default-signal=INT timeout -k 30 "$part_limit" "$0" --run "$2" "${extra[@]}" >"$log" 2>&1 </dev/null
        status=$?
    } 2>"build/log/$1.cpu"
    cpu=$(awk '{ printf "%.0f", $1 + $2 }' "build/log/$1.cpu")
    if [ $status = 0 ]; then
        echo "ok      $((SECONDS - start)) s, $cpu s of CPU"
        return 0
    fi
    [ $status = 124 ] && echo "timed out after $part_limit" >>"$log"
    echo "FAILED  $((SECONDS - start)) s, $cpu s of CPU, $log ends with:"
    tail -n 100 "$log" | sed 's/^/    /'
    return 1
}

extra=()
if [ "${1-}" = --run ]; then
    function=$2
    extra=("${@:3}")
    "$function"
    exit
fi

names=()
while [ $# -gt 0 ]; do
    if [ "$1" = -- ]; then
        extra=("${@:2}")
        break
    fi
    names+=("$1")
    shift
done
case "${names[*]-}" in
"" | list)
    echo "usage: scripts/test.sh all | PART... [-- PYTEST-ARGUMENT...]; parts:" $(table | cut -d'|' -f1)
    exit 2
    ;;
all) mapfile -t names < <(table | cut -d'|' -f1) && everything=1 ;;
esac

for name in "${names[@]}"; do
    table | grep -q "^$name|" || {
        echo "test.sh: no part '$name'; there are:" $(table | cut -d'|' -f1) >&2
        exit 2
    }
done

# Asked for now, and kept, because parts have no terminal to ask at.
if [ "$(id -u)" != 0 ] && command -v sudo >/dev/null; then
    sudo -v || exit 1
    while sleep 60 && kill -0 $$ 2>/dev/null; do sudo -n -v; done </dev/null >/dev/null 2>&1 &
    disown
fi

mkdir -p build/log
lanes=$((jobs > 1 ? 2 : 1))
begun=()
declare -A process
trap 'for one in "${process[@]}"; do pkill -TERM -P "$one"; done; exit 130' INT TERM
for name in "${names[@]}"; do
    IFS='|' read -r _ path function <<<"$(table | grep "^$name|")"
    if [ -n "${everything-}" ] && ! exists "$path"; then
        continue
    fi
    while [ "$(jobs -rp | wc -l)" -ge $lanes ]; do
        wait -n
    done
    (
        run_part "$name" "$function" >"build/log/$name.said"
        status=$?
        flock build/log/saying cat "build/log/$name.said"
        exit $status
    ) &
    process[$name]=$!
    begun+=("$name")
done

passed=0
failed=()
for name in "${begun[@]}"; do
    if wait "${process[$name]}"; then
        passed=$((passed + 1))
    else
        failed+=("$name")
    fi
done
for name in "${begun[@]}"; do
    [ ! -e "build/log/$name.flaky" ] || sed "s/^/flaky: $name: /" "build/log/$name.flaky"
done
[ ${#failed[@]} = 0 ] || echo "failed parts: ${failed[*]}"
echo "$passed passed, ${#failed[@]} failed, $SECONDS s"
[ ${#failed[@]} = 0 ]
