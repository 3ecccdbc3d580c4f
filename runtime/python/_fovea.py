"""A model's C interface on arrays of numpy, PyTorch and others that speak DLPack.

Arrays are read and written where they lie. One that is not contiguous is copied first; one of
another type of element is refused.
"""

import ctypes
import os

import numpy as np

_OK = 0
_TYPES = {"f32": np.dtype(np.float32), "i32": np.dtype(np.int32), "bool": np.dtype(np.bool_)}


class Error(ValueError):
    """What fovea says of a size, an id, a file or the memory: one sentence."""


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

    def __init__(self, folder, name, dims, sizes, parameters, programs):
        self.name = name
        self.dims = dims
        self.sizes = sizes
        self.parameters = parameters
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


class _Array:
    """An array of somebody: its address, and what keeps it alive."""

    def __init__(self, name, value, kind, shape):
        wanted = _TYPES[kind]
        if not _is_torch(value):
            self.value = _as_numpy(value, wanted)
            self.address = self.value.ctypes.data
            found, self.shape = self.value.dtype, self.value.shape
        else:
            if value.device.type != "cpu":
                raise Error(f"{name} is on {value.device}, and this program runs on the CPU")
            self.value = value.detach().contiguous()
            self.address = self.value.data_ptr()
            found = str(self.value.dtype).replace("torch.", "")
            self.shape = tuple(self.value.shape)
        if found != (wanted.name if isinstance(found, str) else wanted):
            raise Error(f"{name} has elements of {found}, and {wanted.name} is wanted")
        if len(self.shape) != len(shape):
            raise Error(f"{name} has {len(self.shape)} axes, and {_text(shape)} is wanted")


def _is_torch(value):
    return type(value).__module__.split(".")[0] == "torch"


def _as_numpy(value, wanted):
    if not isinstance(value, np.ndarray):
        is_array = hasattr(value, "__dlpack__")
        value = np.from_dlpack(value) if is_array else np.asarray(value)
        if not is_array and np.can_cast(value.dtype, wanted, "same_kind" if value.size else "unsafe"):
            value = value.astype(wanted)
    return np.ascontiguousarray(value).reshape(value.shape)


def _text(shape):
    return "[" + ", ".join(str(extent) for extent in shape) + "]"


def _value(extent, sizes):
    """`batch*len+1` for these sizes; the text is fovea's own."""
    if isinstance(extent, int):
        return extent
    total = 0
    for term in extent.replace("-", "+-").split("+"):
        if not term:
            continue
        product = -1 if term.startswith("-") else 1
        for factor in term.lstrip("-").split("*"):
            if not factor.isdigit() and factor not in sizes:
                raise Error(f"the size '{factor}' follows from no array: give sizes={{'{factor}': N}}")
            product *= int(factor) if factor.isdigit() else sizes[factor]
        total += product
    return total


def _bind(library, program, arrays, sizes):
    """The sizes of a call, by the shapes of its arrays, which must agree."""
    origin = {name: "given" for name in sizes}
    for name, array in arrays.items():
        for found, extent in zip(array.shape, program.inputs[name][1]):
            if not isinstance(extent, str) or not extent.isidentifier():
                continue
            if sizes.setdefault(extent, found) != found:
                raise Error(f"'{extent}' is {found} in {name}, and {sizes[extent]} by {origin[extent]}")
            origin.setdefault(extent, name)
    for name, array in arrays.items():
        shape = tuple(_value(extent, sizes) for extent in program.inputs[name][1])
        if shape != array.shape:
            raise Error(f"{name} has shape {_text(array.shape)}, and {_text(program.inputs[name][1])} is "
                        f"{_text(shape)} here")
    for name in program.states:
        _value(name, sizes)
    return library.Dims(*(sizes.get(name, 0) for name in library.dims))


def _pointers(addresses):
    return [(ctypes.c_void_p * len(addresses))(*addresses)] if addresses else []


def _arguments(program, handle, dims, given, outputs):
    """What the function of a program takes first; there is no struct where it would be empty."""
    sizes = [ctypes.byref(dims)] if dims._fields_ else []
    inputs = [given[name].address for name in program.inputs]
    return [handle, *sizes, *_pointers(inputs), *_pointers(outputs)]


