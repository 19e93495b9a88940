#!/bin/sh
# Installs the built program: scripts/install.sh PREFIX [BUILD], BUILD being build/release unless it is given. $DESTDIR goes before PREFIX.
#     PREFIX/lib/ingot/VERSION-HASH/   bin (ingot, ingot-infer), lib (ONNX Runtime), share/ingot (scripts of models, runtimes and tools)
#     PREFIX/lib/ingot/current         link to the newest of them, changed in one step
#     PREFIX/bin/ingot, ingot-infer    links into current
# A folder is never changed once it is there: what runs out of an older one keeps all of its files. Older ones stay until
# somebody removes them.
set -eu
[ $# -ge 1 ] && [ $# -le 2 ] || {
    echo "usage: scripts/install.sh PREFIX [BUILD]" >&2
    exit 2
}
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${2-$here/../build/release}" && pwd)
case $1 in
/*) ;;
*)
    echo "install.sh: PREFIX must begin with /: $1" >&2
    exit 2
    ;;
esac
prefix=${DESTDIR-}${1%/}
top=$prefix/lib/ingot
[ -x "$build/ingot" ] || {
    echo "install.sh: $build/ingot is not built" >&2
    exit 1
}

umask 022
mkdir -p "$top" "$prefix/bin"
new=$(mktemp -d "$top/.new.XXXXXX")
trap 'rm -rf "$new"' EXIT
chmod 755 "$new"
share=$new/share/ingot
mkdir -p "$new/bin" "$share"
cp "$build/ingot" "$new/bin/"
# Without the inference server a machine still has everything else.
if [ -x "$build/ingot-infer" ]; then
    mkdir "$new/lib"
    cp "$build/ingot-infer" "$new/bin/"
    cp "$build"/lib/libonnxruntime.so.* "$new/lib/"
fi
mkdir "$share/models"
(cd "$here/models" && find . -type f ! -name '*.pyc' -exec cp --parents {} "$share/models" \;)
if [ -d "$here/../algorithms" ]; then
    mkdir "$share/algorithms"
    (cd "$here/../algorithms" && find . -type f ! -name '*.pyc' -exec cp --parents {} "$share/algorithms" \;)
fi
# The demo is a client of the API: it comes with the Python client that it uses.
mkdir "$share/demo" "$share/python"
cp "$here"/demo/*.py "$here"/demo/*.json "$share/demo/"
(cd "$here/../python" && find ingot -type f -name '*.py' -exec cp --parents {} "$share/python" \;)
mkdir "$share/runtimes"
cp "$here"/runtimes/*.py "$here"/runtimes/*.sh "$share/runtimes/"
cp -r "$here/tools" "$here/tools.sh" "$here/node.sh" "$share/"
touch "$share/installed" # the scripts write nothing beside themselves here
chmod -R u+rwX,go+rX,go-w "$new"

version=$("$build/ingot" version | sed 's/^ingot //')
hash=$(cd "$new" && find . -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -c 1-12)
name=$version-$hash
if [ ! -d "$top/$name" ]; then
    sync -f "$new"
    mv -T "$new" "$top/$name"
fi
# link NAME TARGET: whoever looks sees the old one or the new one
link() {
    ln -s "$2" "$1.new.$$"
    mv -T "$1.new.$$" "$1"
}
link "$top/current" "$name"
link "$prefix/bin/ingot" ../lib/ingot/current/bin/ingot
if [ -e "$top/$name/bin/ingot-infer" ]; then
    link "$prefix/bin/ingot-infer" ../lib/ingot/current/bin/ingot-infer
fi
echo "installed $name in $top"
for old in "$top"/*/; do
    old=$(basename "$old")
    [ "$old" = "$name" ] || [ "$old" = current ] || echo "older: $old stays for what runs out of it"
done
