"""Builds the libraries that Mayfly links, static and for old systems, from Debian's sources.

usage: python tools/release/libraries.py x86_64|aarch64 FOLDER

FOLDER/TARGET gets include, lib, pkg-config files, licenses and the compiler `bin/zig-cc`: clang from the
package ziglang, which links against the symbols of glibc 2.28 and needs no old system for it. HDF5
has zlib and neither network nor plugins. FOLDER/sources holds what was fetched: a source package is
used when its .dsc, which holds the checksums of its files, has the one in sources.txt.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
GLIBC = "2.28"


@dataclasses.dataclass(frozen=True)
class Library:
    module: str  # of pkg-config, as CMakeLists.txt asks for it
    archives: tuple[str, ...]  # what the build makes and is linked
    license: str  # file of the source package
    headers: tuple[str, ...]  # patterns in the source package and in the build folder
    spdx: str
    cmake: str | None = None  # folder of CMakeLists.txt, or None: compile `sources`
    options: tuple[str, ...] = ()  # of CMake, or of the compiler (-O2 where speed matters)
    sources: tuple[str, ...] = ()
    config: str | None = None  # header that configure would make; `options` say what it would
    target: str = "all"
    flags: str = ""  # for who includes the headers


LIBRARIES = {
    "zlib": Library(
        "zlib", ("libz.a",), "README", ("zlib.h", "zconf.h"), "Zlib",
        sources=("*.c",), options=("-O2", "-DHAVE_UNISTD_H", "-DHAVE_STDARG_H"),
    ),
    "libpng1.6": Library(
        "libpng", ("libpng16.a",), "LICENSE", ("png.h", "pngconf.h", "pnglibconf.h"), "libpng-2.0",
        cmake=".", target="png_static",
        options=("-DPNG_SHARED=OFF", "-DPNG_TESTS=OFF", "-DPNG_HARDWARE_OPTIMIZATIONS=OFF"),
    ),
    "expat": Library(
        "expat", ("libexpat.a",), "expat/COPYING", ("expat/lib/expat.h", "expat/lib/expat_external.h"),
        "MIT", sources=("expat/lib/*.c",), config="expat_config.h",
        options=("-DHAVE_GETRANDOM", "-DXML_DTD=1", "-DXML_NS=1", "-DXML_CONTEXT_BYTES=1024",
                 "-DBYTEORDER=1234", "-fno-strict-aliasing"),
    ),
    "sqlite3": Library(
        "sqlite3", ("libsqlite3.a",), "debian/copyright", ("sqlite3.h",), "blessing",
        sources=("sqlite3.c",), options=("-DSQLITE_THREADSAFE=1", "-DSQLITE_OMIT_LOAD_EXTENSION"),
    ),
    "hdf5": Library(
        "hdf5", ("libhdf5.a",), "COPYING", ("src/H5*.h", "src/hdf5.h", "src/H5FD*/*.h"),
        "BSD-3-Clause", cmake=".", target="hdf5-static", flags="-DH5_USE_110_API",
        options=("-DBUILD_SHARED_LIBS=OFF", "-DBUILD_TESTING=OFF", "-DHDF5_BUILD_TOOLS=OFF",
                 "-DHDF5_BUILD_EXAMPLES=OFF", "-DHDF5_BUILD_HL_LIB=OFF", "-DHDF5_BUILD_CPP_LIB=OFF",
                 "-DHDF5_ENABLE_Z_LIB_SUPPORT=ON", "-DHDF5_ENABLE_SZIP_SUPPORT=OFF",
                 "-DHDF5_ENABLE_ROS3_VFD=OFF", "-DHDF5_ENABLE_PLUGIN_SUPPORT=OFF",
                 "-DHDF5_ENABLE_EMBEDDED_LIBINFO=OFF"),
    ),
    "jansson": Library(
        "jansson", ("libjansson.a",), "LICENSE", ("src/jansson.h", "jansson_config.h"), "MIT",
        cmake=".", target="jansson",
        options=("-DJANSSON_BUILD_DOCS=OFF", "-DJANSSON_EXAMPLES=OFF", "-DJANSSON_WITHOUT_TESTS=ON"),
    ),
    "libyaml": Library(
        "yaml-0.1", ("libyaml.a",), "License", ("include/yaml.h",), "MIT", sources=("src/*.c",),
        options=("-DYAML_VERSION_MAJOR=0", "-DYAML_VERSION_MINOR=2", "-DYAML_VERSION_PATCH=5",
                 '-DYAML_VERSION_STRING="0.2.5"'),
    ),
    "qhull": Library(
        "qhull_r", ("libqhullstatic_r.a",), "COPYING.txt", ("src/libqhull_r/*.h",), "Qhull",
        sources=("src/libqhull_r/*.c",),
    ),
    "libzstd": Library(
        "libzstd", ("libzstd.a",), "LICENSE", ("lib/*.h",), "BSD-3-Clause",
        sources=("lib/common/*.c", "lib/compress/*.c", "lib/decompress/*.c"),
        options=("-O2", "-DZSTD_DISABLE_ASM"),
    ),
    "lua5.4": Library(
        "lua5.4", ("liblua5.4.a",), "debian/copyright",
        ("src/lua.h", "src/luaconf.h", "src/lualib.h", "src/lauxlib.h", "lua5.4-deb-multiarch.h"),
        "MIT", sources=("src/l[!u]*.c", "src/lu[nt]*.c"), config="lua5.4-deb-multiarch.h",
        options=('-DDEB_HOST_MULTIARCH="."',),
    ),
    "civetweb": Library(
        "civetweb", ("libcivetweb.a",), "LICENSE.md", ("include/civetweb.h",), "MIT",
        sources=("src/civetweb.c",),
        options=("-DNO_SSL", "-DNO_CGI", "-DUSE_WEBSOCKET", "-DNO_CACHING",
                 "-Wno-builtin-macro-redefined", '-D__DATE__=""'),
    ),
}


@dataclasses.dataclass(frozen=True)
class Source:
    name: str
    version: str
    suite: str
    checksum: str

    @property
    def dsc(self) -> str:
        return f"{self.name}_{self.version.split(':')[-1]}.dsc"


def sources() -> list[Source]:
    lines = (HERE / "sources.txt").read_text().splitlines()
    return [Source(*line.split()) for line in lines if line and not line.startswith("#")]


def run(*command: str | pathlib.Path, **options: object) -> None:
    done = subprocess.run(  # noqa: PLW1510
        [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="replace", **options,  # type: ignore[call-overload]
    )
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}:\n{done.stdout[-4000:]}")


def fetch(folder: pathlib.Path) -> None:
    """Gets the source packages by apt, with lists of its own, from where Debian's packages come."""
    wanted = [source for source in sources() if not checked(folder, source)]
    if not wanted:
        return
    state = folder / "apt"
    for part in ("lists/partial", "cache/archives/partial"):
        (state / part).mkdir(parents=True, exist_ok=True)
    targets = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(SITE)", "Created-By: Packages", "Component: main"],
        capture_output=True, text=True, check=True,
    ).stdout.split()
    sites = [site for site in dict.fromkeys(targets) if site.endswith("/debian")]
    suites = sorted({source.suite for source in sources()})
    lines = [f"deb-src {site} {suite} main\n" for site in sites[:1] for suite in suites]
    (state / "sources.list").write_text("".join(lines))
    (state / "conf").write_text(
        f'Dir::Etc::sourcelist "{state}/sources.list";\nDir::Etc::sourceparts "/dev/null";\n'
        f'Dir::State::lists "{state}/lists";\nDir::Cache "{state}/cache";\n'
    )
    environment = {**os.environ, "APT_CONFIG": str(state / "conf")}
    run("apt-get", "update", env=environment)
    for source in wanted:
        run("apt-get", "source", "--download-only", f"{source.name}={source.version}",
            cwd=folder, env=environment)
        if not checked(folder, source):
            raise SystemExit(f"{folder / source.dsc}: its SHA-256 is not the one in sources.txt")


