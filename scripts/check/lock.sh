#!/bin/sh
# web/package-lock.json names the packages of every platform, so that `npm ci` works with every registry.
cd "$(dirname "$0")/../.."
[ ! -e web/package-lock.json ] || exec scripts/lock.py --check
