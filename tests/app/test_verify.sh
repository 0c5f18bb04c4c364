#!/bin/sh
# A search across levels from the command line: `search.verify` of the scene, its lines and its
# curve, a run broken off and resumed, and champions that live again at the dearer level.
#
#     test_verify.sh SOURCE_DIR BUILD_DIR
set -u
# shellcheck source=tests/app/command.sh
. "$1/tests/app/command.sh"

cat >two.yaml <<END
world: {step: 0.01, seed: 5}
groups:
  - name: walkers
    model: "$source_dir/models/quadruped.urdf"
    motion: points
    controller: gp
run:
  duration: 2
search:
  population: 12
  survivors: 6
  verify:
    motion: articulated
    every: 2
    best: 4
    step: 0.002
END

expect 0 evolve two.yaml --generations 4 --json --out whole
hash=$(value hash)
[ "$(grep -c '"verified"' out)" -eq 3 ] || fail "expected verified champions from 2 on"
grep '"generation": *1,' out | grep -q '"verified"' && fail "generation 1 was verified"
grep -q 'are verified at the level' whole/report.html || fail "the report has one curve"
grep -q 'class="tag verified"\|verified' whole/report.html || fail "the report has one curve"

# Stopped right after a verification, and resumed.
expect 0 evolve two.yaml --generations 2 --json --out parts
expect 0 evolve two.yaml --generations 4 --json --out parts --resume
[ "$(value hash)" = "$hash" ] || fail "the resumed run has another final population"

# Other threads, and a process killed between, during or after verifications: the same bits.
expect 0 evolve two.yaml --generations 4 --json --threads 3 --out threads
[ "$(value hash)" = "$hash" ] || fail "three threads have another final population"
expect 0 evolve two.yaml --generations 24 --json --out long
hash=$(value hash)
killed_evolve 7 "$hash" two.yaml --generations 24 --out killed

# The champion is the best of all that were ever looked at, by what it gets at both levels: had the
# search lost it, another would stand in the newest generation.
if command -v sqlite3 >/dev/null; then
    best=$(sqlite3 whole/archive.sqlite "SELECT v.id FROM verified v JOIN individual i USING (id) \
        ORDER BY v.fitness - abs(v.fitness - i.fitness) DESC, v.id DESC LIMIT 1")
    champion=$(sqlite3 whole/archive.sqlite \
        "SELECT champion FROM generation ORDER BY number DESC LIMIT 1")
    [ "$champion" = "$best" ] || fail "individual $best counts for most, the champion is $champion"
    verified=$(sqlite3 whole/archive.sqlite "SELECT count(*), count(DISTINCT id) FROM verified")
    [ "$verified" = "8|8" ] || fail "expected two verifications of four each, none of them twice: $verified"
fi

expect 0 replay whole --json
[ "$(value motion)" = points ] || fail "replay: motion $(value motion), expected points"
[ "$(value equal)" = true ] || fail "replay: not the stored fitness"
# At the dearer level the champion gets, bit for bit, what the search saw of it.
looked=$("$mayfly" evolve two.yaml --generations 4 --json --out again 2>/dev/null |
    sed -n 's/.*"generation": *4,.*"verified": *\([^,}]*\).*/\1/p')
expect 0 replay whole --motion articulated --json
[ "$(value motion)" = articulated ] || fail "replay: motion $(value motion), expected articulated"
[ "$(value fitness)" = " $looked" ] || [ "$(value fitness)" = "$looked" ] ||
    fail "replay gets $(value fitness) at articulated, the search got $looked"
[ "$(value stored_verified)" = "$(value fitness)" ] || fail "the archive has another verification"
# Other servos give another result, which is shown next to the stored one.
stored=$(value fitness)
expect 0 replay whole --motion articulated --set group.servo.stiffness=4 --json
[ "$(value fitness)" = "$stored" ] && fail "stiffer servos make no difference"
expect 0 replay whole --set group.motion.points.friction=coupled --json
[ "$(value equal)" = false ] || fail "replay: another friction, the same bits"
refused 2 "expected path=value, found 'servo'" replay whole --set servo
# With a second evaluation in the verification the worse of both counts.
expect 0 evolve two.yaml --generations 2 --set search.verify.stiffness=4 --out twice
for stiffness in 1 4; do
    expect 0 replay twice --motion articulated --set group.servo.stiffness=$stiffness --json
    value fitness >>results
done
expect 0 replay twice --json
[ "$(sort -g results | sed -n 1p)" = "$(value stored_verified)" ] ||
    fail "the verification gave $(value stored_verified), not the worse of $(cat results)"
expect 0 replay whole --motion articulated --plot film.html
grep -q 'motion *articulated with a step of 2 ms' out || fail "replay does not name the level"
[ -s film.html ] || fail "there is no film"

for level in kinematic rigid prescribed; do
    expect 0 replay whole --motion $level --json
    [ "$(value motion)" = $level ] || fail "replay: motion $(value motion), expected $level"
done
refused 2 "quasistatic or elastic, found 'soccer'" replay whole --motion soccer
refused 2 "quasistatic or elastic, found 'cloth'" replay whole --motion cloth
sed 's/best: 4/best: 40/' two.yaml >bad.yaml
refused 1 'verify.best: expected at most search.population = 12, found 40' evolve bad.yaml --out bad
[ ! -e bad ] || fail "a refused run left a folder behind"

[ $failures -eq 0 ] || exit 1
echo "all good"
