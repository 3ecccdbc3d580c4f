"""A model as a module of PyTorch, whose backward pass is the model's own."""

import numpy as np
import torch

from . import _fovea


class _Call(torch.autograd.Function):
    """forward, and for its cotangents the program that gives gradients."""

    @staticmethod
    def forward(ctx, module, draw, *tensors):
        ctx.module, ctx.draw = module, draw
        ctx.save_for_backward(*tensors[:len(module._inputs)])
        arrays = dict(zip(module._inputs, tensors))
        name = "forward" if draw is None else "forward_train"
        outputs = module._session._call(name, arrays, None, None, draw)
        ctx.mark_non_differentiable(*(value for key, value in outputs.items()
                                      if key not in module._gradients.differentiable))
        return tuple(outputs.values())

    @staticmethod
    def backward(ctx, *cotangents):
        module = ctx.module
        name = "gradient" if ctx.draw is None else "gradient_train"
        given, scale = module._gradients.cotangents(cotangents)
        arrays = dict(zip(module._inputs, ctx.saved_tensors))
        arrays.update((key, value.contiguous()) for key, value in given.items())
        found = module._session._call(name, arrays, None, None, ctx.draw)
        gradients = [found.get(f"{key}.grad") for key in (*module._inputs, *module._names)]
        if scale is not None and scale.item() != 1:
            gradients = [None if g is None else g * scale for g in gradients]
        return (None, None, *gradients)


class Module(torch.nn.Module):
    """`module(x, …)` gives the outputs of `forward`. Parameters lie in the model's memory, under
    PyTorch's names, so an optimizer of PyTorch moves the model. While training, dropout is drawn
    from PyTorch's generator."""

    def __init__(self, session):
        super().__init__()
        self._session = session
        self._gradients = _fovea.Gradients(session)
        self._inputs, self._names = self._gradients.inputs, self._gradients.names
        gradient = session._library.programs["gradient"]
        self._values = []
        for name in self._names:
            tensor = torch.from_numpy(np.asarray(session.model.parameter(name)))
            trained = f"{name}.grad" in gradient.outputs
            parameter = torch.nn.Parameter(tensor, requires_grad=trained)
            self._values.append(parameter)
            self._register(name.split("."), parameter)

    def __deepcopy__(self, memo):
        """A module over parameters of its own."""
        session = self._session
        model = type(session.model).random(**session.model.sizes)
        copy = memo[id(self)] = type(self)(type(session)(model, session.threads))
        with torch.no_grad():
            for own, theirs in zip(copy._values, self._values):
                own.copy_(theirs).requires_grad_(theirs.requires_grad)
        return copy.train(self.training)

    def _register(self, path, parameter):
        owner = self
        for part in path[:-1]:
            if part not in owner._modules:
                owner.add_module(part, torch.nn.Module())
            owner = owner._modules[part]
        owner.register_parameter(path[-1], parameter)

    def forward(self, *inputs, **named):
        """One output, or a tuple of all."""
        arrays = dict(zip(self._inputs, inputs))
        arrays.update(named)
        missing = [name for name in self._inputs if name not in arrays]
        if missing or len(arrays) != len(self._inputs):
            raise TypeError(f"inputs are {', '.join(self._inputs)}")
        self._session.model.changed()  # an optimizer may have moved the parameters
        draw = None
        if self.training and "gradient_train" in self._session._library.programs:
            draw = (int(torch.randint(2**62, ())), 0)
        outputs = _Call.apply(self, draw, *(arrays[name] for name in self._inputs), *self._values)
        return outputs[0] if len(outputs) == 1 else outputs
