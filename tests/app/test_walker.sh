#!/bin/sh
# The main job from the command line: what evolves at `articulated` also walks with a smaller step and
# on all its feet, at every motion something evolves, with every fitness, and the report's first lines
# say how the champion does elsewhere. MAYFLY_FULL=1: the whole default scene with five seeds.
#
#     test_walker.sh SOURCE_DIR BUILD_DIR
set -u
# shellcheck source=tests/app/command.sh
. "$1/tests/app/command.sh"
scene=$source_dir/scenes/hexapod.yaml

# walks SEED WORDS...: evolves the default scene and prints whether its champion keeps 75 % of its
# distance with a step of 1 ms, goes 1.5 m in its 20 s there, and steps with all six feet.
walks() {
    seed=$1
    shift
    expect 0 evolve "$scene" --seed "$seed" --out "seed$seed" --json "$@"
    expect 0 replay "seed$seed" --json
    [ "$(value equal)" = true ] || fail "seed $seed: the replay is not what evolved"
    coarse=$(value distance)
    expect 0 replay "seed$seed" --step-divisor 5 --json
    [ "$(value motion)" = articulated ] || fail "seed $seed: not at articulated"
    [ "$(value step)" = " 0.001" ] || [ "$(value step)" = "0.001" ] || fail "not with 1 ms"
    sed -n 's/.*class="tick end" x="996"[^>]*>\([0-9]*\) %.*/\1/p' "seed$seed/report.html" >duty
    awk -v coarse="$coarse" -v fine="$(value distance)" -v seed="$seed" '
        { if ($1 < 5 || $1 > 95) idle++; feet++; all = all " " $1 }
        END {
            good = feet == 6 && idle == 0 && fine >= 0.75 * coarse && fine >= 1.5
            printf "%s seed %s: %.2f m, at 1 ms %.2f m; duty factors%s %%\n", good ? "good" : "bad",
                seed, coarse, fine, all
        }' duty
}

if [ "${MAYFLY_FULL:-0}" = 1 ]; then
    for seed in 1 2 3 4 5; do walks $seed; done >verdicts
    cat verdicts
    [ "$(grep -c '^good' verdicts)" -ge 4 ] || fail "fewer than four of five seeds walk"
elif [ "$sanitized" = 1 ]; then
    expect 0 evolve "$scene" --seed 1 --out seed1 --json --generations 1 --set search.population=4 \
        --set search.survivors=2 --set run.duration=2 --set search.verify.best=2
else
    # Sixteen generations walk already. As in the whole scene, one of the seeds may drag a foot.
    for seed in 1 4 5; do walks $seed --generations 16; done >verdicts
    cat verdicts
    [ "$(grep -c '^good' verdicts)" -ge 2 ] || fail "a small run does not walk"
fi
[ -s seed1/report.html ] || fail "there is no report"
for level in kinematic points rigid prescribed articulated; do
    sed '/<section id="fitness">/,$d' seed1/report.html | grep -q "<tr><td>$level</td>" ||
        fail "the report does not begin with $level"
done
grep -q 'iframe class="film"' seed1/report.html || fail "the report shows no film"

# Every motion, every fitness.
cat >small.yaml <<END
world: {step: 0.005}
groups:
  - name: walkers
    model: "$source_dir/models/quadruped.urdf"
    controller: {gp: {angle_per_move: 0.2}}
run: {duration: 2}
search: {population: 12, survivors: 6}
END
for motion in kinematic points rigid prescribed articulated; do
    expect 0 evolve small.yaml --motion $motion --generations 3 --out $motion --json
    hash=$(value hash)
    expect 0 evolve small.yaml --motion $motion --generations 3 --out $motion-3 --threads 3 --json
    [ "$(value hash)" = "$hash" ] || fail "$motion: three threads have another population"
    expect 0 replay $motion --json
    [ "$(value motion)" = $motion ] && [ "$(value equal)" = true ] ||
        fail "$motion: the champion is replayed at $(value motion), equal $(value equal)"
done
for fitness in distance speed economy upright steps; do
    expect 0 evolve small.yaml --set search.fitness=$fitness --generations 4 \
        --out $fitness
    expect 0 replay $fitness --json
    [ "$(value equal)" = true ] || fail "$fitness: not the stored fitness"
    case $(value stored_fitness) in
    *[1-9]*) ;;
    *) fail "$fitness: the best has $(value stored_fitness)" ;;
    esac
done
grep -q 'best speed \[m/s\]\|speed \[m/s\]' speed/report.html || fail "the report hides the unit"
refused 1 'needs the torques of joints' evolve small.yaml --motion points --set search.fitness=economy --out bad
[ ! -e bad ] || fail "a refused run left a folder behind"

[ $failures -eq 0 ] || exit 1
echo "all good"
