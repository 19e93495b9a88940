#!/bin/sh
# make run: serves ./data on 127.0.0.1:8080, and says at its first start how to sign in. The built-in classifier is installed
# then too, beside the server and after it is up; so it is whenever $INGOT_ADMIN_PASSWORD is the administrator's password.
# Everything else that can be fetched comes when it is first asked for.
set -eu
cd "$(dirname "$0")/.."
program=build/release/ingot
url=http://${INGOT_LISTEN:=127.0.0.1:8080}
generated=

say_how() {
    printf '\n  address   %s\n  user      admin\n  password  %s\n\n' "$url" "$INGOT_ADMIN_PASSWORD"
    echo "A new one, on this machine: $program admin password"
    echo "The built-in classifier is being fetched (18 MB); the pages work meanwhile."
}

# The server says where it is; this says who signs in and how the classifier went. Without a network there is none, and all
# else works.
beside() {
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
    [ -z "$generated" ] || say_how
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
    generated=1
fi
if [ -n "${INGOT_ADMIN_PASSWORD-}" ]; then
    (beside $$) &
fi
exec "$program" serve --data ./data --listen "$INGOT_LISTEN" --tools .cache/tools
