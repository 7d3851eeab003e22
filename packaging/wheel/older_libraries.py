#!/usr/bin/env python3
"""older_libraries.py FOLDER COMPILER: what to link with, so that the result runs with older C and C++ libraries than this
machine's.

The C library keeps each function under all versions that it ever had, and the linker takes the newest. So FOLDER gets
libraries without code that name the newest version up to the limits below, which are those of manylinux_2_28 (RHEL 8, Debian
10): libc.so.6 and libm.so.6 of glibc 2.28, libstdc++.so.6 of GCC 8. What came later is linked statically: the C++ library's
from libstdc++.a, the C library's from older_libc.c. Link with what FOLDER/flags says.
"""

import re
import subprocess
import sys
from pathlib import Path

LIMITS = {"GLIBC": (2, 28), "GLIBCXX": (3, 4, 25), "CXXABI": (1, 3, 11), "GCC": (8,)}
LIBRARIES = ("libc.so.6", "ld-linux-x86-64.so.2", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1")
# They were separate libraries up to glibc 2.33, and are names without content since.
PARTS_OF_LIBC = ("libpthread.so.0", "libdl.so.2", "librt.so.1")


def number_of(version: str) -> "tuple[int, ...] | None":
    """(2, 28) of GLIBC_2.28; nothing if it is above the limit or no public version."""
    match = re.fullmatch(r"([A-Z]+)_([0-9.]+)", version)
    number = tuple(map(int, match[2].split("."))) if match else ()
    return number if match and number <= LIMITS.get(match[1], ()) else None


def symbols_of(library: str) -> "dict[str, tuple[str, str, int]]":
    """Per name: version, type and size of its newest version within the limits."""
    table = subprocess.run(["readelf", "--dyn-syms", "-W", library], capture_output=True, text=True, check=True).stdout
    found: "dict[str, tuple[str, str, int]]" = {}
    for line in table.splitlines():
        words = line.split()
        match = re.fullmatch(r"(.+?)@@?(\S+)", words[7]) if len(words) >= 8 else None
        if not match or words[6] in ("UND", "ABS"):
            continue
        name, version = match[1], match[2]
        number = number_of(version)
        if number is not None and (name not in found or number > (number_of(found[name][0]) or ())):
            found[name] = (version, words[3], int(words[2], 0))
    return found


def define(name: str, kind: str, size: int) -> str:
    """An assembler's definition: as much memory as variables have, since programs copy them."""
    section, kind_name = {
        "OBJECT": (".bss", "object"),
        "TLS": ('.section .tbss,"awT",@nobits', "tls_object"),
    }.get(kind, (".text", "function"))
    return f"{section}\n.globl {name}\n.type {name}, @{kind_name}\n{name}: .skip {max(size, 1) if kind != 'FUNC' else 1}\n.size {name}, {size}\n"


def make(folder: Path, compiler: str, name: str, symbols: "dict[str, tuple[str, str, int]]") -> None:
    source, script = folder / f"{name}.s", folder / f"{name}.map"
    source.write_text("".join(define(symbol, kind, size) for symbol, (_, kind, size) in symbols.items()))
    versions: "dict[str, list[str]]" = {}
    for symbol, (version, _, _) in symbols.items():
        versions.setdefault(version, []).append(symbol)
    script.write_text("".join(f"{version} {{ {'; '.join(names)}; }};\n" for version, names in versions.items()))
    options = ["-shared", "-nostdlib", f"-Wl,-soname,{name}", *([f"-Wl,--version-script={script}"] if symbols else [])]
    subprocess.run([compiler, *options, "-o", str(folder / name), str(source)], check=True)


def path_of(compiler: str, name: str) -> str:
    answer = subprocess.run([compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=True)
    return str(Path(answer.stdout.strip()).resolve())


def main() -> None:
    folder, compiler = Path(sys.argv[1]).resolve(), sys.argv[2]
    folder.mkdir(parents=True, exist_ok=True)
    for name in LIBRARIES:
        make(folder, compiler, name, symbols_of(path_of(compiler, name)))
    for name in PARTS_OF_LIBC:
        make(folder, compiler, name, {})
    archive = folder / "libolder.a"
    archive.unlink(missing_ok=True)
    for name in ("older_libc", "older_start"):
        source, added = Path(__file__).with_name(f"{name}.c"), folder / f"{name}.o"
        subprocess.run([compiler, "-x", "c", "-O2", "-fPIC", "-fvisibility=hidden", "-c", str(source), "-o", str(added)], check=True)
        subprocess.run(["ar", "rcs", str(archive), str(added)], check=True)
    # The library twice: what the archive adds needs it, even if nothing before did.
    names = f"{folder}/libc.so.6 AS_NEEDED({folder}/ld-linux-x86-64.so.2)"
    (folder / "libc.so").write_text(f"INPUT({names} {archive} {path_of(compiler, 'libc_nonshared.a')} {names})\n")
    (folder / "libm.so").write_text(f"INPUT({folder}/libm.so.6)\n")
    # libstdc++.a is looked through where the library of old has not what is needed.
    static = path_of(compiler, "libstdc++.a")
    (folder / "libstdc++.so").write_text(f"INPUT({folder}/libstdc++.so.6 {static})\n")
    parts = " ".join(str(folder / name) for name in PARTS_OF_LIBC)
    (folder / "flags").write_text(
        f"-L{folder} -Wl,--wrap=__libc_start_main -Wl,--no-as-needed {parts} -Wl,--as-needed\n"
    )


if __name__ == "__main__":
    main()
