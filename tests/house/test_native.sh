#!/bin/sh
# A build with the kernels of this machine alone, as ./dev build makes it: it links, evolves to the
# same bits as the build with all copies, on its widest set and on one lane, and refuses by name a set
# that it lacks. Compiles the library once more, so only with MAYFLY_FULL=1. Arguments: source
# folder, build folder.
set -eu
source=$1 build=$2
if [ "${MAYFLY_FULL-}" != 1 ] || grep -q '^MAYFLY_SANITIZE:STRING=[a-z]' "$build/CMakeCache.txt"; then
    echo 'skipped: MAYFLY_FULL=1 builds the library with native copies'
    exit 77
fi
native=$build/native
cmake -S "$source" -B "$native" -G Ninja -DCMAKE_BUILD_TYPE=Release -DMAYFLY_COPIES=native \
    -DMAYFLY_TESTS=OFF -DMAYFLY_EXAMPLES=OFF >"$build/native.log" 2>&1 ||
    { cat "$build/native.log"; exit 1; }
cmake --build "$native" --target mayfly_app >"$build/native.log" 2>&1 ||
    { tail -n 20 "$build/native.log"; exit 1; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
hash_of() { # program, instruction set
    rm -rf "$folder/run"
    MAYFLY_ISA=$2 "$1" evolve "$source/scenes/hexapod.yaml" --generations 2 --population 20 \
        --set search.survivors=10 --set verify.best=4 --out "$folder/run" --json |
        sed -n 's/.*"hash": *"\([0-9a-f]*\)".*/\1/p' | tail -n 1
}

expected=$(hash_of "$build/mayfly" auto)
[ -n "$expected" ] || { echo 'no hash'; exit 1; }
for isa in auto scalar; do
    found=$(hash_of "$native/mayfly" $isa)
    [ "$found" = "$expected" ] || { echo "$isa: expected $expected, found $found"; exit 1; }
done
case $(cat /proc/cpuinfo) in
*avx512vl*)
    if MAYFLY_ISA=avx2 "$native/mayfly" run "$source/models/hexapod.urdf" --duration 0.01 \
        >"$folder/out" 2>&1; then
        echo 'a set that the build lacks was accepted'
        exit 1
    fi
    grep -q 'MAYFLY_ISA=avx2: this build does not have it' "$folder/out" ||
        { cat "$folder/out"; exit 1; }
    ;;
esac
