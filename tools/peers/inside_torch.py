"""Attention of fovea inside PyTorch, beside scaled_dot_product_attention: forward and backward by
autograd, in interleaved pairs. Causal, float32, batch x heads x length x 64.

    python3 tools/peers/inside_torch.py [--fovea build/fovea] [--threads 2] [--pairs 15] [LENGTH …]
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

import torch

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def seconds(work, inputs):
    for x in inputs:
        x.grad = None
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fovea", default=os.path.join(ROOT, "build/fovea"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("lengths", metavar="LENGTH", type=int, nargs="*", default=[512, 1024, 2048])
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(ROOT, "tests/python/models.cpp:flash")
        subprocess.run([options.fovea, "generate", model, "--training", "--python", "-o", folder],
                       check=True)
        sys.path.insert(0, folder)
        import flash
        module = flash.torch_module(threads=options.threads)
        for length in options.lengths:
            inputs = [torch.randn(1, 8, length, 64, requires_grad=True) for _ in range(3)]
            cotangent = torch.randn(1, 8, length, 64)
            ours = lambda: module(*inputs).backward(cotangent)
            theirs = lambda: torch.nn.functional.scaled_dot_product_attention(
                *inputs, is_causal=True).backward(cotangent)
            gradients = []
            for work in (ours, theirs):
                seconds(work, inputs)
                gradients.append([x.grad.clone() for x in inputs])
            apart = max((a - b).abs().max().item() for a, b in zip(*gradients))
            pairs = [(seconds(ours, inputs), seconds(theirs, inputs)) for _ in range(options.pairs)]
            fovea, sdpa = (statistics.median(side) * 1e3 for side in zip(*pairs))
            print(f"1 x 8 x {length} x 64: fovea {fovea:.1f} ms, scaled_dot_product_attention "
                  f"{sdpa:.1f} ms, ratio {sdpa / fovea:.2f}; gradients {apart:.1e} apart")


if __name__ == "__main__":
    main()
