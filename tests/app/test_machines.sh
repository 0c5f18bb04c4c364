#!/bin/sh
# Runs of machines (controller: machine) from the command line: evolution from nothing and from an
# ancestor, the same bits for any number of threads and after a kill, verification with inertia,
# repertoires, and what replay writes: films, trusses, parts to print.
#
#     test_machines.sh SOURCE_DIR BUILD_DIR
set -u
# shellcheck source=tests/app/command.sh
. "$1/tests/app/command.sh"

motion='quasistatic: {tolerance: 0.0001, iterations: 100, noise: 0.00001, actuator_speed: 0.04}'
generations=$((sanitized ? 8 : 16))

# write_scene FILE, its model or nothing, lines of `search`: as scenes/golem.yaml, but machines grow
# fast and trials are short.
write_scene() {
    cat >"$1" <<END
world: {step: 0.25, seed: 1}
ground: {shape: flat}
groups:
  - name: machines
    $2
    motion: {$motion}
    controller: {machine: {cycle: 1, change: 0.04, rest: 2}}
run: {duration: 6}
search:
  population: 40
  survivors: 20
  machine: {change: 0.4, add: 0.4, split: 0.2, attach: 0.3}
$3
END
}

golem='  selection: proportionate
  replacement: random
  batch: 40'
write_scene golem.yaml '' "$golem"

# reading NAME: the number behind a word at the beginning of a line of out.
reading() {
    sed -n "s/^$1  *\([-+.0-9e]*\).*/\1/p" out | head -n 1
}

# well_formed FILE SECTIONS...: tags of the page nest, and it has these sections.
well_formed() {
    page=$1
    shift
    for section; do
        grep -q "<section id=\"$section\">" "$page" || fail "$page: no section $section"
    done
    if command -v python3 >/dev/null; then
        python3 -c "import sys, xml.dom.minidom as x; x.parse(sys.argv[1])" "$page" 2>err ||
            fail "$page: not well-formed"
    fi
}

# ---- evolution from nothing ----

expect 0 evolve golem.yaml --generations $generations --json --threads 1 --out golem
hash=$(value hash)
head -n 1 out | grep -q '"best":0.0,' || fail "machines of the first generation move"
[ "$(value best)" != 0.0 ] || fail "no machine moves"
well_formed golem/report.html crawl body path network gallery descent fitness diversity family
expect 0 evolve golem.yaml --generations $generations --json --threads 2 --out threads
[ "$(value hash)" = "$hash" ] || fail "other bits with two threads"
well_formed threads/report.html crawl

killed_evolve 3 "$hash" golem.yaml --generations $generations --out killed
expect 0 evolve golem.yaml --generations 3 --json --out parts
expect 0 evolve golem.yaml --generations $generations --json --out parts --resume
[ "$(value hash)" = "$hash" ] || fail "the resumed run has another final population"
refused 1 "this run 'change: 0.3'" evolve golem.yaml --generations 17 --out golem --resume \
    --set search.machine.change=0.3
expect 0 info golem
grep -q '^population 40, ' out || fail "info: no line on the run"

# ---- replay ----

expect 0 replay golem --json
[ "$(value equal)" = true ] || fail "replay gets another fitness"
expect 0 replay golem --plot film.html
grep -q '^machine  *[0-9]* bars, [1-9][0-9]* actuators, .* body lengths' out ||
    fail "replay does not say what the machine is"
grep -q '<svg\|<canvas' film.html || fail "there is no film"
distance=$(reading distance)
expect 0 replay golem --motion elastic --json
[ "$(value motion)" = elastic ] || fail "replay: motion $(value motion), expected elastic"
for finer in 2 4; do
    expect 0 replay golem --step-divisor $finer --json
done
expect 0 replay golem --set group.motion.quasistatic.noise=0 --json

# The first generation has no bars.
expect 0 replay golem --generation 1
grep -q '^machine  *0 bars, 0 actuators: it does not move' out || fail "the first one has bars"
expect 0 replay golem --generation 1 --motion elastic --plot nothing.html
for option in '--truss none.truss.yaml' '--stl none'; do
    # shellcheck disable=SC2086 # two words
    refused 1 'this machine has no bars' replay golem --generation 1 $option
done
[ ! -e none ] && [ ! -e none.truss.yaml ] || fail "a refused replay left files behind"

