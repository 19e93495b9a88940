#!/bin/sh
# A private PostgreSQL for tests: in DIR, on a socket in DIR, no TCP, no password, not durable.
#   scripts/postgres.sh start DIR   makes it in the empty folder DIR, starts it, prints its URL
#   scripts/postgres.sh stop DIR    stops it (DIR is the caller's to remove)
set -eu

usage() {
    echo "usage: $0 start|stop DIR" >&2
    exit 2
}

[ $# -eq 2 ] || usage
dir=$2
[ -d "$dir" ] || { echo "$0: $dir is no folder" >&2; exit 2; }
dir=$(cd "$dir" && pwd)
bin=$(find /usr/lib/postgresql -path '*/bin/initdb' 2>/dev/null | sort -V | tail -1)
[ -n "$bin" ] || { echo "$0: PostgreSQL is not installed (scripts/setup.sh test)" >&2; exit 1; }
bin=${bin%/initdb}

# PostgreSQL refuses to run as root.
as_postgres() {
    if [ "$(id -u)" -eq 0 ]; then
        setpriv --reuid=postgres --regid=postgres --clear-groups env HOME="$dir" "$@"
    else
        "$@"
    fi
}

start() {
    # The path of a socket has 107 bytes at most.
    [ ${#dir} -le 80 ] || { echo "$0: the path $dir is too long" >&2; exit 2; }
    [ "$(id -u)" -ne 0 ] || chown postgres: "$dir"
    cd "$dir"
    as_postgres "$bin/initdb" -D "$dir/data" -U postgres -A trust -E UTF8 --locale=C.UTF-8 --no-sync \
        >"$dir/initdb.log" 2>&1 || { cat "$dir/initdb.log" >&2; exit 1; }
    cat >>"$dir/data/postgresql.conf" <<EOF
listen_addresses = ''
unix_socket_directories = '$dir'
fsync = off
shared_buffers = 32MB
max_connections = 100
EOF
    as_postgres "$bin/pg_ctl" -D "$dir/data" -l "$dir/server.log" -w -t 120 start >"$dir/start.log" 2>&1 ||
        { cat "$dir/start.log" "$dir/server.log" >&2; exit 1; }
    as_postgres "$bin/createdb" -h "$dir" -U postgres ingot
    echo "postgresql:///ingot?host=$dir&user=postgres"
}

stop() {
    [ -e "$dir/data/postmaster.pid" ] || exit 0
    cd "$dir"
    as_postgres "$bin/pg_ctl" -D "$dir/data" -w -t 120 -m immediate stop >"$dir/stop.log" 2>&1 ||
        { cat "$dir/stop.log" >&2; exit 1; }
}

case $1 in
start) start ;;
stop) stop ;;
*) usage ;;
esac
