#!/bin/sh
# The same bits from both compilers: builds the command with the other compiler (clang-14) and
# compares the hash of an evolution's final population over compilers, instruction sets and threads.
# Arguments: source folder, build folder. The other compiler makes the scalar and the baseline copies
# of the kernels; with MAYFLY_FULL=1 those of every set.
set -eu
source=$1
build=$2
if ! command -v clang-14 >/dev/null; then
    echo "skipped: clang-14 is not installed"
    exit 77
fi
if [ ! -x "$build/mayfly" ]; then
    echo "skipped: $build/mayfly is not built"
    exit 77
fi
case $(cat "$build/CMakeCache.txt") in
*MAYFLY_SANITIZE:STRING=[a-z]*)
    echo "skipped: one comparison is enough, the release build makes it"
    exit 77
    ;;
esac
isas="scalar baseline" other_isas="scalar baseline" few=ON
case $(cat /proc/cpuinfo) in *' avx2 '*) isas="$isas avx2" ;; esac
case $(cat /proc/cpuinfo) in *' avx512bw '*) isas="$isas avx512" ;; esac
if [ "${MAYFLY_FULL-}" = 1 ]; then
    other_isas=$isas few=OFF
fi
other=$build/other-compiler
cmake -S "$source" -B "$other" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER=clang-14 \
    -DMAYFLY_TESTS=OFF -DMAYFLY_EXAMPLES=OFF -DMAYFLY_FEW_COPIES=$few >"$build/other-compiler.log" 2>&1 ||
    { cat "$build/other-compiler.log"; exit 1; }
cmake --build "$other" --target mayfly_app >"$build/other-compiler.log" 2>&1 ||
    { tail -n 20 "$build/other-compiler.log"; exit 1; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# Rough bilinear ground, all options of the motion, and the plain main job.
evolve() { # program, isa, threads, scene, settings...
    program=$1 isa=$2 threads=$3 scene=$4
    shift 4
    rm -rf "$folder/run"
    MAYFLY_ISA=$isa "$program" evolve "$source/scenes/$scene" --generations 3 --threads "$threads" \
        --population 20 --set search.survivors=10 --set run.duration=10 --set verify.best=4 "$@" --out "$folder/run" \
        --json | sed -n 's/.*"done": *true.*"hash": *"\([0-9a-f]*\)".*/\1/p; s/.*"hash": *"\([0-9a-f]*\)".*"done": *true.*/\1/p'
}

compared=0
for scene in neophysix.yaml hexapod.yaml rough.yaml quadruped.yaml coupled; do
    set --
    file=$scene
    if [ "$scene" = coupled ]; then
        file=rough.yaml
        set -- --set motion.points.friction=coupled --set motion.points.friction_coefficient=0.6 \
            --set motion.points.keep_momentum=true --set motion.points.weighted=true
    fi
    expected=
    for program in "$build/mayfly" "$other/mayfly"; do
        sets=$isas
        [ "$program" = "$build/mayfly" ] || sets=$other_isas
        for isa in $sets; do
            for threads in 1 4; do
                got=$(evolve "$program" "$isa" "$threads" "$file" "$@")
                [ -n "$got" ] || { echo "$scene: no hash from $program ($isa)"; exit 1; }
                [ -n "$expected" ] || expected=$got
                if [ "$got" != "$expected" ]; then
                    echo "$scene: $program $isa $threads threads gives $got, expected $expected"
                    exit 1
                fi
                compared=$((compared + 1))
            done
        done
    done
    echo "$scene: $expected"
done
echo "$compared runs agree"
