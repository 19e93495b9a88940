#!/bin/sh
# cppcheck over src/; results of unchanged files are kept in .cache/cppcheck.
# returnDanglingLifetime takes a struct that a function pointer returns for a pointer to its argument.
set -eu
cd "$(dirname "$0")/../.."
mkdir -p .cache/cppcheck
find src -name '*.c' | grep -q . || exit 0
exec cppcheck -j "${JOBS:-$(nproc)}" --quiet --error-exitcode=1 --std=c11 --inline-suppr \
    --cppcheck-build-dir=.cache/cppcheck --enable=warning,performance,portability \
    --suppress=missingIncludeSystem --suppress=normalCheckLevelMaxBranches --suppress=unknownMacro \
    --suppress=returnDanglingLifetime \
    -D_GNU_SOURCE -D__linux__ -D__GNUC__=12 '-DINGOT_VERSION="check"' '-DORT_LIBRARY="check"' -Isrc src
