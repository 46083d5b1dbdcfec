#!/usr/bin/env python3
"""Times the conversions of ml_dtypes (NumPy) and PyTorch, to stand beside `halfulp bench`.

Usage: peers.py [--elements N] [--repetitions R]. Prints one JSON line a conversion: what it is compared with is a copy of
the same float32 array by the same library, timed in turns with it; ratio is the median of the ratios in one repetition.
All of it on one thread, by its processor time. A library that cannot be imported is one line that says so.
"""
import argparse
import json
import statistics
import time


def quantiles(values):
    """Median, 10 % and 90 %, linear between neighbours, as `halfulp bench` has them."""
    ordered = sorted(values)

    def at(q):
        position = q * (len(ordered) - 1)
        below = int(position)
        above = min(below + 1, len(ordered) - 1)
        return ordered[below] + (position - below) * (ordered[above] - ordered[below])

    return {"median": statistics.median(ordered), "low": at(0.1), "high": at(0.9)}


def seconds(work):
    start = time.thread_time()
    work()
    return time.thread_time() - start


def compare(work, reference, repetitions):
    """Times of both, in turns, after one repetition that warms up."""
    own, other = [], []
    for repetition in range(repetitions + 1):
        if repetition % 2 == 0:
            b, a = seconds(reference), seconds(work)
        else:
            a, b = seconds(work), seconds(reference)
        if repetition > 0:
            own.append(a)
            other.append(max(b, 1e-9))
    return own, other


def report(library, what, compared_with, bytes_written, elements, times):
    own, other = times
    print(json.dumps({
        "library": library, "what": what, "compared_with": compared_with, "elements": elements,
        "bytes_read": 4, "bytes_written": bytes_written,
        "ns": quantiles([t * 1e9 / elements for t in own]),
        "ratio": quantiles([a / b for a, b in zip(own, other)]),
    }), flush=True)


def skip(library, error):
    print(json.dumps({"library": library, "skipped": str(error)}), flush=True)


def time_numpy(elements, repetitions):
    try:
        import numpy as np
    except ImportError as error:
        return skip("numpy", error)
    try:
        import ml_dtypes
    except ImportError as error:
        skip("ml_dtypes", error)
        types, name = {"float16": np.float16}, f"numpy {np.__version__}"
    else:
        names = [n for n in dir(ml_dtypes) if n.startswith(("bfloat", "float"))]
        types = {"float16": np.float16, **{n: getattr(ml_dtypes, n) for n in names}}
        name = f"ml_dtypes {ml_dtypes.__version__}, numpy {np.__version__}"
    x = np.random.default_rng(1).standard_normal(elements, dtype=np.float32)
    copied, back = np.empty_like(x), np.empty_like(x)
    for type_name, kind in types.items():
        coded = np.empty(elements, dtype=kind)
        times = compare(lambda: np.copyto(coded, x, casting="unsafe"), lambda: np.copyto(copied, x), repetitions)
        report(name, f"float32 to {type_name}", "np.copyto of float32", coded.itemsize, elements, times)

        def both():
            np.copyto(coded, x, casting="unsafe")
            np.copyto(back, coded, casting="unsafe")

        times = compare(both, lambda: np.copyto(copied, x), repetitions)
        report(name, f"float32 to {type_name} and back", "np.copyto of float32", 4, elements, times)


def time_torch(elements, repetitions):
    try:
        import torch
    except ImportError as error:
        return skip("torch", error)
    torch.set_num_threads(1)
    x = torch.randn(elements, generator=torch.Generator().manual_seed(1))
    copied = torch.empty_like(x)
    for type_name in ("bfloat16", "float16", "float8_e4m3fn", "float8_e5m2"):
        if not hasattr(torch, type_name):
            continue
        coded = torch.empty(elements, dtype=getattr(torch, type_name))
        times = compare(lambda: coded.copy_(x), lambda: copied.copy_(x), repetitions)
        report(f"torch {torch.__version__}", f"float32 to {type_name}", "copy_ of float32", coded.element_size(),
               elements, times)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--elements", type=int, default=1 << 24)
    parser.add_argument("--repetitions", type=int, default=11)
    options = parser.parse_args()
    if options.elements < 1 or options.repetitions < 1:
        parser.error("--elements and --repetitions are 1 or more")
    time_numpy(options.elements, options.repetitions)
    time_torch(options.elements, options.repetitions)


if __name__ == "__main__":
    main()
