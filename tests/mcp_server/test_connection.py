"""A client is admitted under the name it gave first, and everything that was opened for it is closed again."""

from collections.abc import Iterator

import pytest

from memtui.config.read import load_settings, read_environment
from memtui.config.settings import Settings
from memtui.engine import Engine
from memtui.errors import MemtuiError
from memtui.mcp_server.connection import Desk
from memtui.wire.session import Options
from tests.mcp_server.talk import Store


def settings() -> Settings:
    return load_settings(read_environment())


@pytest.fixture
def desk() -> Iterator[Desk]:
    made = Desk(settings, Options(), access=None)
    yield made
    made.close()


def test_a_door_is_opened_once_and_for_the_first_name(desk: Desk) -> None:
    desk.meet("codex")
    desk.meet("gemini")
    assert desk.door().actor.name == "mcp:codex"
    assert desk.door() is desk.door()


def test_a_client_without_a_name_has_one_too(desk: Desk) -> None:
    assert desk.door().actor.name == "mcp:unknown"
    desk.meet("codex")
    assert desk.door().actor.name == "mcp:unknown"


def test_only_memtui_s_own_roots_are_opened(desk: Desk, store: Store) -> None:
    (store.folder.parents[1] / ".claude").mkdir()
    (store.folder.parents[1] / ".claude" / "CLAUDE.md").write_text("theirs")
    assert {root.agent for root in desk.door().engine.roots.all()} == {"memtui"}


def test_the_table_and_the_flag_both_count(store: Store) -> None:
    store.configure('[access]\n"*" = "plan"\n')
    desk = Desk(settings, Options(), access="rw")
    assert desk.door().engine.access.label == "plan"
    desk.close()
    desk = Desk(settings, Options(), access="ro")
    assert desk.door().engine.access.label == "ro"
    desk.close()


def test_what_was_opened_before_the_settings_changed_is_closed_at_the_end(
    desk: Desk, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[Engine] = []
    close = Engine.close

    def closing(engine: Engine) -> None:
        closed.append(engine)
        close(engine)

    monkeypatch.setattr(Engine, "close", closing)
    first = desk.door().engine
    store.configure('[access]\n"*" = "ro"\n')
    second = desk.door().engine
    assert first is not second
    assert closed == []
    desk.close()
    assert closed == [first, second]


def test_settings_that_cannot_be_read_let_nobody_in_until_they_can(desk: Desk, store: Store) -> None:
    store.configure("nonsense")
    with pytest.raises(MemtuiError, match="E_CONFIG"):
        desk.door()
    with pytest.raises(MemtuiError, match="E_CONFIG"):
        desk.door()
    store.configure("")
    assert desk.door().engine.access.label == "rw"
