#!/bin/sh
# Fetches ONNX Runtime into .cache/thirdparty/onnxruntime-VERSION/: its shared library out of the wheel on the
# configured Python index, and the header of its C API, which no wheel carries, out of Debian 13's package, from where
# the system has its own packages. Both are pinned by hash. Does nothing when they are there.
set -eu
cd "$(dirname "$0")/.."
version=1.31.1
dest=.cache/thirdparty/onnxruntime-$version
[ -e "$dest/complete" ] && exit 0
suite=trixie
header=7783e9664bdb0b1b36145b5c8587dd1bc9a399aa000edf2e3dd03003cafc6882
case $(uname -m) in
x86_64) wheel=5752bd508126ae7c49894d3b9d2e83f0c3d487319246d04c444b393308d7ad7f ;;
aarch64) wheel=da05378364c44d4407e463982d2bf8d5e4cfea873283757e48beeb41df97b7f3 ;;
*)
    echo "thirdparty: there is no ONNX Runtime for $(uname -m)" >&2
    exit 1
    ;;
esac
echo "thirdparty: fetching onnxruntime $version"
mkdir -p .cache/thirdparty
work=$(mktemp -d "$PWD/.cache/thirdparty/.fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/out" "$work/apt"

# tried COMMAND...: up to three times; what it said is shown when it fails
tried() {
    for attempt in 1 2 3; do
        "$@" >"$work/log" 2>&1 && return 0
        sleep "$attempt"
    done
    cat "$work/log" >&2
    echo "thirdparty: could not fetch onnxruntime $version" >&2
    return 1
}

fetch_library() {
    echo "onnxruntime==$version --hash=sha256:$wheel" >"$work/requirements.txt"
    tried /usr/bin/python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
        --python-version 311 --platform "manylinux_2_28_$(uname -m)" --dest "$work" -r "$work/requirements.txt"
    echo "$wheel  $(echo "$work"/onnxruntime-*.whl)" | sha256sum --check --quiet
    /usr/bin/python3 - "$work" "$version" <<'PYTHON'
import sys, zipfile, glob, os
work, version = sys.argv[1:]
with zipfile.ZipFile(glob.glob(f"{work}/onnxruntime-*.whl")[0]) as wheel:
    for name in (f"capi/libonnxruntime.so.{version}", "LICENSE", "ThirdPartyNotices.txt"):
        with open(f"{work}/out/{os.path.basename(name)}", "wb") as out:
            out.write(wheel.read(f"onnxruntime/{name}"))
PYTHON
    chmod 755 "$work/out/libonnxruntime.so.$version"
}

# The first archive of Debian that the system takes packages from.
archive() {
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' 2>/dev/null |
        head -n 1 | grep . ||
        sed -nE 's/^(URIs: *|deb (\[[^]]*\] *)?)([a-z+]+:[^ ]*debian\/?)( .*)?$/\3/p' /etc/apt/sources.list \
            /etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list 2>/dev/null | head -n 1 | grep .
}

# apt_get ARGUMENT...: with lists and sources of its own, so that the system's stay as they are
apt_get() {
    apt-get -q -o Dir::Etc::sourcelist="$work/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null \
        -o Dir::State::lists="$work/apt/lists" -o Dir::Cache="$work/apt/cache" -o APT::Sandbox::User=root \
        -o Acquire::Languages=none -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false \
        -o Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled=false "$@"
}

fetch_header() {
    from=$(archive) || {
        echo "thirdparty: the system has no source of Debian packages to take $suite from" >&2
        return 1
    }
    mkdir -p "$work/apt/lists/partial" "$work/apt/cache/archives/partial"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $from $suite main" >"$work/apt/sources.list"
    tried apt_get update
    (cd "$work/apt" && tried apt_get download libonnxruntime-dev)
    dpkg -x "$work"/apt/libonnxruntime-dev_*.deb "$work/apt/unpacked"
    cp "$work/apt/unpacked/usr/include/onnxruntime/onnxruntime_c_api.h" "$work/out/"
    echo "$header  $work/out/onnxruntime_c_api.h" | sha256sum --check --quiet
}

fetch_library
fetch_header
touch "$work/out/complete"
rm -rf "$dest"
mv "$work/out" "$dest"
