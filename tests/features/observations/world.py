"""Folders of memories with cards, for tests of observations."""

from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from memtui.engine import Engine
from memtui.engine.approval import Approver
from memtui.engine.model import Actor, Policy, Root
from memtui.features.observations import decide, find
from memtui.features.observations.find import catch_up, open_cards
from memtui.features.observations.model import Card
from memtui.features.observations.store import generations
from memtui.features.observations.store.card_file import SELECT, CardWriter, card_of

ME = Actor("tui")


class Watched(NamedTuple):
    """One root of memtui's and one of Claude Code with entries as Goose's, and the state folder."""

    base: Path
    clock: Callable[[], int]

    @property
    def state(self) -> Path:
        return self.base / "state"

    def write(self, path: str, text: str | bytes) -> None:
        """Write a file as another program does: `own/...` or `theirs/...`."""
        file = self.base / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)

    def engine(self, *, read_only: bool = False, approver: Callable[[], Approver] = Approver) -> Engine:
        """Open an engine on both."""
        for name in ("own", "theirs"):
            (self.base / name).mkdir(parents=True, exist_ok=True)
        policy = Policy(entries=(("many.txt", "goose"),))
        roots = (
            Root("memtui:project", str(self.base / "own"), "memtui", "project", project=str(self.base)),
            Root("claude-code:global", str(self.base / "theirs"), "claude-code", "global", policy=policy),
        )
        return Engine.open(roots, state_dir=str(self.state), clock=self.clock, read_only=read_only, approver=approver)

    def bytes(self) -> bytes:
        """Every byte of the state folder."""
        return b"\n".join(file.read_bytes() for file in sorted(self.state.rglob("*")) if file.is_file())


def export(writer: CardWriter) -> list[Card]:
    """Every card of a file without ids that are specific to it, to compare two files."""
    rows = [row for table in ("shared", "withheld") for row in writer.database.execute(f"{SELECT}{table}")]
    return sorted(
        (card._replace(id=card.at, source=0) for card in map(card_of, rows)), key=lambda card: (card.id, card.name)
    )


def cards(engine: Engine) -> list[Card]:
    """Every card, after all that is behind was derived."""
    catch_up(engine, seconds=None)
    with closing(generations.writer(engine.observations)) as writer:
        assert writer.check() == ""
        return export(writer)


def titles(engine: Engine, query: str, *, client: str | None = None) -> list[str]:
    """What a search finds."""
    with open_cards(engine, client=client, seconds=60) as look:
        return [card.title for card in find.search(look, query, limit=50).cards]


def card(engine: Engine, query: str) -> Card:
    """The best card for some words, as a person sees it."""
    with open_cards(engine, private=True, seconds=60) as found:
        return find.search(found._replace(wanted=found.wanted._replace(hidden=True)), query).cards[0]


def decided(engine: Engine, query: str, what: str, **patch: object) -> Card:
    """Decide about the best card for some words: a state, `rm`, `restore`, `redact` or `edit`."""
    chosen = card(engine, query)
    with open_cards(engine, private=True, seconds=60) as found:
        look = found._replace(wanted=found.wanted._replace(hidden=True))
        mark = decide.decision_for(engine, look, chosen.word)
    acts: Mapping[str, Callable[[], object]] = {
        "rm": lambda: decide.delete(engine, [mark], actor=ME),
        "restore": lambda: decide.restore(engine, [mark], actor=ME),
        "redact": lambda: decide.redact(engine, mark, actor=ME, reason="a slip"),
        "edit": lambda: decide.edit(engine, mark, patch, actor=ME),
    }
    acts.get(what, lambda: decide.set_state(engine, [mark], what, actor=ME))()
    return chosen