def _new(like, kind, shape):
    """An array of the kind that the first input is of."""
    if _is_torch(like):
        import torch
        return torch.empty(shape, dtype=getattr(torch, _TYPES[kind].name))
    return np.empty(shape, _TYPES[kind])


class _Held:
    """What holds something of the library, which it frees."""

    def __reduce__(self):
        raise TypeError(f"a {type(self).__name__} is neither copied nor pickled: make another one")


class Model(_Held):
    """The parameters of a model. Sessions read them, any number at a time."""

    _library = None

    def __init__(self, handle):
        self._handle = handle

    @classmethod
    def load(cls, file):
        """From a safetensors file, by the names of the parameters."""
        handle = ctypes.c_void_p()
        cls._library.call("load", os.fsencode(file), ctypes.byref(handle))
        return cls(handle)

    @classmethod
    def random(cls, seed=0, **sizes):
        """Drawn as PyTorch draws those of such layers, the same on every machine. `sizes` are those
        that parameters have and the model leaves open."""
        handle, arguments = ctypes.c_void_p(), []
        if set(sizes) != set(cls._library.sizes):
            raise Error(f"sizes of the parameters are {', '.join(cls._library.sizes) or 'none'}, and "
                        f"{', '.join(sizes) or 'none'} are given")
        if sizes:
            arguments = [ctypes.byref(cls._library.Sizes(*(sizes[n] for n in cls._library.sizes)))]
        cls._library.call("random", *arguments, ctypes.c_uint64(seed), ctypes.byref(handle))
        return cls(handle)

    def save(self, file):
        """Writes a safetensors file."""
        self._library.call("save", self._handle, os.fsencode(file))

    @property
    def sizes(self):
        """Those of the parameters that the model leaves open."""
        if not self._library.sizes:
            return {}
        sizes = self._library.Sizes()
        self._library.call("get_sizes", self._handle, ctypes.byref(sizes))
        return {name: getattr(sizes, name) for name in self._library.sizes}

    def parameter(self, name):
        """A numpy array of its values, in the model's own memory. Who writes to it calls `changed`."""
        values, count = ctypes.POINTER(ctypes.c_float)(), ctypes.c_size_t()
        self._library.call("parameter", self._handle, name.encode(), ctypes.byref(values),
                           ctypes.byref(count))
        sizes = self.sizes
        shape = [_value(extent, sizes) for extent in self._library.parameters[name]]
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
        self._library.call("parameters_changed", self._handle)

    def __del__(self):
        if getattr(self, "_handle", None):
            self._library.function("free_weights")(self._handle)
            self._handle = None


def _verify_threads(threads):
    if not 0 <= threads <= 1024:
        raise Error(f"threads are from 0 to 1024, not {threads}")


def _verify_known(what, given, names):
    for name in given or {}:
        if name not in names:
            raise Error(f"there is no {what} '{name}': there are {', '.join(names) or 'none'}")


def _verify_writable(name, value):
    if _is_torch(value):
        if value.requires_grad:
            raise Error(f"{name} requires a gradient, so nothing is written into it: detach() it")
    elif not isinstance(value, np.ndarray):
        raise Error(f"{name} is a {type(value).__name__}, and outputs are written into arrays")
    elif not value.flags.writeable:
        raise Error(f"{name} is read-only")


