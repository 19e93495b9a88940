#!/bin/sh
# Runs the benchmarks and prints tables; each figure is a ratio to a peer measured in the same minute. Needs the
# release build (make bench makes it). Without arguments everything that needs no further packages:
#   scripts/bench.sh [platform [--seconds N] [get|kept|auth|list|search|create|upload|start ...] | record [MB [MB]] |
#       data [zip|page|thumbs|blob|memory|copy|coco|clicks ...] | label [--seconds N] [annotators|stroke|next|memory|kills] | learn [table|flood|points] | registry [transfer|manifests|collector ...] | proxy | gateway |
#       jobs [start|many|follow|idle ...] | infer [latency|many|batch|memory ...] | predict | evaluate | agree | kserve |
#       one-click [--seconds N] [--seeds N] [fashion|stamps|reviews|voices|boxes|areas ...] | loading |
#       million [--requests N] [--slow] | pages [ROUNDS] | lighthouse [PATH ...] |
#       canvas [--screens FOLDER]]
# bench/coco.py, bench/learn/press.py and build/release/bench_db_commit are run by hand; see bench/README.md.
set -eu
cd "$(dirname "$0")/.."

part=${1-all}
[ $# = 0 ] || shift
case $part in
platform) exec /usr/bin/python3 bench/platform.py "$@" ;;
data) exec /usr/bin/python3 bench/data.py "$@" ;;
pages) exec node bench/pages.mjs "$@" ;;
lighthouse) # 185 MB, in no lock file
    folder=.cache/lighthouse
    [ -e $folder/node_modules/lighthouse ] || scripts/node.sh npm install --prefix $folder --no-audit --no-fund --ignore-scripts --no-save lighthouse@12.8.2
    exec scripts/node.sh node bench/lighthouse.mjs "$@"
    ;;
learn)
    case ${1-} in
    points) exec node bench/learn.mjs ;;
    *) exec /usr/bin/python3 bench/learn.py "$@" ;;
    esac
    ;;
one-click) exec /usr/bin/python3 bench/learn/learn.py "$@" ;;
loading) exec /usr/bin/python3 bench/learn/loading.py "$@" ;;
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
evaluate)
    scripts/venv.sh
    ninja -C build/release bench_evaluate_bare >/dev/null
    exec .cache/venv/bin/python bench/evaluate.py "$@"
    ;;
million)
    scripts/venv.sh
    exec .cache/venv/bin/python bench/serve_million.py "$@"
    ;;
agree) # 200 pictures, texts or sounds for each way of reading a model, against the reference
    INGOT_INPUTS=${INGOT_INPUTS-200} INGOT_BUILD=$PWD/build/release exec scripts/pytest.sh tests/infer/test_predict.py -k reference
    ;;
kserve) # KServe's own client against ingot-infer, in an environment of its own (400 MB, minutes)
    folder=.cache/kserve-0.21.0
    if [ ! -e $folder/.installed ]; then
        rm -rf $folder
        python3 -m venv $folder
        $folder/bin/pip install -q kserve==0.21.0
        touch $folder/.installed
    fi
    INGOT_KSERVE=$PWD/$folder/bin/python INGOT_BUILD=$PWD/build/release exec scripts/pytest.sh tests/infer/test_clients.py -k kserve
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
