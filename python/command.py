#!python
"""The command mayfly: runs it from the Python module, whose library it shares."""

import os
import signal
import sys
from importlib.util import find_spec, module_from_spec, spec_from_file_location

package = find_spec("mayfly")  # found and not imported, which would load NumPy
folder = package.submodule_search_locations[0]
found = spec_from_file_location("mayfly._binding", os.path.join(folder, "_binding.abi3.so"))
binding = module_from_spec(found)
found.loader.exec_module(binding)

os.environ.setdefault("MAYFLY_DATA", os.path.join(folder, "data"))
os.environ.setdefault("MAYFLY_PYTHON", sys.executable)  # of scripts and bridges
for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ):
    signal.signal(number, signal.SIG_DFL)
# As it was typed: with its folder unless that is in the PATH.
place, name = os.path.split(sys.argv[0])
typed = name if place in os.environ.get("PATH", "").split(os.pathsep) else sys.argv[0]
words = [binding.ffi.new("char[]", os.fsencode(word)) for word in (typed, *sys.argv[1:])]
sys.exit(
    binding.lib.mf_app_main(len(words), binding.ffi.new("char *[]", [*words, binding.ffi.NULL]))
)
