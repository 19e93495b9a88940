#!/bin/sh
# make run: serves ./data on 127.0.0.1:8080. At the first start the built-in classifier is installed too, beside the server
# and after it is up; so it is whenever $INGOT_ADMIN_PASSWORD is the administrator's password.
set -eu
cd "$(dirname "$0")/.."
program=build/release/ingot
url=http://127.0.0.1:8080

# The server says where it is; this says how the classifier went. Without a network there is none, and all else works.
classifier() {
    config=$(mktemp -d)
    trap 'rm -rf "$config"' EXIT
    export INGOT_CONFIG="$config/config.json"
    unset INGOT_URL INGOT_TOKEN INGOT_PROJECT
    until echo "$INGOT_ADMIN_PASSWORD" | "$program" login "$url" --name admin --password-stdin >"$config/log" 2>&1; do
        kill -0 "$1" 2>/dev/null || return 0
        tries=$((${tries-0} + 1))
        [ $tries -lt 60 ] || break
        sleep 1
    done
    if "$program" fetch imagenet-classifier >"$config/log" 2>&1; then
        tail -n 1 "$config/log"
    else
        echo "The classifier is not installed: $(tail -n 1 "$config/log")"
        echo "Later: ingot login $url --name admin && ingot fetch imagenet-classifier"
    fi
    "$program" logout >/dev/null 2>&1 || true
}

if [ ! -e data/ingot.db ] && [ -z "${INGOT_ADMIN_PASSWORD-}" ]; then
    INGOT_ADMIN_PASSWORD=$(od -An -N15 -tx1 /dev/urandom | tr -d ' \n')
    export INGOT_ADMIN_PASSWORD
    echo "The first administrator is admin, the password is $INGOT_ADMIN_PASSWORD"
fi
if [ -n "${INGOT_ADMIN_PASSWORD-}" ]; then
    (classifier $$) &
fi
exec "$program" serve --data ./data --listen 127.0.0.1:8080 --tools .cache/tools
