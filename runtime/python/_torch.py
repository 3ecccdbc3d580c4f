"""A model as a module of PyTorch, whose backward pass is the model's own."""

import numpy as np
import torch

from . import _fovea


class _Once(torch.autograd.Function):
    """A gradient, which has none itself: who asks for it is told, where it would be left out."""

    @staticmethod
    def forward(ctx, gradient, *made_of):
        return gradient.view_as(gradient)

    @staticmethod
    def backward(ctx, cotangent):
        raise RuntimeError("the gradients of a model have no gradients themselves")


class _Call(torch.autograd.Function):
    """forward, and for its cotangents the program that gives gradients. What backward needs is of
    the call: other threads use the session in between."""

    @staticmethod
    def forward(ctx, module, draw, *tensors):
        ctx.module, ctx.draw = module, draw
        ctx.versions = [value._version for value in module._values]
        ctx.save_for_backward(*tensors[:len(module._inputs)])
        arrays = dict(zip(module._inputs, tensors))
        name = "forward" if draw is None else "forward_train"
        # An optimizer may have moved the parameters, and what is prepared of them stands once for
        # all sessions: while it is prepared again, no other module of the model reads it.
        with module._session.model._lock, module._session._lock:
            module._session.model.changed()
            outputs = module._session._call(name, arrays, None, None, draw)
        ctx.set_materialize_grads(False)
        ctx.made = [(value.shape, value.dtype) for value in outputs.values()]
        ctx.mark_non_differentiable(*(value for value in outputs.values()
                                      if not value.dtype.is_floating_point))
        return tuple(outputs.values())

    @staticmethod
    def backward(ctx, *cotangents):
        module = ctx.module
        if ctx.versions != [value._version for value in module._values]:
            raise RuntimeError("a parameter was changed between forward and backward, which reads "
                               "it: call backward before the optimizer's step")
        name = "gradient" if ctx.draw is None else "gradient_train"
        module._gradients.verify_constants(
            {key: value.detach().float()
             for key, value in module._gradients.of_constants(cotangents).items()})
        given, scale = module._gradients.cotangents(
            [torch.zeros(shape, dtype=dtype) if value is None else value
             for value, (shape, dtype) in zip(cotangents, ctx.made)])
        arrays = dict(zip(module._inputs, ctx.saved_tensors))
        arrays.update((key, value.contiguous()) for key, value in given.items())
        found = module._session._call(name, arrays, None, None, ctx.draw)
        gradients = [found.get(f"{key}.grad") for key in (*module._inputs, *module._names)]
        factor = 1 if scale is None else module._gradients.factor(scale.detach())
        if factor != 1:
            gradients = [None if g is None else g * factor for g in gradients]
        if torch.is_grad_enabled():
            gradients = [None if g is None else _Once.apply(g, *ctx.saved_tensors, *module._values)
                         for g in gradients]
        return (None, None, *gradients)


class Module(torch.nn.Module):
    """`module(x, …)` gives the output of `forward`, or a named tuple `outputs` of several.
    Parameters lie in the model's memory, under PyTorch's names, so an optimizer of PyTorch moves
    the model. While training, dropout is drawn from PyTorch's generator."""

    def __init__(self, session, outputs):
        super().__init__()
        self._session, self._outputs = session, outputs
        self._gradients = _fovea.Gradients(session)
        self._inputs, self._names = self._gradients.inputs, self._gradients.names
        gradient = session._library.programs["gradient"]
        self._values = []
        for name in self._names:
            value = torch.from_numpy(np.asarray(session.model.parameter(name)))
            if name not in session._library.states:
                trained = f"{name}.grad" in gradient.outputs
                value = torch.nn.Parameter(value, requires_grad=trained)
            self._values.append(value)
            self._register(name.split("."), value)
        self._addresses = [value.data_ptr() for value in self._values]

    def __deepcopy__(self, memo):
        """A module over parameters of its own."""
        session = self._session
        model = type(session.model).random(**session.model.sizes)
        copy = memo[id(self)] = type(self)(type(session)(model, session.threads), self._outputs)
        with torch.no_grad():
            for own, theirs in zip(copy._values, self._values):
                own.copy_(theirs).requires_grad_(theirs.requires_grad)
        return copy.train(self.training)

    def __reduce__(self):
        raise TypeError("a module over a model is not pickled: save its state_dict, or the model")

    def _register(self, path, value):
        owner = self
        for part in path[:-1]:
            if part not in owner._modules:
                owner.add_module(part, torch.nn.Module())
            owner = owner._modules[part]
        if isinstance(value, torch.nn.Parameter):
            owner.register_parameter(path[-1], value)
        else:
            owner.register_buffer(path[-1], value)

    def _verify_places(self):
        """The program reads the model's memory: parameters are those that lie there."""
        for name, value, address in zip(self._names, self._values, self._addresses):
            path, _, last = name.rpartition(".")
            if getattr(self.get_submodule(path), last) is not value or value.data_ptr() != address:
                raise _fovea.Error(f"'{name}' lies elsewhere than in the model, which would not "
                                   "see it: write values into it, as copy_ and load_state_dict do")

    def forward(self, *inputs, **named):
        """One output, or a named tuple of all."""
        arrays = dict(zip(self._inputs, inputs))
        if len(inputs) + len(named) != len(self._inputs) or {*arrays, *named} != {*self._inputs}:
            raise TypeError(f"inputs are {', '.join(self._inputs)}")
        arrays.update(named)
        self._verify_places()
        if self.training:
            self._gradients.verify_no_states("call eval()")
        draw = None
        if self.training and "gradient_train" in self._session._library.programs:
            draw = (int(torch.randint(2**62, ())), 0)
        outputs = _Call.apply(self, draw, *(arrays[name] for name in self._inputs), *self._values)
        return outputs[0] if len(outputs) == 1 else self._outputs(*outputs)
