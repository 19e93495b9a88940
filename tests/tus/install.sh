#!/bin/sh
# Installs the client's packages; quick when they are there, and safe when several ask at once.
set -eu
cd "$(dirname "$0")"
exec 9<package.json
flock 9
cmp -s package-lock.json node_modules/.installed && exit 0
../../scripts/node.sh npm ci --no-audit --no-fund --loglevel=error
cp package-lock.json node_modules/.installed
