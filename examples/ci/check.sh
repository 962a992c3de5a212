#!/bin/sh
# Checks a decoder: check.sh push|night|release TARGET
#
# Exits with 0 if every law holds, 1 if one is violated, 2 if the check could not run and 3 if
# nothing can be concluded. Failing cases are stored under evidence/regressions.
set -eu

when=$1
target=$2
reports="--json verdicts.json --junitxml cachecheck.xml"

case $when in
push) # the same cases each time: a red build means a change
    cachecheck fuzz "$target" --effort quick -n auto $reports ;;
night) # other cases each night
    cachecheck fuzz "$target" --time 10m -n auto --seed "$(date +%j)" $reports ;;
release) # every schedule of 12 tokens
    cachecheck certify "$target" --length 12 ;;
*)
    echo "expected push, night or release; got $when" >&2
    exit 2 ;;
esac
