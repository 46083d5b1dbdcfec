#!/usr/bin/env python3
"""Fails on an #include that points up: formats <- emulation <- optimizers <- analysis <- experiments."""
import pathlib
import re
import sys

LAYERS = ["formats", "emulation", "optimizers", "analysis", "experiments"]
# formats/ is std only: no third-party header may appear there, since it is what other projects embed.
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
                if layer == "formats" and kind == "<" and ("/" in target or target.endswith(".h")):
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
