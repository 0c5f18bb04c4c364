#!/bin/sh
# The mayfly command from outside: exit codes, one-line errors, help, JSON lines, stopping, resuming,
# and that mistakes leave nothing behind.
#
#     test_cli.sh SOURCE_DIR BUILD_DIR
set -u
for file in scenes/neophysix.yaml scenes/oscillator.yaml models/hexapod.urdf; do
    [ -f "$1/$file" ] || { echo "skipped: $file is missing"; exit 77; }
done
# shellcheck source=tests/app/command.sh
. "$1/tests/app/command.sh"

# json_lines FILE: every line is a JSON object.
json_lines() {
    if command -v python3 >/dev/null; then
        python3 -c 'import json, sys
for line in open(sys.argv[1]):
    assert isinstance(json.loads(line), dict)' "$1" || fail "$1 holds something that is no JSON"
    else # without a parser: at least the brackets
        grep -vq '^{.*}$' "$1" && fail "$1 holds something that is no JSON"
    fi
}

hexapod=$source_dir/scenes/neophysix.yaml

# ---- wrong usage: 2, one line, nothing written ----------------------------------------------------
refused 2 'expected a command'
refused 2 "unknown command 'evolv'" evolv
refused 2 "unknown option '--vershun'" --vershun
refused 2 "unknown option '--generation'" evolve "$hexapod" --generation 3
refused 2 'mayfly evolve --help' evolve
refused 2 '--generations: expected a whole number' evolve "$hexapod" --generations many
refused 2 '--generations: expected a whole number' evolve "$hexapod" --generations 0
refused 2 '--generations: expected a whole number' evolve "$hexapod" --generations=-1
refused 2 '--threads: expected a whole number' run "$hexapod" --threads 99999999999999999999
refused 2 '--duration: expected a number' run "$hexapod" --duration nan
refused 2 '--population: expected N after it' evolve "$hexapod" --generations 1 --population
refused 2 '--resume takes no value' evolve "$hexapod" --resume=yes
refused 2 'one argument too many' evolve "$hexapod" "$hexapod"
refused 2 '--set: expected path=value' evolve "$hexapod" --set world.step
refused 2 '--package: expected NAME=PATH' run "$hexapod" --package here
refused 2 'exclude each other' replay nothing --individual 1 --generation 1
refused 2 'require --record' run "$hexapod" --fields base.position
refused 2 "unknown case 'Z9'" check Z9
refused 2 "unknown bench 'fast'" bench fast
refused 2 '--isa: expected' bench --isa mmx
refused 2 '--motion: expected' replay nothing --motion magic
refused 2 'takes one name' help evolve run

# ---- bad files: 1, one line, nothing written ------------------------------------------------------
: >empty.yaml
printf 'groups: [{name: a, model: %s/models/hexapod.urdf}]\nworld: {step: soon}\n' "$source_dir" >step.yaml
printf 'groups: [{name: a, model: gone.urdf, controller: gp}]\n' >gone.yaml
printf 'groups: [{name: a, model: %s/models/hexapod.urdf, controller: none}]\n' "$source_dir" >idle.yaml
head -c 4096 /dev/urandom >noise.yaml
refused 1 'missing.yaml' evolve missing.yaml
refused 1 'empty.yaml' evolve empty.yaml
refused 1 'step.yaml:2:' evolve step.yaml
refused 1 'gone.urdf' evolve gone.yaml
refused 1 'controller' evolve idle.yaml
refused 1 'noise.yaml' evolve noise.yaml
refused 1 'world.stepp' evolve "$hexapod" --set world.stepp=1
refused 1 'missing.png' evolve "$hexapod" --ground missing.png
refused 1 'missing.urdf' run "$hexapod" --model missing.urdf
refused 1 'something to evolve' evolve "$source_dir/models/hexapod.urdf"
refused 1 'search.survivors' evolve "$hexapod" --population 30
refused 2 '2^64-1' evolve "$hexapod" --seed -1
refused 1 'missing' info missing
refused 1 'empty.yaml' info empty.yaml
refused 1 'missing' replay missing
refused 1 'step.yaml' replay step.yaml
refused 1 '.h5' run "$hexapod" --duration 0.1 --record no/such/folder/a.h5
refused 1 'nosuch' run "$hexapod" --duration 0.1 --record a.h5 --fields nosuch
left=$(echo *)
[ "$left" = 'empty.yaml err gone.yaml idle.yaml noise.yaml out step.yaml' ] ||
    fail "a mistake left files behind: $left"

