"""Makes what a release consists of, in build/release/VERSION.

usage: python tools/release/release.py [--tag] [--again] [TARGET...]

TARGET: x86_64 and aarch64, or those of them whose compiler is installed. --tag tags the commit,
which must have no changes. --again makes everything a second time and compares the bytes.

Archives are sorted, their owner is root and their times are that of the commit, so that the same
commit gives the same files: wheels, the source archive with the page, Debian packages, hashes of
motions, the bill of materials (CycloneDX) and the changelog, with their checksums.
"""

from __future__ import annotations

import argparse
import filecmp
import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import uuid

import libraries

ROOT = libraries.HERE.parent.parent
FOLDER = ROOT / "build" / "release"
NAME = "mayfly-sim"
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}  # Debian's names
# Each is run for 0.2 s; the hash of its final state says whether a machine moves alike.
MOTIONS = ("models/hexapod.urdf", "models/humanoid.urdf", "models/ant.xml", "scenes/soccer.yaml",
           "scenes/everything.yaml", "scenes/cloth.yaml")
SUMMARY = "Robot simulator for evolution, learning and planning"


def output(*command: str | pathlib.Path) -> str:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def version() -> str:
    text = (ROOT / "CMakeLists.txt").read_text()
    return re.search(r"project\(mayfly VERSION ([0-9.]+)", text)[1]  # type: ignore[index]


def compilers() -> list[str]:
    return [target for target in ARCHITECTURES if shutil.which(f"{target}-linux-gnu-gcc")]


def build(target: str) -> pathlib.Path:
    """The libraries and the command, in build-TARGET: beside build, where ccache knows them."""
    folder = ROOT / f"build-{target}"
    options = ["-DCMAKE_C_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    libraries.run("cmake", "-G", "Ninja", "-S", ROOT, "-B", folder, "-DCMAKE_BUILD_TYPE=Release",
                  f"-DCMAKE_TOOLCHAIN_FILE={FOLDER / target}/toolchain.cmake",
                  "-DCMAKE_INSTALL_PREFIX=/usr", "-DMAYFLY_WERROR=ON", "-DMAYFLY_TESTS=OFF",
                  "-DMAYFLY_EXAMPLES=OFF", f"-DMAYFLY_WEB_FOLDER={ROOT}/build/web", *options)
    environment = {**os.environ, "CCACHE_BASEDIR": str(ROOT), "CCACHE_NOHASHDIR": "1"}
    libraries.run("cmake", "--build", folder, "-j2", env=environment)
    return folder


def wheel(target: str, built: pathlib.Path, out: pathlib.Path) -> None:
    work = FOLDER / target / "wheel"
    shutil.rmtree(work, ignore_errors=True)
    environment = {**os.environ, "_PYTHON_HOST_PLATFORM": f"linux-{target}",
                   "PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"}
    libraries.run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation",
                  f"--wheel-dir={work}/plain", f"--config-settings=build-dir={work}/build",
                  f"--config-settings=cmake.define.MAYFLY_PREBUILT={built}",
                  f"--config-settings=cmake.define.CMAKE_TOOLCHAIN_FILE={FOLDER / target}/toolchain.cmake",
                  ROOT / "python", env=environment)
    plain = next((work / "plain").glob("*.whl"))
    # It complains where a library that is not on every system is needed.
    libraries.run("auditwheel", "repair", "--plat", f"manylinux_2_28_{target}", "--only-plat",
                  "--zip-compression-level=9", f"--wheel-dir={out}", plain, env=environment)


def epoch() -> int:
    return int(os.environ["SOURCE_DATE_EPOCH"])


def sources(out: pathlib.Path, web: pathlib.Path) -> None:
    """The files of the commit, and the page that web/ makes of packages of npm."""
    top = f"{NAME}-{version()}"
    plain = tarfile.open(fileobj=io.BytesIO(subprocess.run(
        ["git", "archive", f"--prefix={top}/", "HEAD"], cwd=ROOT, capture_output=True, check=True
    ).stdout))
    entries = {entry.name: (entry, plain.extractfile(entry)) for entry in plain if not entry.isdir()}
    with gzip.GzipFile(out / f"{top}.tar.gz", "wb", mtime=epoch()) as file, \
            tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in ("page.html", "licenses.txt"):
            entry = tarfile.TarInfo(f"{top}/web/made/{name}")
            data = (web / name).read_bytes()
            entry.size, entry.mode = len(data), 0o644
            entries[entry.name] = (entry, io.BytesIO(data))
        for name in sorted(entries):
            entry, data = entries[name]
            entry.mtime, entry.pax_headers = epoch(), {}
            archive.addfile(entry, data)