def checked(folder: pathlib.Path, source: Source) -> bool:
    path = folder / source.dsc
    return path.exists() and hashlib.sha256(path.read_bytes()).hexdigest() == source.checksum


TOOLCHAIN = """# Made by tools/release/libraries.py: Mayfly for systems with glibc {glibc} or later, with static libraries. The
# objects are GCC's, as in every build (its kernels are what the tests and the benches measure); clang links them with
# the symbols of the old glibc.
set(MAYFLY_PORTABLE ON)
set(MAYFLY_LICENSES "{prefix}/licenses")
if(NOT CMAKE_HOST_SYSTEM_PROCESSOR STREQUAL "{target}")
  set(CMAKE_SYSTEM_NAME Linux)
  set(CMAKE_SYSTEM_PROCESSOR {target})
  set(CMAKE_C_COMPILER {target}-linux-gnu-gcc)
endif()
set(CMAKE_C_LINK_EXECUTABLE
  "{prefix}/bin/zig-cc -s -Wl,--gc-sections <CMAKE_C_LINK_FLAGS> <LINK_FLAGS> <OBJECTS> -o <TARGET> <LINK_LIBRARIES>")
set(CMAKE_C_CREATE_SHARED_MODULE
  "{prefix}/bin/zig-cc -s -Wl,--gc-sections -shared <LINK_FLAGS> -o <TARGET> <OBJECTS> <LINK_LIBRARIES>")
set(CMAKE_SKIP_RPATH ON)
set(CMAKE_PREFIX_PATH "{prefix}")
set(ENV{{PKG_CONFIG_LIBDIR}} "{prefix}/lib/pkgconfig")
"""


def compiler(target: str, folder: pathlib.Path) -> None:
    """The commands zig-cc, zig-ar and zig-ranlib for a target, in folder/bin, and the toolchain file."""
    (folder / "bin").mkdir(parents=True, exist_ok=True)
    for name, words in (("zig-cc", f"cc -target {target}-linux-gnu.{GLIBC}"), ("zig-ar", "ar"),
                        ("zig-ranlib", "ranlib")):
        path = folder / "bin" / name
        path.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ziglang {words} "$@"\n')
        path.chmod(0o755)
    (folder / "toolchain.cmake").write_text(
        TOOLCHAIN.format(glibc=GLIBC, prefix=folder, target=target)
    )


