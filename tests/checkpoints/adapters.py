"""Pairs of small matrices beside weights that stay (LoRA), in modules of PyTorch as in files that PEFT
writes."""
import torch

RANK, ALPHA = 4, 6.0
LORA = ("--lora", str(RANK), "--lora-alpha", str(ALPHA))  # of `fovea build`


class Pair(torch.nn.Module):
    """A linear layer, or GPT-2's Conv1D, with a pair as PEFT has it."""

    def __init__(self, layer, a, b):
        super().__init__()
        self.layer, self.a, self.b = layer, torch.nn.Parameter(a), torch.nn.Parameter(b)

    @property
    def weight(self):  # T5 asks for its type
        return self.layer.weight

    def forward(self, x):
        return self.layer(x) + ALPHA / RANK * (x @ self.a.T) @ self.b.T


def add_pairs(module, pairs):
    """The module with the pairs of a file; they alone are trained."""
    module.requires_grad_(False)
    for name in sorted({key.rsplit(".lora_", 1)[0] for key in pairs}):
        parent, _, leaf = name.removeprefix("base_model.model.").rpartition(".")
        parent = module.get_submodule(parent)
        layer = getattr(parent, leaf)
        a, b = (pairs[f"{name}.lora_{which}.weight"].to(layer.weight.dtype) for which in "AB")
        setattr(parent, leaf, Pair(layer, a, b))
    return module


def random_pairs(module):
    """A file's pairs of all linear layers but the last, drawn by PyTorch's generator."""
    pairs = {}
    for name, layer in module.named_modules():
        if isinstance(layer, torch.nn.Linear) and name != "lm_head":
            for which, shape in (("A", (RANK, layer.in_features)), ("B", (layer.out_features, RANK))):
                pairs[f"base_model.model.{name}.lora_{which}.weight"] = 0.3 * torch.randn(shape)
    return pairs
