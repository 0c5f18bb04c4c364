#!/bin/sh
# The meshes of models/modules are those that their program writes, byte for byte, and so are the
# inertias in the URDF files. usage: test_module_meshes.sh SOURCE BUILD
set -u
source=$(cd "$1" && pwd)
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
modules=$source/models/modules

python3 "$modules/make_meshes.py" "$folder" || exit 1
diff -r "$modules/meshes" "$folder" || exit 1

# ixx iyy izz of a line of --inertia, as the files have them: 10 decimals.
python3 "$modules/make_meshes.py" --inertia > "$folder/inertia" || exit 1
for pair in 'superbot end:superbot' 'superbot inner:superbot' 'atron hemisphere:atron'; do
    line=$(grep "^${pair%%:*}:" "$folder/inertia") || exit 1
    wanted=$(echo "$line" | sed 's/.*izz \(.*\) ixy.*/\1/' | awk '{
        printf "<inertia ixx=\"%.10f\" iyy=\"%.10f\" izz=\"%.10f\"", $1, $2, $3 }')
    if ! grep -qF "$wanted" "$modules/${pair##*:}.urdf"; then
        echo "${pair##*:}.urdf has no $wanted"
        exit 1
    fi
done
echo "meshes and inertias are as written"
