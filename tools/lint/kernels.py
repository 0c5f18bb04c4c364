#!/usr/bin/env python3
"""Every kernel is C17, C++20 and CUDA C++ at once (src/math/dialect.h).

A GPU runs the scalar copy of a kernel, one robot a thread, so its compiler must accept the text. g++
and clang++ compile each *_kernel.c, and each *_scalar.c, as C++, without C's extras (compound
literals, designators of arrays); clang's CUDA front end then compiles the scalar copy for the host
and for the device, where all that a kernel calls is made a device function. No GPU and no CUDA
toolkit is needed. A compiler that is not there is said and left out.

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

COMMON = ["-std=c++20", "-fsyntax-only", "-Wno-psabi", "-Wno-unused-command-line-argument"]
STRICT = ["-Werror=c99-extensions", "-Werror=c99-designator", "-Werror=reorder-init-list"]
CUDA = ["-x", "cuda", "-nocudainc", "-nocudalib", "--cuda-gpu-arch=sm_70"]
SCALAR = ["-DMF_KERNEL_SINGLE"]
WIDE = ["-DMF_KERNEL_AVX2", "-mavx2", "-mfma"] if os.uname().machine == "x86_64" else SCALAR
ENTRY = re.compile(r"\bMF_KERNEL\((\w+)\)\([^;{]*\)\s*\{")
# Declared for the host alone, before the others: what is not for the device, and system headers.
HOST_HEADERS = ["assert.h", "float.h", "math.h", "stdio.h", "stdlib.h", "string.h", "mayfly/mayfly.h"]
if os.uname().machine == "x86_64":
    HOST_HEADERS.append("immintrin.h")
# What CUDA's own headers would declare, and what else runs on both sides.
SHIM = """
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
extern "C" {
__device__ void *memcpy(void *to, const void *from, size_t size);
__device__ void *memset(void *to, int value, size_t size);
__device__ int memcmp(const void *a, const void *b, size_t size);
__device__ void mf_random(uint64_t seed, uint32_t instance, uint32_t stream, uint64_t tick,
                          uint32_t out[4]);
}
"""


def compiler(*names):
    """The first of these that is there, or None."""
    return next((name for name in names if shutil.which(name)), None)


def device_text(source):
    """The kernel with all its functions for host and device, and uses of its entries."""
    text = source.read_text()
    uses = "".join(
        f"__device__ void *mf_use_{i} = (void *)MF_KERNEL({name});\n"
        for i, name in enumerate(ENTRY.findall(text))
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
            yield f"{source}: as C++ (g++)", [gcc, "-x", "c++", *lanes, *own, str(source)]
        if clang is None:
            continue
        yield f"{source}: as C++ (clang)", [clang, "-x", "c++", *lanes, *STRICT, *own, str(source)]
        if one:
            continue
        host = [clang, *CUDA, "--cuda-host-only", *SCALAR, *STRICT, *own, str(source)]
        yield f"{source}: as CUDA, host", host
        text = folder / f"{source.stem}.cu"
        text.write_text(device_text(source))
        device = [clang, *CUDA, "--cuda-device-only", *SCALAR, *STRICT, *own, str(text)]
        yield f"{source}: as CUDA, device", device


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
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
