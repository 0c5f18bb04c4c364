#!/bin/sh
# Completion of bash and zsh and the manual page: made from the tables, so every command and every
# option is in them; tried in the shells and with the manual's formatter, where there are some.
#
#     test_completion.sh SOURCE_DIR BUILD_DIR
set -u
# shellcheck source=tests/app/command.sh
. "$1/tests/app/command.sh"

expect 0 completion bash
mv out mayfly.bash
expect 0 completion zsh
mv out _mayfly
expect 0 help man
mv out mayfly.1
refused 2 'expected SHELL' completion
refused 2 "unknown shell 'fish'" completion fish

# ---- nothing is missing ---------------------------------------------------------------------------
expect 0 --help
commands=$(sed -n '/^commands:$/,/^$/s/^  \([a-z]*\) .*/\1/p' out)
[ "$(echo "$commands" | wc -w)" -ge 8 ] || fail "the overview has only these commands: $commands"
for command in $commands; do
    [ "$command" != help ] || continue
    expect 0 "$command" --help
    options=$(sed -n 's/^  --\([a-z-]*\) .*/\1/p' out)
    [ -n "$options" ] || fail "$command --help lists no option"
    sed -n "/^.SS mayfly $command /,/^.S[SH] /p" mayfly.1 >section
    for option in $options; do
        dashes=$(echo "$option" | sed 's/-/\\\\-/g')
        [ "$option" = help ] || grep -q "^.B \\\\-\\\\-$dashes\\>" section ||
            fail "the manual page lacks $command --$option"
        grep -q "^    $command) options='.*--$option\\>" mayfly.bash ||
            fail "completion of bash lacks $command --$option"
        sed -n "/^    $command)$/,/;;$/p" _mayfly | grep -q -- "--$option[=[]" ||
            fail "completion of zsh lacks $command --$option"
    done
done

# ---- bash -----------------------------------------------------------------------------------------
# complete WORDS...: what bash offers for the last word, one a line, in out.
complete() {
    bash -c '. ./mayfly.bash
        compopt() { :; }
        COMP_WORDS=(mayfly "$@") COMP_CWORD=$#
        _mayfly
        printf "%s\n" "${COMPREPLY[@]}"' complete "$@" >out 2>err
    [ ! -s err ] || fail "bash complains about: mayfly $*"
}
# offers TEXT WORDS...: TEXT is all that is offered, blanks instead of line ends.
offers() {
    wanted=$1
    shift
    complete "$@"
    [ "$(sort out | tr '\n' ' ')" = "$wanted " ] ||
        fail "mayfly $*: bash offers '$(tr '\n' ' ' <out)', expected '$wanted'"
}
if command -v bash >/dev/null; then
    mkdir meadow && : >meadow.urdf
    offers 'compare completion' com
    offers '--model --motion' run robot.xml --mo
    offers 'articulated' run robot.xml --motion art
    offers 'articulated' run robot.xml --motion = art
    offers 'rigid' compare robot.xml --levels ri
    offers 'points-hexapod points-hexapod-1m' bench points-hex
    offers 'D17' check D17
    offers 'avx2 avx512' bench --isa avx
    offers 'fixed_wing' help fix
    offers 'bash' completion b
    offers 'meadow meadow.urdf' run mead
    offers 'meadow' evolve x.yaml --out mead
    offers 'meadow meadow.urdf' run x.yaml --record mead
    offers '' run x.yaml --duration m
else
    echo 'no bash: its completion is not tried'
fi

# ---- zsh ------------------------------------------------------------------------------------------
# The functions of zsh's own completion system are stand-ins that print what they are given.
if command -v zsh >/dev/null; then
    cat >try.zsh <<'END'
compdef() { print "compdef $*" }
_arguments() { print -l -- "$@" }
_describe() { print -l -- ${(P)2} }
source ./_mayfly
words=(mayfly "$@") CURRENT=$(($# + 1))
_mayfly
END
    zsh -f try.zsh com >out 2>err || fail 'zsh cannot read its completion'
    grep -q '^compdef _mayfly mayfly$' out || fail 'zsh: the function is not announced'
    grep -q '^compare:the same gait' out || fail 'zsh: no commands'
    zsh -f try.zsh run robot.xml --mo >out 2>err || fail 'zsh: no options of run'
    grep -qF -- '--motion=[' out || fail 'zsh: run lacks --motion'
    grep -q ':NAME:(kinematic points rigid prescribed articulated)$' out ||
        fail 'zsh: --motion has no words'
    [ ! -s err ] || fail 'zsh complains'
else
    echo 'no zsh: its completion is not tried'
fi

# ---- the manual page ------------------------------------------------------------------------------
if command -v groff >/dev/null; then
    groff -man -ww -Tascii mayfly.1 >page 2>err
    [ ! -s err ] || fail 'groff warns about the manual page'
elif command -v mandoc >/dev/null; then
    mandoc -T lint -W warning mayfly.1 >err 2>&1 || fail 'mandoc warns about the manual page'
    mandoc -T ascii mayfly.1 >page
else
    echo 'no groff: the manual page is not set' && : >page
fi
if [ -s page ]; then
    col -b <page >plain 2>/dev/null || sed 's/.\x08//g; s/\x1b\[[0-9;]*m//g' page >plain
    grep -q 'mayfly compare models/humanoid.urdf --gait walk' plain ||
        fail 'the manual page has no examples'
    for section in NAME SYNOPSIS COMMANDS FILES ENVIRONMENT 'EXIT STATUS'; do
        grep -q "^$section" plain || fail "the manual page has no section $section"
    done
fi

[ "$failures" -eq 0 ] && echo 'the tables are complete'
[ "$failures" -eq 0 ]
