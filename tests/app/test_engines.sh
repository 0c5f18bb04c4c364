#!/bin/sh
# A search whose genomes other processes evaluate ends with the population of one in threads: for
# any number of workers, fifty (sanitized: six) kills of them, a master that is killed, and workers
# that somebody else starts. Strangers are refused, SIGTERM ends it within 5 s.
#
#     test_engines.sh SOURCE_DIR BUILD_DIR
set -u
# shellcheck source=tests/app/command.sh
. "$1/tests/app/command.sh"
kills_wanted=$((sanitized ? 6 : 50))
workers="$mayfly worker"

# search NAME OPTIONS...: its output in NAME.log
search() {
    name=$1
    shift
    exec "$mayfly" evolve "$scene" --json $settings --out "$name" "$@" \
        >"$name.log" 2>"$name.err"
}
hash_of() { tail -n 1 "$1.log" | sed -n 's/.*"hash":"\([0-9a-f]*\)".*/\1/p'; }
same() { # what, NAME
    [ -n "$hash" ] && [ "$(hash_of "$2")" = "$hash" ] ||
        fail "$1: population $(hash_of "$2"), expected $hash; $(head -n 3 "$2.err")"
}

# ---- the same population, of each kind of search
cat >elites.yaml <<END
groups:
  - name: walkers
    model: "$source_dir/models/hexapod.urdf"
    motion: points
    controller: oscillator
    joint_noise: 0.05
run: {duration: 1}
search:
  generations: 3
  population: 320
  replacement: cell
  batch: 150
  descriptors:
    - {measure: forward, lower: -0.5, upper: 0.5, cells: 5}
    - {measure: upright, lower: 0, upper: 1, cells: 4}
END
for scene in "$source_dir/scenes/hexapod.yaml" "$source_dir/scenes/golem.yaml" elites.yaml; do
    case $scene in
    *golem.yaml) settings='--generations 2 --population 100 --survivors 50 --duration 2' ;;
    *hexapod.yaml) settings='--generations 3 --population 320 --duration 1' ;;
    *) settings='' ;;
    esac
    base=$(basename "$scene" .yaml)
    [ "$sanitized" = 0 ] || [ "$base" = elites ] || continue
    (search "$base-threads")
    hash=$(hash_of "$base-threads")
    (search "$base-one" --engine processes --workers 1)
    same "$base, one worker" "$base-one"
    (search "$base-three" --engine processes --workers 3 --threads 2)
    same "$base, three workers" "$base-three"
done

# ---- kills
scene="$source_dir/scenes/hexapod.yaml"
settings="--generations $((sanitized ? 4 : 25)) --population 640 --duration 8"
(search quiet)
hash=$(hash_of quiet)
kills=0
(search killed --engine processes --workers 3) &
master=$!
while kill -0 $master 2>/dev/null; do
    sleep "0.0$(od -An -N1 -tu1 /dev/urandom | tr -d ' ')"
    victim=$(pgrep -P $master -f 'worker 127.0.0.1' | shuf -n 1)
    [ -n "$victim" ] && [ $kills -lt $kills_wanted ] && kill -s KILL "$victim" 2>/dev/null &&
        kills=$((kills + 1))
done
wait $master
same "$kills killed workers" killed
[ $kills -ge $((kills_wanted / 2)) ] || fail "only $kills kills"

# ---- a master that is killed
(search again --engine processes --workers 2) &
master=$!
while [ "$(cat again.log 2>/dev/null | wc -l)" -lt 2 ]; do sleep 0.05; done
kill -s KILL $master
wait $master 2>/dev/null
sleep 0.5
[ -z "$(pgrep -f "$mayfly worker 127.0.0.1" -P 1)" ] || sleep 3 # they end when their master does
(search again --engine processes --workers 2 --resume)
same 'a killed master' again

# ---- SIGTERM, in the midst of a generation
for engine in threads processes; do
    settings='--generations 3 --population 20000 --duration 1000'
    (search "term-$engine" --engine $engine) &
    master=$!
    sleep 2
    begin=$(date +%s)
    kill -s TERM $master
    wait $master
    code=$?
    [ $code -eq 75 ] || fail "SIGTERM, $engine: exit code $code"
    [ $(($(date +%s) - begin)) -le 6 ] || fail "SIGTERM, $engine: $(($(date +%s) - begin)) s"
done

# ---- workers that somebody starts, in another folder
settings="--generations $((sanitized ? 4 : 25)) --population 640 --duration 8"
MAYFLY_TOKEN=secret
export MAYFLY_TOKEN
(search hired --engine listen) &
master=$!
while ! grep -q 'mayfly worker' hired.err 2>/dev/null; do sleep 0.05; done
address=$(sed -n 's/.*mayfly worker \([0-9.:]*\).*/\1/p' hired.err)
mkdir elsewhere
MAYFLY_TOKEN=guess refused 3 'expected its token' worker "$address"
(cd elsewhere && exec $workers "$address") &
wait $master
wait
same 'a worker of ours' hired
refused 3 'cannot connect to 127.0.0.1:1' worker 127.0.0.1:1

# ---- MPI, which leaks memory of its own
unset MAYFLY_TOKEN
if [ -x "$build/mayfly-mpi" ] && command -v mpirun >/dev/null; then
    scene="$source_dir/scenes/hexapod.yaml"
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    # shellcheck disable=SC2086
    ASAN_OPTIONS=detect_leaks=0 mpirun -q --oversubscribe -n 4 \
        "$build/mayfly-mpi" evolve "$scene" --json $settings --out mpi >mpi.log 2>mpi.err &
    launcher=$!
    kills=0
    while kill -0 $launcher 2>/dev/null; do
        sleep "0.$(od -An -N1 -tu1 /dev/urandom | tr -d ' ')"
        # Workers, and in the middle the search itself.
        what='worker 127.0.0.1'
        [ $kills -ne 5 ] || what='evolve .* --engine mpi'
        victim=$(pgrep -f "^$mayfly $what" | shuf -n 1)
        [ -n "$victim" ] && [ $kills -lt 12 ] && kill -s KILL "$victim" 2>/dev/null &&
            kills=$((kills + 1))
    done
    wait $launcher || fail "mpirun: exit code $?: $(head -n 5 mpi.err)"
    same "MPI, $kills kills" mpi
fi

# ---- what cannot be
refused 1 'start it by the launcher' evolve "$source_dir/scenes/hexapod.yaml" --engine mpi --out no
refused 2 'threads, processes' evolve "$source_dir/scenes/hexapod.yaml" --engine fast
refused 1 'expected an address' evolve "$source_dir/scenes/hexapod.yaml" --engine processes \
    --address here --out no
[ ! -e no ] || fail 'a search that cannot begin left a folder'

exit $((failures > 0))
