#!/bin/sh
# Runs the benchmarks and prints tables; each figure is a ratio to a peer measured in the same minute. Needs the
# release build (make bench makes it). Without arguments everything that needs no further packages:
#   scripts/bench.sh [platform [--seconds N] [get|kept|auth|list|create|upload|start ...] | record [MB [MB]] |
#       data [zip|page|thumbs|blob|memory|copy|coco|clicks ...] | label [annotators|stroke] | registry [transfer|manifests|collector ...] | proxy | gateway |
#       jobs [start|many|follow|idle ...] | infer [latency|many|batch|memory ...] | predict |
#       canvas [--screens FOLDER]]
# bench/coco.py and build/release/bench_db_commit are run by hand; see bench/README.md.
set -eu
cd "$(dirname "$0")/.."

part=${1-all}
[ $# = 0 ] || shift
case $part in
platform) exec /usr/bin/python3 bench/platform.py "$@" ;;
data) exec /usr/bin/python3 bench/data.py "$@" ;;
label) exec /usr/bin/python3 bench/label.py "$@" ;;
record) exec bench/record.sh "$@" ;;
registry) exec /usr/bin/python3 bench/registry.py "$@" ;;
proxy) exec /usr/bin/python3 bench/proxy.py "$@" ;;
gateway) exec /usr/bin/python3 bench/gateway.py "$@" ;;
jobs) exec /usr/bin/python3 bench/jobs.py "$@" ;;
canvas) exec node bench/canvas.mjs "$@" ;;
infer)
    scripts/venv.sh
    ninja -C build/release bench_infer_bare >/dev/null
    exec .cache/venv/bin/python bench/infer.py "$@"
    ;;
predict)
    scripts/venv.sh
    ninja -C build/release predict_driver >/dev/null
    exec .cache/venv/bin/python bench/predict.py "$@"
    ;;
all)
    failed=0
    /usr/bin/python3 bench/platform.py || failed=1
    /usr/bin/python3 bench/data.py || failed=1
    bench/record.sh || failed=1
    /usr/bin/python3 bench/registry.py || failed=1
    /usr/bin/python3 bench/proxy.py || failed=1
    /usr/bin/python3 bench/gateway.py || failed=1
    /usr/bin/python3 bench/jobs.py || failed=1
    scripts/bench.sh infer || failed=1
    scripts/bench.sh predict || failed=1
    exit $failed
    ;;
*)
    echo "bench.sh: there is no part '$part' (platform, data, record, registry, proxy, gateway, jobs, infer, predict)" >&2
    exit 2
    ;;
esac
