#!/bin/sh
# The same bits from every copy of the kernels: compares the hash of an evolution's final population
# over instruction sets and threads; and over compilers, because the sanitized build is clang's: there
# the release build of the same checkout is compared too. With MAYFLY_FULL=1 the release build is
# compared with all copies that clang-14 makes, optimized. Arguments: source folder, build folder.
set -eu
source=$1
build=$2
if ! [ -x "$build/mayfly" ]; then
    echo "skipped: $build/mayfly is not built"
    exit 77
fi
isas=scalar few_isas="scalar auto" programs=$build/mayfly seconds=6
case $(cat /proc/cpuinfo) in *' avx2 '*) isas="$isas avx2" ;; esac
case $(cat /proc/cpuinfo) in *' avx512bw '*) isas="$isas avx512" ;; esac
if grep -q '^MAYFLY_SANITIZE:STRING=[a-z]' "$build/CMakeCache.txt"; then
    isas=$few_isas seconds=3
    if ! [ -x "$source/build/mayfly" ]; then
        echo "skipped: $source/build/mayfly is not built"
        exit 77
    fi
    programs="$source/build/mayfly $programs"
elif [ "${MAYFLY_FULL-}" = 1 ]; then
    command -v clang-14 >/dev/null || { echo "skipped: clang-14 is not installed"; exit 77; }
    other=$build/other-compiler
    cmake -S "$source" -B "$other" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER=clang-14 \
        -DMAYFLY_TESTS=OFF -DMAYFLY_EXAMPLES=OFF >"$build/other-compiler.log" 2>&1 ||
        { cat "$build/other-compiler.log"; exit 1; }
    cmake --build "$other" --target mayfly_app >"$build/other-compiler.log" 2>&1 ||
        { tail -n 20 "$build/other-compiler.log"; exit 1; }
    programs="$programs $other/mayfly"
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# Rough bilinear ground, all options of the motion, and the plain main job.
evolve() { # program, isa, threads, scene, settings...
    program=$1 isa=$2 threads=$3 scene=$4
    shift 4
    rm -rf "$folder/run"
    MAYFLY_ISA=$isa "$program" evolve "$source/scenes/$scene" --generations 3 --threads "$threads" \
        --population 20 --set search.survivors=10 --set run.duration=$seconds --set search.verify.best=4 "$@" --out "$folder/run" \
        --json | sed -n 's/.*"done": *true.*"hash": *"\([0-9a-f]*\)".*/\1/p; s/.*"hash": *"\([0-9a-f]*\)".*"done": *true.*/\1/p'
}

compared=0
for scene in neophysix.yaml hexapod.yaml rough.yaml quadruped.yaml coupled; do
    set --
    file=$scene
    if [ "$scene" = coupled ]; then
        file=rough.yaml
        set -- --set group.motion.points.friction=coupled --set group.motion.points.friction_coefficient=0.6 \
            --set group.motion.points.keep_momentum=true --set group.motion.points.weighted=true
    fi
    expected=
    for program in $programs; do
        sets=$isas
        [ "$program" = "$build/mayfly" ] || [ "${MAYFLY_FULL-}" = 1 ] || sets=auto
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
# Worlds with all their fields, warnings too: what a lane raises must not depend on its neighbors.
for bench in points-hexapod:500 articulated-ant:30 humanoid-rigid:20 mixed-1000:200 soccer-2:300; do
    expected=
    for isa in $isas; do
        got=$("$build/mayfly" bench "${bench%:*}" --isa "$isa" --threads 1 --steps "${bench#*:}" --json |
            sed -n 's/.*"hash": *"\([0-9a-f]*\)".*/\1/p')
        [ -n "$got" ] || { echo "$bench: no hash ($isa)"; exit 1; }
        [ -n "$expected" ] || expected=$got
        [ "$got" = "$expected" ] || { echo "$bench: $isa gives $got, expected $expected"; exit 1; }
        compared=$((compared + 1))
    done
    echo "$bench: $expected"
done
echo "$compared runs agree"
