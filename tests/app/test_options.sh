#!/bin/sh
# Options of the command: mistypings get a suggestion, contradictions are refused, files to write are
# tried before anything is simulated, commands beyond a gait's range are cut and said.
#
#     test_options.sh SOURCE_DIR BUILD_DIR
set -u
# shellcheck source=tests/app/command.sh
. "$1/tests/app/command.sh"
hexapod=$source_dir/models/hexapod.urdf
humanoid=$source_dir/models/humanoid.urdf
scene=$source_dir/scenes/neophysix.yaml
soccer=$source_dir/scenes/soccer.yaml

# ---- mistypings -----------------------------------------------------------------------------------
refused 2 "unknown command 'comapre', did you mean 'compare'?" comapre "$humanoid"
refused 2 "unknown command 'rnu', did you mean 'run'?" rnu
refused 2 "unknown option '--duraton', did you mean '--duration'?" run "$hexapod" --duraton 1
refused 2 "unknown option '--gen', did you mean '--generations'?" evolve "$scene" --gen 2
refused 2 "unknown option '-json', did you mean '--json'?" run "$hexapod" -json
refused 2 "found 'articualted', did you mean 'articulated'?" run "$hexapod" --motion articualted
refused 2 "found 'prescibed', did you mean 'prescribed'?" \
    compare "$humanoid" --levels rigid,prescibed
refused 2 "unknown bench 'points-hexpod', did you mean 'points-hexapod'?" bench points-hexpod
refused 2 "unknown bench 'soccer10-car', did you mean 'soccer-10-car'?" bench soccer10-car
refused 2 "unknown case 'C77', did you mean 'C7'?" check C77
refused 2 "found 'avx521', did you mean 'avx512'?" bench --isa avx521
refused 2 "unknown command or topic 'scnee', did you mean 'scene'?" help scnee
refused 1 "did you mean 'walk_fast'?" run "$humanoid" --gait walkfast
refused 2 "unknown shell 'bsh', did you mean 'bash'?" completion bsh
# What is like nothing gets no suggestion.
refused 2 "no option '--serial' any more: mayfly-bridge dynamixel" serve "$hexapod" --serial x
refused 2 "quasistatic or elastic, found 'cloth'" compare "$hexapod" --levels cloth
refused 2 "prescribed or articulated, found 'cloth'" info "$hexapod" --motion cloth
refused 2 "unknown command 'xylophone' (see" xylophone
refused 2 "found 'mmx' (see" bench --isa mmx

# ---- contradictions -------------------------------------------------------------------------------
refused 2 '--duration is given twice: 1 and 2' run "$hexapod" --duration 1 --duration 2
expect 0 run "$hexapod" --duration 0.02 --duration 2e-2
refused 2 "unknown option '--seconds'" run "$hexapod" --seconds 1 --duration 2
refused 2 "unknown option '--instances'" run "$hexapod" --instances 2
refused 2 '--motion is given twice: rigid and points' replay none --motion rigid --motion points
refused 2 '--set world.step=0.02 contradicts --set world.step=0.01' \
    run "$scene" --set world.step=0.01 --set world.step=0.02
refused 2 '--set run.duration=2 contradicts --duration 1' \
    run "$scene" --duration 1 --set run.duration=2
refused 2 '--set world.seed=2 contradicts --seed 1' evolve "$scene" --seed 1 --set world.seed=2
refused 2 '--set group.motion=rigid contradicts --motion points' \
    run "$hexapod" --motion points --set group.motion=rigid
refused 2 '--set world.seed=2 contradicts --seed 1' run "$soccer" --seed 1 --set world.seed=2
refused 2 '--package a=y contradicts --package a=x' run "$hexapod" --package a=x --package a=y
refused 2 'exclude each other' replay none --individual 1 --generation 1
refused 2 'exclude each other' info "$hexapod" --unsupported --fields
refused 2 '--json has no effect' info "$hexapod" --json --unsupported
refused 2 '--set changes scenes' info "$hexapod" --set motion=rigid
refused 2 "are for a robot's own file" info "$scene" --strict
refused 2 '--json requires --fields or --schedule' info "$scene" --json
refused 2 'are for robots, vehicles and scenes' info "$source_dir/models/crazyflie.yaml" --fields
refused 2 '--command requires --gait' compare "$humanoid" --command 0.1,0,0
refused 2 '--no-cost does not measure' compare "$humanoid" --gait walk --no-cost --robots 8
refused 2 '--fields and --every require --record' run "$hexapod" --every 0.1
refused 2 '--generations has no effect on points-single' \
    bench points-single --generations 2
refused 2 '--model has no effect' bench points-single --model "$hexapod"
refused 2 '--steps has no effect on model-t1' bench model-t1 --steps 3

# ---- endings --------------------------------------------------------------------------------------
refused 2 "--record: expected a name that ends with .h5, .hdf5 or .mcap, found 'a.csv'" \
    run "$hexapod" --record a.csv
refused 2 '--record: expected a name that ends with .h5, .hdf5 or .mcap' replay none --record a
refused 2 '--plot: expected a name that ends with .html or .svg' run "$hexapod" --plot a.png
refused 2 '--plot: expected a name that ends with .html' run "$hexapod" --plot a.svg
refused 2 '--plot: expected a name that ends with .html' run "$scene" --plot a.svg
refused 2 '--plot: expected a name that ends with .html' run "$soccer" --plot a.svg
refused 2 '--plot: expected a name that ends with .html' compare "$humanoid" --plot a.pdf
refused 2 '--plot: expected a name that ends with .html' replay none --plot .html
refused 2 '--mjcf: expected a name that ends with .xml or .mjcf' info "$hexapod" --mjcf a.urdf

