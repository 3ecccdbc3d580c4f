"""A model as a function of JAX, whose gradient is the model's own. It runs on the CPU's memory: what
is called, inside `jit` or not, is a callback of the host, which reads its arrays where they lie."""

import functools
import threading
import types

import jax
import numpy as np

from . import _fovea


def _results(model, program, arrays):
    """Shapes and types of the outputs for inputs of these shapes."""
    known = dict(model.sizes)
    shapes = {name: types.SimpleNamespace(shape=array.shape) for name, array in arrays.items()}
    _fovea._bind(model._library, program, shapes, known)
    return tuple(jax.ShapeDtypeStruct(tuple(_fovea._value(extent, known) for extent in shape),
                                      _fovea._TYPES[kind])
                 for kind, shape in program.outputs.values())


class _Calls:
    """Programs of a session as operations of JAX."""

    def __init__(self, session):
        self.session, self.programs = session, session._library.programs
        self.gradients = _fovea.Gradients(session)
        self.names, self.inputs = self.gradients.names, self.gradients.inputs
        self.lock = threading.Lock()  # a session is called by one thread at a time

    def on_host(self, name, keys, parameters, seed, *values):
        with self.lock:
            for parameter, value in zip(self.names, parameters):
                self.session.model.parameter(parameter)[...] = value
            if parameters:
                self.session.model.changed()
            arrays = dict(zip(keys, (np.asarray(value) for value in values)))
            draw = None if seed is None else (int(seed), 0)
            return tuple(self.session._call(name, arrays, None, None, draw).values())

    def call(self, name, parameters, seed, arrays):
        """Outputs by name."""
        name = name if seed is None else f"{name}_train"
        program = self.programs[name]
        found = jax.pure_callback(functools.partial(self.on_host, name, tuple(arrays)),
                                  _results(self.session.model, program, arrays), parameters, seed,
                                  *arrays.values(), vmap_method="sequential")
        return dict(zip(program.outputs, found))

    def forward(self, parameters, seed, *inputs):
        found = self.call("forward", parameters, seed, dict(zip(self.inputs, inputs)))
        return tuple(found.values())

    def forward_keeping(self, *arguments):
        return self.forward(*arguments), arguments

    def backward(self, kept, cotangents):
        parameters, seed, *inputs = kept
        given, scale = self.gradients.cotangents(cotangents)
        arrays = {**dict(zip(self.inputs, inputs)), **given}
        found = self.call("gradient", parameters, seed, arrays)
        if scale is not None and scale.ndim:
            scale = jax.pure_callback(lambda losses: np.float32(self.gradients.factor(losses)),
                                      jax.ShapeDtypeStruct((), np.float32), scale,
                                      vmap_method="sequential")

        def gradient(name, value):
            if not np.issubdtype(value.dtype, np.floating):
                return np.zeros(value.shape, jax.dtypes.float0)
            made = found.get(f"{name}.grad")
            if made is None:
                return jax.numpy.zeros_like(value)
            return made if scale is None else made * scale
        none = None if seed is None else np.zeros(np.shape(seed), jax.dtypes.float0)
        return ([gradient(*pair) for pair in zip(self.names, parameters)], none,
                *(gradient(*pair) for pair in zip(self.inputs, inputs)))


def function(session):
    """`f(*inputs)` where the model has no parameters, else `f(parameters, *inputs)` with a dict of
    them by name: one output, or a tuple of all. With `seed`, a whole number, dropout is on. Where the
    model has a loss, that alone has a gradient, and the other outputs are constants."""
    calls = _Calls(session)
    run = jax.custom_vjp(calls.forward)
    run.defvjp(calls.forward_keeping, calls.backward)

    def call(*arguments, seed=None):
        parameters, inputs = [], arguments
        if calls.names:
            parameters, inputs = [arguments[0][name] for name in calls.names], arguments[1:]
        if len(inputs) != len(calls.inputs):
            raise TypeError(f"inputs are {', '.join(calls.inputs)}")
        sizes = calls.session.model.sizes
        for name, value in zip(calls.names, parameters):
            wanted = tuple(_fovea._value(n, sizes) for n in calls.session._library.parameters[name])
            if np.shape(value) != wanted:
                raise _fovea.Error(f"{name} has shape {_fovea._text(np.shape(value))}, and "
                                   f"{_fovea._text(wanted)} is wanted")
        if seed is not None and "gradient_train" not in calls.programs:
            seed = None  # nothing is drawn
        found = run(parameters, seed, *(jax.numpy.asarray(value) for value in inputs))
        return found[0] if len(found) == 1 else found
    return call
