"""What inputs and outputs are: arrays of numpy, PyTorch and others that speak DLPack, and the sizes
that follow from their shapes.

Arrays are read and written where they lie. One that is not contiguous is copied first; one of
another type of element is refused. Lists of numbers become arrays, where the type has each of them.
"""

import collections.abc
import operator
import sys

import numpy as np

TYPES = {"f32": np.dtype(np.float32), "i32": np.dtype(np.int32), "bool": np.dtype(np.bool_)}


class Error(ValueError):
    """What fovea says of a size, an id, a file or the memory: one sentence."""


class Array:
    """An array of somebody: its address, and what keeps it alive."""

    def __init__(self, name, value, kind, shape):
        if is_torch(value):
            if value.device.type != "cpu":
                raise Error(f"{name} is on {value.device}, and this program runs on the CPU")
            self.value = value.detach().resolve_conj().resolve_neg().contiguous()
            self.shape = tuple(self.value.shape)
            found, cast = str(self.value.dtype).replace("torch.", ""), ".to(torch.{})"
        else:
            self.value = _as_numpy(name, value, TYPES[kind])
            self.shape = self.value.shape
            found, cast = str(self.value.dtype), ".astype(np.{})"
        verify_elements(name, found, kind, cast)
        verify_axes(name, len(self.shape), shape)
        self.address = address_of(self.value)