refused 1 "record.file: expected a name that ends with .h5, .hdf5 or .mcap" \
    run "$soccer" --duration 1e6 --set record.file=a.csv

# ---- files that the command is not for ------------------------------------------------------------
refused 1 'expected a scene of one group to compare, found 4' compare "$soccer"
refused 1 'expected one group to evolve, found 4' evolve "$soccer"
refused 1 'a vehicle has one motion' compare "$source_dir/scenes/circles.yaml"
expect 0 compare "$scene" --duration 0.1 --no-cost --levels points,rigid

# ---- files to write: tried before the first step ---------------------------------------------------
# early CODE TEXT WORDS...: as refused, and within a second, at the third try at the latest: others may
# be at work on this machine.
early() {
    for try in 1 2 3; do
        begin=$(date +%s%N)
        refused "$@"
        took=$((($(date +%s%N) - begin) / 1000000))
        [ "$took" -ge 1000 ] || return 0
    done
    [ "$sanitized" -gt 0 ] || fail "took $took ms to refuse (try $try): $*"
}
mkdir folder.html folder.h5 folder.xml taken taken/report.html
: >file
for bad in none/a folder /proc/a; do
    early 1 "$bad" run "$hexapod" --duration 1e6 --plot "$bad.html"
    early 1 "$bad" run "$hexapod" --duration 1e6 --record "$bad.h5"
    early 1 "$bad" run "$scene" --duration 1e6 --plot "$bad.html"
    early 1 "$bad" run "$soccer" --duration 1e6 --plot "$bad.html"
    early 1 "$bad" run "$soccer" --duration 1e6 --record "$bad.h5"
    early 1 "$bad" run "$source_dir/scenes/swarm.yaml" --duration 1e4 --plot "$bad.html"
    early 1 "$bad" compare "$humanoid" --gait walk --duration 1e5 --plot "$bad.html"
    early 1 "$bad" replay none --record "$bad.h5"
    early 1 "$bad" replay none --plot "$bad.html"
    early 1 "$bad" info "$source_dir/models/figure.xml" --mjcf "$bad.xml"
done
early 1 'record/a.h5' run "$soccer" --duration 1e6 --set record.file="$work/no/record/a.h5"
for bad in file /proc/run taken; do
    early 1 "$bad" evolve "$scene" --generations 1000000 --out "$bad"
done
early 1 'file' evolve "$scene" --generations 1000000 --out file/run
if [ "$(id -u)" -ne 0 ]; then
    mkdir locked && chmod 500 locked
    early 1 'locked' run "$hexapod" --duration 1e6 --plot locked/a.html
    early 1 'locked' evolve "$scene" --generations 1000000 --out locked/run
    chmod 700 locked && rmdir locked
fi
cp "$source_dir/models/figure.xml" own.xml
refused 2 'own.xml is the input file' info own.xml --mjcf ./own.xml
cmp -s own.xml "$source_dir/models/figure.xml" || fail 'info --mjcf wrote over the file it reads'
rm -r folder.html folder.h5 folder.xml taken file own.xml
left=$(find . -mindepth 1 ! -name err ! -name out)
[ -z "$left" ] || fail "a refusal left files behind: $left"

# ---- commands beyond a gait's range ----------------------------------------------------------------
cut="the command is clamped to the gait's range: forward 5 m/s to 0.12, yaw -3 rad/s to -0.6"
expect 0 run "$humanoid" --gait walk --command 5,0,-3 --duration 0.7
grep -qF "$cut" out || fail 'run does not say that a command is cut'
grep -q 'command 0.12 m/s forward, 0 m/s left, -0.6 rad/s' out || fail 'run tells the uncut command'
grep '^hash' out >cut
expect 0 run "$humanoid" --gait walk --command 0.12,0,-0.6 --duration 0.7
if grep -q 'the command is clamped' out; then fail 'run cuts a command that is within range'; fi
grep '^hash' out | cmp -s - cut || fail 'the cut command moves otherwise than the largest'
expect 0 run "$humanoid" --gait walk --command 5,0,-3 --duration 0.02 --json
grep -qF "$cut" out || fail 'run --json does not say that a command is cut'
expect 0 run "$humanoid" --gait kick_left --command 0.1,0,0 --duration 0.02
grep -q 'forward 0.1 m/s to 0' out || fail 'keyframes follow no command, and run does not say so'
few='--duration 0.1 --no-cost --levels kinematic'
# The words of $few are meant to be split.
# shellcheck disable=SC2086
expect 0 compare "$humanoid" --gait walk --command 5,0,-3 $few
grep -qF "$cut" out || fail 'compare does not say that a command is cut'
# shellcheck disable=SC2086
expect 0 compare "$humanoid" --gait walk --command 5,0,-3 --json $few
grep -qF "$cut" out || fail 'compare --json does not say that a command is cut'
cat >walkers.yaml <<END
groups:
  - name: walkers
    model: $humanoid
    gaits: [walk]
    behavior: {gait: {name: walk, command: [5, 0, -3]}}
END
expect 0 run walkers.yaml --duration 0.02
grep -qF "group walkers: $cut" out || fail 'a scene is cut silently'
expect 0 run walkers.yaml --duration 0.02 --json
grep -qF "$cut" out || fail 'a scene is cut silently in --json'

[ "$failures" -eq 0 ] && echo 'options mean one thing'
[ "$failures" -eq 0 ]
