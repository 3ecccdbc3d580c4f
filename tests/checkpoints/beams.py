"""Beam search of a built program beside that of `transformers`, in float64."""
import copy
import subprocess

import numpy as np
import torch

# Beams, the length penalty, tokens that end a text, tokens at most.
CASES = [(2, 1.0, 0, 30), (4, 0.6, 3, 40), (5, -0.5, 1, 25), (3, 2.0, 4, 40)]


def log_probability(logits_after, made):
    return sum(float(logits_after(made[:i]).log_softmax(-1)[token]) for i, token in enumerate(made))


def score(logits_after, made, penalty):
    return log_probability(logits_after, made) / len(made) ** penalty


def check_beams(title, program, checkpoint, module, prompts, start=None):
    """`prompts` are sources where answers begin with token `start`. The text is the package's, or has
    a score as high: its float64 and the program's float32 round equal ones apart."""
    module = copy.deepcopy(module).double()
    draw = np.random.default_rng(torch.initial_seed() % 2**32)
    for beams, penalty, ends, most in CASES:
        stops = [int(token) for token in draw.choice(np.arange(2, 61), ends, replace=False)]
        lines = subprocess.run(
            [program, "generate", "--weights", checkpoint, "--beams", str(beams), "--length-penalty",
             str(penalty), "--max-tokens", str(most), "--ignore-eos",
             *(word for stop in stops for word in ("--stop", str(stop))),
             *(word for prompt in prompts for word in ("--ids", ",".join(map(str, prompt))))],
            text=True, check=True, stdout=subprocess.PIPE).stdout.splitlines()
        for prompt, line in zip(prompts, lines, strict=True):
            ids = torch.tensor([prompt])
            expected = module.generate(
                ids, attention_mask=torch.ones_like(ids), num_beams=beams, length_penalty=penalty,
                early_stopping=False, max_new_tokens=most, do_sample=False, pad_token_id=0,
                eos_token_id=stops or None)[0, len(prompt) if start is None else 1:].tolist()
            made = [int(token) for token in line.split(",")]
            if made == expected:
                continue

            def logits_after(text, ids=ids, prompt=prompt):
                if start is None:
                    return module(torch.tensor([prompt + text]), use_cache=False).logits[0, -1]
                return module(input_ids=ids, decoder_input_ids=torch.tensor([[start] + text]),
                              use_cache=False).logits[0, -1]

            with torch.no_grad():
                own, packages = (score(logits_after, text, penalty) for text in (made, expected))
            assert own > packages - 1e-5 * abs(packages), (title, beams, penalty, stops, made, expected)