if [ "$(id -u)" -ne 0 ]; then
    mkdir locked && chmod 500 locked
    refused 1 'locked' evolve "$hexapod" --generations 1 --out locked/run
    chmod 700 locked
fi

# ---- help -----------------------------------------------------------------------------------------
expect 0 --help
grep -q 'usage: mayfly COMMAND' out || fail 'the overview lacks its usage'
expect 0 --version
grep -Eq '^mayfly [0-9]+\.[0-9]+\.[0-9]+$' out || fail 'the version is no version'
# The texts of licenses are in the command, and those of a film's program in the film.
expect 0 --licenses
grep -q 'Apache License' out || fail 'the license is missing'
# Mayfly's own files are found from everywhere, and a line says so; those of MAYFLY_DATA come first.
expect 0 run models/hexapod.urdf --duration 0.01
[ "$(wc -l <err)" = 1 ] && grep -q '^mayfly: models/hexapod.urdf is not in this folder; using /' err ||
    fail 'there is not one line about a file of Mayfly'
mkdir -p data/models && cp "$source_dir/models/hexapod.urdf" data/models/own.urdf
refused 1 'models/own.urdf' run models/own.urdf --duration 0.01
export MAYFLY_DATA="$PWD/data"
expect 0 run models/own.urdf --duration 0.01
unset MAYFLY_DATA
rm -r data
for command in evolve sweep run compare replay info check bench; do
    expect 0 "$command" --help
    cp out direct
    [ "$(grep -c "^  mayfly $command" out)" -ge 2 ] || fail "$command --help lacks two examples"
    grep -q '^options:' out || fail "$command --help lacks its options"
    awk 'length > 100 { exit 1 }' out || fail "$command --help has lines beyond 100 columns"
    expect 0 help "$command"
    cmp -s out direct || fail "mayfly help $command is not mayfly $command --help"