def patterns(folders: list[pathlib.Path], names: tuple[str, ...]) -> list[pathlib.Path]:
    found = [path for name in names for folder in folders for path in sorted(folder.glob(name))]
    if not found:
        raise SystemExit(f"{folders[0]}: has none of {', '.join(names)}")
    return found


def build(source: Source, target: str, folder: pathlib.Path, prefix: pathlib.Path) -> None:
    library = LIBRARIES[source.name]
    tree, made, tools = prefix / "src" / source.name, prefix / "made" / source.name, prefix / "bin"
    shutil.rmtree(tree, ignore_errors=True)
    shutil.rmtree(made, ignore_errors=True)
    tree.parent.mkdir(parents=True, exist_ok=True)
    made.mkdir(parents=True)
    # apt has checked the signature of the index, and fetch() the checksum of the .dsc.
    run("dpkg-source", "--no-check", "-x", folder / source.dsc, tree)
    if source.name == "sqlite3":  # one file of all, which Tcl puts together
        run("./configure", "--disable-tcl", "--disable-readline", cwd=tree)
        run("make", "sqlite3.c", cwd=tree)
    flags = ["-Os", "-fPIC", "-fvisibility=hidden", "-ffunction-sections", "-fdata-sections", "-DNDEBUG",
             f"-ffile-prefix-map={prefix}=."]
    if library.cmake is not None:
        run("cmake", "-G", "Ninja", "-S", tree / library.cmake, "-B", made,
            "-DCMAKE_SYSTEM_NAME=Linux", f"-DCMAKE_SYSTEM_PROCESSOR={target}",
            f"-DCMAKE_C_COMPILER={tools}/zig-cc", f"-DCMAKE_AR={tools}/zig-ar",
            f"-DCMAKE_RANLIB={tools}/zig-ranlib", f"-DCMAKE_C_FLAGS={' '.join(flags)}",
            "-DCMAKE_BUILD_TYPE=None", "-DCMAKE_TRY_COMPILE_TARGET_TYPE=EXECUTABLE",
            f"-DCMAKE_FIND_ROOT_PATH={prefix}", f"-DCMAKE_PREFIX_PATH={prefix}",
            f"-DZLIB_INCLUDE_DIR={prefix}/include", f"-DZLIB_LIBRARY={prefix}/lib/libz.a",
            *library.options)
        run("cmake", "--build", made, "--target", library.target, "-j2")
    else:
        if library.config is not None:
            (made / library.config).touch()
        objects = []
        for path in patterns([tree], library.sources):
            objects.append(made / f"{path.stem}.o")
            run(tools / "zig-cc", *flags, *library.options, "-I", tree / "include", "-I", tree / "src",
                "-I", made, "-c", path, "-o", objects[-1])
        run(tools / "zig-ar", "rcsD", made / library.archives[0], *objects)
    for part in ("include", "lib/pkgconfig", "licenses"):
        (prefix / part).mkdir(parents=True, exist_ok=True)
    for name in library.archives:
        shutil.copy(patterns([made], (f"**/{name}",))[0], prefix / "lib" / name)
    include = prefix / "include"
    if source.name == "qhull":
        include = include / "libqhull_r"
        include.mkdir(exist_ok=True)
    # Headers that CMake made take the place of those of the source package.
    folders = [tree, made, made / "include", made / "src"]
    for path in patterns(folders, (*library.headers, "H5pubconf.h")):
        shutil.copy(path, include / path.name)
    shutil.copy(tree / library.license, prefix / "licenses" / f"{source.name}.txt")
    links = " ".join(f"-l{name[3:-2]}" for name in library.archives)
    (prefix / "lib/pkgconfig" / f"{library.module}.pc").write_text(
        f"prefix=${{pcfiledir}}/../..\nName: {library.module}\nDescription: {source.name} of Debian\n"
        f"Version: {source.version.split(':')[-1].split('-')[0].split('+')[0]}\n"
        f"Cflags: -I${{prefix}}/include {library.flags}\nLibs: -L${{prefix}}/lib {links}\n"
    )
    shutil.rmtree(tree)
    shutil.rmtree(made)


def build_all(target: str, folder: pathlib.Path) -> None:
    """Builds those libraries that folder/target lacks."""
    (folder / "sources").mkdir(parents=True, exist_ok=True)
    fetch(folder / "sources")
    prefix = folder / target
    compiler(target, prefix)
    for source in sources():
        stamp = prefix / "built" / source.dsc
        if not stamp.exists():
            print(f"{source.name} {source.version} for {target} ...", file=sys.stderr, flush=True)
            build(source, target, folder / "sources", prefix)
            stamp.parent.mkdir(exist_ok=True)
            stamp.touch()


def main() -> None:
    if len(sys.argv) != 3 or sys.argv[1] not in ("x86_64", "aarch64"):
        raise SystemExit(__doc__)
    build_all(sys.argv[1], pathlib.Path(sys.argv[2]).resolve())


if __name__ == "__main__":
    main()
