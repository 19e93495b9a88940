#!/bin/sh
# Fetches the libraries that Debian 12 lacks into .cache/thirdparty/NAME-VERSION/ (header, C sources, licence): llhttp
# and yyjson, out of source packages on the configured Python index, pinned by version and hash, and ONNX Runtime by
# onnxruntime.sh. Does nothing when they are there.
set -eu
cd "$(dirname "$0")/.."
top=.cache/thirdparty
python=/usr/bin/python3

# fetch PACKAGE VERSION SHA256 DIR: the source package, verified, into DIR
fetch() {
    echo "$1==$2 --hash=sha256:$3" >"$4/requirements.txt"
    for attempt in 1 2 3; do
        if $python -m pip download --quiet --disable-pip-version-check --no-deps --no-binary "$1" \
            --dest "$4" -r "$4/requirements.txt" >"$4/log" 2>&1; then
            echo "$3  $4/$1-$2.tar.gz" | sha256sum --check --quiet
            return
        fi
        sleep "$attempt"
    done
    cat "$4/log" >&2
    return 1
}

# library NAME VERSION PACKAGE PACKAGE_VERSION SHA256 FILE...: FILEs of the package become the library's folder
library() {
    name=$1 version=$2 package=$3 package_version=$4 sha=$5
    shift 5
    dest=$top/$name-$version
    [ -e "$dest/complete" ] && return 0
    echo "thirdparty: fetching $name $version"
    mkdir -p "$top"
    work=$(mktemp -d "$top/.fetch.XXXXXX")
    if ! fetch "$package" "$package_version" "$sha" "$work"; then
        rm -rf "$work"
        echo "thirdparty: could not fetch $name $version (source package $package $package_version)" >&2
        return 1
    fi
    tar -xzf "$work/$package-$package_version.tar.gz" -C "$work"
    mkdir "$work/out"
    for file in "$@"; do
        cp "$work/$package-$package_version/$file" "$work/out/"
    done
    touch "$work/out/complete"
    rm -rf "$dest"
    mv "$work/out" "$dest"
    rm -rf "$work"
}

failed=0
library llhttp 9.3.0 aiohttp 3.12.15 4fc61385e9c98d72fcdf47e6dd81833f47b2f77c114c29cd64a361be57a763a2 \
    vendor/llhttp/build/llhttp.h vendor/llhttp/build/c/llhttp.c vendor/llhttp/src/native/api.c \
    vendor/llhttp/src/native/http.c vendor/llhttp/LICENSE || failed=1
library yyjson 0.10.0 yyjson 4.0.6 fcd4dc15c1e39a30bf9fa85d56903029111506860fc3080ab0d81c6c6dacaa8c \
    yyjson/yyjson.h yyjson/yyjson.c LICENSE || failed=1
scripts/onnxruntime.sh || failed=1
exit $failed