done
expect 0 help scene
for key in search.population world.step ground.file groups.NAME.controller; do
    last=${key##*.}
    grep -q "$last" out || fail "help scene lacks $key"
done

# ---- evolve, run, replay --------------------------------------------------------------------------
same="--population 10 --duration 4 --set search.survivors=5"
small="$same --generations 12 --seed 3"
# The words of $small and $same are meant to be split.
# shellcheck disable=SC2086
expect 0 evolve "$hexapod" $small --out whole --json --threads 1
json_lines out
[ "$(wc -l <out)" -eq 13 ] || fail "evolve --json printed $(wc -l <out) lines, expected 13"
for key in generation best mean evaluations simulated_seconds wall_seconds realtime_factor; do
    head -n 1 out | grep -q "\"$key\":" || fail "evolve --json lacks $key"
done
[ "$(value 'done')" = true ] || fail 'evolve --json does not end with "done":true'
hash=$(value hash)
[ ${#hash} -eq 16 ] || fail "evolve --json has no hash: '$hash'"
[ ! -s err ] || fail 'evolve shows progress to nobody'
for file in archive.sqlite scene.yaml report.html; do
    [ -s "whole/$file" ] || fail "evolve wrote no $file"
done
refused 1 '--resume' evolve "$hexapod" --out whole
grep -qF -- '--out' err || fail 'the message about an old archive names only one way out'
# shellcheck disable=SC2086
refused 1 'seed' evolve "$hexapod" $same --generations 12 --seed 4 --out whole --resume
# shellcheck disable=SC2086
expect 0 evolve "$hexapod" $small --out two --threads 2 --json
[ "$(value hash)" = "$hash" ] || fail 'two threads give another population than one'
expect 0 evolve whole/scene.yaml --out again --json
[ "$(value hash)" = "$hash" ] || fail 'scene.yaml does not repeat the run'
# shellcheck disable=SC2086
expect 0 evolve "$hexapod" $small --out whole --resume --json
[ "$(wc -l <out)" -eq 1 ] || fail 'resuming a finished run simulates on'
[ "$(value hash)" = "$hash" ] || fail 'resuming a finished run changes it'
expect 0 evolve scenes/oscillator.yaml --generations 1 --population 2 --set search.survivors=1 \
    --duration 1
[ -s runs/oscillator-1/report.html ] || fail 'the default folder is not runs/<scene>-<seed>'
grep -q 'sine wave' runs/*/report.html || fail 'the report of an oscillator shows no waves'

expect 0 replay whole --json
json_lines out
for key in motion simulated_seconds wall_seconds realtime_factor hash fitness distance; do
    grep -q "\"$key\":" out || fail "replay --json lacks $key"
done
[ "$(value equal)" = true ] || fail 'the champion does not repeat its fitness'
expect 0 replay whole/archive.sqlite --generation 1
[ "$(awk '$1 == "fitness" { print $2 }' out)" = "$(awk '$1 == "stored" { print $2 }' out)" ] || fail 'replay does not show the fitness that it compares'
expect 0 replay whole --individual 0 --step-divisor 10 --record champion.h5
[ -s champion.h5 ] || fail 'replay --record wrote nothing'
refused 1 '99999' replay whole --individual 99999
refused 1 'whole' replay whole --generation 13

expect 0 run "$hexapod" --duration 2 --robots 5 --json
json_lines out
for key in motion simulated_seconds wall_seconds realtime_factor hash; do
    grep -q "\"$key\":" out || fail "run --json lacks $key"
done
run_hash=$(value hash)
expect 0 run "$hexapod" --duration 2 --robots 5 --json --threads 2 --record run.h5 --every 0.01 \
    --realtime 50
[ "$(value hash)" = "$run_hash" ] || fail 'recording, pacing or threads change a run'
[ -s run.h5 ] || fail 'run --record wrote nothing'
expect 0 run "$hexapod" --duration 2 --robots 5 --json --seed 77
[ "$(value hash)" != "$run_hash" ] || fail 'another seed gives the same run'

# A replay whose robot has changed says so.
mkdir changed
cp "$source_dir/models/hexapod.urdf" changed/robot.urdf
# shellcheck disable=SC2086
expect 0 evolve "$hexapod" $same --generations 1 --seed 3 --model changed/robot.urdf --out changed/run
expect 0 replay changed/run
# Its folder keeps the robot as it was; without that copy the change is seen.
sed -i 's/mass value="[0-9.]*"/mass value="0.123"/' changed/robot.urdf
expect 0 replay changed/run --json
[ "$(value equal)" = true ] || fail 'a run does not keep its robot'
refused 1 'changed' replay changed/run --model changed/robot.urdf
rm -r changed/run/files
refused 1 'changed' replay changed/run

# A run whose folder, or whose robot, has moved: found from the folder upward, or by name.
mkdir -p project/models
cp "$source_dir/models/hexapod.urdf" project/models/robot.urdf
# shellcheck disable=SC2086
expect 0 evolve "$hexapod" $same --generations 1 --seed 3 --model project/models/robot.urdf --out project/runs/a
mv project moved
cp -r moved/runs/a alone
expect 0 replay alone --json
[ "$(value equal)" = true ] || fail 'a run alone, elsewhere, gives another fitness'
rm -r moved/runs/a/files
expect 0 replay moved/runs/a --json
[ "$(value equal)" = true ] || fail 'a run that moved with its robot gives another fitness'
expect 0 replay moved/runs/a
grep -q 'moved/models/robot.urdf' out || fail 'replay does not say where it found the robot'
# shellcheck disable=SC2086
expect 0 evolve "$hexapod" $same --generations 1 --seed 3 --model moved/models/robot.urdf --out moved/runs/a --resume
mkdir elsewhere && mv moved/models/robot.urdf elsewhere/other.urdf
refused 1 '--model FILE' replay moved/runs/a
expect 0 replay moved/runs/a --model elsewhere/other.urdf --json
[ "$(value equal)" = true ] || fail 'the same robot by another name gives another fitness'
sed -i 's/mass value="[0-9.]*"/mass value="0.123"/' elsewhere/other.urdf
refused 1 'changed' replay moved/runs/a --model elsewhere/other.urdf

# ---- stopping and resuming ------------------------------------------------------------------------
long="--generations $((sanitized ? 15 : 150)) --population 40 --duration 60 --set search.survivors=20 --seed 9"
# shellcheck disable=SC2086
expect 0 evolve "$hexapod" $long --out unbroken --json
hash=$(value hash)

# Starts a run in the background and waits until its archive exists.
start() {
    # shellcheck disable=SC2086
    "$mayfly" evolve "$hexapod" $long --out "$1" --resume --json >out 2>err &
    process=$!
    tries=0
    while [ ! -s "$1/archive.sqlite" ] && [ $tries -lt 200 ]; do
        sleep 0.02
        tries=$((tries + 1))
    done
}

for signal in TERM INT; do
    start "stop-$signal"
    sleep 0.2
    # A shell without job control starts background commands with SIGINT ignored; mayfly asks for it.
    kill -s $signal $process
    wait $process
    code=$?
    [ $code -eq 75 ] || fail "SIG$signal: exit code $code, expected 75"
    grep -q -- '--resume' err || fail "SIG$signal: the message does not say how to go on"
    json_lines out
    [ "$(value 'done')" = false ] || fail "SIG$signal: the last line is not \"done\":false"
    # shellcheck disable=SC2086
    expect 0 evolve "$hexapod" $long --out "stop-$signal" --resume --json
    [ "$(value hash)" = "$hash" ] || fail "resumed after SIG$signal: another population"
done

for pause in 0 0.05 0.1 0.15 0.2; do
    start kill
    sleep $pause
    kill -s KILL $process
    wait $process 2>/dev/null
    expect 0 info kill
done
# shellcheck disable=SC2086
expect 0 evolve "$hexapod" $long --out kill --resume --json
[ "$(value hash)" = "$hash" ] || fail 'resumed after kill -9: another population'
expect 0 replay kill

# A folder that vanishes ends the run at once, and an archive of another version is named.
long_run=$long
long='--generations 4000 --population 64 --set search.survivors=8'
start gone
# Until the first generation is done: the run's folder is whole.
until grep -q '"generation"' out || ! kill -0 $process; do sleep 0.02; done
rm -rf gone
wait $process
code=$?
[ $code -eq 1 ] || fail "a folder that vanished: exit code $code, expected 1"
grep -q 'mayfly: gone/archive.sqlite: ' err || fail "a folder that vanished: $(cat err)"
long=$long_run
python3 -c 'import sqlite3
archive = sqlite3.connect("kill/archive.sqlite")
archive.execute("UPDATE run SET library = \"0.0.9\"")
archive.commit()'
# shellcheck disable=SC2086
expect 0 evolve "$hexapod" $long --out kill --resume --json
grep -q 'kill/archive.sqlite was made by Mayfly 0.0.9' err || fail "another version: $(cat err)"

# ---- info, check, bench ---------------------------------------------------------------------------
expect 0 info models/hexapod.urdf # found in the source folder, not here
grep -q 'leg1' out || fail 'info on a robot does not show its tree'
expect 0 info "$hexapod"
grep -q 'base.position' out || fail 'info on a scene does not show its fields'
expect 0 info whole
grep -q 'generation ' out || fail 'info on a run does not show its course'
if [ -f "$source_dir/scenes/hills.pgm" ]; then
    expect 0 info scenes/hills.pgm
    grep -q 'cells of' out || fail 'info on an image does not show its cells'
fi
cases=
[ "$sanitized" = 0 ] || cases='B1 C1 C9 E4'
# shellcheck disable=SC2086
expect 0 check $cases --json
json_lines out
[ "$(value failed)" = 0 ] || fail 'a check case fails'
expect 0 check E4 C9 --json
[ "$(value passed)" = 5 ] || fail 'check E4 leaves out E4-points, E4-articulated or E4-ladder'
expect 0 bench points-single points-quadruped --steps 50 --repeats 1 --json
json_lines out
for key in bench motion instances threads isa precision dt steps seconds steps_per_second \
    realtime_factor hash bytes_per_robot contacts_per_robot; do
    head -n 1 out | grep -q "\"$key\":" || fail "bench --json lacks $key"
done
# Frames of particles: those per second of all of them, and the substeps of each.
expect 0 bench debris-frames-100k fluid-frames-20k --instances 64 --steps 2 --repeats 1 --json
[ "$(grep -c '"frames_per_second":[0-9]' out)" -eq 2 ] || fail 'bench --json lacks frames of particles'
grep -q '"substeps":1[,}]' out || fail 'a frame of debris has several substeps'
# One bench of each kind: every line has the rate of the core, the same in one run.
expect 0 bench points-single quadrotor-1000 articulated-free model-humanoid humanoid-rigid soccer-2 \
    environment-swarm schedule-sequence --instances 16 --steps 10 --repeats 1 --json
[ "$(grep -c '"gflops":[0-9]' out)" -eq 8 ] || fail 'bench --json: lines without gflops'
[ "$(grep -o '"gflops":[^,}]*' out | sort -u | wc -l)" -eq 1 ] || fail 'bench measures more than once'
awk "BEGIN { exit !($(value gflops) > 0.1 && $(value gflops) < 2000) }" ||
    fail "a core makes $(value gflops) GFLOP/s"
expect 0 bench points-single --steps 50 --repeats 1
head -n 1 out | grep -Eq '^this core: [0-9.]+ GFLOP/s of fused multiply-adds' ||
    fail 'the table of bench does not begin with the rate of the core'
expect 0 bench evolve-paper --generations 2 --steps 100 --instances 10 --json
json_lines out

# ---- progress -------------------------------------------------------------------------------------
if command -v script >/dev/null; then
    TERM=xterm script -qc "'$mayfly' evolve '$hexapod' --generations 30 --population 10 \
        --set search.survivors=5 --duration 2 --out bar >/dev/null" typescript >/dev/null </dev/null
    grep -q 'gen .*/30  best .* x real time  ETA ' typescript ||
        fail 'no progress on a terminal'
fi

# ---- a full disk ----------------------------------------------------------------------------------
if [ -c /dev/full ]; then
    "$mayfly" --help >/dev/full 2>err
    code=$?
    [ $code -eq 1 ] || fail "a full standard output: exit code $code, expected 1"
fi

# A limit on the size of files does the same to what is written there; 20 blocks of 512 bytes hold
# no archive.
(trap '' XFSZ && ulimit -f 20 && "$mayfly" evolve "$hexapod" --generations 2 --out full) >out 2>err
code=$?
[ $code -eq 1 ] || fail "a full disk: exit code $code, expected 1"
[ "$(wc -l <err)" -eq 1 ] || fail 'a full disk: expected one line'
[ ! -e full ] || fail 'a full disk: something is left behind'

# 100 blocks hold an archive, but not a generation of 2000.
(trap '' XFSZ && ulimit -f 100 && "$mayfly" evolve "$hexapod" --generations 2 --population 2000 \
    --duration 0.1 --out new/full) >out 2>err
code=$?
[ $code -eq 1 ] || fail "a disk full at the first generation: exit code $code, expected 1"
[ "$(wc -l <err)" -eq 1 ] || fail 'a disk full at the first generation: expected one line'
[ ! -e new ] || fail 'a disk full at the first generation: something is left behind'

[ $failures -eq 0 ] || { echo "$failures failures"; exit 1; }
echo 'all is well'
