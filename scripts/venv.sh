#!/bin/sh
# Makes the Python environment of the tests, .cache/venv, from tests/requirements.txt; quick when it is there.
set -eu
cd "$(dirname "$0")/.."
venv=.cache/venv
wanted=$(sha256sum tests/requirements.txt)
[ "$(cat $venv/installed 2>/dev/null)" = "$wanted" ] && exit 0
echo "venv: installing tests/requirements.txt"
[ -x $venv/bin/pip ] || /usr/bin/python3 -m venv --clear $venv
$venv/bin/pip install --quiet --disable-pip-version-check -r tests/requirements.txt
echo "$wanted" >$venv/installed
