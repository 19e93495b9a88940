#!/bin/sh
# Installs what a group of make targets needs: scripts/setup.sh build|check|test|bench|run ...
# Only missing packages are installed, so that a second call costs a fraction of a second.
set -eu
cd "$(dirname "$0")/.."

packages_of() {
    case $1 in
    build | run)
        echo gcc g++ make cmake ninja-build ccache pkg-config libuv1-dev libnghttp2-dev libssl-dev \
            libsqlite3-dev libpq-dev libmariadb-dev libcurl4-openssl-dev libarchive-dev libvips-dev libavformat-dev \
            libavcodec-dev libavutil-dev libswscale-dev libsndfile1-dev libjpeg62-turbo-dev libpng-dev libwebp-dev libflac-dev \
            libargon2-dev libcrypt-dev zlib1g-dev \
            libzstd-dev brotli git ca-certificates python3 python3-venv python3-pip dpkg-dev libcmocka-dev \
            crun nftables e2fsprogs musl-tools openssh-server openssh-client python3-onnx python3-numpy python3-pil
        ;;
    check) echo clang clang-format clang-tidy cppcheck ;;
    test)
        echo clang libclang-rt-14-dev python3-dev postgresql mariadb-server chromium fonts-noto-cjk openssl zstd curl procps ffmpeg \
            libarchive-tools nginx-light iproute2 openmpi-bin sshpass \
            python3-mpi4py python3-torch libopenblas0 python3-pil python3-soundfile \
            skopeo podman buildah
        # Docker of another origin stays: Debian's would take its place.
        command -v dockerd >/dev/null || echo docker.io
        ;;
    bench)
        echo nginx-light haproxy wrk curl postgresql docker-registry podman crun libarchive-tools libvips-tools \
            python3-torch python3-torchvision libopenblas0 python3-pil python3-soundfile python3-sklearn dataset-fashion-mnist \
            tuxpaint-stamps-default asterisk-core-sounds-en-wav asterisk-core-sounds-es-wav asterisk-core-sounds-fr-wav
        ;;
    *)
        echo "setup.sh: unknown group '$1' (build, check, test, bench, run)" >&2
        exit 2
        ;;
    esac
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        echo "setup.sh: need root or sudo to run: $*" >&2
        exit 1
    fi
}

# Docker's daemon changes the machine's network: it is started neither now nor with the next boot.
quiet_docker() {
    policy=/usr/sbin/policy-rc.d
    [ ! -e $policy ] && own=$policy || own=
    trap 'as_root rm -f $own; as_root systemctl -q disable docker.service docker.socket containerd.service || true' EXIT
    [ -n "$own" ] || return 0
    printf '#!/bin/sh\nexit 101\n' | as_root tee $own >/dev/null
    as_root chmod 755 $own
}

wanted=""
for group in "$@"; do
    list=$(packages_of "$group") || exit 2
    wanted="$wanted $list"
done

missing=""
# shellcheck disable=SC2086
installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' $wanted 2>/dev/null |
    sed -n 's/ installed$//p') || true
for package in $wanted; do
    case "
$installed
" in
    *"
$package
"*) ;;
    *) case " $missing " in *" $package "*) ;; *) missing="$missing $package" ;; esac ;;
    esac
done

if [ -n "$missing" ]; then
    echo "setup: installing$missing"
    # Another installation may be running on a machine that has just started.
    patience="-o DPkg::Lock::Timeout=600 -o Acquire::Retries=3"
    # shellcheck disable=SC2086
    as_root apt-get $patience update -q ||
        echo "setup: apt-get update failed; going on with the package lists there are" >&2
    case " $missing " in *" docker.io "*) quiet_docker ;; esac
    # Installing must not ask anything, nor start what it installs. It is tried again: on a machine that has just
    # started it was seen to fail once, on a name of its own in the temporary folder that was gone.
    for attempt in 1 2 3; do
        # shellcheck disable=SC2086
        as_root env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 \
            apt-get $patience install -y -q --no-install-recommends $missing && break
        [ $attempt -lt 3 ] || exit 1
        echo "setup: apt-get install failed; once more" >&2
        sleep 5
    done
fi

case " $* " in
*" build "* | *" run "* | *" test "*) scripts/node.sh --install ;;
esac
