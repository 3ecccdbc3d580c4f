"""A model as a function of JAX, whose gradient is the model's own. It runs on the CPU's memory:
what is called, inside `jit` or not, is a callback of the host, which reads its arrays where they
lie. Types and shapes are checked where the function is called or traced."""

import collections.abc
import functools
import types

import jax
import numpy as np

from . import _arrays, _fovea


def _results(model, program, arrays):
    """Shapes and types of the outputs for inputs of these shapes."""
    known = dict(model.sizes)
    shapes = {name: types.SimpleNamespace(shape=array.shape) for name, array in arrays.items()}
    _arrays.bind(program, shapes, known)
    return tuple(
        jax.ShapeDtypeStruct(_arrays.shape_to_make(name, shape, known), _arrays.TYPES[kind])
        for name, (kind, shape) in program.outputs.items())


def _operand(name, value, kind):
    """An array of JAX that has elements of this type. Of what is none yet JAX may choose the type,
    and the numbers are then those that it has."""
    wanted = _arrays.TYPES[kind]
    if any(isinstance(leaf, jax.Array) for leaf in jax.tree_util.tree_leaves(value)):
        value = jax.numpy.asarray(value)
    else:
        is_typed = hasattr(value, "dtype")
        value = _arrays.plain_array(name, value)
        if not is_typed or jax.dtypes.canonicalize_dtype(value.dtype) == wanted:
            value = _arrays.cast(name, value, wanted)
    _arrays.verify_elements(name, str(value.dtype), kind, ".astype(jnp.{})")
    return jax.numpy.asarray(value)


def _parameters(library, sizes, given):
    """The values of all parameters, of a dict of them."""
    if not isinstance(given, collections.abc.Mapping):
        raise _arrays.Error("the first argument is a dict of the parameters by name, not a "
                            f"{type(given).__name__}")
    values = []
    for name, extents in library.parameters.items():
        if name not in given:
            raise _arrays.Error(f"the parameter '{name}' is not among those that are given")
        value, wanted = _operand(name, given[name], "f32"), _arrays.shape_of(extents, sizes)
        if value.shape != wanted:
            raise _arrays.Error(f"{name} has shape {_arrays.text_of(value.shape)}, and "
                                f"{_arrays.text_of(wanted)} is wanted")
        values.append(value)
    return values


def _inputs(program, given):
    operands = []
    for (name, (kind, shape)), value in zip(program.inputs.items(), given):
        operands.append(_operand(name, value, kind))
        _arrays.verify_axes(name, operands[-1].ndim, shape)
    return operands


def _seed(value):
    if not isinstance(value, jax.Array):
        numbers = np.iinfo(jax.dtypes.canonicalize_dtype(np.int64))
        return _arrays.whole("the seed is", value, int(numbers.min), int(numbers.max))
    if value.ndim or not jax.numpy.issubdtype(value.dtype, np.integer):
        raise _arrays.Error(f"the seed is a whole number, not {value.dtype} "
                            f"{_arrays.text_of(value.shape)}")
    return value


class _Calls:
    """Programs of a session as operations of JAX."""

    def __init__(self, session):
        self.session, self.programs = session, session._library.programs
        self.gradients = _fovea.Gradients(session)
        self.names, self.inputs = self.gradients.names, self.gradients.inputs

    def on_host(self, name, keys, parameters, seed, *values):
        model = self.session.model
        arrays = dict(zip(keys, (np.asarray(value) for value in values)))
        given = dict(zip(self.names, (np.asarray(value) for value in parameters)))
        draw = None if seed is None else (int(seed) % 2**64, 0)
        with model._lock:  # other functions write into the same memory
            for parameter, value in given.items():
                model.parameter(parameter)[...] = value
            if given:
                model.changed()
            return tuple(self.session._call(name, arrays, None, None, draw).values())

    def factor_on_host(self, losses, others):
        self.gradients.verify_constants(others)
        return np.float32(self.gradients.factor(losses))

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
        others = self.gradients.of_constants(cotangents)
        if scale is not None and (scale.ndim or others):
            scale = jax.pure_callback(self.factor_on_host, jax.ShapeDtypeStruct((), np.float32),
                                      scale, others, vmap_method="sequential")

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


def function(session, outputs):
    """`f(*inputs)` where the model has no parameters, else `f(parameters, *inputs)` with a dict of
    them by name: one output, or a tuple `outputs` of all. With `seed`, a whole number, dropout is
    on. Where the model has a loss, that alone has a gradient, and who differentiates other outputs
    is told."""
    calls = _Calls(session)
    program = calls.programs["forward"]
    run = jax.custom_vjp(calls.forward)
    run.defvjp(calls.forward_keeping, calls.backward)

    def call(*arguments, seed=None):
        parameters, inputs = [], arguments
        if calls.names:
            given, inputs = arguments[0] if arguments else None, arguments[1:]
            parameters = _parameters(session._library, session.model.sizes, given)
        if len(inputs) != len(calls.inputs):
            raise TypeError(f"inputs are {', '.join(calls.inputs)}")
        operands = _inputs(program, inputs)
        if seed is not None:
            calls.gradients.verify_no_states("leave the seed out")
            seed = _seed(seed)
        if "gradient_train" not in calls.programs:
            seed = None  # nothing is drawn
        found = run(parameters, seed, *operands)
        return found[0] if len(found) == 1 else outputs(*found)
    return call
