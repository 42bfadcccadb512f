#!/bin/sh
# Install a wheel into a new environment and run the quickstart there, without a compiler: `test_wheel.sh WHEEL`.
set -eu

wheel=$(realpath "$1")
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
"${PYTHON:-python3}" -m venv "$place/venv"
"$place/venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements/run.txt
"$place/venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps "$wheel"

# Only the environment's programs are on PATH, from a folder outside of the checkout.
cd "$place"
alone() { env -i HOME="$place" PATH="$place/venv/bin" "$@"; }
if alone python -c 'import shutil, sys; sys.exit(not any(map(shutil.which, ("c++", "g++", "clang++", "cc"))))'; then
    echo "test_wheel: $place/venv/bin has a compiler, expected none" >&2
    exit 1
fi
alone rogue run quickstart --set scale=quick
test -s "$place"/results/quickstart/*/report.html
alone python -c 'import pathlib, rogue; assert pathlib.Path(rogue.__file__).with_name("py.typed").exists()'
echo "test_wheel: $(basename "$wheel") runs the quickstart without a compiler" >&2
