"""Writes the type stubs of the module: nanobind's own, with the types of keys and arrays in place of `object`.

    make_stubs.py MODULE-FILE FOLDER

The build runs it, so that stubs and module cannot disagree; tests/python/examples_test.py has mypy compare them.
"""

import importlib.util
import pathlib
import re
import sys
import types

from nanobind.stubgen import StubGen

HEADER = """
from collections.abc import Iterable
from typing import Any, Protocol, SupportsIndex, Union

import numpy
import numpy.typing

from posy.figures import Comparison, Estimate

Bytes = Union[bytes, bytearray, memoryview]
Key = Union[str, bytes, bytearray, memoryview, SupportsIndex]


class ArrowArray(Protocol):
    def __arrow_c_array__(self, requested_schema: Any = None) -> Any: ...


class ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...


Keys = Union[Iterable[Union[Key, None]], ArrowArray, ArrowStream]
Bools = numpy.typing.NDArray[numpy.bool_]
Counts = numpy.typing.NDArray[numpy.uint64]


class Error(ValueError):
    kind: str
    offset: int | None

__version__: str

"""
ARRAYS = {"contains": "Bools", "discard_many": "Bools", "seen_many": "Bools", "estimate": "Counts", "lookup": "tuple[Counts, Bools]"}
CHANGES = [
    (r"\bkey: object \| None = None", "key: Bytes | None = None"),
    (r"\b(message|data|file): object", r"\1: Bytes"),
    (r"(def __i(?:add|or)__\(self, arg: (\w+), /\)) -> object", r"\1 -> \2"),
    (r"posy\.figures\.(Estimate|Comparison)", r"\1"),
    (r"(def get\(self, .*default: )object \| None = None\) -> object", r"\1Any = None) -> Any"),
    (r"(def answer\(.*\)) -> object", r"\1 -> bytes | None"),
    (r"\bkey: object \| None", "key: Key"),
    (r"\bkeys: object \| None", "keys: Keys"),
    (r"\bvalues: object \| None", "values: Keys | None"),
    (r"\bseed: object \| None", "seed: int | None"),
    (r"def seed\(self\) -> object", "def seed(self) -> int"),
    (r"add: types\.MethodDescriptorType = \.\.\.", 'def add(self, key: Key, /) -> None:\n        """Insert a key: a str, bytes or an int of 64 bits."""'),
    (r"def __contains__\(self, key, /\):", "def __contains__(self, key: Key, /) -> bool:"),
    (r"def __(contains|getitem)__\(self, arg: object, /\)", r"def __\1__(self, arg: Key, /)"),
    (r"def __eq__\(self, arg: \w+, /\)", "def __eq__(self, arg: object, /)"),
    (r"__hash__: None = None", "__hash__: None  # type: ignore[assignment]"),
    (r"def (layout|hash|format|form)\(self\) -> object", r"def \1(self) -> str"),
    (r"\bdict:", "dict[str, Any]:"),
    (r"-> list:", "-> list[Any]:"),
    (r"-> tuple:", "-> tuple[Any, ...]:"),
    (r"from \w*_core import theory as theory", "from . import theory as theory"),
    (r"(from|import) _core\b", r"\1 posy._core"),
]


def module_at(path):
    name = "_core"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def stand_in_for_posy():
    """A package with posy's modules of Python, for signatures that name them; posy itself needs the module installed."""
    package = types.ModuleType("posy")
    package.__path__ = [str(pathlib.Path(__file__).parent / "posy")]
    sys.modules["posy"] = package


def stub_of(module):
    made = StubGen(module=module)
    made.put(module)
    text = made.get()
    for old, new in CHANGES:
        text = re.sub(old, new, text)
    for method, result in ARRAYS.items():
        text = re.sub(rf"(def {method}\(self, keys.*\)) -> (?:object|tuple\[Any, \.\.\.\]|tuple):", rf"\1 -> {result}:", text)
    return text


def main():
    stand_in_for_posy()
    core = module_at(sys.argv[1])
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    text = stub_of(core)
    # Behind the docstring and the imports, before the first class.
    start = text.index("\nclass ")
    (folder / "__init__.pyi").write_text(text[:start] + HEADER + text[start:])
    (folder / "theory.pyi").write_text(stub_of(core.theory))


main()
