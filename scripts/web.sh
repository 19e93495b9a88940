#!/bin/sh
# Builds the web UI into web/dist when anything it depends on has changed; scripts/web.sh deps only installs
# its packages and generates the API types. The types come from the OpenAPI document that the program itself
# prints, so the program is built first (with the UI it had before, or none).
set -eu
cd "$(dirname "$0")/.."
[ -e web/package.json ] || exit 0
mkdir -p .cache build

lock=$(sha256sum web/package.json web/package-lock.json)
if [ "$(cat web/node_modules/.installed 2>/dev/null)" != "$lock" ]; then
    echo "web: installing packages"
    (cd web && ../scripts/node.sh npm ci --no-audit --no-fund --loglevel=error)
    echo "$lock" >web/node_modules/.installed
fi

if grep -q '"generate"' web/package.json && [ -e src/main.c ]; then
    make --no-print-directory build-release
    build/release/ingot openapi >build/openapi.json.new
    if ! cmp -s build/openapi.json.new build/openapi.json || [ ! -e web/src/api/schema.ts ]; then
        mv build/openapi.json.new build/openapi.json
        echo "web: generating API types"
        (cd web && ../scripts/node.sh npm run --silent generate)
    fi
    rm -f build/openapi.json.new
fi
[ "${1-}" = deps ] && exit 0

inputs=$(find web -type f -not -path 'web/node_modules/*' -not -path 'web/dist/*' -print0 | sort -z |
    xargs -0 sha256sum | sha256sum)
if [ ! -e web/dist/index.html ] || [ "$(cat .cache/web.inputs 2>/dev/null)" != "$inputs" ]; then
    echo "web: building"
    (cd web && ../scripts/node.sh npm run --silent build)
    echo "$inputs" >.cache/web.inputs
fi
