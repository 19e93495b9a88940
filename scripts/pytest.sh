#!/bin/bash
# Runs pytest in the tests' environment: scripts/pytest.sh ARGUMENT... . When a few tests failed, those are run once more:
# a test that fails twice fails, one that passes then is named on a line "flaky: ..." and in the file $INGOT_FLAKY.
# What a sanitizer found is never run again.
set -uo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
most=5
cache=$(mktemp -d "${TMPDIR:-/tmp}/ingot-pytest-XXXXXX")
trap 'rm -rf "$cache"' EXIT

(cd "$root" && scripts/venv.sh) || exit 1

# run FILE ARGUMENT...: keeps the output in FILE too
run() {
    "$root/.cache/venv/bin/python" -m pytest -q -rs --timeout=900 --durations=20 --durations-min=3 \
        -o "cache_dir=$cache" "${@:2}" 2>&1 | tee "$1"
}

failed_ids() {
    [ -e "$cache/v/cache/lastfailed" ] &&
        python3 -c 'import json, sys; print("\n".join(json.load(open(sys.argv[1]))))' "$cache/v/cache/lastfailed"
}

run "$cache/first" -n "${JOBS-$(nproc)}" "$@"
status=$?
[ $status = 1 ] || exit $status
mapfile -t ids < <(failed_ids)
if [ ${#ids[@]} = 0 ] || [ ${#ids[@]} -gt $most ] ||
    grep -qE 'ERROR: (Address|Leak)Sanitizer|ThreadSanitizer:|: runtime error:' "$cache/first"; then
    exit $status
fi
echo "== ${#ids[@]} failed; once more:"
run "$cache/second" -n 1 --last-failed --last-failed-no-failures none "$@" || exit 1
for id in "${ids[@]}"; do
    echo "flaky: $id"
    [ -z "${INGOT_FLAKY-}" ] || echo "$id" >>"$INGOT_FLAKY"
done
