#!/bin/bash
# Record files: C reading against a bare memcpy loop, and random reads from Python against other formats.
# Arguments: megabytes of samples per size in C (default 128) and in Python (default 64).
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo "== C: copying records against memcpy over the same mapping (wanted: ratio 0.9)"
cc -O2 -D_GNU_SOURCE -Isrc bench/record.c src/record/*.c -lpthread -lm -o "$work/record"
mkdir "$work/c"
"$work/record" "$work/c" "${1:-128}"
rm -rf "$work/c"

echo "== Python: random reads (wanted: 2 times the best of the others)"
/usr/bin/python3 -m venv "$work/venv"
pip() { "$work/venv/bin/pip" --quiet --disable-pip-version-check "$@"; }
cp -r python "$work/python"
pip install "$work/python" numpy
# Some of them want packages that are not there for every machine; each is measured if it installs.
# MosaicML Streaming needs PyTorch (gigabytes): STREAMING=mosaicml-streaming==0.13.0 bench/record.sh measures it too.
for package in lmdb==3.0.0 tfrecord==1.14.6 webdataset==1.0.2 ${STREAMING-}; do
    pip install "$package" || echo "not installed: $package"
done
mkdir "$work/py"
"$work/venv/bin/python" -P bench/record.py "$work/py" "${2:-64}"
