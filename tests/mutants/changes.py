"""Every mutant of a module: its syntax tree with one node changed, so that lines stay where they are."""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import cast

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
}
#: Fields of nodes in which nothing is changed.
_UNREAD = {"annotation", "returns", "decorator_list", "bases", "type_params", "exc"}


#: The number of no change.
UNCHANGED = -1


@dataclass(frozen=True)
class Mutant:
    """The `number`th change that the module at `path` admits, at the line."""

    path: Path
    number: int
    line: int
    change: str


def code(path: Path, number: int) -> CodeType:
    """The module at `path` with its change of that number, compiled."""
    tree = ast.parse(path.read_bytes())
    found = next((each for each in _changes(tree) if each.number == number), None)
    changed = tree if found is None else cast("ast.Module", _Changing(found).visit(tree))
    return compile(ast.fix_missing_locations(changed), str(path), "exec", dont_inherit=True)


def mutants(path: Path) -> list[Mutant]:
    tree = ast.parse(path.read_bytes())
    return [Mutant(path, each.number, each.old.lineno, each.text) for each in _changes(tree)]


@dataclass(frozen=True)
class _Change:
    number: int
    old: ast.expr | ast.stmt
    new: ast.AST

    @property
    def text(self) -> str:
        return f"{ast.unparse(self.old)} -> {ast.unparse(self.new)}"


class _Changing(ast.NodeTransformer):
    def __init__(self, change: _Change) -> None:
        self._change = change

    def visit(self, node: ast.AST) -> ast.AST:
        if node is self._change.old:
            return ast.copy_location(self._change.new, node)
        return cast("ast.AST", super().visit(node))


def _changes(tree: ast.Module) -> Iterator[_Change]:
    pairs = ((node, new) for node in _run(tree) for new in _changed(node))
    for number, (old, new) in enumerate(pairs):
        yield _Change(number, old, new)


def _run(node: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    """All expressions and statements but annotations, docstrings, log lines, and what errors say."""
    unread = _UNREAD | {"keywords"} if isinstance(node, ast.ClassDef) else _UNREAD
    for name, value in ast.iter_fields(node):
        if name in unread:
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or _passed_over(child):
                continue
            if isinstance(child, ast.expr | ast.stmt):
                yield child
            yield from _run(child)


def _passed_over(node: ast.AST) -> bool:
    docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    log = isinstance(node, ast.Expr) and ast.unparse(node).startswith("log.")
    checking = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    return docstring or log or checking or isinstance(node, ast.Import | ast.ImportFrom)


def _changed(node: ast.expr | ast.stmt) -> Iterator[ast.AST]:
    match node:
        case ast.Compare(ops=[operator, *_]) if type(operator) in _COMPARISONS:
            new = copy.copy(node)
            new.ops = [_COMPARISONS[type(operator)](), *node.ops[1:]]
            yield new
        case ast.BinOp(op=operator) if type(operator) in _ARITHMETIC:
            yield ast.BinOp(node.left, _ARITHMETIC[type(operator)](), node.right)
        case ast.BoolOp():
            yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            yield node.operand
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield ast.Constant(value + 1)
        case ast.If() | ast.While():
            new_statement = copy.copy(node)
            new_statement.test = ast.UnaryOp(ast.Not(), node.test)
            yield new_statement
        case ast.IfExp():
            yield ast.IfExp(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield ast.Return(ast.Constant(None))
        case ast.Expr(value=ast.Call()) | ast.Expr(value=ast.Await()) | ast.AugAssign() | ast.Raise():
            yield ast.Pass()
        case ast.Continue():
            yield ast.Break()
        case ast.Break():
            yield ast.Continue()
