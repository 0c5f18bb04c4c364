#!/bin/sh
# mayfly run with scripts: results, the same for any number of threads, and errors in one line.
set -eu
mayfly=$2/mayfly scenes=$1/scenes
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() {
    echo "test_scripts: $*" >&2
    exit 1
}

code=0
"$mayfly" run "$scenes/pushes.yaml" --threads 1 --json --results one >one.json 2>one.err || code=$?
if grep -q 'built without Lua' one.err; then
    echo 'no Lua in this build'
    exit 77
fi
[ "$code" = 0 ] || fail "exit code $code: $(cat one.err)"
grep -q '^mayfly: stopped by a script: fell after a push of' one.err || fail "$(cat one.err)"
grep -q '^mayfly: wrote one/pushes.csv$' one.err || fail "$(cat one.err)"
head -n 1 one/pushes.csv | grep -qx 'push,lean,height,fell' || fail 'columns'
[ "$(grep -c 'true$' one/pushes.csv)" = 1 ] || fail 'falls'
tail -n 1 one/pushes.csv | grep -q 'true$' || fail 'the last one falls'
grep -q '"fell": true' one/summary.json || fail 'summary'
"$mayfly" run "$scenes/pushes.yaml" --threads 2 --json --results two >two.json 2>/dev/null
cmp one/pushes.csv two/pushes.csv
grep -q '"hash": *"' one.json || fail 'no hash'
[ "$(grep -o '"hash": *"[^"]*"' one.json)" = "$(grep -o '"hash": *"[^"]*"' two.json)" ] || fail 'hash'

# A block of a scene, and a file, with the line; results until then are written.
cat >bad.yaml <<END
groups:
  - {name: robot, model: $1/models/hexapod.urdf}
scripts:
  - name: first
    text: |
      local t = results.table("a.csv", {"time"})
      function tick(time)
        t:row(time)
        if time > 0.01 then error("enough") end
      end
END
code=0
"$mayfly" run bad.yaml --results three >out 2>err || code=$?
[ "$code" = 1 ] || fail "exit code $code"
grep -q 'bad.yaml:9: script first: tick: enough$' err || fail "$(cat err)"
head -n 2 three/a.csv | tail -n 1 | grep -qx '0' || fail "$(cat three/a.csv)"

printf 'function tick()\n  world:get("robot[0]/base.positon.z")\nend\n' >own.lua
sed '/text:/,$d' bad.yaml >file.yaml
echo '    file: own.lua' >>file.yaml
code=0
"$mayfly" run file.yaml >out 2>err || code=$?
[ "$code" = 1 ] || fail "exit code $code"
grep -q 'own.lua:2: script first: tick: .*base.position' err || fail "$(cat err)"
[ ! -e runs ] || fail 'a folder without results'
