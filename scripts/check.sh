#!/bin/bash
# Runs every check of scripts/check/ (or those named) and says which failed.
set -u
cd "$(dirname "$0")/.."
checks=("$@")
[ $# -gt 0 ] || checks=(hygiene lock layers messages sizes format headers cppcheck tidy)
passed=0
failed=()
mkdir -p build/log
for name in "${checks[@]}"; do
    start=$SECONDS
    log=build/log/check-$name.log
    program=$(ls "scripts/check/$name".* 2>/dev/null | head -n 1)
    printf '%-8s ' "$name"
    if [ -n "$program" ] && PYTHONDONTWRITEBYTECODE=1 "$program" >"$log" 2>&1; then
        passed=$((passed + 1))
        echo "ok      $((SECONDS - start)) s"
    else
        failed+=("$name")
        echo "FAILED  $((SECONDS - start)) s"
        [ -n "$program" ] && head -n 200 "$log" | sed 's/^/    /'
    fi
done
[ ${#failed[@]} = 0 ] || echo "failed checks: ${failed[*]}"
echo "$passed passed, ${#failed[@]} failed"
[ ${#failed[@]} = 0 ]
