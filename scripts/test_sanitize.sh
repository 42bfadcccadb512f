#!/bin/sh
# Behind `make test-sanitize`: `test_sanitize.sh VENV [PYTEST ARGUMENT]...`.
# Builds both engines beside the installed ones, those in SANITIZE (_core) with AddressSanitizer and UBSan, and runs
# tests on them. Only tests run _reference, so `make test-long` alone sanitizes it.
set -eu

venv=$1
shift
here=$(pwd)
site=$here/build/sanitize/site
packages=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
python=$("$venv/bin/python" -c 'import sys; print(sys._base_executable)')

mkdir -p "$site"
"$venv/bin/pip" -q install --no-build-isolation --no-deps --upgrade --target "$site" . \
    -C build-dir=build/sanitize/objects -C cmake.build-type=RelWithDebInfo \
    -C cmake.define.ROGUE_REFERENCE=ON -C "cmake.define.ROGUE_SANITIZE=${SANITIZE:-_core}" \
    -C "cmake.define.CMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1 -DNDEBUG"  # half the time to build; traces have their lines

# The base interpreter does not know that the project is installed in place, so that it finds the other build.
runtimes=
for library in libasan.so libubsan.so libstdc++.so.6; do
    runtimes="$runtimes $("${CXX:-c++}" -print-file-name=$library)"
done
# Python itself leaks on purpose.
export PYTHONPATH=$site:$packages LD_PRELOAD=${runtimes# } ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1
"$python" -P -c 'import sys, rogue.simulator._core as core; sys.exit(f"not the sanitized engine: {core.__file__}" * (not core.__file__.startswith(sys.argv[1])) or None)' "$site"
# That interpreter has plug-ins of pytest, too, which are not ours.
export PYTEST_DISABLE_PLUGIN_AUTOLOAD=1
exec "$python" -P -m pytest -p xdist -p _hypothesis_pytestplugin -p no:cacheprovider -n auto --dist worksteal -m "not long" "${@:-tests/simulator}"
