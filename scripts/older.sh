#!/bin/bash
# Builds the program of an older commit and prints its path: scripts/older.sh COMMIT. Tests of upgrades use it
# (tests/api/test_upgrade.py). It is kept below ~/.cache/ingot-older (INGOT_OLDER), outside of the clone, so that it is
# built once; the web UI is left out. Exit code 3: this clone does not have the commit (a shallow one), and there is
# no built program either.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
commit=$1
place=${INGOT_OLDER:-$HOME/.cache/ingot-older}/$commit
[ ! -x "$place/ingot" ] || { echo "$place/ingot"; exit 0; }
git -c safe.directory="$root" cat-file -e "$commit^{commit}" 2>/dev/null || {
    echo "older.sh: this clone does not have commit $commit (fetch its history), and $place/ingot is not there" >&2
    exit 3
}
mkdir -p "$place"
exec 9>"$place/building"
flock 9
[ ! -x "$place/ingot" ] || { echo "$place/ingot"; exit 0; }
rm -rf "$place/tree"
mkdir "$place/tree"
git -c safe.directory="$root" archive "$commit" | tar -x -C "$place/tree"
mkdir -p "$root/.cache"
ln -s "$root/.cache" "$place/tree/.cache"
(
    cd "$place/tree"
    scripts/thirdparty.sh
    export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
    cmake -S . -B build -G Ninja --log-level=WARNING -DINGOT_MODE=release
    ninja -C build ${JOBS:+-j$JOBS} ingot
) >&2
mv "$place/tree/build/ingot" "$place/ingot"
rm -rf "$place/tree"
echo "$place/ingot"
