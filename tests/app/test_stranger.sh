#!/bin/sh
# Files of strangers: none runs code, hangs, or takes minutes to refuse.
#     test_stranger.sh SOURCE_DIR BUILD_DIR
. "$1/tests/app/command.sh"

# The loader takes an empty element of the run path as the current folder.
if command -v readelf >/dev/null; then
    readelf -d "$mayfly" | sed -n 's/.*R.*PATH.*\[\(.*\)\]/:\1:/p' >paths
    grep -q '::' paths && fail "an empty element in the run path: $(cat paths)"
fi
printf 'not a library' >libjansson.so.4
expect 0 --version
rm libjansson.so.4

# A pipe that nobody writes to.
mkfifo pipe.yaml pipe.xml
for word in info run evolve compare; do
    for file in pipe.yaml pipe.xml; do
        timeout -s KILL 20 "$mayfly" $word $file >out 2>err </dev/null
        [ $? -eq 1 ] || fail "mayfly $word $file: did not refuse the pipe"
        grep -q 'not a regular file' err || fail "mayfly $word $file: no reason"
    done
done

# 60,000 spheres on one body, and as bodies; fewer where everything is checked.
spheres=$((60000 / (1 + 5 * sanitized)))
awk -v count=$spheres 'BEGIN { print "<mujoco><worldbody><body><freejoint/>"
    for (i = 0; i < count; i++) printf "<geom type=\"sphere\" size=\".01\" pos=\"%g 0 1\"/>\n", i * .03
    print "</body></worldbody></mujoco>" }' >many.xml
awk -v count=$spheres 'BEGIN { print "<mujoco><worldbody>"
    for (i = 0; i < count; i++)
        printf "<body pos=\"%g 0 1\"><freejoint/><geom type=\"sphere\" size=\".01\"/></body>\n", i * .03
    print "</worldbody></mujoco>" }' >bodies.xml
for file in many.xml bodies.xml; do
    for word in 'run --duration 0.1' info; do
        # Seconds of the processor, whoever else uses the machine.
        (ulimit -t $((20 + 60 * sanitized)) && exec "$mayfly" $word $file) >out 2>err
        code=$?
        [ $code -lt 128 ] || fail "$word $file: not done within 20 s"
        [ $code -eq 0 ] || grep -q 'at most' out err || fail "$word $file: no limit is named"
    done
done

# COLLADA: nodes nested 100,000 deep, and a file of 5 KB whose instances double 50 times.
xml() { # xml FILE: a robot with that mesh
    printf '<mujoco><asset><mesh name="m" file="%s"/></asset><worldbody><body><freejoint/>
<geom type="mesh" mesh="m"/></body></worldbody></mujoco>' "$1" >mesh.xml
}
awk 'BEGIN { print "<COLLADA><library_visual_scenes><visual_scene>"
    for (i = 0; i < 100000; i++) print "<node>"; for (i = 0; i < 100000; i++) print "</node>"
    print "</visual_scene></library_visual_scenes></COLLADA>" }' >deep.dae
cp "$source_dir/tests/fuzz/corpus/dae/doubling.dae" "$source_dir/tests/fuzz/corpus/dae/cycle.dae" .
for file in deep.dae doubling.dae cycle.dae; do
    xml $file
    (ulimit -t $((5 + 60 * sanitized)) && exec "$mayfly" info mesh.xml) >out 2>err
    [ $? -eq 1 ] || fail "info $file: not refused"
    [ "$(wc -l <err)" -eq 1 ] || fail "info $file: not one line"
done

# More robots than memory: said at once, with the bytes.
for file in models/humanoid.urdf scenes/hexapod.yaml; do
    timeout -s KILL 60 "$mayfly" run "$source_dir/$file" --robots 67108864 >out 2>err
    [ $? -eq 1 ] || fail "run $file --robots 67108864: not refused within a minute"
    grep -q '67108864 robots require .* GB' err || fail "run $file --robots 67108864: no bytes"
done

# A signal ends a start of many robots, and their steps, at once.
stopped() { # stopped ROBOTS SECONDS TEXT
    timeout -s TERM "$2" "$mayfly" run "$source_dir/models/hexapod.urdf" --robots "$1" \
        --duration 10000 >out 2>err &
    pid=$!
    ( sleep $((40 + 200 * sanitized)); kill -KILL $pid ) >/dev/null 2>&1 &
    watch=$!
    wait $pid
    code=$?
    kill $watch 2>/dev/null
    [ $code -eq 124 ] || fail "run --robots $1: does not stop on a signal, code $code"
    grep -q "$3" err || fail "run --robots $1: does not say that it was stopped: $(cat err)"
}
if [ $sanitized -eq 0 ] && [ "$(awk '/MemAvailable/ { print int($2 / 1048576) }' /proc/meminfo)" -ge 6 ]; then
    stopped 400000 1 'stopped before the first step'
fi
stopped $((4000 / (1 + 19 * sanitized))) 5 'stopped after .* s of 10000 s'

# Nobody left: the exit code says so.
cat >fast.xml <<END
<mujoco><option timestep=".001"/><worldbody><body><joint type="slide" axis="1 0 0"/>
<geom type="sphere" size=".1"/></body></worldbody><keyframe><key qpos="0" qvel="1e30"/></keyframe></mujoco>
END
expect 1 run fast.xml --duration 0.1
grep -q 'the robot is stopped by a fault: the state left its range' err || fail 'no word about the fault'
expect 1 run fast.xml --duration 0.1 --json

# Starts in the ground and in each other.
cat >deep.xml <<END
<mujoco><worldbody><geom type="plane" size="5 5 .1"/><body name="a"><freejoint/>
<geom name="big" type="sphere" size=".1"/><body name="arm" pos=".12 0 0">
<joint type="slide" axis="1 0 0"/><geom type="sphere" size=".05" name="elbow"/>
<body name="hand" pos=".06 0 0"><joint type="hinge" axis="0 1 0"/><geom type="sphere" size=".05"
name="palm"/></body></body></body><body name="b" pos=".27 0 0"><geom name="post" type="sphere" size=".06"/>
</body></worldbody><keyframe><key qpos="0 0 .05 1 0 0 0 0 0"/></keyframe></mujoco>
END
for word in 'run --duration 0.1' info; do
    expect 0 $word deep.xml
    grep -q 'the robot starts 0.05 m deep in the ground: link a' out ||
        fail "$word: nothing about the depth in the ground"
    grep -q 'the robot starts with overlapping links: shape' out || fail "$word: nothing about links"
done

[ "$failures" -eq 0 ] || exit 1
echo 'files of strangers: passed'
