#!/bin/sh
# Runs the benchmarks: scripts/bench.sh, or scripts/bench.sh NAME... for some (--list shows the names). Prints a table;
# each figure is a ratio to a peer measured in the same minute. Needs the release build.
set -eu
cd "$(dirname "$0")/.."
exec /usr/bin/python3 bench/platform.py "$@"