def package(target: str, built: pathlib.Path, out: pathlib.Path) -> None:
    """The command with its models, scenes, manual page and completion, for Debian and Ubuntu."""
    work = FOLDER / target / "deb"
    shutil.rmtree(work, ignore_errors=True)
    libraries.run("cmake", "--install", built, "--strip", env={**os.environ, "DESTDIR": str(work)})
    for unwanted in ("include", "lib", "share/doc/mayfly/README.md"):
        path = work / "usr" / unwanted
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    document = work / "usr/share/doc"
    (document / "mayfly").rename(document / NAME)
    with (document / NAME / "copyright").open("w") as file:
        for name in ("LICENSE", "licenses.txt"):
            file.write((document / NAME / name).read_text())
            (document / NAME / name).unlink()
    for path in (document / NAME / "CHANGELOG.md", *work.glob("usr/share/man/man1/*")):
        path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes(), mtime=epoch()))
        path.unlink()
    size = sum(path.stat().st_size for path in work.rglob("*") if path.is_file()) // 1024
    (work / "DEBIAN").mkdir()
    (work / "DEBIAN/control").write_text(
        f"Package: {NAME}\nVersion: {version()}\nArchitecture: {ARCHITECTURES[target]}\n"
        f"Maintainer: The Mayfly project\nInstalled-Size: {size}\nSection: science\n"
        f"Priority: optional\nDepends: libc6 (>= {libraries.GLIBC})\nDescription: {SUMMARY}\n"
    )
    for path in work.rglob("*"):
        path.chmod(0o755 if path.is_dir() or path.parent.name == "bin" else 0o644)
    deb = out / f"{NAME}_{version()}_{ARCHITECTURES[target]}.deb"
    libraries.run("dpkg-deb", "--root-owner-group", "-Zxz", "--build", work, deb)


def hashes(command: list[str]) -> str:
    """The hash of each motion, one a line: those of another machine must be the same."""
    lines = []
    for name in MOTIONS:
        shown = output(*command, "run", name, "--duration", "0.2", "--json")
        lines.append(f"{json.loads(shown.splitlines()[-1])['hash']}  {name}\n")
    return "".join(lines)


def bill(targets: list[str]) -> str:
    def component(kind: str, name: str, number: str, licence: str, url: str, **more: object) -> dict:
        return {"type": kind, "name": name, "version": number, "purl": url,
                "licenses": [{"license": {"id": licence}}], **more}

    parts = [
        component("library", source.name, source.version, libraries.LIBRARIES[source.name].spdx,
                  f"pkg:deb/debian/{source.name}@{source.version}?arch=source&distro={source.suite}",
                  hashes=[{"alg": "SHA-256", "content": source.checksum}])
        for source in libraries.sources()
    ]
    packages = json.loads((ROOT / "web/package.json").read_text())["dependencies"]
    parts += [component("library", name, number, "MIT", f"pkg:npm/{name}@{number}")
              for name, number in packages.items() if name != "esbuild"]  # which only makes the page
    commit = output("git", "rev-parse", "HEAD")
    return json.dumps({
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, commit + ','.join(targets))}",
        "metadata": {"component": component("application", NAME, version(), "Apache-2.0",
                                            f"pkg:pypi/{NAME}@{version()}")},
        "components": parts,
    }, indent=1) + "\n"


def changelog() -> str:
    text = (ROOT / "CHANGELOG.md").read_text()
    found = re.search(rf"^## \[{re.escape(version())}\].*?(?=^## |\Z)", text, re.M | re.S)
    if found is None:
        raise SystemExit(f"CHANGELOG.md: need a heading for {version()}")
    return found[0]


def make(targets: list[str], out: pathlib.Path) -> None:
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    for target in targets:
        print(f"{target} ...", file=sys.stderr, flush=True)
        built = build(target)
        wheel(target, built, out)
        package(target, built, out)
        if target == os.uname().machine:
            os.environ["MAYFLY_DATA"] = str(ROOT)
            (out / "hashes.txt").write_text(hashes([str(built / "mayfly")]))
    sources(out, ROOT / "build" / "web")
    (out / "bill.cdx.json").write_text(bill(targets))
    (out / "CHANGELOG.md").write_text(changelog())
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
             for path in sorted(out.iterdir())]
    (out / "SHA256SUMS").write_text("".join(lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tag", action="store_true")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    arguments = parser.parse_args()
    targets = arguments.targets or compilers()
    for target in targets:
        if target not in compilers():
            parser.error(f"{target}: need one of {', '.join(ARCHITECTURES)} with its compiler, "
                         f"Debian's gcc-{target.replace('_', '-')}-linux-gnu")
    if arguments.tag and output("git", "status", "--porcelain"):
        parser.error("--tag: the commit has changes")
    os.environ["SOURCE_DATE_EPOCH"] = output("git", "log", "-1", "--format=%ct")
    for target in targets:
        libraries.build_all(target, FOLDER)
    out = FOLDER / version()
    make(targets, out)
    if arguments.again:
        first = FOLDER / "first"
        shutil.rmtree(first, ignore_errors=True)
        out.rename(first)
        for target in targets:
            shutil.rmtree(ROOT / f"build-{target}")
        make(targets, out)
        names = [path.name for path in first.iterdir()]
        _, differ, missing = filecmp.cmpfiles(first, out, names, shallow=False)
        if differ or missing:
            raise SystemExit(f"not the same a second time: {', '.join(differ + missing)}")
        print("the same bytes a second time", file=sys.stderr)
    if arguments.tag:
        libraries.run("git", "tag", "-a", f"v{version()}", "-m", f"Mayfly {version()}", cwd=ROOT)
    print((out / "SHA256SUMS").read_text(), end="")


if __name__ == "__main__":
    main()
