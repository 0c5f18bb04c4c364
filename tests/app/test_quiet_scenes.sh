#!/bin/sh
# Every shipped scene runs, and ends without a note or a warning: what is printed there is meant for
# the scenes of users. MAYFLY_FULL=1: as long as the scene says.
#     test_quiet_scenes.sh SOURCE_DIR BUILD_DIR
. "$1/tests/app/command.sh"

for scene in "$source_dir"/scenes/*.yaml; do
    name=$(basename "$scene" .yaml)
    case $name in
    golem) continue ;;                                       # machines exist after an evolution
    aircraft | atron_cars | circles | cloth | grains | gravel | obstacles | pool | swarm | \
        tear | mixed_reality | robocup* | soccer) duration=0.05 ;; # many robots
    everything) duration=2 ;;
    *) duration= ;;
    esac
    # So early, a landing is a large part of the run: only the end of the run is tested.
    [ "$sanitized" -eq 0 ] || duration=0.05
    [ "${MAYFLY_FULL-}" != 1 ] || duration=
    expect 0 run "$scene" ${duration:+--duration $duration}
    # The bridges of a league are started by `mayfly serve` alone.
    grep -E '^(note|warning)' out | grep -v '^note: bridges: ' >said
    case $name in
    soccer) sed -i '/the command is clamped/d' said ;;
    rubbing) sed -i '/^note: contact_law: /d' said ;; # its point is a stiffness of contacts
    esac
    [ ! -s said ] || [ "$sanitized" -ne 0 ] || fail "$name says: $(cat said)"
    grep -qE '^(hash|group) ' out || fail "$name prints no end"
done

# What a chosen level leaves out is one line; a brief residual says that it does not matter.
expect 0 run "$source_dir/scenes/quadruped.yaml"
grep -q '^level: motion points: effort limits .*; links do not touch each other; ' out ||
    fail 'nothing about the level'
grep -q '^accuracy  solver: in .* does not matter$' out || fail 'no verdict on a brief residual'

[ "$failures" -eq 0 ] || exit 1
echo 'shipped scenes: quiet'
