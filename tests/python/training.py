"""Attention of fovea inside a model of PyTorch that trains: prints what is not as it should be."""

import sys
import threading
import time

import torch
import torch.nn.functional as F

sys.path[:0] = sys.argv[1:]
import flash
import checks
from checks import check


class Block(torch.nn.Module):
    """A decoder of one block."""

    def __init__(self, attention):
        super().__init__()
        self.attention = attention
        self.table = torch.nn.Embedding(20, 128)
        self.qkv, self.out = torch.nn.Linear(128, 384), torch.nn.Linear(128, 20)

    def forward(self, ids):
        x = self.table(ids)
        q, k, v = (t.unflatten(-1, (2, 64)).transpose(1, 2).contiguous()
                   for t in self.qkv(x).chunk(3, -1))
        return self.out(x + self.attention(q, k, v).transpose(1, 2).flatten(2))


def train(attention):
    torch.manual_seed(0)
    block = Block(attention)
    optimizer = torch.optim.Adam(block.parameters(), 1e-3)
    ids = torch.randint(20, (4, 33))
    losses = []
    for _ in range(20):
        loss = F.cross_entropy(block(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


module = flash.torch_module()
ours = train(module)
theirs = train(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True))
worst = max(abs(a - b) for a, b in zip(ours, theirs))
check(worst < 1e-5, f"losses are those of PyTorch: {worst} apart")
check(ours[-1] < ours[0], "they fall")

# What the library is given are the addresses of the tensors.
q, k, v = (torch.randn(1, 2, 9, 64) for _ in range(3))
given = []
real = flash._LIBRARY.call
flash._LIBRARY.call = lambda name, *arguments: (given.append(arguments), real(name, *arguments))[1]
session = flash.Session(flash.Model.random())
out = torch.empty(1, 2, 9, 64)
result = session.forward(q, k, v, out={"y": out}).y
arrays = given[-1]
check(list(arrays[2]) == [t.data_ptr() for t in (q, k, v)], "inputs are not copied")
check(list(arrays[3]) == [out.data_ptr()] and result is out, "outputs are not copied")
flash._LIBRARY.call = real

# A model with parameters is a module whose parameters are the model's.
import block
torch.manual_seed(1)
net = block.torch_module(block.Model.random(1))
x, lens = torch.randn(2, 5, 64), torch.tensor([5, 3], dtype=torch.int32)
address = net._values[0].data_ptr()
check(address == net._session.model.parameter(net._names[0]).ctypes.data, "in the same memory")
optimizer = torch.optim.SGD(net.parameters(), 0.1)
first = None
for step in range(10):
    loss = (net(x, lens) - x).square().mean()
    first = first or loss.item()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
check(loss.item() < first and torch.isfinite(loss), "an optimizer of PyTorch moves the model")
# Finite differences of one parameter.
net.eval()
weight = net._values[0]
net.zero_grad()
(net(x, lens) * torch.arange(64)).sum().backward()
slope = weight.grad[1, 2].item()
ends = []
for step in (1e-2, -1e-2):
    with torch.no_grad():
        weight[1, 2] += step
        ends.append((net(x, lens) * torch.arange(64)).sum().item())
        weight[1, 2] -= step
numeric = (ends[0] - ends[1]) / 2e-2
check(abs(numeric - slope) < 0.02 * abs(slope) + 0.05, f"a slope is {numeric}, and said {slope}")
# A copy has parameters of its own.
import copy
twin = copy.deepcopy(net)
check(torch.equal(twin(x, lens), net(x, lens)) and not twin.training, "a copy gives the same")
with torch.no_grad():
    twin._values[0].zero_()
check(net._values[0].abs().sum() > 0 and not torch.equal(twin(x, lens), net(x, lens)),
      "and is moved alone")
# A loss a sequence: gradients are those of their sum, times one number.
import losses
scored, points = losses.torch_module(losses.Model.random(1)), torch.randn(3, 3)
(scored(points).mean() * 2).backward()
check(torch.allclose(scored._values[0].grad, (points * points).sum(0) * 2 / 3), "losses have a mean")
checks.refuses(lambda: (scored(points) * torch.arange(3.0)).sum().backward(), "sum of the losses")
# What the program would not see is refused.
moved = scored(points).sum()
with torch.no_grad():
    scored._values[0].mul_(2)
checks.refuses(moved.backward, "changed between forward and backward")
points.requires_grad_()
slope, = torch.autograd.grad(scored(points).sum(), points, create_graph=True)
checks.refuses(lambda: slope.sum().backward(), "have no gradients themselves")
checks.refuses(lambda: torch.func.functional_call(scored, {"w": torch.zeros(3)}, points),
               "'w' lies elsewhere than in the model")
checks.refuses(lambda: scored(points, points), "inputs are x")
state = losses.torch_module(losses.Model.random(1)).state_dict()
check(torch.equal(state["w"], torch.ones(3)), "a state outlives its module")
checks.refuses(lambda: scored.double()(points), "'w' lies elsewhere than in the model")

# Several threads call one module, each with sizes of its own.
net.train(False)


def slopes(batch):
    """Sums of what comes out, and of its gradient."""
    points = torch.linspace(-1, 1, batch * 7 * 64).reshape(batch, 7, 64).requires_grad_()
    y = net(points, torch.full((batch,), 7, dtype=torch.int32))
    slope, = torch.autograd.grad(y.square().sum(), points)
    return torch.stack([y.sum(), slope.sum()])


wanted = {batch: slopes(batch) for batch in range(1, 5)}
found = {batch: [] for batch in wanted}
threads = [threading.Thread(target=lambda batch: found[batch].extend(
    slopes(batch) for _ in range(40)), args=(batch,)) for batch in wanted]
[thread.start() for thread in threads], [thread.join() for thread in threads]
check(all(len(found[batch]) == 40 and all(torch.equal(one, wanted[batch]) for one in found[batch])
          for batch in wanted), "threads get what each gets alone")

# Modules over one model take turns, since each has the parameters prepared anew.
model, overlaps, running = losses.Model.random(1), [], []


def call_slowly(module):
    real = module._session._call

    def call(*arguments):
        running.append(module)
        time.sleep(0.02)
        overlaps.append(len(running) > 1)
        running.remove(module)
        return real(*arguments)
    module._session._call = call
    with torch.no_grad():
        for _ in range(3):
            module(torch.ones(2, 3))


threads = [threading.Thread(target=call_slowly, args=(losses.torch_module(model),))
           for _ in range(3)]
[thread.start() for thread in threads], [thread.join() for thread in threads]
check(len(overlaps) == 9 and not any(overlaps), "modules over one model take turns")

# Views that negate, types, and outputs under their names.
def negated(x):
    return torch._neg_view(-x)


session = losses.Session(losses.Model.random(1))
points = torch.randn(3, 3)
check(torch.equal(session.forward(negated(points)).loss, session.forward(points).loss),
      "the bit that negates a view is seen")
checks.refuses(lambda: session.forward(points, out={"loss": negated(torch.zeros(3))}),
               "loss is a view that negates what lies there")
import tokens
net, ids = tokens.torch_module(tokens.Model.random(1, vocabulary=11)), torch.arange(6).reshape(2, 3)
checks.refuses(lambda: net(ids), "class has elements of int64, and int32 is wanted: "
               ".to(torch.int32) makes such")
found = net(ids.to(torch.int32))
check(type(found) is tokens.ForwardOutputs, "several outputs are a named tuple")
found.loss.backward()
check(net._values[0].grad is not None and type(copy.deepcopy(net)(ids.int())) is type(found),
      "which has gradients, of a copy too")
checks.refuses(lambda: tokens.torch_module(losses.Model.random(1)), "takes a Model of tokens")

# Gradients are those of the loss alone, and running statistics are written by Trainer alone.
import tracked
model = tracked.Model.random(1)
net, x, y = tracked.torch_module(model), torch.randn(8, 6), torch.arange(8, dtype=torch.int32) % 5
checks.refuses(lambda: net(x, y), "bn.running_mean is a state, which steps of Trainer alone "
               "write: call eval()")
check({name for name, _ in net.named_buffers()} == {"bn.running_mean", "bn.running_var"},
      "states are buffers")
found = net.eval()(x, y)
checks.refuses(lambda: (found.loss + 3 * found.logits.sum()).backward(retain_graph=True),
               "gradients are those of loss alone, and what is differentiated reads logits, too")
checks.refuses(lambda: found.logits.sum().backward(retain_graph=True), "reads logits, too")
(found.loss + 0 * found.logits.sum()).backward()
given = {name: value.detach().clone() for name, value in net.state_dict().items()}
weight = given["out.weight"].requires_grad_()
h = F.batch_norm(x, given["bn.running_mean"], given["bn.running_var"], given["bn.weight"],
                 given["bn.bias"]).relu()
F.cross_entropy(F.linear(h, weight, given["out.bias"]), y.long()).backward()
check(torch.allclose(net.out.weight.grad, weight.grad, atol=1e-6), "the gradient of the loss")
trainer, variance = tracked.Trainer(model), net.bn.running_var
bad, before = x.clone(), variance.clone()
bad[0, 0] = float("nan")
check(not trainer.step(bad, y, learning_rate=0.1).moved and torch.equal(variance, before),
      "a step that moves nothing leaves states, too")
check(trainer.step(x, y, learning_rate=0.1).moved and not torch.equal(variance, before),
      "a step writes them")
sys.exit(checks.mistakes)
