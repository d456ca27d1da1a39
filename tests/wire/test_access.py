"""The doors agents come through: the flag, the table, the switch, and that the engine holds to them."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.config.directories import Directories
from memtui.config.read import load_settings, read_environment
from memtui.config.settings import AccessRule, Settings
from memtui.engine import Engine
from memtui.engine.look.roots import LEVELS, Access
from memtui.engine.model import SCOPES, Root
from memtui.errors import MemtuiError, RefusedError, UsageError
from memtui.wire import access
from memtui.wire.access import LiveAccess, client_access, open_agent_session
from memtui.wire.session import Options

PLACE = Directories("/c", "/s", "/d", "test")


def settings(*rules: tuple[str, str, str], enabled: bool = True) -> Settings:
    return Settings(PLACE, None, agents_enabled=enabled, access=tuple(AccessRule(*rule) for rule in rules))


def levels(client: str, access: str | None, *rules: tuple[str, str, str]) -> dict[str, str]:
    found = client_access(settings(*rules), client, access)
    return {scope: found.level(Root("r", "/r", scope=scope)) for scope in SCOPES}


def test_without_a_word_an_agent_reads_and_writes() -> None:
    assert set(levels("codex", None).values()) == {"rw"}
    assert client_access(settings(), "codex").scopes == ()
    assert set(levels("", None).values()) == {"rw"}


@pytest.mark.parametrize(
    ("rules", "client", "scope", "level"),
    [
        ([("codex", "*", "ro")], "codex", "global", "ro"),
        ([("codex", "*", "ro")], "codex-mcp-client", "global", "ro"),
        ([("codex", "*", "ro")], "gemini", "global", "rw"),
        ([("*", "*", "ro")], "gemini", "global", "ro"),
        ([("*", "*", "ro")], "", "global", "ro"),
        ([("*", "*", "ro"), ("gemini", "*", "rw")], "gemini-cli-mcp-client", "global", "rw"),
        ([("*", "*", "ro"), ("gemini", "global", "rw")], "gemini", "global", "rw"),
        ([("*", "*", "ro"), ("gemini", "global", "rw")], "gemini", "project", "ro"),
        ([("*", "project", "ro")], "gemini", "project", "ro"),
        ([("*", "project", "ro"), ("gemini", "*", "rw")], "gemini", "project", "rw"),
        ([("gemini", "*", "plan"), ("gemini", "workspace", "off")], "gemini", "workspace", "off"),
        ([("gemini", "*", "plan"), ("gemini", "workspace", "off")], "gemini", "project", "plan"),
        ([("gemini", "*", "rw"), ("gemini-cli", "*", "ro")], "gemini", "project", "ro"),
    ],
)
def test_the_nearest_entry_of_the_table_counts(
    rules: list[tuple[str, str, str]], client: str, scope: str, level: str
) -> None:
    assert levels(client, None, *rules)[scope] == level


rules = st.lists(
    st.tuples(
        st.sampled_from(["*", "codex", "Codex", "gemini"]), st.sampled_from(["*", *SCOPES]), st.sampled_from(LEVELS)
    ),
    max_size=6,
)


@given(rules, st.sampled_from(["codex", "gemini", "other", ""]), st.sampled_from([None, *LEVELS]))
def test_a_flag_can_only_narrow(table: list[tuple[str, str, str]], client: str, flag: str | None) -> None:
    def shut(access: str | None) -> dict[str, str]:
        try:
            return levels(client, access, *table)
        except RefusedError:
            return dict.fromkeys(SCOPES, "off")

    without, with_flag = shut(None), shut(flag)
    for scope in SCOPES:
        assert LEVELS.index(with_flag[scope]) == max(LEVELS.index(without[scope]), LEVELS.index(flag or "rw"))


@pytest.mark.parametrize(
    ("chosen", "client", "flag"),
    [
        (settings(enabled=False), "codex", "rw"),
        (settings(("codex", "*", "rw"), enabled=False), "codex", None),
        (settings(("codex", "*", "off")), "codex", "rw"),
        (settings(("*", "*", "off")), "someone", None),
        (settings(), "codex", "off"),
        (settings(*(("*", scope, "off") for scope in SCOPES)), "", None),
    ],
)
def test_switched_off(chosen: Settings, client: str, flag: str | None) -> None:
    with pytest.raises(RefusedError) as error:
        client_access(chosen, client, flag)
    assert error.value.code == "E_DISABLED"
    assert "Only the user can change that, in memtui's settings: " in error.value.hint
    assert "/c" not in f"{error.value}"  # an agent may read it


def test_a_word_that_is_no_access_is_named() -> None:
    with pytest.raises(UsageError, match="The access takes rw, plan, ro or off, not 'write'"):
        client_access(settings(), "codex", "write")


def test_a_shut_door_touches_nothing(tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(RefusedError):
        open_agent_session(load_settings(read_environment()), Options(), client="codex", access="off", lock_wait=1)
    assert sorted(tmp_path.rglob("*")) == before


class Reads:
    """A door that stays, and how often its settings were read and its engine opened."""

    def __init__(self, config: Path) -> None:
        self.config = config
        self.read = self.opened = 0
        self.door = LiveAccess(self.load, self.open, client="codex")

    def load(self) -> Settings:
        self.read += 1
        return load_settings(read_environment())

    def open(self, settings: Settings, access: Access) -> Engine:
        self.opened += 1
        return Engine.open([], state_dir=settings.state_dir, access=access)


@pytest.fixture
def reads(home: Path) -> Iterator[Reads]:
    config = home / ".memtui-test" / "config.toml"
    config.parent.mkdir(exist_ok=True)
    found = Reads(config)
    yield found
    found.door.close()


def test_a_door_that_stays_reads_the_settings_only_when_they_changed(reads: Reads) -> None:
    engines = {id(reads.door.engine()) for _ in range(5)}
    assert (len(engines), reads.opened) == (1, 1)
    before = reads.read
    reads.door.engine()
    assert reads.read == before


def test_a_door_that_stays_is_shut_and_opened_by_the_settings(reads: Reads, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "_SETTLED_MS", 0)
    reads.door.engine()
    for text, code in (("[agents]\nenabled = false\n", "E_DISABLED"), ("nonsense", "E_CONFIG")):
        reads.config.write_text(text)
        for _ in range(2):
            with pytest.raises(MemtuiError) as error:
                reads.door.engine()
            assert error.value.code == code
    reads.config.write_text("[access]\ncodex = 'ro'\n")
    assert reads.door.engine().access.label == "ro"


def test_settings_that_are_written_twice_in_one_tick_of_the_clock_count(reads: Reads) -> None:
    """The second text is as long as the first, and the file's times say that nothing was written since."""
    reads.config.write_text("[access]\ncodex = 'rw'\n")
    reads.door.engine()
    before = os.stat(reads.config)
    reads.door.engine()
    reads.config.write_text("[access]\ncodex = 'ro'\n")
    os.utime(reads.config, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert reads.door.engine().access.label == "ro"
