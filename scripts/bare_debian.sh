#!/bin/sh
# `bare_debian.sh [COMMAND]...`: run shell commands in a clone of this checkout's commit, one after another, as root
# of a Debian with only git, certificates and make. The default is the first two commands of the README.
# COMMIT (default HEAD) is the commit to clone; the Debian release is that of this machine.
# Package sources, proxies, certificates and pip's settings and cache are those of this machine.
# The Debian is a directory in TMPDIR of about 3 GB. It is removed at the end, also after Ctrl-C: everything runs in a
# separate mount and process namespace, which ends with the script.
set -eu

CERTIFICATES="SSL_CERT_FILE PIP_CERT REQUESTS_CA_BUNDLE CURL_CA_BUNDLE GIT_SSL_CAINFO"
PROXIES="http_proxy https_proxy ftp_proxy no_proxy HTTP_PROXY HTTPS_PROXY FTP_PROXY NO_PROXY"
PATH_THERE=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

fail() {
    printf 'bare_debian: %s\n' "$@" >&2
    exit 1
}

tell() {
    echo "bare_debian: $*" >&2
}

require() {
    [ "$(id -u)" = 0 ] || fail "creating a Debian and changing root into it needs root."
    for program in git mmdebstrap python3 unshare; do
        command -v "$program" >/dev/null ||
            fail "no $program here; on Debian, as root:  apt-get install --yes git mmdebstrap python3 util-linux"
    done
}

# Write sources and settings of this machine's apt into $place, and print their release.
sources() {
    PYTHONPATH=$repository/src python3 -B - "$place" <<'END'
import sys
from pathlib import Path

from rogue.virtual.errors import VirtualTestbedError
from rogue.virtual.image.build import host_sources

try:
    found = host_sources()
except VirtualTestbedError as error:
    sys.exit(f"bare_debian: {error}")
Path(sys.argv[1], "sources").write_text("\n".join([*found.lines, ""]))
Path(sys.argv[1], "apt.conf").write_text(found.settings)
print(found.codename)
END
}

# Copy this machine's files into the Debian, at the same path, if they exist.
copy_in() {
    for file; do
        [ ! -e "$file" ] || cp -RL --parents "$file" "$debian"
    done
}

make_debian() {
    suite=$(sources)
    tell "making a bare Debian ($suite)"
    mmdebstrap --quiet --mode=root --variant=minbase --include=git,ca-certificates,make \
        --aptopt="$place/apt.conf" "$suite" "$debian" "$place/sources"
    copy_in /etc/apt/auth.conf /etc/apt/auth.conf.d /etc/resolv.conf /etc/hosts /etc/pip.conf /etc/xdg/pip \
        /usr/local/share/ca-certificates
    for name in $CERTIFICATES; do
        copy_in "$(printenv "$name" || :)"
    done
    mkdir -p "$debian/root/.cache/pip"
    for settings in "${XDG_CONFIG_HOME:-$HOME/.config}/pip/pip.conf" "$HOME/.pip/pip.conf"; do
        [ ! -e "$settings" ] || install -D "$settings" "$debian/root/.config/pip/pip.conf"
    done
}

# Print NAME=VALUE for the variables of this machine that the commands get.
environment() {
    env | grep -E "^($(echo "$PROXIES $CERTIFICATES" | tr ' ' '|')|PIP_[A-Z_]*)=" | grep -v '^PIP_CACHE_DIR=' || :
}

run_there() {
    environment >"$place/environment"
    set -- "$1" env -i HOME=/root PATH="$PATH_THERE" LANG=C.UTF-8 TERM="${TERM:-dumb}"
    while IFS= read -r setting; do
        set -- "$@" "$setting"
    done <"$place/environment"
    line=$1
    shift
    chroot "$debian" "$@" sh -c "cd /root/rogue; $line" </dev/null
}

# Run in the namespaces, with the directory, the repository and the commands as arguments.
inside() {
    place=$1 repository=$2 debian=$1/debian
    shift 2
    make_debian
    git clone --quiet --no-checkout "$repository" "$debian/root/rogue"
    git -C "$debian/root/rogue" -c advice.detachedHead=false checkout --quiet "$commit"
    mount -t proc proc "$debian/proc"
    mount --rbind /sys "$debian/sys"
    mount --rbind /dev "$debian/dev"
    cache=${PIP_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/pip}
    [ ! -d "$cache" ] || mount --bind "$cache" "$debian/root/.cache/pip"
    run_there "update-ca-certificates >/dev/null 2>&1"
    for line; do
        tell "$line"
        began=$(date +%s)
        code=0
        run_there "$line" || code=$?
        tell "'$line' took $(($(date +%s) - began)) s and ended with exit code $code"
        [ "$code" = 0 ] || exit "$code"
    done
}

# The first process of the namespaces dies with `unshare`; the others follow a moment later.
clean_up() {
    trap '' INT TERM HUP
    [ -z "${child:-}" ] || { kill -KILL "$child" && wait "$child"; } 2>/dev/null || :
    rm -rf --one-file-system "$place" 2>/dev/null || { sleep 2 && rm -rf --one-file-system "$place"; }
}

if [ "${1:-}" = --inside ]; then
    shift
    inside "$@"
    exit
fi

require
repository=$(cd "$(dirname "$0")/.." && pwd)
commit=$(git -C "$repository" rev-parse --verify "${COMMIT:-HEAD}^{commit}")
export commit
[ -n "${COMMIT:-}" ] || [ -z "$(git -C "$repository" status --porcelain)" ] ||
    tell "what is not committed is left out: this is $commit"
[ $# -gt 0 ] || set -- "make run-experiment" "make test"
place=$(mktemp -d)
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
# In the background, because a waiting shell handles signals at once; the namespaces end with their first process.
unshare --mount --pid --fork --mount-proc --kill-child sh "$0" --inside "$place" "$repository" "$@" &
child=$!
wait "$child"
child=