def is_torch(value):
    """A tensor is one of a library that somebody has imported."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def address_of(value):
    return value.data_ptr() if is_torch(value) else value.ctypes.data


def new_array(like, kind, shape):
    """An array of the kind that the first input is of."""
    if is_torch(like):
        import torch
        return torch.empty(shape, dtype=getattr(torch, TYPES[kind].name))
    return np.empty(shape, TYPES[kind])


def _as_numpy(name, value, wanted):
    if not isinstance(value, np.ndarray):
        is_array = hasattr(value, "__dlpack__")
        value = np.from_dlpack(value) if is_array else cast(name, plain_array(name, value), wanted)
    return np.ascontiguousarray(value).reshape(value.shape)


def plain_array(name, value):
    """Of a list or a number."""
    try:
        return np.asarray(value)
    except ValueError as error:
        raise Error(f"{name} is no array: {error}") from None


def cast(name, found, wanted):
    """The same numbers of the type that is wanted, whose range they must keep; what is of another
    kind, such as a fraction where a whole number is wanted, stays as it is."""
    if not found.size:
        return found.astype(wanted)
    is_long = found.dtype == object and all(isinstance(number, int) for number in found.flat)
    if wanted.kind == "i" and (is_long or found.dtype.kind in "iu"):
        low, high = int(np.iinfo(wanted).min), int(np.iinfo(wanted).max)
        outside = found[(found < low) | (found > high)]
        if outside.size:
            raise Error(f"{name} holds {outside[0]}, and {wanted.name} goes from {low} to {high}")
    if not np.can_cast(found.dtype, wanted, "same_kind"):
        return found
    with np.errstate(over="ignore"):
        made = found.astype(wanted)
    lost = wanted.kind == "f" and np.isinf(made) & np.isfinite(found)
    if np.any(lost):
        largest = np.finfo(wanted).max
        raise Error(f"{name} holds {found[lost][0]}, and the largest {wanted.name} is {largest}")
    return made


def verify_elements(name, found, kind, cast):
    """`found`: the name of a type; `cast`: what makes other numbers of the same kind, for {}."""
    wanted = TYPES[kind].name
    if found == wanted:
        return
    has_kind = found.lstrip("ub").rstrip("0123456789") == wanted.rstrip("0123456789")
    advice = f": {cast.format(wanted)} makes such" if has_kind else ""
    raise Error(f"{name} has elements of {found}, and {wanted} is wanted{advice}")


def verify_axes(name, count, shape):
    if count != len(shape):
        raise Error(f"{name} has {count} axes, and {text_of(shape)} is wanted")


def verify_writable(name, value):
    if is_torch(value):
        if value.requires_grad:
            raise Error(f"{name} requires a gradient, so nothing is written into it: detach() it")
        if value.is_neg() or value.is_conj():
            raise Error(f"{name} is a view that negates what lies there, and outputs are written "
                        "as they are: give the tensor itself")
    elif not isinstance(value, np.ndarray):
        raise Error(f"{name} is a {type(value).__name__}, and outputs are written into arrays")
    elif not value.flags.writeable:
        raise Error(f"{name} is read-only")


def by_name(what, given, names):
    """A dict of things that have these names."""
    if given is None:
        return {}
    if not isinstance(given, collections.abc.Mapping):
        raise Error(f"{what}s are given in a dict by name, not in a {type(given).__name__}")
    for name in given:
        if name not in names:
            raise Error(f"there is no {what} '{name}': there are {', '.join(names) or 'none'}")
    return given


def whole(what, value, low, high):
    """A whole number in a range; `what` is "the seed is"."""
    try:
        number = None if isinstance(value, (bool, np.bool_)) else operator.index(value)
    except TypeError:
        number = None
    if number is None:
        raise Error(f"{what} a whole number, not {value!r}")
    if not low <= number <= high:
        raise Error(f"{what} from {low} to {high}, not {number}")
    return number


def whole_sizes(given, names):
    """Sizes by name."""
    return {name: whole(f"the size '{name}' is", value, 0, 2**63 - 1)
            for name, value in by_name("size", given, names).items()}


def text_of(shape):
    return "[" + ", ".join(str(extent) for extent in shape) + "]"


def value_of(extent, sizes):
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
                raise Error(f"the size '{factor}' follows from no array: "
                            f"give sizes={{'{factor}': N}}")
            product *= int(factor) if factor.isdigit() else sizes[factor]
        total += product
    return total


def shape_of(extents, sizes):
    return tuple(value_of(extent, sizes) for extent in extents)


def shape_to_make(name, extents, sizes):
    """That of an output."""
    shape = shape_of(extents, sizes)
    if min(shape, default=0) < 0:
        raise Error(f"{name} is {text_of(extents)}, of which a size is negative here: "
                    f"{text_of(shape)}")
    return shape


def solve(name, found, extent, sizes, origin):
    """Whether an axis such as 2*height, of which one size alone is not known, gives that size."""
    factors = str(extent).replace("-", "+").replace("+", "*").split("*")
    unknown = {part for part in factors if part.isidentifier() and part not in sizes}
    if len(unknown) != 1:
        return False
    size = unknown.pop()
    rest, *further = (value_of(extent, {**sizes, size: value}) for value in range(3))
    factor = further[0] - rest
    if factor == 0 or further[1] != rest + 2 * factor:
        return False
    if (found - rest) % factor or (found - rest) // factor < 0:
        raise Error(f"no size '{size}' makes {extent} {found}, which {name} has")
    sizes[size], origin[size] = (found - rest) // factor, name
    return True


def bind(program, arrays, sizes):
    """Adds the sizes of a call, by the shapes of its arrays, which must agree."""
    origin = {name: "given" for name in sizes}
    for name, array in arrays.items():
        for found, extent in zip(array.shape, program.inputs[name][1]):
            if not isinstance(extent, str) or not extent.isidentifier():
                continue
            if sizes.setdefault(extent, found) != found:
                raise Error(f"'{extent}' is {found} in {name}, and {sizes[extent]} by "
                            f"{origin[extent]}")
            origin.setdefault(extent, name)
    while any(solve(name, found, extent, sizes, origin) for name, array in arrays.items()
              for found, extent in zip(array.shape, program.inputs[name][1])):
        pass
    for name, array in arrays.items():
        extents = program.inputs[name][1]
        shape = shape_of(extents, sizes)
        if shape != array.shape:
            raise Error(f"{name} has shape {text_of(array.shape)}, and {text_of(extents)} is "
                        f"{text_of(shape)} here")
    for name in program.states:
        value_of(name, sizes)
