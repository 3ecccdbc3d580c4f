"""Generated packages on arrays of numpy: prints what is not as it should be."""

import sys
import threading

import numpy as np

sys.path[:0] = sys.argv[1:]
import counting
import tokens
import checks
from checks import check


def error_of(call):
    try:
        call()
    except tokens.Error as error:
        return str(error)
    except counting.Error as error:
        return str(error)
    return "none"


ids = np.arange(6, dtype=np.int32).reshape(2, 3)
model = tokens.Model.random(1, vocabulary=11)
session = tokens.Session(model, threads=1)
first = session.forward(ids)
check(first.View_2.shape == (2, 3, 11), "an output has its shape")
check(first._fields == ("View_2", "loss") and first.loss > 0, "outputs have names")
check(np.array_equal(session.forward(ids.tolist()).View_2, first.View_2), "lists are arrays, too")
check(np.array_equal(session.forward(np.asfortranarray(ids)).View_2, first.View_2), "in any order")


class Other:
    """An array of another library."""

    def __dlpack__(self, **options):
        return ids.__dlpack__(**options)

    def __dlpack_device__(self):
        return ids.__dlpack_device__()


check(np.array_equal(session.forward(Other()).View_2, first.View_2), "DLPack is spoken")
memory = np.zeros((2, 3, 11), np.float32)
check(session.forward(ids, out={"View": memory}).View_2 is memory, "outputs lie where they should")
check(np.array_equal(memory, first.View_2), "with the same bits")


def same(found):
    own = tokens.Session(model, threads=1)
    found.append(all(np.array_equal(own.forward(ids).View_2, first.View_2) for _ in range(50)))


found = []
threads = [threading.Thread(target=same, args=(found,)) for _ in range(4)]
[thread.start() for thread in threads], [thread.join() for thread in threads]
check(found == [True] * 4, "sessions on threads give the bits of one")

check(error_of(lambda: session.forward(ids.astype(np.int64))) ==
      "class has elements of int64, and int32 is wanted: .astype(np.int32) makes such",
      "a type is checked")
check(error_of(lambda: session.forward(ids[0])) ==
      "class has 1 axes, and [batch, step] is wanted", "axes are counted")
check("11" in error_of(lambda: session.forward(ids + 6)), "ids are checked")
check(error_of(lambda: tokens.Model.random(1)) ==
      "sizes of the parameters are vocabulary, and none are given", "sizes are asked for")
check(error_of(lambda: tokens.Model.load("none")) ==
      "cannot read 'none': No such file or directory", "files are checked")
check(error_of(lambda: session.forward(ids, out={"View": np.zeros((2, 3, 22), np.float32)[..., ::2]}))
      == "View is not contiguous", "an output that is not contiguous is refused")

model.save("tokens.safetensors")
read = tokens.Model.load("tokens.safetensors")
check(read.sizes == {"vocabulary": 11}, "sizes are those of the file")
check(np.array_equal(tokens.Session(read).forward(ids).View_2, first.View_2), "weights are kept")
weight = read.parameter("table.weight")
check(weight.shape == (11, 16), "a parameter has its shape")
weight[:] = 0
read.changed()
check(not np.array_equal(tokens.Session(read).forward(ids).View_2, first.View_2), "and is written")

trainer = tokens.Trainer(model, "adamw", weight_decay=0.0)
losses = [trainer.step(ids, learning_rate=0.02, seed=1) for _ in range(50)]
check(all(step.moved and step.gradient_norm > 0 for step in losses), "steps move the model")
check(session.forward(ids).loss < first.loss / 2, "sessions see it")

counter = counting.Session(counting.Model.random(1))
x = np.array([[1, 2, 3]], np.float32)
counter.forward(x)
check(np.array_equal(counter.forward(x).sum_of_all, 2 * x), "a session keeps its states")
counter.reset()
check(np.array_equal(counter.forward(x).sum_of_all, x), "until it is reset")
empty = counting.Session(counting.Model.random(1)).forward(np.zeros((0, 3), np.float32))
check(empty.sum_of_all.shape == (0, 3), "a batch may be empty")

import texts
session, ids = texts.Session(texts.Model.random(1)), np.array([[3, 1, 4, 1, 5]], np.int32)
whole, room = session.forward(ids).logits[0], {"steps": 5}
logits = [session.prefill(ids[:, :2], sizes=room).logits[0, 0]]
for position in range(2, 5):
    token = ids[:, position:position + 1]
    logits.append(session.decode_step(np.array([position], np.int32), token, sizes=room).logits[0, 0])
check(np.abs(logits - whole[1:]).max() < 1e-5, "a text goes on token by token")

import keeps
keeper, one = keeps.Session(keeps.Model.random()), np.ones(2, np.float32)
try:
    keeper.forward(one)
    check(False, "a size that follows from no array is asked for")
except keeps.Error as error:
    check(str(error) == "the size 'steps' follows from no array: give sizes={'steps': N}", error)
keeper.forward(one, sizes={"steps": 3})
check(np.array_equal(keeper.forward(one, sizes={"steps": 3}).x_1st, [2, 2, 2]), "and is given")

import types
halves = types.SimpleNamespace(inputs={"x": ("f32", ("batch", "2*half", "half+len"))}, states={})
sizes = {}
keeps._arrays.bind(halves, {"x": types.SimpleNamespace(shape=(1, 6, 5))}, sizes)
check(sizes == {"batch": 1, "half": 3, "len": 2}, f"sizes follow from twice a size: {sizes}")
try:
    keeps._arrays.bind(halves, {"x": types.SimpleNamespace(shape=(1, 7, 5))}, {})
    check(False, "no size makes an odd axis")
except keeps.Error as error:
    check(str(error) == "no size 'half' makes 2*half 7, which x has", error)

import keywords
named = keywords.Session(keywords.Model.random())
check(np.array_equal(named.forward(np.ones((2, 3), np.float32)).None_, np.full((2, 3), 2.0)),
      "names may be words of C++ and Python")

# What is asked for is done, or refused.
import copy
x = np.ones((2, 3), np.float32)
frozen = np.frombuffer(bytes(24), np.float32).reshape(2, 3)
for call, said in (
        (lambda: named.forward(x, out={"none": x}), "there is no output 'none': there are None"),
        (lambda: named.forward(x, sizes={"len": 3}), "there is no size 'len': there are batch, int"),
        (lambda: named.forward(x, out={"None": frozen}), "None is read-only"),
        (lambda: named.forward(x, out={"None": [0.0]}), "None is a list"),
        (lambda: named.forward(1.0), "class has 0 axes"),
        (lambda: session.forward([[1.5, 2.0]]), "elements of float64, and int32 is wanted"),
        (lambda: keywords.Session(keywords.Model.random(), threads=-1), "from 0 to 1024, not -1"),
        (lambda: copy.copy(named), "a Session is neither copied nor pickled"),
        (lambda: copy.deepcopy(named.model), "a Model is neither copied nor pickled")):
    checks.refuses(call, said)
check(session.forward([[1, 2]]).logits.shape[:2] == (1, 2), "lists of whole numbers are taken")

# Any view of a parameter keeps the model.
views = [np.asarray(tokens.Model.random(1, vocabulary=11).parameter("table.weight"))[1:] for _ in range(9)]
kept = tokens.Model.random(1, vocabulary=11).parameter("table.weight")[1:]
check(all(np.array_equal(view, kept) for view in views), "a view outlives its model's name")
sys.exit(checks.mistakes)
