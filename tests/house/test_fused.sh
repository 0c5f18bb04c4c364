#!/bin/sh
# No compiler has fused a multiplication with additions and subtractions in turn: no kernel asks for
# that, and copies without it have other bits. (GCC 12.2 does so in what it makes vectors of, even with
# -ffp-contract=off.) Arguments: source folder, build folder.
set -eu
build=$2
command -v objdump >/dev/null || { echo 'skipped: there is no objdump'; exit 77; }
case $(uname -m) in x86_64) ;; *) echo 'skipped: the instructions are those of x86-64'; exit 77 ;; esac
list=$(mktemp)
trap 'rm -f "$list"' EXIT
find "$build/CMakeFiles" -path '*_F[36][24].dir/*' -name '*.o' | sort >"$list"
objects=$(wc -l <"$list")
[ "$objects" -gt 50 ] || { echo "only $objects objects of kernels in $build/CMakeFiles"; exit 1; }
fused=$(xargs objdump -d <"$list" | sed -n '/file format/{s/:.*//;h;}; /fm\(addsub\|subadd\)/{x;p;x;}' | uniq)
[ -z "$fused" ] || { printf 'fused:\n%s\n' "$fused"; exit 1; }
echo "$objects objects"
