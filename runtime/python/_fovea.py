"""A model's C interface: its parameters, sessions that run its programs, and what trains it."""

import ctypes
import os
import threading

import numpy as np

from ._arrays import (Array, Error, address_of, bind, by_name, new_array, shape_of, shape_to_make,
                      text_of, verify_writable, whole, whole_sizes)

_OK = 0
_LAST_SEED = 2**64 - 1


class Program:
    """A program of a model: names, types and shapes, whose axes are numbers or sums of sizes."""

    def __init__(self, inputs, outputs, draws=False, symbol=None, states=()):
        self.inputs = inputs  # name: (type, shape)
        self.outputs = outputs
        self.draws = draws  # its numbers depend on a seed
        self.symbol = symbol  # of its function in the library
        self.states = states  # the sizes of what a session keeps


class Library:
    """The shared library of a model, and what its functions take."""

    def __init__(self, folder, name, dims, sizes, parameters, states, programs):
        self.name = name
        self.dims = dims
        self.sizes = sizes
        self.parameters = parameters
        self.states = states  # those of the parameters that steps of Trainer write
        self.programs = programs
        self._library = ctypes.CDLL(os.path.join(folder, f"lib{name}.so"))
        self.function("fovea_error", plain=True).restype = ctypes.c_char_p
        self.Dims = _struct(dims, ctypes.c_int64)
        self.Sizes = _struct(sizes, ctypes.c_int64)
        for what in ("weights", "session") + (("trainer",) if "training_step" in programs else ()):
            free = self.function(f"free_{what}")
            free.argtypes, free.restype = [ctypes.c_void_p], None

    def function(self, name, plain=False):
        return getattr(self._library, name if plain else f"{self.name}_{name}")

    def call(self, name, *arguments):
        """Calls a function that returns a status."""
        if self.function(name)(*arguments) != _OK:
            raise Error(self.function("fovea_error", plain=True)().decode())


def _struct(names, kind):
    return type("Struct", (ctypes.Structure,), {"_fields_": [(name, kind) for name in names]})


def _bytes(what, text):
    """What C reads up to the first NUL."""
    found = os.fsencode(text)
    if b"\0" in found:
        raise Error(f"{what} {text!r} has a NUL in it")
    return found


def _pointers(addresses):
    return [(ctypes.c_void_p * len(addresses))(*addresses)] if addresses else []


def _arguments(library, program, handle, sizes, given, outputs):
    """What the function of a program takes first; there is no struct where it would be empty."""
    dims = library.Dims(*(sizes.get(name, 0) for name in library.dims))
    inputs = [given[name].address for name in program.inputs]
    return [handle, *([ctypes.byref(dims)] if library.dims else []), *_pointers(inputs),
            *_pointers(outputs)]


class _Held:
    """What holds something of the library, which it frees."""

    def __reduce__(self):
        raise TypeError(f"a {type(self).__name__} is neither copied nor pickled: make another one")


class Model(_Held):
    """The parameters of a model. Sessions read them, any number at a time."""

    _library = None

    def __init__(self):
        raise TypeError("a Model is made by Model.load or Model.random")

    @classmethod
    def _of(cls, handle):
        model = cls.__new__(cls)
        model._handle, model._lock = handle, threading.RLock()
        return model

    @classmethod
    def load(cls, file):
        """From a safetensors file, by the names of the parameters. Where the package has no
        gradients, they stay there: another file may take its name, and none writes to it."""
        handle = ctypes.c_void_p()
        cls._library.call("load", _bytes("the file", file), ctypes.byref(handle))
        return cls._of(handle)

    @classmethod
    def random(cls, seed=0, **sizes):
        """Drawn as PyTorch draws those of such layers, the same on every machine. `sizes` are those
        that parameters have and the model leaves open."""
        handle, arguments, names = ctypes.c_void_p(), [], cls._library.sizes
        if set(sizes) != set(names):
            raise Error(f"sizes of the parameters are {', '.join(names) or 'none'}, and "
                        f"{', '.join(sizes) or 'none'} are given")
        if sizes:
            sizes = whole_sizes(sizes, names)
            arguments = [ctypes.byref(cls._library.Sizes(*(sizes[name] for name in names)))]
        seed = ctypes.c_uint64(whole("the seed is", seed, 0, _LAST_SEED))
        cls._library.call("random", *arguments, seed, ctypes.byref(handle))
        return cls._of(handle)

    def save(self, file):
        """Writes a safetensors file."""
        self._library.call("save", self._handle, _bytes("the file", file))

    @property
    def sizes(self):
        """Those of the parameters that the model leaves open."""
        if not self._library.sizes:
            return {}
        sizes = self._library.Sizes()
        self._library.call("get_sizes", self._handle, ctypes.byref(sizes))
        return {name: getattr(sizes, name) for name in self._library.sizes}

    def parameter(self, name):
        """A numpy array of its values, in the model's own memory. Who writes to it calls
        `changed`."""
        values, count = ctypes.POINTER(ctypes.c_float)(), ctypes.c_size_t()
        self._library.call("parameter", self._handle, _bytes("the parameter", name),
                           ctypes.byref(values), ctypes.byref(count))
        shape = shape_of(self._library.parameters[name], self.sizes)
        if not count.value:
            return np.empty(shape, np.float32)
        # All views of an array keep the memory that it began with, and that keeps the model.
        memory = (ctypes.c_float * count.value).from_address(ctypes.addressof(values.contents))
        memory.model = self
        return np.frombuffer(memory, np.float32).reshape(shape)

    def parameters(self):
        """All of them by name."""
        return {name: self.parameter(name) for name in self._library.parameters}

    def changed(self):
        """Says that parameters were written: what sessions prepared of them is prepared again."""
        with self._lock:
            self._library.call("parameters_changed", self._handle)

    def __del__(self):
        if getattr(self, "_handle", None):
            self._library.function("free_weights")(self._handle)
            self._handle = None


