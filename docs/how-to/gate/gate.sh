#!/bin/sh
# Compare the control in this directory with the one of a commit, by default HEAD: gate.sh [COMMIT] [OPTION...]
# Options go to `rogue gate`. Exit code 9: a regression or a new weakness; gate.md and gate.xml say which.
set -eu
commit=${1:-HEAD}
[ $# -eq 0 ] || shift
git cat-file -e "$commit:./gate.yaml" 2>/dev/null || {
  echo "no gate.yaml in $commit: nothing to compare with"
  exit 0
}
runs=$(mktemp -d)
trap 'rm -rf "$runs"' EXIT
mkdir "$runs/before"
git archive "$commit" | tar -x -C "$runs/before"
rogue --quiet run "$runs/before/gate.yaml" --out "$runs/baseline" >/dev/null
rogue --quiet run gate.yaml --out "$runs/candidate" >/dev/null
rogue gate "$runs"/baseline/gate/* "$runs"/candidate/gate/* --markdown gate.md --junit gate.xml \
  --transport '{name: rogue, cc: halve}' --plugin halve.py --out "$runs/weaknesses" "$@"