expect 0 replay golem --ancestry best --json
best=$(value individual)
grep -q '"parent":null,"generation":1,' out || fail "the line has no beginning"
sed 's/{"id":/\n&/g' out | sed -n 's/^{"id":\([0-9]*\),.*/\1/p' >line
[ "$(wc -l <line)" -ge 3 ] || fail "the line has $(wc -l <line) individuals"

# Each ancestor is a machine with bars, or none; each can be simulated and printed, or the reason is
# one line.
printed=0 still=0
for id in $(cat line); do
    expect 0 replay golem --individual "$id"
    grep -q 'the same bits' out || fail "individual $id gets another fitness"
    bars=$(reading machine)
    grep -q ': it does not move' out && [ "$bars" -gt 0 ] && still=$id
    "$mayfly" replay golem --individual "$id" --stl "stl-$id" >out 2>err && printed=$id && continue
    [ "$(wc -l <err)" -eq 1 ] || fail "--stl of individual $id: $(wc -l <err) lines on stderr"
    [ ! -e "stl-$id" ] || fail "--stl of individual $id was refused and left a folder"
done
[ "$printed" != 0 ] || fail "none of the ancestors can be printed"
# Any machine of bars alone: the oldest with one.
id=40
while [ "$still" = 0 ] && [ $id -lt 400 ]; do
    "$mayfly" replay golem --individual $id >out 2>err || break
    grep -q '^machine  *[1-9][0-9]* bars, 0 actuators: it does not move' out && still=$id
    id=$((id + 1))
done
[ "$still" != 0 ] || fail "there is no machine of bars alone"
for id in $printed $still; do
    expect 0 replay golem --individual "$id" --stl "parts-$id/of" --plot "still-$id.html"
    ls "parts-$id/of/"*.stl >/dev/null 2>&1 || fail "individual $id: no STL files"
    [ -s "parts-$id/of/parts.csv" ] && [ -s "parts-$id/of/parts.json" ] ||
        fail "individual $id: no list of parts"
done

# ---- the truss of a machine ----

expect 0 replay golem --truss best.truss.yaml
expect 0 info best.truss.yaml
grep -q 'actuators are driven by neurons' out || fail "the truss has no brain"
expect 0 run best.truss.yaml --json
expect 0 compare best.truss.yaml --robots 1 --json
grep -q '"elastic"' out && grep -q '"quasistatic"' out || fail "compare: not both motions"

# In the same world it goes the same way, but for its noise, whose random numbers are those of the
# machine in evolution and those of the first robot here. The run's distance has the rest, too.
cat >alone.yaml <<END
world: {step: 0.25, seed: 1}
ground: {shape: flat}
groups:
  - name: machines
    model: best.truss.yaml
    motion: {$motion}
run: {duration: 8}
END
write_scene ancestor.yaml 'model: best.truss.yaml' "$golem"
for noise in 0 0.00001; do
    expect 0 run alone.yaml --json --set group.motion.quasistatic.noise=$noise
    value distance >alone
    expect 0 run ancestor.yaml --json --set group.motion.quasistatic.noise=$noise
    value distance >>alone
    awk -v noise=$noise 'NR == 1 { a = $1 } NR == 2 { d = a - $1; if (d < 0) d = -d; ok = d <= (noise > 0 ? 0.1 * a : 1e-6) }
        END { exit !ok }' alone || fail "noise $noise: the truss alone comes $(tr '\n' ' ' <alone) m far"
done

# ---- an ancestor ----

expect 0 evolve ancestor.yaml --generations 2 --json --out ancestor
head -n 1 out | grep -q '"best":0.0,' && fail "the ancestor does not move"
expect 0 replay ancestor --generation 1
[ "$(reading distance)" = "$distance" ] ||
    fail "the ancestor comes $(reading distance) m far, in its own run it was $distance m"
expect 0 replay ancestor --ancestry best
expect 0 info ancestor.yaml
grep -q 'machines that evolve from .*best.truss.yaml' out || fail "info does not name the ancestor"
expect 0 run ancestor.yaml
grep -q '^machine: [1-9][0-9]* bars, [1-9][0-9]* actuators' out || fail "run: not the ancestor"

cp "$source_dir/models/cantilever.truss.yaml" held.truss.yaml
sed 's/material: .*/material: steel/; /^  elasticity\|^  density\|^  yield/d' best.truss.yaml \
    >steel.truss.yaml
