#!/usr/bin/env python3
"""Every kernel is C17, C++20 and CUDA C++ at once (src/math/dialect.h).

A GPU runs the scalar copy of a kernel, one robot a thread, so its compiler must accept the text. g++
and clang++ compile each *_kernel.c, and each *_scalar.c, as C++, without C's extras (compound
literals, designators of arrays); clang's CUDA front end then compiles the scalar copy for the host,
and for the device down to PTX, where all that a kernel calls is made a device function. Then the
modules are linked in name: a function that none of them defines is an error, and so are an operation
that may be contracted (a multiplication or sum without `.rn`) or flushes subnormal numbers (`.ftz`), a
call of an emulated multiply-add, a division of 128 bits, which clang refuses, and a frame on the
stack above the kernel's limit (STACKS). No GPU and no CUDA toolkit is needed. A
compiler that is not there is said and left out.

usage: kernels.py [ROOT] [BUILD_FOLDER]
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

COMMON = ["-std=c++20", "-Wno-psabi", "-Wno-unused-command-line-argument"]
CHECK = ["-fsyntax-only"]
STRICT = ["-Werror=c99-extensions", "-Werror=c99-designator", "-Werror=reorder-init-list"]
CUDA = ["-x", "cuda", "-nocudainc", "-nocudalib", "--cuda-gpu-arch=sm_70", "-ffp-contract=off"]
SCALAR = ["-DMF_KERNEL_SINGLE"]
WIDE = ["-DMF_KERNEL_AVX2", "-mavx2", "-mfma"] if os.uname().machine == "x86_64" else SCALAR
# Bytes of a thread's largest frame in local memory, where a kernel needs more than 256. A frame that
# grows costs memory traffic in every thread: raise a limit for a reason only.
STACKS = {
    "articulated_kernel": 1600,
    "articulated_varied_kernel": 328,
    "assembly_kernel": 328,
    "cloth_kernel": 1024,
    "collide_kernel": 1984,
    "collide_varied_kernel": 1984,
    "compound_kernel": 4100,
    "constrain_kernel": 616,
    "constrain_varied_kernel": 568,
    "couple_kernel": 688,
    "couple_varied_kernel": 328,
    "driven_kernel": 304,
    "fluid_kernel": 800,
    "gp_kernel": 2176,
    "grains_kernel": 1024,
    "learner_float_kernel": 320,
    "sensors_kernel": 360,
    "kinematic_kernel": 376,
    "neighbors_detect_kernel": 5760,
    "neighbors_kernel": 4736,
    "points_kernel": 560,
    "points_varied_kernel": 560,
    "sensing_kernel": 584,
    "truss_double_kernel": 768,
}
ENTRY = re.compile(r"\b(MF_(?:ART_|COLLIDE_)?KERNEL\(\w+\))\([^;{]*\)\s*\{")
OTHER = re.compile(r'#include "([\w/]+_kernel\.c)"')  # compiled once more, with other settings
# Declared for the host alone, before the others: what is not for the device, and system headers.
HOST_HEADERS = ["assert.h", "float.h", "math.h", "stdio.h", "stdlib.h", "string.h", "mayfly/mayfly.h"]
if os.uname().machine == "x86_64":
    HOST_HEADERS.append("immintrin.h")
# What CUDA's own headers would declare, and what else runs on both sides.
MEMORY = """
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
extern "C" {
__device__ void *memcpy(void *to, const void *from, size_t size);
__device__ void *memset(void *to, int value, size_t size);
__device__ int memcmp(const void *a, const void *b, size_t size);
}
"""
SHIM = MEMORY + """
extern "C" {
__device__ void mf_random(uint64_t seed, uint32_t instance, uint32_t stream, uint64_t tick,
                          uint32_t out[4]);
__device__ void mf_philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);
}
"""
FUNCTION = re.compile(r"^(\.extern |\.visible |\.weak )?\.func\b(?:\s*\([^)]*\))?\s*(\w+)", re.M)
FLUSHING = re.compile(r"\b[\w.]+\.ftz\b[\w.]*")
FRAME = re.compile(r"__local_depot\d+\[(\d+)\]")
CONTRACTIBLE = re.compile(r"\b(?:mul|add|sub)(?:\.ftz)?\.f(?:32|64)\b")


def compiler(*names):
    """The first of these that is there, or None."""
    return next((name for name in names if shutil.which(name)), None)


def device_text(source):
    """The kernel with all its functions for host and device, and uses of its entries."""
    text = source.read_text()
    if source.suffix == ".cu":
        return f'#include <stddef.h>\n#include "{source}"\n'
    if source.name == "random.c":  # beside the host's: its headers declare what a device has not
        headers = "".join(f"#include <{header}>\n" for header in HOST_HEADERS)
        return headers + (
            MEMORY
            + "#pragma clang attribute push(__attribute__((device)), apply_to = function)\n"
            + f'extern "C" {{\n#include "{source}"\n}}\n'
            + "#pragma clang attribute pop\n"
        )
    entries, again = ENTRY.findall(text), OTHER.search(text)
    if again is not None:  # but for functions that the first time defines for both
        src = next(folder for folder in source.parents if folder.name == "src")
        entries = [e for e in ENTRY.findall((src / again[1]).read_text()) if "MF_KERNEL" not in e]
    uses = "".join(
        f"__device__ void *mf_use_{i} = (void *){entry};\n" for i, entry in enumerate(entries)
    )
    return (
        "".join(f"#include <{header}>\n" for header in HOST_HEADERS)
        + SHIM
        + "#pragma clang force_cuda_host_device begin\n"
        + f'#include "{source}"\n'
        + uses
        + "#pragma clang force_cuda_host_device end\n"
    )


def jobs(root, build, folder):
    """Yields a name and a command per kernel and front end."""
    gcc, clang = compiler("g++", "g++-12"), compiler("clang++-14", "clang++")
    for name, found in (("g++", gcc), ("clang++", clang)):
        if found is None:
            print(f"warning: kernels.py: no {name} here: kernels are not compiled by it")
    include = ["-I", str(root / "src"), "-I", str(root / "include"), "-I", str(build / "made")]
    sources = sorted(root.glob("src/**/*_kernel.c")) + sorted(root.glob("src/**/*_scalar.c"))
    for source in sources:
        one = source.name.endswith("_scalar.c")
        wide = one or source.name.endswith("_double_kernel.c")
        real = ["-DMF_KERNEL_F64"] if wide else ["-DMF_KERNEL_F32"]
        lanes = SCALAR if one else WIDE
        own = real + include + COMMON
        if gcc is not None:
            yield f"{source}: as C++ (g++)", [gcc, "-x", "c++", *lanes, *CHECK, *own, str(source)]
        if clang is None:
            continue
        command = [clang, "-x", "c++", *lanes, *STRICT, *CHECK, *own, str(source)]
        yield f"{source}: as C++ (clang)", command
        if one:
            continue
        host = [clang, *CUDA, "--cuda-host-only", *SCALAR, *STRICT, *CHECK, *own, str(source)]
        yield f"{source}: as CUDA, host", host
        yield f"{source}: as CUDA, device", device_command(clang, source, folder, own)
    if clang is not None:
        for source in (root / "src/math/device.cu", root / "src/base/random.c"):
            own = ["-DMF_KERNEL_F32", *include, *COMMON]
            yield f"{source}: as CUDA, device", device_command(clang, source, folder, own)


def device_command(clang, source, folder, own):
    """Compiles a source to PTX, from a text in `folder`."""
    text = folder / f"{source.stem}.cu"
    text.write_text(device_text(source))
    out = ["-O2", "-S", "-o", str(text.with_suffix(".ptx"))]
    return [clang, *CUDA, "--cuda-device-only", *SCALAR, *STRICT, *own, *out, str(text)]


def link(folder):
    """What is wrong with the modules of PTX in a folder, a line each."""
    defined, needed, wrong = set(), {}, []
    for path in sorted(folder.glob("*.ptx")):
        text = path.read_text()
        # A kernel calls that of another precision by the same text.
        for mark, name in FUNCTION.findall(text):
            name = re.sub(r"_f(32|64)P", "_P", name)
            if mark == ".extern ":
                needed.setdefault(name, path.stem)
            else:
                defined.add(name)
        frame = max((int(size) for size in FRAME.findall(text)), default=0)
        limit = STACKS.get(path.stem, 256)
        if frame > limit:
            wrong.append(f"{path.stem}: a frame of {frame} bytes on a GPU, expected {limit} at most")
        for operation in sorted(set(CONTRACTIBLE.findall(text))):
            wrong.append(f"{path.stem}: {operation} may be contracted on a GPU")
        for operation in sorted(set(FLUSHING.findall(text))):
            wrong.append(f"{path.stem}: {operation} flushes subnormal numbers on a GPU")
    for name, user in sorted(needed.items()):
        if name not in defined:
            wrong.append(f"{user}: {name} is not there on a GPU")
    return wrong


def run(job):
    name, command = job
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return name, done.returncode, done.stderr


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    build = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else root / "build").resolve()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        work = list(jobs(root, build, pathlib.Path(folder)))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for name, status, text in pool.map(run, work):
                if status == 0:
                    continue
                failed += 1
                errors = [line for line in text.splitlines() if "error:" in line]
                print(name)
                print("\n".join("  " + line for line in errors[:5]))
        wrong = link(pathlib.Path(folder)) if failed == 0 else []
        print("\n".join(wrong), end="\n" if wrong else "")
        failed += len(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
