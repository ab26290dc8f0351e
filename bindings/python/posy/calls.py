"""What the functions of the module take, from the signatures that nanobind has: for errors and for inspect.signature().

An error of nanobind's lists all types of all arguments. explain() names the one that is wrong and what it may be; it says
"unexpected keyword argument" as Python does, because programs look for these words (Polars does).
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing's own would cost a tenth of the import
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from inspect import Signature
    from typing import Any


def explain(function: Callable[..., Any], arguments: Sequence[Any], named: Mapping[str, Any]) -> str | None:
    """Why a call fits no signature, in a sentence; None if that is not known."""
    signature = _signature(function)
    try:
        given = signature.bind(*arguments, **named).arguments
    except TypeError as wrong:
        takes = [name for name in signature.parameters if name != "self"]
        name = type(arguments[0]).__name__ if function.__name__ == "__init__" else function.__name__.lstrip("_")
        return f"{name}() {wrong}; it takes {', '.join(takes) or 'no arguments'}"
    for name, value in given.items():
        wanted = signature.parameters[name].annotation
        if isinstance(wanted, str) and not any(_fits(value, kind) for kind in wanted.split(" | ")):
            return f"{name} must not be None" if wanted == "object" else f"{name} is {_in_words(wanted)}, not {type(value).__name__}"
    return None


class ClassSignature:
    """The signature of a class, made when somebody asks for it."""

    def __get__(self, made: object, owner: type) -> Signature:
        signature = _signature(owner.__init__)
        return signature.replace(parameters=list(signature.parameters.values())[1:], return_annotation=signature.empty)


def _signature(function: Any) -> Signature:
    import inspect

    text, _, defaults = (*function.__nb_signature__[0], None)[:3]
    names = {f"default_{place}": value for place, value in enumerate(defaults or ())}
    for place in reversed(range(len(names))):
        text = text.replace(f"\\{place}", f"default_{place}")
    exec(f"from __future__ import annotations\n{text.replace(function.__name__, 'call', 1)}: pass", names)
    return inspect.signature(names["call"])


def _fits(value: Any, kind: str) -> bool:
    if kind in ("object", "None"):
        return (value is None) == (kind == "None")
    if kind == "int":
        return hasattr(value, "__index__")
    if kind == "float":
        return hasattr(value, "__float__") or hasattr(value, "__index__")
    if kind == "os.PathLike":
        return hasattr(value, "__fspath__")
    if kind.startswith("collections.abc.Sequence"):
        return hasattr(value, "__getitem__")
    return kind.split("[")[0].split(".")[-1] in {each.__name__ for each in type(value).__mro__}


def _in_words(kinds: str) -> str:
    first = kinds.split(" ")[0]
    return f"{'an' if first[0] in 'aeiou' else 'a'} {kinds.replace(' | ', ' or ')}"
