"""What generated packages refuse, in one sentence each: prints what is not as it should be."""

import ast
import pathlib
import sys

import numpy as np

sys.path[:0] = sys.argv[1:]
import clashing
import counting
import losses
import shorter
import tokens
import checks
from checks import check, refuses

model = tokens.Model.random(1, vocabulary=11)
session, ids = tokens.Session(model, threads=1), [[1, 2, 3]]
counter, scored = (package.Session(package.Model.random(1)) for package in (counting, losses))

# Numbers of lists keep their values.
for number in (2**32 + 5, -2**31 - 1, 2**70):
    refuses(lambda: session.forward([[number, 0]]),
            f"class holds {number}, and int32 goes from -2147483648 to 2147483647")
refuses(lambda: counter.forward([[0.0, 1e300, 0.0]]),
        "x holds 1e+300, and the largest float32 is 3.4")
refuses(lambda: counter.forward([[0, 1], [2]]), "x is no array")
counting_on = counting.Session(counter.model).forward([[float("inf"), True, 2**40]]).sum_of_all
check(np.array_equal(counting_on, [[np.inf, 1, 2**40]]), "what a type has is taken")

# Handles are those of this package.
refuses(lambda: tokens.Session(session),
        "a Session of tokens takes a Model of tokens, not a tokens.Session")
refuses(lambda: tokens.Session(counter.model), "not a counting.Model")
refuses(lambda: tokens.Session(None), "not a NoneType")
refuses(lambda: tokens.Trainer(model, lr=1),
        "an optimizer has no 'lr': it has beta1, beta2, epsilon, momentum, weight_decay")
refuses(lambda: tokens.Trainer(counter.model), "a Trainer of tokens takes a Model of tokens")
refuses(lambda: tokens.Model(5), "Model")

# Sizes, seeds and threads are whole numbers.
for size in ("3", 3.0, True):
    refuses(lambda: session.forward(ids, sizes={"batch": size}),
            f"the size 'batch' is a whole number, not {size!r}")
refuses(lambda: session.forward(ids, sizes={"batch": 2**70}), "the size 'batch' is from 0 to")
refuses(lambda: session.forward(ids, sizes=["batch"]), "sizes are given in a dict by name")
refuses(lambda: session.forward(ids, out=np.zeros(3)), "outputs are given in a dict by name")
refuses(lambda: tokens.Model.random(1, vocabulary="11"), "the size 'vocabulary' is a whole number")
refuses(lambda: tokens.Model.random(-1, vocabulary=11), "the seed is from 0 to")
refuses(lambda: tokens.Session(model, threads=2.5), "threads are a whole number, not 2.5")
refuses(lambda: session.forward_train(ids, draw=(1,)), "draw is a seed and a step")
check(session.forward(ids, sizes={"batch": np.int64(1)}).loss > 0, "numpy's numbers are taken")

# C ends a name at its NUL.
refuses(lambda: tokens.Model.load("a\0b"), "the file 'a\\x00b' has a NUL in it")
refuses(lambda: model.save("a\0b"), "the file 'a\\x00b' has a NUL in it")
refuses(lambda: model.parameter("table.weight\0x"), "the parameter 'table.weight\\x00x' has a NUL")

# A name that can stand as it is stays with who has it.
clash = clashing.Session(clashing.Model.random())
names = {"x_y_2": 0, "x_y": 1, "x_1_": 2, "x_1": 3, "None__": 4, "None_": 5}
for name, place in names.items():
    given = {other: np.full(1, float(other == name), np.float32) for other in names}
    found = clash.forward(**given)
    check(found.x_y_2 == 2.0**place and found.x_y == float(place == 0), f"{name} is its own")

# Stubs are Python, and say what the other libraries' functions give.
for folder in sys.argv[1:]:
    for file in pathlib.Path(folder).glob("*/__init__.pyi"):
        stub, forward = file.read_text(), sys.modules[file.parent.name]._LIBRARY.programs["forward"]
        ast.parse(stub)
        wanted = "ForwardOutputs" if len(forward.outputs) > 1 else "Array"
        check(stub.count(f"    ) -> {wanted}: ...\n\n") == 2, f"the stub {file} has {wanted}")

conv = shorter.Session(shorter.Model.random(1))
checks.refuses(lambda: conv.forward(np.zeros((1, 2, 2), np.float32)),
               "y is [batch, 3, len-3], of which a size is negative here: [1, 3, -1]")
sys.exit(checks.mistakes)
