#!/bin/sh
# mayfly run --video with a program in place of ffmpeg that counts what it gets: the number of
# pictures, their size, names of files, and every way in which ffmpeg can fail. With ffmpeg itself,
# where it is installed, a video that it can read again.
#
#     test_video.sh SOURCE_DIR BUILD_DIR
set -u
# shellcheck source=tests/app/command.sh
. "$1/tests/app/command.sh"

real=$(command -v ffmpeg || true)
mkdir bin empty
PATH=$PWD/bin:$PATH

# encoder BODY: what the file to write ($last) gets.
encoder() {
    printf '#!/bin/sh\nfor last; do :; done\necho "$*" >"$last.words"\n%s\n' "$1" >bin/ffmpeg
    chmod +x bin/ffmpeg
}

# broken TEXT: with this encoder the run fails, and says so in one line.
broken() {
    expect 1 run scene.yaml --video small.mkv --camera wall
    [ "$(wc -l <err)" -eq 1 ] || fail "$(wc -l <err) lines on stderr, expected one"
    grep -qF -- "$1" err || fail "the message lacks '$1'"
    [ ! -e small.mkv.part ] || fail 'the unfinished file is left'
}

cat >scene.yaml <<'SCENE'
world: {step: 0.001}
groups: [{name: arms, model: arm.xml, count: 2}]
cameras: [{name: wall, position: [-2, 0, 1], look_at: [0, 0, 0.5], width: 40, height: 30}]
run: {duration: 0.5}
SCENE
cat >arm.xml <<'MODEL'
<mujoco><worldbody><body pos="0 0 1"><joint type="hinge" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 0.5 0 0" size="0.05"/>
<camera name="tip" pos="0.5 0 0" resolution="20 10"/></body></worldbody></mujoco>
MODEL

# ---- what is sent: a picture at the start and 30 in each second ---------------------------------
encoder 'wc -c >"$last"'
hash=$("$mayfly" run scene.yaml --json | sed 's/.*"hash": *"\([0-9a-f]*\)".*/\1/')
"$mayfly" run scene.yaml --video small.mkv --camera wall --json >out.json || fail 'a video failed'
[ "$(cat small.mkv)" -eq $((16 * 40 * 30 * 3)) ] || fail "not 16 pictures: $(cat small.mkv) bytes"
grep -q -e '-s 40x30 -r 30' small.mkv.part.words || fail "$(cat small.mkv.part.words)"
grep -q "\"$hash\"" out.json || fail 'a video changed the state'
"$mayfly" run scene.yaml --duration 0.1 --video all.mp4 >/dev/null || fail 'no camera for all'
[ "$(cat all.mp4)" -eq $((4 * 1280 * 720 * 3)) ] || fail "not 4 pictures: $(cat all.mp4) bytes"
"$mayfly" run scene.yaml --duration 0.1 --video eye.mp4 --camera arms-tip >/dev/null ||
    fail 'no camera of a robot'
[ "$(cat eye.mp4)" -eq $((4 * 20 * 10 * 3)) ] || fail "not 4 pictures: $(cat eye.mp4) bytes"
"$mayfly" run scene.yaml --duration 0.1 --video only.mp4 --camera tip >/dev/null ||
    fail 'no camera of the robots of the only group'
cmp -s only.mp4 eye.mp4 || fail 'another camera than arms-tip'
[ ! -e all.mp4.part ] || fail 'the unfinished file is left'

# ---- what flies off at 30 m/s is in the last picture, too ----------------------------------------
cat >ball.xml <<'MODEL'
<mujoco><option gravity="0 0 0"/><worldbody><body pos="0 0 5"><freejoint/>
<geom size="0.5" rgba="1 0 0 1"/></body></worldbody>
<keyframe><key qpos="0 0 5 1 0 0 0" qvel="30 0 0 0 0 0"/></keyframe></mujoco>
MODEL
if command -v python3 >/dev/null; then
    encoder 'cat >"$last"'
    "$mayfly" run ball.xml --duration 0.5 --video ball.mp4 >/dev/null || fail 'no video of a ball'
    python3 - ball.mp4 <<'PYTHON' || fail 'the ball is not in the last picture'
import sys

last = open(sys.argv[1], "rb").read()[-1280 * 720 * 3:]
red = sum(r > 60 and g < 40 and b < 40 for r, g, b in zip(last[::3], last[1::3], last[2::3]))
sys.exit(not 1000 < red < 1280 * 720 / 2)
PYTHON
fi
echo old >small.mkv

# ---- what fails, in one line; the file of before stays ------------------------------------------
refused 2 '--video: expected a name that ends with' run scene.yaml --video film.avi
refused 2 '--camera requires --video' run scene.yaml --camera wall
sed 's/count: 2}/&, {name: others, model: arm.xml}/' scene.yaml >two.yaml
refused 1 "found 'tip'" run two.yaml --video small.mkv --camera tip
refused 1 "or GROUP-CAMERA of a group's robots, found 'door'" run scene.yaml --video small.mkv --camera door
encoder 'exit 3'
broken 'ffmpeg did not'
encoder 'cat >"$last"; exit 3'
broken 'ffmpeg did not write the video'
encoder 'kill -9 $$'
broken 'ffmpeg did not'
rm bin/ffmpeg
printf '#!/bin/sh\nPATH=%s exec %s "$@"\n' "$PWD/empty" "$mayfly" >lonely
chmod +x lonely
whole=$mayfly mayfly=$PWD/lonely
refused 1 'needs the program ffmpeg' run scene.yaml --video small.mkv
mayfly=$whole
[ "$(cat small.mkv)" = old ] || fail 'a failure replaced the file'

# ---- the program itself -------------------------------------------------------------------------
if [ -n "$real" ]; then
    ln -s "$real" bin/ffmpeg
    for ending in mp4 webm gif; do
        "$mayfly" run scene.yaml --video "true.$ending" --camera wall >/dev/null ||
            fail "no true.$ending"
        ffmpeg -loglevel error -i "true.$ending" -f rawvideo -pix_fmt gray frames.raw ||
            fail "ffmpeg cannot read true.$ending"
        [ -s frames.raw ] || fail "true.$ending is empty"
        rm frames.raw
    done
fi

[ "$failures" -eq 0 ]