class Session(_Held):
    """Runs the programs of a model in memory of its own; one thread calls it at a time."""

    _library = None

    def __init__(self, model, threads=0):
        """`threads`: those that a call runs on; 0: as many as OpenMP has."""
        _verify_threads(threads)
        self.model, self.threads = model, threads
        self._handle = ctypes.c_void_p()
        self._library.call("new_session", model._handle, ctypes.c_int(threads),
                           ctypes.byref(self._handle))

    def _call(self, name, arrays, sizes, out, draw=None):
        """Outputs by name, new ones of the kind of the first input, or those of `out`."""
        library, program = self._library, self._library.programs[name]
        given = {name: _Array(name, value, *program.inputs[name]) for name, value in arrays.items()}
        _verify_known("size", sizes, library.dims)
        _verify_known("output", out, program.outputs)
        known = {**self.model.sizes, **(sizes or {})}
        dims = _bind(library, program, given, known)
        first = next(iter(arrays.values()), None)
        outputs, addresses = {}, []
        for key, (kind, shape) in program.outputs.items():
            wanted = tuple(_value(extent, known) for extent in shape)
            outputs[key] = (out or {}).get(key)
            if outputs[key] is None:
                outputs[key] = _new(first, kind, wanted)
            else:
                _verify_writable(key, outputs[key])
            array = _Array(key, outputs[key], kind, shape)
            if array.shape != wanted:
                raise Error(f"{key} has shape {_text(array.shape)}, and {_text(wanted)} is written")
            if array.value is not outputs[key] and array.address != _address(outputs[key]):
                raise Error(f"{key} is not contiguous")
            addresses.append(array.address)
        arguments = _arguments(program, self._handle, dims, given, addresses)
        if program.draws:
            arguments += [ctypes.c_uint64(value) for value in draw or (0, 0)]
        library.call(program.symbol, *arguments)
        return outputs

    def __del__(self):
        if getattr(self, "_handle", None):
            self._library.function("free_session")(self._handle)
            self._handle = None


def _address(value):
    return value.data_ptr() if _is_torch(value) else value.ctypes.data


class Gradients:
    """How the program `gradient` of a session goes with `forward`."""

    def __init__(self, session):
        programs = session._library.programs
        if "gradient" not in programs:
            raise ValueError("the model was generated without --training, so it has no gradients")
        self.inputs, self.outputs = list(programs["forward"].inputs), list(programs["forward"].outputs)
        self.names = list(session._library.parameters)
        self.given = {key for key in self.outputs if f"{key}.grad" in programs["gradient"].inputs}
        self.differentiable = self.given or {"loss"}

    def cotangents(self, values):
        """What the program takes of those of the outputs, by name; and what scales its results: that
        of the loss, by which it begins, or None."""
        by_output = dict(zip(self.outputs, values))
        scale = None if self.given else by_output.get("loss")
        return {f"{key}.grad": by_output[key] for key in self.outputs if key in self.given}, scale

    @staticmethod
    def factor(scale):
        """The number that all cotangents of the losses are: gradients are those of their sum."""
        values = np.asarray(scale).reshape(-1)
        if values.size and (values != values[0]).any():
            raise Error("gradients are those of the sum of the losses, so that the losses weigh the "
                        f"same in what is made of them, and not {values[:4].tolist()}")
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
                raise Error(f"an optimizer has no '{name}'")
            setattr(settings, name, value)
        _verify_threads(threads)
        self.model = model
        self._handle = ctypes.c_void_p()
        self._library.call("new_trainer", model._handle, ctypes.byref(settings),
                           ctypes.c_int(threads), ctypes.byref(self._handle))

    def _step(self, arrays, sizes, learning_rate, clip, seed):
        """Outputs by name, and `gradient_norm` and `moved`."""
        library, program = self._library, self._library.programs["training_step"]
        _verify_known("size", sizes, library.dims)
        given = {name: _Array(name, value, *program.inputs[name]) for name, value in arrays.items()}
        known = {**self.model.sizes, **(sizes or {})}
        dims = _bind(library, program, given, known)
        first = next(iter(arrays.values()), None)
        outputs = {key: _new(first, kind, tuple(_value(extent, known) for extent in shape))
                   for key, (kind, shape) in program.outputs.items()}
        rule, outcome = _Rule(learning_rate, clip, 1.0), _Outcome()
        arguments = _arguments(program, self._handle, dims, given,
                               [_address(value) for value in outputs.values()])
        library.call(program.symbol, *arguments, ctypes.byref(rule), ctypes.c_uint64(seed),
                     ctypes.byref(outcome))
        return {**outputs, "gradient_norm": outcome.gradient_norm, "moved": bool(outcome.moved)}

    def __del__(self):
        if getattr(self, "_handle", None):
            self._library.function("free_trainer")(self._handle)
            self._handle = None
