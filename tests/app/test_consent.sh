#!/bin/sh
# Nothing that a file names or that lies around runs without consent: every command reads every kind
# of file in a folder full of traps, each of which leaves a mark.
#     test_consent.sh SOURCE_DIR BUILD_DIR
# shellcheck source=tests/app/command.sh
. "$1/tests/app/command.sh"
export MARK="$work/mark" HDF5_USE_FILE_LOCKING=FALSE
unset PYTHONPATH MAYFLY_PYTHON DISPLAY WAYLAND_DISPLAY
mkdir trap home && cd trap || exit 77
HOME=$work/home
export HOME

# ---- the traps --------------------------------------------------------------------------------
trap_python="import os; open(os.environ['MARK'], 'w').write(__file__)"
for name in mayfly mayfly_bridges numpy sitecustomize usercustomize json runpy encodings argparse; do
    echo "$trap_python" >$name.py
done
mkdir lua mayfly.d && echo 'io.open(os.getenv("MARK"), "w"):close()' | tee init.lua helper.lua >lua/helper.lua
for name in python3 python ffmpeg xdg-open sh mayfly-bridge mpirun; do
    printf '#!/bin/sh\necho %s >"$MARK"\n' $name >$name && chmod +x $name
done
printf '#include <stdio.h>\n#include <stdlib.h>\n__attribute__((constructor)) static void f(void)
{ FILE *m = fopen(getenv("MARK"), "w"); if (m) fclose(m); }\n' >trap.c
cc -shared -fPIC -o libtrap.so trap.c 2>/dev/null || echo 'no compiler' >libtrap.so
chmod o-w libtrap.so .
for name in libjansson.so.4 libexpat.so.1 libz.so.1 mayfly_bridges.so plugin.so; do cp libtrap.so $name; done
ln -s "$source_dir/models" models

# ---- the files --------------------------------------------------------------------------------
robot=models/hexapod.urdf
scene() { # scene NAME TEXT: a scene of one robot with that in addition
    printf 'run: {duration: 0.02}\ngroups:\n- name: robots\n  model: %s\n%b\n' \
        "$robot" "$2" >"$1"
}
scene plain.yaml ''
scene bridge.yaml 'bridges:\n- {name: robocup, options: --port 0}\n- {name: trap}'
scene plugin.yaml '  plugins:\n  - file: libtrap.so'
scene script.yaml 'scripts:\n- {file: evil.lua}'
cat >evil.lua <<'END'
function start()
    for _, words in ipairs{ -- each must fail
        'os.execute("touch $MARK")', 'io.popen("touch $MARK")', 'io.open(os.getenv("MARK"), "w")',
        'require("helper")', 'package.loadlib("./libtrap.so", "*")', 'dofile("helper.lua")',
        'loadfile("helper.lua")()', 'debug.getregistry()' } do
        local made = load(words)
        if made then pcall(made) end
    end
end
END
cp $robot robot.urdf
sed 's|</robot>|<gazebo><plugin name="trap" filename="libtrap.so"/></gazebo></robot>|' $robot >plugin.urdf
cat >plugin.xml <<'END'
<!DOCTYPE mujoco [<!ENTITY x SYSTEM "file:///proc/self/environ">]>
<mujoco><extension><plugin plugin="mujoco.trap"/></extension>
<worldbody><body><freejoint/><geom size=".1"/></body></worldbody></mujoco>
END
cat >robot.xml <<'END'
<mujoco><extension><plugin plugin="mujoco.trap"/></extension>
<worldbody><body><freejoint/><geom size=".1"/></body></worldbody></mujoco>
END
"$mayfly" run plain.yaml --duration 0.02 --record record.h5 >out 2>err
"$mayfly" run plain.yaml --duration 0.02 --record record.mcap >out 2>err
for name in plugin bridge script; do # archives whose stored scene names such things
    { cat $name.yaml; echo 'search: {generations: 1, population: 4, survivors: 2}'; } >search_$name.yaml
    sed -i 's/^- name: robots/&\n  gait: tripod/' search_$name.yaml
    "$mayfly" evolve search_$name.yaml --out run_$name >out 2>err </dev/null
done
[ ! -e "$MARK" ] || fail "making the files: $(cat "$MARK") ran"

# ---- all commands, all files ------------------------------------------------------------------
commands=$("$mayfly" --help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
[ "$(echo "$commands" | wc -w)" -ge 10 ] || fail 'the commands are not found'
for word in $commands; do
    case $word in bench | check | completion | help) continue ;; esac
    for file in *.yaml *.urdf *.xml record.* run_* evil.lua libtrap.so; do
        more=
        case $word in
        serve) more='--port 0 --duration 0.02 --speed 0' ;;
        view) more='--port 0 --duration 0.02 --speed 0 --open' ;;
        run) more='--duration 0.02' ;;
        compare) more='--duration 0.02 --no-cost' ;;
        evolve) more='--out evolved --generations 1 --population 4 --survivors 2' ;;
        print) more='--out printed' ;;
        esac
        timeout 20 "$mayfly" $word $file $more >out 2>err </dev/null
        code=$?
        [ $code -lt 124 ] || fail "mayfly $word $file: ended with $code"
        [ ! -e "$MARK" ] || fail "mayfly $word $file: $(cat "$MARK") ran"
        rm -rf "$MARK" evolved printed runs
    done
done

# ---- what is typed, beside the traps ----------------------------------------------------------
expect 0 serve bridge.yaml --port 0 --duration 0.02 --speed 0
grep -q 'bridges: 2 not started here; mayfly serve --allow-bridges starts them' out err ||
    fail 'a scene with bridges does not say what to type'
echo 'def tick(time): pass' >own.py
mkdir -p elsewhere && mv own.py elsewhere
timeout 60 "$mayfly" run plain.yaml --duration 0.02 --python elsewhere/own.py >out 2>err
[ ! -e "$MARK" ] || fail "run --python: $(cat "$MARK") ran"
PYTHONPATH=. timeout 60 "$mayfly" run plain.yaml --duration 0.02 --python elsewhere/own.py >out 2>err
[ ! -e "$MARK" ] || fail "run --python with PYTHONPATH: $(cat "$MARK") ran"
PYTHONPATH=. timeout 60 "$mayfly" serve bridge.yaml --allow-bridges --port 0 --duration 0.5 >out 2>err
[ ! -e "$MARK" ] || fail "serve --allow-bridges: $(cat "$MARK") ran in place of the package"
grep -q 'bridge robocup started: python3 --port 0' err || fail 'what is started is not said'
MAYFLY_PYTHON=./python3 timeout 60 "$mayfly" serve bridge.yaml --allow-bridges --port 0 --duration 0.5 \
    >out 2>err
[ -e "$MARK" ] || fail 'with consent nothing was started: the traps do not work'
rm -f "$MARK"
if [ "$(wc -c <libtrap.so)" -gt 20 ]; then
    "$mayfly" info plugin.yaml --allow-plugins >out 2>err
    [ -e "$MARK" ] || fail 'with consent no library was loaded: the traps do not work'
fi

[ "$failures" -eq 0 ] || exit 1
echo 'nothing runs without consent: passed'
