#!/usr/bin/env python3
"""Fails on an #include that points up: formats <- emulation <- optimizers <- analysis <- experiments."""
import pathlib
import re
import sys

LAYERS = ["formats", "emulation", "optimizers", "analysis", "experiments"]
# Headers of formats/ are std only, since they are what other projects embed; the one for doctest users is doctest's.
# Its sources may use Boost.Multiprecision (the oracle, correctly rounded tables).
STD_ONLY_EXCEPT = {"formats/conformance/doctest.h"}
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.MULTILINE)


def violations(root):
    for rank, layer in enumerate(LAYERS):
        for path in sorted((root / layer).rglob("*")):
            if path.suffix not in {".h", ".cpp", ".cu", ".cuh"}:
                continue
            for kind, target in INCLUDE.findall(path.read_text()):
                top = target.split("/")[0]
                if top in LAYERS and LAYERS.index(top) > rank:
                    yield f"{path.relative_to(root)} includes {target}: {layer} may not know {top}"
                if top == "tests":
                    yield f"{path.relative_to(root)} includes {target}: a layer may not know the tests"
                if kind == '"' and top not in LAYERS:
                    yield f'{path.relative_to(root)} includes "{target}": name it from the project root'
                foreign = kind == "<" and ("/" in target or target.endswith(".h"))
                boost_in_source = path.suffix == ".cpp" and target.startswith("boost/multiprecision/")
                excepted = str(path.relative_to(root)) in STD_ONLY_EXCEPT
                if layer == "formats" and foreign and not boost_in_source and not excepted:
                    yield f"{path.relative_to(root)} includes <{target}>: formats is std only"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    found = list(violations(root))
    for line in found:
        print(line)
    files = sum(1 for layer in LAYERS for p in (root / layer).rglob("*") if p.suffix in {".h", ".cpp"})
    if files == 0:
        found.append("no files seen")
    print(f"{files} files, {len(found)} violations")
    return 1 if found else 0


sys.exit(main())
