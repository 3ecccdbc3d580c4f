"""Beam search of a built program beside that of `transformers`, in float64."""
import copy
import subprocess

import numpy as np
import torch

# Beams, texts of each prompt, the length penalty, tokens that end a text, tokens at most.
CASES = [(2, 1, 1.0, 0, 30), (4, 4, 0.6, 3, 40), (5, 2, -0.5, 1, 25), (3, 1, 2.0, 4, 40)]


MISTAKES = [
    (["--best", "2"], "--best is for beams: give --beams N above 1, too"),
    (["--length-penalty", "2"], "--length-penalty is for beams"),
    (["--best", "3", "--beams", "2"], "--best 3 asks for more texts than --beams 2 finds"),
    (["--best", "70", "--beams", "70", "--max-tokens", "1"],
     "--best 70: beams have found 61 texts; the model has 61 tokens"),
]


def log_probability(logits_after, made):
    return sum(float(logits_after(made[:i]).log_softmax(-1)[token]) for i, token in enumerate(made))


def score(logits_after, made, penalty):
    return log_probability(logits_after, made) / len(made) ** penalty


def until_end(text, stops):
    """Behind what ends a text the package has padding, where others are longer."""
    ends = [i for i, token in enumerate(text) if token in stops]
    return text[:ends[0] + 1] if ends else text


def check_beams(title, program, checkpoint, module, prompts, start=None):
    """`prompts` are sources where answers begin with token `start`. The text is the package's, or has
    a score as high: its float64 and the program's float32 round equal ones apart."""
    for options, said in MISTAKES:
        result = subprocess.run([program, "generate", "--weights", checkpoint, "--ids", "3,1",
                                 "--ignore-eos", *options], text=True, capture_output=True)
        assert result.returncode == 2 and said in result.stderr, (title, options, result.stderr)
    module = copy.deepcopy(module).double()
    draw = np.random.default_rng(torch.initial_seed() % 2**32)
    for beams, best, penalty, ends, most in CASES:
        stops = [int(token) for token in draw.choice(np.arange(2, 61), ends, replace=False)]
        lines = subprocess.run(
            [program, "generate", "--weights", checkpoint, "--beams", str(beams), "--best", str(best),
             "--length-penalty", str(penalty), "--max-tokens", str(most), "--ignore-eos",
             *(word for stop in stops for word in ("--stop", str(stop))),
             *(word for prompt in prompts for word in ("--ids", ",".join(map(str, prompt))))],
            text=True, check=True, stdout=subprocess.PIPE).stdout.splitlines()
        assert len(lines) == best * len(prompts), (title, lines)
        for number, prompt in enumerate(prompts):
            ids = torch.tensor([prompt])
            texts = module.generate(
                ids, attention_mask=torch.ones_like(ids), num_beams=beams, length_penalty=penalty,
                num_return_sequences=best, early_stopping=False, max_new_tokens=most,
                do_sample=False, pad_token_id=0, eos_token_id=stops or None)

            def logits_after(text, ids=ids, prompt=prompt):
                if start is None:
                    return module(torch.tensor([prompt + text]), use_cache=False).logits[0, -1]
                return module(input_ids=ids, decoder_input_ids=torch.tensor([[start] + text]),
                              use_cache=False).logits[0, -1]

            for rank, text in enumerate(texts.tolist()):
                expected = until_end(text[len(prompt) if start is None else 1:], stops)
                made = [int(token) for token in lines[best * number + rank].split(",")]
                if made == expected:
                    continue
                with torch.no_grad():
                    own, packages = (score(logits_after, each, penalty)
                                     for each in (made, expected))
                assert own > packages - 1e-5 * abs(packages), (
                    title, beams, rank, penalty, stops, made, expected)
