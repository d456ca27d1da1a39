"""The by-laws hold but for what is listed, each is able to fail, and no exception outlives its reason."""

import pytest

from tests.house.bylaws import AS_MANY_AS_THERE_ARE, LAWS, unlisted_and_outlived
from tests.house.source import ROOT, Source, sources


def methods(count: int, prefix: str = "do") -> str:
    return "".join(f"    def {prefix}{at}(self): ...\n" for at in range(count))


def files(**texts: str) -> list[Source]:
    """Modules by their dotted names below the package, with `__` for the dots."""
    return [Source.of(text, f"memtui/{name.replace('__', '/')}.py") for name, text in texts.items()]


def folder(name: str, count: int) -> list[Source]:
    return [Source.of("x = 1", f"memtui/{name}/m{at}.py") for at in range(count)]


PARTS = "from collections.abc import Callable\nclass A: ...\nclass B: ...\n"
MADE = "    def __init__(self, a: A, b: 'B', c: A | None, d: Callable[[], int], e: list[B]{more}) -> None: ..."
CHAIN = "class A: ...\nclass B(A): ...\nclass C(B): ...\n"
SCREENS = (
    "from textual.screen import Screen\nclass A(Screen[None]): ...\nclass B(A): ...\nclass C(B): ...\nclass D(C): ...\n"
)


@pytest.mark.parametrize("law", LAWS)
def test_the_law_holds_but_for_what_is_listed(law: str) -> None:
    says, breaches, listed = LAWS[law]
    found = unlisted_and_outlived(breaches(sources("memtui")), listed)
    assert not found, f"{says}:\n" + "\n".join(found)


BAD: dict[str, list[tuple[list[Source], dict[str, int] | int]]] = {
    "surface": [
        (files(m="class A:\n" + methods(21)), {"memtui.m.A": 21}),
        (files(m="class A:\n" + methods(20), n="from memtui.m import A\nclass B(A):\n    def more(self): ..."), 21),
        (files(m="from textual.widget import Widget\nclass A(Widget):\n" + methods(21)), 21),
        (files(m="class A:\n    @property\n    def one(self): ...\n" + methods(20, "on_")), 21),
    ],
    "collaborators": [
        (files(m=f"{PARTS}class C:\n{MADE.format(more=', *, f: A')}"), {"memtui.m.C": 6}),
        (files(m=f"{PARTS}Say = Callable[[str], None]\nclass C:\n{MADE.format(more=', f: Say')}"), 6),
        (
            files(
                m=f"from typing import NamedTuple\n{PARTS}class Held(NamedTuple):\n    a: A\n",
                n=f"from memtui.m import A, B, Callable, Held\nclass C:\n{MADE.format(more=', f: Held')}",
            ),
            6,
        ),
        (
            files(
                m=f"from typing import NamedTuple\n{PARTS}class C(NamedTuple):\n"
                + "".join(map("    x{}: A\n".format, range(6)))
            ),
            6,
        ),
    ],
    "depth": [
        (files(m=CHAIN + "class D(C): ..."), {"memtui.m.D": 3}),
        (files(m=CHAIN, n="from memtui import m\nclass D(m.C): ..."), 3),
        (files(m=CHAIN, n="from memtui.m import C", o="from memtui.n import C\nclass D(C): ..."), 3),
        (files(m=SCREENS + "class E(D): ..."), {"memtui.m.E": 4}),
    ],
    "folders": [(folder("wire", 13), {"memtui/wire": 13}), (folder("engine/disk", 14), {"memtui/engine/disk": 14})],
    "one importer": [
        (files(a="from memtui import b", b="x = 1"), {"modules": 1}),
        (files(a="def later():\n    from memtui.b import x", b="'''It takes words apart. It is small.'''"), 1),
        (files(a="if TYPE_CHECKING:\n    import memtui.b", b="x = 1"), 1),
    ],
    "gerunds": [(files(wire__sending="x = 1"), {"memtui.wire.sending": 1}), (files(landing="x = 1"), 1)],
    "names": [(files(a="class Found: ...", b="class Found: ...", c="class Found: ..."), {"Found": 3})],
    "circles": [
        (files(a="from memtui import b", b="from memtui import c", c="from memtui import a"), 3),
        (files(a="import memtui.b", b="if TYPE_CHECKING:\n    from memtui.a import x"), 2),
        (files(a="import memtui.b", b="def later():\n    import memtui.a"), {"memtui.a": 1, "memtui.b": 1}),
    ],
}


@pytest.mark.parametrize(("law", "sample", "found"), [(law, *bad) for law, cases in BAD.items() for bad in cases])
def test_a_breach_is_found(law: str, sample: list[Source], found: dict[str, int] | int) -> None:
    breaches = dict(LAWS[law].breaches(sample))
    assert (breaches if isinstance(found, dict) else sum(breaches.values())) == found
    assert unlisted_and_outlived(breaches, {})


GOOD = {
    "surface": [
        files(m="class A:\n" + methods(20) + methods(5, "_own")),
        files(m="from textual.widget import Widget\nclass A(Widget):\n    def focus(self): ...\n" + methods(30, "on_")),
        files(ui__a="class A:\n" + methods(20), m="from memtui.ui.a import A\nclass B(A):\n    def more(self): ..."),
    ],
    "collaborators": [
        files(m=f"{PARTS}class C:\n{MADE.format(more=', f: int, g: str')}"),
        files(
            m="from typing import NamedTuple\nclass V(NamedTuple):\n    x: int\nclass C:\n"
            "    def __init__(self, a: V, b: V, c: V, d: V, e: V, f: V) -> None: ..."
        ),
    ],
    "depth": [files(m=CHAIN), files(m=SCREENS)],
    "folders": [folder("wire", 12), *(folder(name.removeprefix("memtui/"), 30) for name in AS_MANY_AS_THERE_ARE)],
    "one importer": [
        files(a="from memtui import b", b="'''Words, kept apart because nothing is read for them.'''"),
        files(a="from memtui import c", b="import memtui.c", c="x = 1"),
        files(a="import memtui.b", **{f"m{at}": "x = 1" for at in range(8)}, b="x = 1"),
    ],
    "gerunds": [files(wire__send="x = 1", matching="x = 1", page_finding="x = 1")],
    "names": [files(a="class Found: ...\nclass _Row: ...", b="class _Row: ...\nclass Other:\n    class Found: ...")],
    "circles": [files(a="from memtui import b, c", b="from memtui import c", c="import os")],
}


@pytest.mark.parametrize(("law", "sample"), [(law, good) for law, cases in GOOD.items() for good in cases])
def test_what_is_lawful_passes(law: str, sample: list[Source]) -> None:
    assert not LAWS[law].breaches(sample)


def test_every_law_has_samples() -> None:
    assert BAD.keys() == GOOD.keys() == LAWS.keys()


def test_what_is_listed_may_only_become_less() -> None:
    assert unlisted_and_outlived({"a": 3}, {"a": 3}) == []
    assert unlisted_and_outlived({"a": 4}, {"a": 3}) == ["a: 4, 3 at most is listed"]
    assert unlisted_and_outlived({"a": 2}, {"a": 3}) == ["a: 3 is listed, but it is 2 now; put that into exceptions.py"]
    assert unlisted_and_outlived({}, {"a": 3}) == ["a: 3 is listed, but it is lawful now; put that into exceptions.py"]


def test_contributing_states_every_law() -> None:
    words = " ".join((ROOT / "docs/contributing.md").read_text("utf-8").lower().split())
    assert not [law.says for law in LAWS.values() if law.says.lower() not in words]
