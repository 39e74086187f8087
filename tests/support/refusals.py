"""The refusals that code may raise, found in the code that it reaches.

Followed are names: a function reaches what it names, in its own module or in one that it names; the classes
of its annotations; and of a class that is reached every method whose name is used anywhere. So it finds more
than can happen, and misses what is reached by none of these.
"""

import ast
import inspect
import textwrap
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeGuard

from app.kit.errors import Field, Invalid, Refusal

_OF_REFUSALS, _OF_FIELDS = frozenset({"retry_after"}), frozenset({"field", "input"})


class Raised(NamedTuple):
    """A place that makes a refusal; its code, or the type of its field ("": it could not be read); and the
    names of the values that a sentence may have."""

    where: str
    code: str
    values: frozenset[str]


class _Reached:
    def __init__(self) -> None:
        self.functions: set[types.FunctionType] = set()
        self.classes: set[type] = set()
        self.names: set[str] = set()
        self._waiting: list[types.FunctionType] = []

    def follow(self, found: Iterable[object]) -> None:
        """Add everything that is reached from there."""
        for each in found:
            self.add(each)
        before = -1
        while before != len(self.functions):
            before = len(self.functions)
            while self._waiting:
                self._read(self._waiting.pop())
            for owner in list(self.classes):
                for name, member in vars(owner).items():
                    if name in self.names or name.startswith("__"):
                        self.add(member)

    def add(self, found: object) -> None:
        for each in _unwrapped(found):
            if isinstance(each, type) and _is_ours(each) and each not in self.classes:
                self.classes.add(each)
                self._add_all(each.__mro__[1:])
                self._annotated(each)
            elif isinstance(each, types.FunctionType) and _is_ours(each) and each not in self.functions:
                self.functions.add(each)
                self._waiting.append(each)

    def _read(self, function: types.FunctionType) -> None:
        self._annotated(function)
        for code in _codes(function.__code__):
            self.names |= set(code.co_names)
            named = [function.__globals__.get(name) for name in code.co_names]
            modules = [each for each in named if isinstance(each, types.ModuleType)]
            for module in modules:
                self._add_all(vars(module).get(name) for name in code.co_names)
            self._add_all(named)

    def _annotated(self, found: Any) -> None:
        for annotation in inspect.get_annotations(found).values():
            self._add_all(_classes(annotation))

    def _add_all(self, found: Iterable[object]) -> None:
        for each in found:
            self.add(each)


def refusals_of(*roots: object) -> list[Raised]:
    """What the functions and classes `roots` may raise, with all that they reach."""
    reached = _Reached()
    reached.follow(roots)
    bodies = [_Body(function) for function in reached.functions]
    found = {raised for body in bodies for raised in body.raised(bodies)}
    return sorted(found, key=lambda each: (each.where, each.code))


