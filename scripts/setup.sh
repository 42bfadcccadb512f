#!/bin/sh
# Set-up behind the Makefile: `setup.sh dependencies|engine|develop|reference VENV`.
set -eu

step=$1
venv=$2

fail() {
    printf 'setup: %s\n' "$@" >&2
    exit 1
}

find_python() {
    for candidate in ${PYTHON:-python3 python3.13 python3.12 python3.11}; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$candidate"
            return
        fi
    done
}

find_compiler() {
    for candidate in ${CXX:-c++ g++ clang++}; do
        if echo 'int main() {}' | "$candidate" -std=c++20 -x c++ -fsyntax-only - 2>/dev/null; then
            command -v "$candidate"
            return
        fi
    done
}

# Print the missing packages by their Debian names.
missing_packages() {
    packages=
    python=$(find_python)
    if [ -z "$python" ]; then
        packages="python3 python3-venv python3-dev"
    else
        "$python" -c 'import ensurepip, venv' 2>/dev/null || packages="$packages python3-venv"
        "$python" -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' || packages="$packages python3-dev"
    fi
    [ -n "$(find_compiler)" ] || packages="$packages g++"
    # Only nodes and tests need OpenSSH's client: if we may not install it, we only report it.
    if ! command -v ssh >/dev/null && may_install; then packages="$packages openssh-client"; fi
    echo "${packages# }"
}

# True for root on Debian or a derivative, unless the user refuses or names a Python or a compiler.
may_install() {
    [ "${ROGUE_NO_INSTALL:-0}" = 0 ] && [ -z "${PYTHON:-}${CXX:-}" ] && [ "$(id -u)" = 0 ] &&
        [ -e /etc/debian_version ] && command -v apt-get >/dev/null
}

apt_get() {
    DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -qq "$@"
}

install_packages() {
    install="install --yes --no-install-recommends $1"
    echo "setup: this machine lacks $1; as root on Debian, this runs: apt-get $install" >&2
    echo "setup: (with ROGUE_NO_INSTALL=1 it only prints the command)" >&2
    log=$(mktemp)
    # shellcheck disable=SC2086  # a list of words
    if ! { apt_get update && apt_get $install; } >"$log" 2>&1; then
        tail -n 20 "$log" >&2
        fail "apt-get could not install $1; its last lines are above, all of them in $log." \
            "a package mirror must be reachable; once it is, run this again."
    fi
    rm -f "$log"
}

# Install the missing packages if we may; otherwise fail with the command that installs them.
require_tools() {
    missing=$(missing_packages)
    [ -z "$missing" ] && return
    if may_install; then
        install_packages "$missing"
        missing=$(missing_packages)
        [ -z "$missing" ] && return
    fi
    fail "this machine lacks something the project needs: Python >= 3.11 with venv and headers, and a C++20 compiler." \
        "missing here (Debian and Ubuntu names): $missing" \
        "on Debian 12 or Ubuntu 24.04, as root:  apt-get install --yes $missing" \
        "elsewhere: install these, or name them with PYTHON=/path/to/python3 CXX=/path/to/compiler."
}

# Run a command and show only its progress; if it fails, show its last lines and the given message.
logged() {
    message=$1
    log=$venv/setup.log
    shift
    rm -f "$log.failed"
    { "$@" 2>&1 || touch "$log.failed"; } | show_progress >"$log"
    [ -e "$log.failed" ] || return 0
    tail -n 60 "$log" >&2
    fail "$message" "its last lines are above, all of them in $log."
}

# Copy pip's output, and show its packages and the steps of the build ([7/62]) on stderr: on a terminal in one line,
# elsewhere every tenth.
show_progress() {
    packages=0
    while IFS= read -r line; do
        printf '%s\n' "$line"
        text=${line#"${line%%[! ]*}"}
        case $text in
        \[*/*\]\ *) text=${text%%]*} && show "${text%%/*}" "step ${text#?} of the build" ;;
        Collecting\ *) packages=$((packages + 1)) && show "$packages" "$packages packages found" ;;
        Installing\ collected\ *) show 0 "$packages packages found; installing them" ;;
        esac
    done
    [ ! -t 2 ] || printf '\r\033[K' >&2
}

show() {
    if [ -t 2 ]; then
        printf '\rsetup: %s\033[K' "$2" >&2
    else
        case $1 in *0) echo "setup: $2" >&2 ;; esac
    fi
}

# The lock files name every package. --no-deps keeps pip from resolving coverage[toml]: a version newer than the lock
# file has no hash, and pip would fail. With --no-compile Python compiles only the modules that it imports, a third.
install_locked() {
    "$venv/bin/python" -m pip install --disable-pip-version-check --no-deps --no-compile --require-hashes -r "$1"
}

# Install a lock file and check that it is complete.
install_checked() {
    logged "pip could not install $1; a package index must be reachable." install_locked "$1"
    output=$("$venv/bin/python" -m pip check --disable-pip-version-check 2>&1) ||
        fail "$1 lacks packages, or has versions that conflict." "$output"
}

dependencies() {
    require_tools
    command -v ssh >/dev/null ||
        echo "setup: no OpenSSH client here (Debian: openssh-client); nodes and 'make test' need it" >&2
    echo "setup: Python packages into $venv (once; one or two minutes)" >&2
    "$(find_python)" -m venv --clear "$venv"
    install_checked requirements/run.txt
    touch "$venv/.dependencies"
}

develop() {
    echo "setup: packages for tests and lint into $venv (once; half a minute)" >&2
    install_checked requirements/develop.txt
    touch "$venv/.develop"
}

engine() {
    require_tools
    echo "setup: building the simulator's engine (one to four minutes, by how busy the processor is)" >&2
    CXX=$(find_compiler)
    export CXX
    logged "the engine did not build." \
        "$venv/bin/python" -m pip install --verbose --disable-pip-version-check --no-build-isolation --no-deps \
        --editable . ${ROGUE_WERROR:+-Ccmake.define.ROGUE_WERROR=ON}
    touch "$venv/.engine"
}

# Build directly into the environment: pip does not list this file, so reinstalling the package keeps it.
build_reference() {
    "$bin/cmake" --fresh -S . -B build/reference -G Ninja -DCMAKE_MAKE_PROGRAM="$bin/ninja" \
        -DPython_EXECUTABLE="$bin/python" -Dnanobind_ROOT="$nanobind" -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_LIBRARY_OUTPUT_DIRECTORY="$packages/rogue/simulator" \
        -DROGUE_REFERENCE=ON -DROGUE_WERROR="${ROGUE_WERROR:+ON}" &&
        "$bin/cmake" --build build/reference --target _reference
}

reference() {
    echo "setup: building the reference engine, which tests compare the simulator's with" >&2
    CXX=$(find_compiler)
    export CXX
    bin=$(cd "$venv/bin" && pwd)
    nanobind=$("$bin/python" -m nanobind --cmake_dir)
    packages=$("$bin/python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')
    logged "the reference engine did not build." build_reference
    touch "$venv/.reference"
}

case $step in
dependencies | engine | develop | reference) "$step" ;;
*) fail "unknown step '$step': expected 'dependencies', 'engine', 'develop' or 'reference'." ;;
esac