def _verify_model(holder, model):
    """A handle of another library is an address that this one would take for its own."""
    name, kind = holder._library.name, type(model)
    if not isinstance(model, Model) or model._library is not holder._library:
        found = ("" if kind.__module__ == "builtins" else kind.__module__ + ".") + kind.__qualname__
        raise Error(f"a {type(holder).__name__} of {name} takes a Model of {name}, not a {found}")


def _threads(threads):
    return whole("threads are", threads, 0, 1024)


class Session(_Held):
    """Runs the programs of a model in memory of its own. Calls of several threads wait for one
    another; sessions of their own run beside one another."""

    _library = None

    def __init__(self, model, threads=0):
        """`threads`: those that a call runs on; 0: as many as OpenMP has."""
        _verify_model(self, model)
        self.model, self.threads = model, _threads(threads)
        self._lock = threading.RLock()
        self._handle = ctypes.c_void_p()
        self._library.call("new_session", model._handle, ctypes.c_int(self.threads),
                           ctypes.byref(self._handle))

    def _call(self, name, arrays, sizes, out, draw=None):
        """Outputs by name, new ones of the kind of the first input, or those of `out`."""
        library, program = self._library, self._library.programs[name]
        given = {name: Array(name, value, *program.inputs[name]) for name, value in arrays.items()}
        known = {**self.model.sizes, **whole_sizes(sizes, library.dims)}
        bind(program, given, known)
        first = next(iter(arrays.values()), None)
        out = by_name("output", out, program.outputs)
        outputs, addresses = _outputs(program, known, first, out)
        arguments = _arguments(library, program, self._handle, known, given, addresses)
        if program.draws:
            arguments += _draw(draw)
        with self._lock:
            library.call(program.symbol, *arguments)
        return outputs

    def _reset(self):
        with self._lock:
            self._library.call("reset", self._handle)

    def __del__(self):
        if getattr(self, "_handle", None):
            self._library.function("free_session")(self._handle)
            self._handle = None


def _outputs(program, sizes, first, out):
    """Outputs by name, and their addresses."""
    outputs, addresses = {}, []
    for key, (kind, shape) in program.outputs.items():
        wanted = shape_to_make(key, shape, sizes)
        outputs[key] = out.get(key)
        if outputs[key] is None:
            outputs[key] = new_array(first, kind, wanted)
        else:
            verify_writable(key, outputs[key])
        array = Array(key, outputs[key], kind, shape)
        if array.shape != wanted:
            raise Error(f"{key} has shape {text_of(array.shape)}, and {text_of(wanted)} is written")
        if array.value is not outputs[key] and array.address != address_of(outputs[key]):
            raise Error(f"{key} is not contiguous")
        addresses.append(array.address)
    return outputs, addresses


def _draw(draw):
    pair = (0, 0) if draw is None else tuple(draw)
    if len(pair) != 2:
        raise Error(f"draw is a seed and a step, not {draw!r}")
    return [ctypes.c_uint64(whole(what, value, 0, _LAST_SEED))
            for what, value in zip(("the seed is", "the step is"), pair)]


