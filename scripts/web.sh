#!/bin/sh
# Builds the web UI into web/dist when anything it depends on has changed; scripts/web.sh deps only installs
# its packages and generates the API types. The types come from the OpenAPI document of the program itself,
# so the program is built first (with the UI it had before, or none).
set -eu
cd "$(dirname "$0")/.."
[ -e web/package.json ] && [ -e src/main.c ] || exit 0
mkdir -p .cache build

# The lock file names all that is installed; what else package.json says needs no installation.
lock=$(sha256sum web/package-lock.json)
if [ "$(cat web/node_modules/.installed-lock 2>/dev/null)" != "$lock" ]; then
    echo "web: installing packages"
    (cd web && ../scripts/node.sh npm ci --no-audit --no-fund --loglevel=error)
    echo "$lock" >web/node_modules/.installed-lock
fi

# What is in the program besides the UI decides whether its document can have changed.
make --no-print-directory build-release
program=$(find src -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum)
if [ ! -e build/openapi.json ] || [ "$(cat build/openapi.program 2>/dev/null)" != "$program" ]; then
    scripts/openapi.py build/release/ingot build/openapi.json
    echo "$program" >build/openapi.program
fi
types=$(sha256sum build/openapi.json web/package-lock.json)
if [ ! -e web/src/api/schema.ts ] || [ "$(cat build/openapi.types 2>/dev/null)" != "$types" ]; then
    echo "web: generating API types"
    (cd web && ../scripts/node.sh npm run --silent generate)
    echo "$types" >build/openapi.types
fi
# The Python client's types are of the same document; only what differs is written.
(cd python && /usr/bin/python3 -B -m ingot.stubs ../build/openapi.json ingot)
[ "${1-}" = deps ] && exit 0

# The manuals are part of the pages.
inputs=$(find web docs -type f -not -path 'docs/screenshots/*' -not -path 'web/node_modules/*' -not -path 'web/dist/*' -not -path 'web/tests/*' \
    -not -path 'web/test-results/*' -print0 | sort -z | xargs -0 sha256sum | sha256sum)
if [ ! -e web/dist/index.html ] || [ "$(cat build/web.inputs 2>/dev/null)" != "$inputs" ]; then
    echo "web: building"
    (cd web && ../scripts/node.sh npm run --silent build)
    echo "$inputs" >build/web.inputs
fi
