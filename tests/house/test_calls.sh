#!/bin/sh
# Every function of the public headers is called with NULL, then with numbers that are out of range and with
# groups of every motion: none may crash, and none may take NULL as if it were something (calls.py has the rule).
# usage: test_calls.sh SOURCE_FOLDER BUILD_FOLDER
set -eu
source=$(cd "$1" && pwd)
build=$(cd "$2" && pwd)
command -v python3 >/dev/null && command -v pkg-config >/dev/null || { echo 'skipped: no python3'; exit 77; }
grep -q '^MAYFLY_SANITIZE:STRING=$' "$build/CMakeCache.txt" ||
    { echo 'skipped: a build with sanitizers needs their libraries'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 "$source/tests/house/calls.py" "$source" >"$work/calls.c"
# shellcheck disable=SC2046
${CC:-gcc} -std=gnu17 -w -I "$source/include" "$work/calls.c" "$build/libmayfly-tools.a" \
    "$build/libmayfly.a" -o "$work/calls" \
    $(pkg-config --libs expat libpng zlib sqlite3 hdf5 jansson yaml-0.1 qhull_r) \
    $(pkg-config --libs libzstd 2>/dev/null) $(pkg-config --libs lua5.4 2>/dev/null) -lpthread -ldl -lm
"$work/calls"