class Gradients:
    """How the program `gradient` of a session goes with `forward`."""

    def __init__(self, session):
        programs = session._library.programs
        if "gradient" not in programs:
            raise ValueError("the model was generated without --training, so it has no gradients")
        self.inputs = list(programs["forward"].inputs)
        self.outputs = list(programs["forward"].outputs)
        self.names = list(session._library.parameters)
        self.given = {key for key in self.outputs if f"{key}.grad" in programs["gradient"].inputs}
        self.differentiable = self.given or {"loss"}
        self.states = session._library.states
        self.constants = [key for key, (kind, _) in programs["forward"].outputs.items()
                          if key not in self.differentiable and kind not in ("i32", "bool")]

    def cotangents(self, values):
        """What the program takes of those of the outputs, by name; and what scales its results:
        that of the loss, by which it begins, or None."""
        by_output = dict(zip(self.outputs, values))
        scale = None if self.given else by_output.get("loss")
        return {f"{key}.grad": by_output[key] for key in self.outputs if key in self.given}, scale

    def verify_no_states(self, otherwise):
        if self.states:
            raise Error(f"{self.states[0]} is a state, which steps of Trainer alone write: "
                        f"{otherwise}, which reads states as they are, or train by Trainer")

    def of_constants(self, values):
        """The cotangents, as far as there are some, of outputs beside the loss."""
        by_output = dict(zip(self.outputs, values))
        return {key: by_output[key] for key in self.constants if by_output[key] is not None}

    @staticmethod
    def verify_constants(cotangents):
        """The program begins with the loss: what is made of another output would have no part."""
        for key, value in cotangents.items():
            if np.asarray(value).any():
                raise Error(f"gradients are those of loss alone, and what is differentiated reads "
                            f"{key}, too: make it part of the model's loss, or detach it")

    @staticmethod
    def factor(scale):
        """The number that all cotangents of the losses are: gradients are those of their sum."""
        values = np.asarray(scale).reshape(-1)
        if values.size and (values != values[0]).any():
            raise Error("gradients are those of the sum of the losses, so that the losses weigh "
                        f"the same in what is made of them, and not {values[:4].tolist()}")
        return float(values[0]) if values.size else 1.0


class _Optimizer(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int)] + [(name, ctypes.c_double) for name in
                ("beta1", "beta2", "epsilon", "momentum", "weight_decay")]


class _Rule(ctypes.Structure):
    _fields_ = [(name, ctypes.c_double) for name in ("learning_rate", "clip", "gradient_scale")]


class _Outcome(ctypes.Structure):
    _fields_ = [("gradient_norm", ctypes.c_double), ("moved", ctypes.c_int)]


class Trainer(_Held):
    """Moves the parameters of a model: forward, backward and the optimizer in one call."""

    _library = None

    def __init__(self, model, optimizer="adam", threads=0, **numbers):
        """`numbers`: beta1, beta2, epsilon, momentum, weight_decay; else those of PyTorch."""
        kinds = ("adam", "adamw", "sgd")
        if optimizer not in kinds:
            raise Error(f"there is no optimizer '{optimizer}': it is one of {', '.join(kinds)}")
        default = self._library.function("fovea_default_optimizer", plain=True)
        default.restype = _Optimizer
        settings = default()
        settings.kind = kinds.index(optimizer)
        for name, value in numbers.items():
            if name not in dict(_Optimizer._fields_[1:]):
                known = ", ".join(field for field, _ in _Optimizer._fields_[1:])
                raise Error(f"an optimizer has no '{name}': it has {known}, and step takes the "
                            "learning_rate")
            setattr(settings, name, value)
        _verify_model(self, model)
        self.model, self._lock = model, threading.Lock()
        self._handle = ctypes.c_void_p()
        self._library.call("new_trainer", model._handle, ctypes.byref(settings),
                           ctypes.c_int(_threads(threads)), ctypes.byref(self._handle))

    def _step(self, arrays, sizes, learning_rate, clip, seed):
        """Outputs by name, and `gradient_norm` and `moved`."""
        library, program = self._library, self._library.programs["training_step"]
        given = {name: Array(name, value, *program.inputs[name]) for name, value in arrays.items()}
        known = {**self.model.sizes, **whole_sizes(sizes, library.dims)}
        bind(program, given, known)
        first = next(iter(arrays.values()), None)
        outputs, addresses = _outputs(program, known, first, {})
        rule, outcome = _Rule(learning_rate, clip, 1.0), _Outcome()
        seed = ctypes.c_uint64(whole("the seed is", seed, 0, _LAST_SEED))
        arguments = _arguments(library, program, self._handle, known, given, addresses)
        with self._lock:
            library.call(program.symbol, *arguments, ctypes.byref(rule), seed,
                         ctypes.byref(outcome))
        return {**outputs, "gradient_norm": outcome.gradient_norm, "moved": bool(outcome.moved)}

    def __del__(self):
        if getattr(self, "_handle", None):
            self._library.function("free_trainer")(self._handle)
            self._handle = None