cp "$source_dir/models/hexapod.urdf" legs.urdf
while read -r file reason; do
    write_scene bad.yaml "model: $file" "$golem"
    refused 1 "bad.yaml:5:12: groups.machines.model: $reason" evolve bad.yaml --out bad
done <<END
held.truss.yaml machine: the truss has vertices that are fixed
steel.truss.yaml machine: the truss has another material
legs.urdf expected the file of a truss
END

# ---- scenes that have no machines yet ----

refused 1 'golem.yaml: group machines has no machines yet: `mayfly evolve`' run golem.yaml
refused 1 'has no machines yet' run "$source_dir/scenes/golem.yaml"
expect 0 info "$source_dir/scenes/golem.yaml"
grep -q 'machines that evolve from nothing' out || fail "info does not say what evolves"

# ---- a verification with inertia ----

plain='  selection: truncation
  replacement: generation'
write_scene verify.yaml '' "$plain
  verify: {motion: elastic, every: 5, best: 8, step: 0.002}"
expect 0 evolve verify.yaml --generations 12 --json --out verify
verified=$(grep '"generation":12,"best"' out | sed -n 's/.*"verified":\([^,}]*\).*/\1/p')
hash=$(value hash)
[ "$(grep -c '"verified"' out)" -eq 8 ] || fail "expected verified champions from 5 on"
well_formed verify/report.html crawl fitness
grep -q 'verified at the level <b>elastic</b>' verify/report.html || fail "no verification in the report"
grep -q 'class="tag verified"' verify/report.html || fail "the report has one curve"
expect 0 evolve verify.yaml --generations 5 --json --out verify-parts
expect 0 evolve verify.yaml --generations 12 --json --threads 2 --out verify-parts --resume
[ "$(value hash)" = "$hash" ] || fail "the resumed run was verified otherwise"
expect 0 replay verify
grep -q '^verified  *.* m at elastic' out || fail "replay does not show the verification"
expect 0 replay verify --motion elastic --json
[ "$(value fitness)" = "$verified" ] || fail "replay gets $(value fitness), the search $verified"
[ "$(value step)" = 0.002 ] || fail "replay: a step of $(value step) s"

# A verification that does not fit is refused where it is requested.
wrong() { # lines of search, position and reason
    write_scene bad.yaml '' "$1"
    refused 1 "bad.yaml:$2" evolve bad.yaml --out bad
}
wrong "$golem
  verify: {motion: elastic}" '16:20: search.verify.motion: expected `selection: truncation`'
wrong "$plain
  verify: {motion: articulated}" '15:20: search.verify.motion: a truss is verified by elastic'
wrong "$plain
  verify: {motion: elastic, best: 41}" '15:35: search.verify.best: expected at most'
wrong "  replacement: cell" '13:16: search.replacement: expected search.descriptors'
wrong "  fitness: speed" '13:12: search.fitness: '
cat >bad.yaml <<END
groups:
  - name: walkers
    model: "$source_dir/models/quadruped.urdf"
    controller: gp
search: {verify: {motion: elastic}}
END
refused 1 'bad.yaml:5:27: search.verify.motion: elastic: expected the file of a truss' \
    evolve bad.yaml --out bad
sed -e '/^run:/i\  - {name: other, model: legs.urdf}' golem.yaml >bad.yaml
refused 1 'bad.yaml:7:17: groups.machines.controller: expected machines as the only group' \
    evolve bad.yaml --out bad
[ ! -e bad ] || fail "a refused run left a folder behind"

# ---- a repertoire ----

write_scene cells.yaml '' '  selection: uniform
  replacement: cell
  batch: 40
  descriptors:
    - {measure: bars, lower: 0, upper: 12, cells: 6}
    - {measure: actuators, lower: 0, upper: 6, cells: 6}
    - {measure: height, lower: 0, upper: 0.1, cells: 2}
    - {measure: duty, lower: 0, upper: 1, cells: 2}'
expect 0 evolve cells.yaml --generations $generations --json --out cells
tail -n 2 out | head -n 1 | grep -q '"coverage":0\.[0-9]*[1-9]' || fail "no coverage in the lines"
well_formed cells/report.html crawl repertoire
expect 0 replay cells --json
[ "$(value equal)" = true ] || fail "replay of the repertoire's best gets another fitness"

[ $failures -eq 0 ] || exit 1
echo "all good"
