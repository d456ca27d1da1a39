"""Code that runs on a thread in the workbench touches the screen only by posting messages."""

import ast
from collections.abc import Iterator

from tests.house.source import Offence, Source

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

SCREEN_WORDS = frozenset(
    {
        "app",
        "screen",
        "parent",
        "query",
        "query_one",
        "query_exactly_one",
        "refresh",
        "notify",
        "mount",
        "remove",
        "call_from_thread",
        "push_screen",
        "pop_screen",
        "switch_screen",
        "update",
        "styles",
        "focus",
        "call_later",
        "call_after_refresh",
        "set_timer",
        "set_interval",
    }
)
"""Attributes of a widget, screen or app that a thread must not reach for."""

BRIDGES = ("bridge", "_bridge")
"""What a screen calls the bridge, whose `run` takes a function to a thread."""


def thread_workers(source: Source) -> Iterator[tuple[Function, str]]:
    """Every function of this file that is started on a thread, with how."""
    functions: dict[str, list[Function]] = {}
    for node in ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            functions.setdefault(node.name, []).append(node)
            if any(_is_thread_work(item) for item in node.decorator_list):
                yield node, "@work(thread=True)"
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call):
            for target, how in _started(node):
                if isinstance(target, ast.Lambda):
                    yield target, how
                elif isinstance(target, ast.Name | ast.Attribute):
                    name = target.id if isinstance(target, ast.Name) else target.attr
                    yield from ((function, how) for function in functions.get(name, []))


def _is_thread_work(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Call) and _last(decorator.func) == "work" and _says_thread(decorator)


def _says_thread(call: ast.Call) -> bool:
    return any(
        keyword.arg == "thread" and isinstance(keyword.value, ast.Constant) and keyword.value.value is True
        for keyword in call.keywords
    )


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _started(call: ast.Call) -> Iterator[tuple[ast.expr, str]]:
    """The functions this call starts on a thread."""
    name = _last(call.func)
    if name in ("run_worker", "submit", "to_thread") and call.args:
        if name != "run_worker" or _says_thread(call):
            yield _unwrapped(call.args[0]), name
    elif name == "run" and call.args and isinstance(call.func, ast.Attribute) and _last(call.func.value) in BRIDGES:
        yield _unwrapped(call.args[0]), "bridge.run"
    elif name == "run_in_executor" and len(call.args) > 1:
        yield _unwrapped(call.args[1]), name
    elif name in ("Thread", "Timer"):
        targets = [keyword.value for keyword in call.keywords if keyword.arg in ("target", "function")]
        yield from ((_unwrapped(target), name) for target in targets)


def _unwrapped(target: ast.expr) -> ast.expr:
    while isinstance(target, ast.Call) and _last(target.func) == "partial" and target.args:
        target = target.args[0]
    return target


def worker_offences(source: Source, allowed: frozenset[tuple[str, str]] = frozenset()) -> Iterator[Offence]:
    """Find what a thread worker does besides working on its own values and posting messages.

    Args:
        source: a file of the workbench.
        allowed: (file, function) pairs that are let pass.
    """
    for function, how in thread_workers(source):
        if (source.name, getattr(function, "name", "lambda")) in allowed:
            continue
        body = function.body if isinstance(function.body, list) else [function.body]
        for node in (found for statement in body for found in ast.walk(statement)):
            what = _breach(node)
            if what:
                name = getattr(function, "name", "lambda")
                yield Offence(source.name, getattr(node, "lineno", function.lineno), f"{name} ({how}) {what}")


def _breach(node: ast.AST) -> str:
    if isinstance(node, ast.Call) and _is_own(node.func) and _last(node.func) != "post_message":
        return f"calls self.{_last(node.func)}()"
    if isinstance(node, ast.Attribute) and node.attr in SCREEN_WORDS and _is_own(node):
        return f"reaches for self.{node.attr}"
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
        return f"assigns {ast.unparse(node)}"
    if isinstance(node, ast.Global | ast.Nonlocal):
        return f"assigns {', '.join(node.names)}"
    return ""


def _is_own(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