class _Body:
    """A function as it is written."""

    def __init__(self, function: types.FunctionType) -> None:
        self.function = function
        self.tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
        self.calls = [each for each in ast.walk(self.tree) if isinstance(each, ast.Call)]
        self.where = f"{function.__module__}.{function.__qualname__}"

    def raised(self, bodies: Sequence["_Body"]) -> Iterator[Raised]:
        """The refusals that it makes, that it names as constants, and that it raises as classes."""
        for call in self.calls:
            yield from self._made(call, bodies)
        for each in ast.walk(self.tree):
            found = self.resolve(each) if isinstance(each, (ast.Name, ast.Attribute)) else None
            if isinstance(found, Invalid):
                yield from (Raised(self.where, field.type, _OF_FIELDS) for field in found.fields)
            elif isinstance(found, Refusal):
                yield Raised(self.where, found.code, _OF_REFUSALS.union(found.values))
            if isinstance(each, ast.Raise) and each.exc and _is_refusal(own := self.resolve(each.exc)):
                yield Raised(self.where, own.__name__, _OF_REFUSALS)

    def _made(self, call: ast.Call, bodies: Sequence["_Body"]) -> Iterator[Raised]:
        made: Any = self.resolve(call.func)
        if made is Field:
            given = call.args[2] if len(call.args) > 2 else _keyword(call, "type")
            ctx = call.args[4] if len(call.args) > 4 else _keyword(call, "ctx")
            values = _OF_FIELDS | self._keys(ctx)
        elif _is_refusal(made):
            given = _keyword(call, "code") or ast.Constant(made.__name__)
            values = _OF_REFUSALS | {each.arg for each in call.keywords if each.arg}
        else:
            return
        for code in self.texts(given, bodies):
            yield Raised(f"{self.where}:{call.lineno}", code, frozenset(values))

    def texts(self, given: ast.expr | None, bodies: Sequence["_Body"]) -> list[str]:
        """The values of an argument: a text, one of several, a variable, or a parameter, which
        callers give."""
        if isinstance(given, ast.Constant):
            return [given.value]
        if isinstance(given, ast.Subscript) and isinstance(table := self.resolve(given.value), dict):
            return list(table.values())
        if isinstance(given, ast.IfExp):
            return [*self.texts(given.body, bodies), *self.texts(given.orelse, bodies)]
        if not isinstance(given, ast.Name):
            return [""]
        if assigned := self._assigned(given.id):
            return [text for value in assigned for text in self.texts(value, bodies)]
        parameters = list(inspect.signature(self.function).parameters)
        place = parameters.index(given.id) if given.id in parameters else -1
        calls = [
            (body, call)
            for body in bodies
            for call in body.calls
            if place >= 0 and body.resolve(call.func) is self.function
        ]
        passed = [
            (body, call.args[place] if place < len(call.args) else _keyword(call, given.id))
            for body, call in calls
        ]
        return [text for body, value in passed for text in body.texts(value, bodies)] or [""]

    def resolve(self, named: ast.expr) -> object:
        """What a name, or a name in a module, stands for."""
        names = self.function.__globals__
        if isinstance(named, ast.Name):
            return names.get(named.id)
        if isinstance(named, ast.Attribute) and isinstance(named.value, ast.Name):
            module = names.get(named.value.id)
            return vars(module).get(named.attr) if isinstance(module, types.ModuleType) else None
        return None

    def _assigned(self, name: str) -> list[ast.expr]:
        """What is assigned to a name, also as one of several."""
        pairs = [
            (target, each.value)
            for each in ast.walk(self.tree)
            if isinstance(each, ast.Assign)
            for target in each.targets
        ]
        for target, value in list(pairs):
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                pairs += zip(target.elts, value.elts, strict=True)
        empty = ast.dump(ast.Constant(""))
        return [
            value
            for target, value in pairs
            if isinstance(target, ast.Name) and target.id == name and ast.dump(value) != empty
        ]

    def _keys(self, given: ast.expr | None) -> set[str]:
        """The keys of a dict that is written out, there or as a variable."""
        found = [given, *(self._assigned(given.id) if isinstance(given, ast.Name) else [])]
        dicts = [each for each in found if isinstance(each, ast.Dict)]
        return {key.value for each in dicts for key in each.keys if isinstance(key, ast.Constant)}


def _is_refusal(found: object) -> TypeGuard[type[Refusal]]:
    """Whether that is a class of refusals; the fields of `Invalid` are counted instead."""
    return isinstance(found, type) and issubclass(found, Refusal) and found is not Invalid


def _keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((each.value for each in call.keywords if each.arg == name), None)


def _unwrapped(found: object) -> Iterator[object]:
    """A function beneath decorators, descriptors and a handler of the framework."""
    if isinstance(found, (staticmethod, classmethod)):
        found = found.__func__
    if isinstance(found, property):
        yield from (each for each in (found.fget, found.fset) if each)
        return
    if isinstance(found, partial):
        found = found.func
    if isinstance(found, types.MethodType):
        found = found.__func__
    while isinstance(inner := getattr(found, "__wrapped__", None), Callable):  # type: ignore[arg-type]
        yield found
        found = inner
    yield found


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _classes(annotation: object) -> Iterator[object]:
    yield annotation
    for each in typing.get_args(annotation):
        yield from _classes(each)


def _is_ours(found: Any) -> bool:
    return str(getattr(found, "__module__", "")).startswith(("app.", "tests."))
