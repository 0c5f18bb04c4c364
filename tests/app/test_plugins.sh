#!/bin/sh
# Plugins, records and sensors from outside: control software in the loop by one line, the same by a
# scene, and the mistakes of a newcomer.
#
#     test_plugins.sh SOURCE_DIR BUILD_DIR
set -u
# shellcheck source=tests/app/command.sh
. "$1/tests/app/command.sh"

humanoid=$source_dir/models/humanoid.urdf
hexapod=$source_dir/models/hexapod.urdf
sway=$build/plugins/plugin_sway.so
hover=$build/plugins/plugin_hover.so
[ -f "$sway" ] && [ -f "$hover" ] || { echo 'skipped: this build has no example plugins'; exit 77; }

# ---- mistakes -------------------------------------------------------------------------------------
refused 1 'nothing.so: cannot find it' run "$hexapod" --plugin nothing.so
refused 1 'plugin sway has no setting speed' run "$hexapod" --plugin "$sway" --plugin-set sway.speed=1
refused 1 'setting lean: expected 0 .. 10 1, found 11' run "$hexapod" --plugin "$sway" \
    --plugin-set sway.lean=11
refused 1 'expected PLUGIN.SETTING=NUMBER' run "$hexapod" --plugin "$sway" --plugin-set lean=1
refused 1 'expected PLUGIN.SETTING=NUMBER' run "$hexapod" --plugin "$sway" --plugin-set sway.lean=x
refused 1 'no --plugin has the name hover' run "$hexapod" --plugin "$sway" --plugin-set hover.height=1
refused 1 'multiple' run "$hexapod" --plugin "$sway" --plugin-tick 0.0015
refused 2 'require --plugin FILE' run "$hexapod" --plugin-tick 0.01
refused 1 'with a --plugin that is a motion' run "$hexapod" --plugin "$hover" --motion rigid
refused 1 'both write joint.target' run "$hexapod" --plugin "$sway" --gait tripod
refused 1 'groups.NAME.plugins' run "$source_dir/scenes/soccer.yaml" --plugin "$sway"
refused 1 'groups.a.motion: own: expected a plugin that is a motion' run "$source_dir/scenes/soccer.yaml" \
    --set groups.blue.name=a --set groups.a.motion=own

# ---- a robot alone --------------------------------------------------------------------------------
# Every 20 ms of 1 s in steps of 2 ms: 50 calls; the joints go to and fro by 0.2 rad.
expect 0 run "$humanoid" --plugin "$sway" --plugin-tick 0.02 --plugin-set sway.amplitude=0.2 \
    --plugin-set sway.lean=0 --duration 1 --record sway.h5 --fields joint.target
grep -q 'sway 1.0 (controller): 50 calls' out || fail 'the calls of the controller are not reported'
grep -q 'left_knee' out || fail 'encoders are not among the readings'
grep -q 'attitude' out || fail 'the attitude is not among the readings'
[ -s sway.h5 ] || fail 'nothing was recorded'
expect 0 run "$humanoid" --duration 1 --json
still=$(value hash)
expect 0 run "$humanoid" --plugin "$sway" --duration 1 --json
[ "$(value hash)" != "$still" ] || fail 'the controller makes no difference'
expect 0 run "$hexapod" --plugin "$hover" --plugin "$sway" --plugin-set hover.height=0.5 --json
[ "$(value motion)" = own ] || fail "the motion is $(value motion), expected own"
case $(value base_height) in 0.5 | 0.4999* | 0.5000*) ;; *) fail "height $(value base_height)" ;; esac

# ---- a scene --------------------------------------------------------------------------------------
cat >play.yaml <<END
run: {duration: 0.5}
record: {file: play.h5, every: 0.05, fields: [sensor.value, motion.level]}
groups:
  - name: craft
    model: $hexapod
    motion: own
    sensors: true
    color: orange
    plugins:
      - {file: $hover, settings: {height: 0.16}}
      - {file: $sway, tick: 0.02}
    switch:
      - {to: rigid, when: {at: {time: 0.3}}}
  - name: other
    model: $humanoid
    sensors: true
    placement: {poses: [[2, 0, 0]]}
END
for word in run info; do
    refused 1 'not loaded without --allow-plugins' $word play.yaml
done
expect 0 run play.yaml --plot play.html --allow-plugins
grep -q '^craft .* 1 rigid$' out || fail 'the craft did not change its motion'
grep -q '^other  *gyroscope' out || fail 'the readings are not reported'
[ -s play.h5 ] || fail 'the scene recorded nothing'
grep -q '"color":"#e07b20"' play.html || fail 'the film does not have the color'
expect 0 run play.yaml --record elsewhere.h5 --every 0.1 --json --allow-plugins
[ -s elsewhere.h5 ] || fail '--record does not go before record.file'
first=$(value hash)
expect 0 run play.yaml --threads 3 --json --allow-plugins
[ "$(value hash)" = "$first" ] || fail 'threads change the bits'
grep -q '"sensors":\[[^]]' out || fail 'the JSON line lacks readings'
expect 0 info play.yaml --schedule --allow-plugins
grep -q 'plugin:sway' out || fail 'the schedule lacks the controller'

[ "$failures" -eq 0 ] || exit 1
echo 'plugins from outside: passed'
