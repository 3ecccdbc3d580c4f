"""Functions of fovea inside JAX, with their gradients: prints what is not as it should be."""

import sys

import jax
import jax.numpy as jnp
import numpy as np

sys.path[:0] = sys.argv[1:]
import block
import flash
import tokens
import checks
from checks import check


def plain(q, k, v):
    scores = jnp.einsum("bhid,bhjd->bhij", q, k) / q.shape[-1] ** 0.5
    seen = jnp.tril(jnp.ones(scores.shape[-2:], bool))
    return jnp.einsum("bhij,bhjd->bhid", jax.nn.softmax(jnp.where(seen, scores, -jnp.inf)), v)


def close(a, b):
    return np.max(np.abs(np.asarray(a) - np.asarray(b))) < 1e-5


attention = flash.jax_function()
keys = jax.random.split(jax.random.PRNGKey(0), 4)
q, k, v, weight = (jax.random.normal(key, (2, 2, 9, 64)) for key in keys)
check(close(attention(q, k, v), plain(q, k, v)), "a function gives what plain ops give")
check(close(jax.jit(attention)(q, k, v), plain(q, k, v)), "also when it is compiled")
slopes = [jax.jit(jax.grad(lambda *x: (f(*x) * weight).sum(), (0, 1, 2)))(q, k, v)
          for f in (attention, plain)]
check(all(close(a, b) for a, b in zip(*slopes)), "so do its gradients")
batched = jax.vmap(attention)(*(jnp.stack([x, 2 * x]) for x in (q, k, v)))
check(close(batched[1], plain(2 * q, 2 * k, 2 * v)), "it is mapped over an axis more")
try:
    attention(q, k)
    check(False, "inputs are counted")
except TypeError as error:
    check(str(error) == "inputs are q, k, v", error)

# A model with parameters, trained by gradients of JAX.
model = block.Model.random(1)
net = block.jax_function(model)
parameters = {name: jnp.array(value) for name, value in model.parameters().items()}
x, lens = jax.random.normal(keys[0], (2, 5, 64)), jnp.array([5, 3], jnp.int32)
session = block.Session(block.Model.random(1))
check(close(net(parameters, x, lens), session.forward(np.asarray(x), np.asarray(lens)).output),
      "parameters are given")


@jax.jit
def step(parameters):
    def loss_of(parameters):
        return jnp.mean((net(parameters, x, lens) - x) ** 2)
    loss, slope = jax.value_and_grad(loss_of)(parameters)
    return loss, {name: value - 0.1 * slope[name] for name, value in parameters.items()}


losses = []
for _ in range(10):
    loss, parameters = step(parameters)
    losses.append(float(loss))
check(losses[-1] < losses[0] and np.isfinite(losses[-1]), f"steps move them: {losses}")

# A loss, scaled by what is made of it, against a finite difference.
model = tokens.Model.random(1, vocabulary=11)
scored = tokens.jax_function(model)
parameters = {name: jnp.array(value) for name, value in model.parameters().items()}
ids = jnp.arange(6, dtype=jnp.int32).reshape(2, 3)


def loss_of(weight):
    return 3 * scored({**parameters, "table.weight": weight}, ids)[1]


weight = parameters["table.weight"]
slope = jax.grad(loss_of)(weight)[2, 3]
ends = [float(loss_of(weight.at[2, 3].add(step))) for step in (1e-2, -1e-2)]
check(abs((ends[0] - ends[1]) / 2e-2 - slope) < 0.02 * abs(slope) + 2e-3,
      f"a slope of a loss is {(ends[0] - ends[1]) / 2e-2}, and said {slope}")

# A loss a sequence: gradients are those of their sum, times one number.
import losses
scored = losses.jax_function(losses.Model.random(1))
points, weights = jax.random.normal(keys[1], (3, 3)), {"w": jnp.ones(3)}
slope = jax.jit(jax.grad(lambda w: jnp.mean(scored(w, points)) * 2))(weights)["w"]
check(close(slope, jnp.sum(points * points, 0) * 2 / 3), "losses have a mean")
checks.refuses(lambda: jax.grad(lambda w: jnp.sum(scored(w, points) * jnp.arange(3.0)))(weights),
               "sum of the losses")
checks.refuses(lambda: scored({"w": jnp.float32(1)}, points), "w has shape [], and [3] is wanted")

# Types and axes are checked before anything is traced, and outputs have names.
scored = tokens.jax_function(model)
parameters = {name: jnp.array(value) for name, value in model.parameters().items()}
check(type(jax.jit(scored)(parameters, ids)) is tokens.ForwardOutputs, "outputs have names")
check(jax.vmap(scored, (None, 0))(parameters, ids[None]).loss.shape == (1,), "when mapped, too")
check(close(scored(parameters, ids.tolist()).loss, scored(parameters, ids).loss), "lists are taken")
check(close(scored(parameters, np.asarray(ids, np.int64)).loss, scored(parameters, ids).loss),
      "of numpy, JAX chooses the type")
whole = {**parameters, "table.weight": jnp.ones((11, 16), jnp.int32)}
few = {name: parameters[name] for name in list(parameters)[1:]}
bad = (("class has elements of float32, and int32 is wanted", lambda f: f(parameters, ids * 1.0)),
       ("class has elements of int16, and int32 is wanted: .astype(jnp.int32) makes such",
        lambda f: f(parameters, ids.astype(jnp.int16))),
       ("class has 1 axes, and [batch, step] is wanted", lambda f: f(parameters, ids[0])),
       ("class holds 4294967301, and int32", lambda f: f(parameters, [[2**32 + 5]])),
       ("class holds 4294967301, and int32", lambda f: f(parameters, np.array([[2**32 + 5]]))),
       ("the first argument is a dict of the parameters by name, not a NoneType", lambda f: f()),
       ("is not among those that are given", lambda f: f(few, ids)),
       ("table.weight has elements of int32, and float32 is wanted", lambda f: f(whole, ids)),
       ("the seed is a whole number, not 1.5", lambda f: f(parameters, ids, seed=1.5)))
for said, call in bad:
    for run in (lambda: call(scored), lambda: jax.jit(lambda: call(scored))()):
        checks.refuses(run, said)
        try:
            run()
        except Exception as error:
            check(type(error) is tokens.Error, f"{said}: {type(error).__name__}")
checks.refuses(lambda: attention(q.astype(jnp.float16), k, v),
               "q has elements of float16, and float32 is wanted: .astype(jnp.float32) makes such")

# Gradients are those of the loss alone, and running statistics are written by Trainer alone.
import tracked
model = tracked.Model.random(1)
both = tracked.jax_function(model)
given = {name: jnp.array(value) for name, value in model.parameters().items()}
x, y = jax.random.normal(keys[0], (8, 6)), jnp.arange(8, dtype=jnp.int32) % 5
checks.refuses(lambda: both(given, x, y, seed=1), "bn.running_mean is a state, which steps of "
               "Trainer alone write: leave the seed out")


def slope(of):
    return jax.jit(jax.grad(lambda x: of(both(given, x, y))))(x)


checks.refuses(lambda: slope(lambda found: found.loss + found.logits.sum()), "reads logits, too")
checks.refuses(lambda: slope(lambda found: found.logits.sum()), "reads logits, too")
check(close(slope(lambda found: found.loss + 0 * found.logits.sum()),
            slope(lambda found: found.loss)), "what does not depend on the others is no matter")
with jax.enable_x64(True):
    checks.refuses(lambda: scored(parameters, jnp.arange(6).reshape(2, 3)), "elements of int64")
sys.exit(checks.mistakes)
