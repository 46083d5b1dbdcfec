#!/usr/bin/env python3
"""Checks the kernels on a machine with a CUDA device; needs a CUDA toolkit, g++, Python and the sources, nothing else.

Compiles the .cu files and the parity program, runs every kernel against the host (all 2^32 floats in e4m3, e5m2, bf16 and
e2m1 among them), compute-sanitizer's memcheck and racecheck where it is installed, and measures rates beside a copy. The
last line on stdout is one JSON record; messages go to stderr. Exit status: 0 all equal, 1 a difference or a finding of the
sanitizer, 2 a failed compilation, 77 no device (everything is compiled then too).

  tests/cuda/run_on_gpu.py [--build DIR] [--arch native|sm_90|...] [--jobs N] [--skip floats,speed,sanitizer]
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
RULES = ["AdamW", "Madam", "MAdam", "Lmd"]
# What the program needs of the library besides headers: nothing that needs another library.
LIBRARY = ["emulation/parallel.cpp"]
HOST_FLAGS = ["-std=c++20", "-O2", "-ffp-contract=off", f"-I{ROOT}"]
DEVICE_FLAGS = ["-std=c++20", "-O3", "--fmad=false", "--expt-relaxed-constexpr", "-Xcompiler=-ffp-contract=off", f"-I{ROOT}"]


def say(text):
    print(text, file=sys.stderr, flush=True)


def cuda_root():
    homes = [os.environ.get("CUDA_HOME", ""), "/usr/local/cuda"]
    found = [pathlib.Path(home) / "bin" / "nvcc" for home in homes if home] + [pathlib.Path(shutil.which("nvcc") or "/")]
    for nvcc in found:
        if nvcc.is_file():
            return nvcc.resolve().parents[1]
    say("run_on_gpu: no nvcc in CUDA_HOME, /usr/local/cuda or PATH")
    sys.exit(2)


def compile_commands(cuda, build, arch):
    """(object, command) of every translation unit."""
    gpu = [f"-arch={arch}"]
    for name, source, more in [("device", "emulation/cuda/device.cu", []), ("kernels", "emulation/cuda/kernels.cu", []),
                               ("step_counts", "optimizers/cuda/step_kernels.cu", [])] + [
            (f"step_{rule}", "optimizers/cuda/step_kernels.cu", [f"-DHALFULP_RULE={rule}"]) for rule in RULES]:
        out = build / f"{name}.o"
        yield out, [cuda / "bin" / "nvcc", *DEVICE_FLAGS, *gpu, *more, "-c", ROOT / source, "-o", out]
    for source in LIBRARY + ["tests/cuda/parity.cpp"]:
        out = build / (source.replace("/", "_") + ".o")
        yield out, ["g++", *HOST_FLAGS, "-c", ROOT / source, "-o", out]


def run_compiler(command):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    return result.returncode, result.stdout + result.stderr


def build_program(cuda, build, arch, jobs):
    build.mkdir(parents=True, exist_ok=True)
    commands = list(compile_commands(cuda, build, arch))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for (out, command), (status, text) in zip(commands, pool.map(run_compiler, [c for _, c in commands])):
            if status != 0:
                say(f"run_on_gpu: {' '.join(map(str, command))}\n{text}")
                sys.exit(2)
    program = build / "parity"
    libraries = next(path for path in [cuda / "lib64", cuda / "lib"] if (path / "libcudart_static.a").exists())
    status, text = run_compiler(["g++", *[out for out, _ in commands], "-o", program,
                                 f"-L{libraries}", "-lcudart_static", "-ldl", "-lrt", "-pthread"])
    if status != 0:
        say(f"run_on_gpu: linking failed\n{text}")
        sys.exit(2)
    return program


def parity(program, parts, before=()):
    """Exit status and record of the program for some parts."""
    say(f"run_on_gpu: {' '.join(parts)} {' '.join(before[1:3])}")
    result = subprocess.run([*before, str(program), *parts], stdout=subprocess.PIPE, text=True)
    lines = [line for line in result.stdout.splitlines() if line.startswith("{")]
    return result.returncode, json.loads(lines[-1]) if lines else {}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "gpu", help="where objects go")
    parser.add_argument("--arch", default=None, help="as nvcc -arch; default: native with a device, sm_90 without")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--skip", default="", help="comma-separated: kernels, steps, floats, speed, sanitizer")
    options = parser.parse_args()
    cuda = cuda_root()
    arch = options.arch or ("native" if shutil.which("nvidia-smi") else "sm_90")
    program = build_program(cuda, options.build, arch, options.jobs)
    skipped = set(filter(None, options.skip.split(",")))
    record = {"arch": arch, "parts": {}, "sanitizer": {}}
    worst = 0
    for part in ["kernels", "steps", "floats", "speed"]:
        if part in skipped:
            continue
        status, found = parity(program, [part])
        if status == 77:
            print(json.dumps({"device": None, "compiled_for": arch}))
            return 77
        record["parts"][part] = found | {"status": status}
        worst = max(worst, status)
    sanitizer = shutil.which("compute-sanitizer") or shutil.which(str(cuda / "bin" / "compute-sanitizer"))
    if sanitizer and "sanitizer" not in skipped:
        for tool in ["memcheck", "racecheck"]:
            status, _ = parity(program, ["kernels", "steps"], (sanitizer, "--tool", tool, "--error-exitcode", "9"))
            record["sanitizer"][tool] = "clean" if status == 0 else f"status {status}"
            worst = max(worst, 1 if status else 0)
    elif not sanitizer:
        record["sanitizer"] = "not installed"
    print(json.dumps(record))
    return worst


if __name__ == "__main__":
    sys.exit(main())
