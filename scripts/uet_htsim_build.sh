#!/bin/sh
# Fetch uet-htsim at the commit that docs/explanation/uet-htsim.md names, and build its program: `uet_htsim_build.sh DIRECTORY`.
# It needs git, cmake and a C++ compiler. UET_HTSIM names another place to fetch from.
set -eu

[ $# = 1 ] || { echo "usage: $0 DIRECTORY" >&2; exit 2; }
commit=40ccb0526bb6297eeb22ab33f9934fb35278dbaf
mkdir -p "$1"
cd "$1"
git init --quiet
git fetch --quiet --depth 1 "${UET_HTSIM:-https://github.com/ultraethernet/uet-htsim}" "$commit"
git checkout --quiet FETCH_HEAD
cmake -S htsim/sim -B htsim/sim/build -DCMAKE_BUILD_TYPE=Release
cmake --build htsim/sim/build --parallel --target htsim_uec
