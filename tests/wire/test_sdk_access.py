"""The door to one folder: what the user allows agents holds here too, and nothing is found that was not asked for."""

from contextlib import closing
from pathlib import Path

import pytest

from memtui.config.directories import Directories
from memtui.config.settings import AccessRule, Settings
from memtui.engine.model import Actor
from memtui.errors import RefusedError, UsageError
from memtui.wire.sdk_access import CLIENT, SdkAccess

VIEW = {"command": "view", "path": "/memories"}
CREATE = {"command": "create", "path": "/memories/a.md", "file_text": "x"}


def opened(
    tmp_path: Path, *rules: tuple[str, str, str], enabled: bool = True, client: str = "", access: str | None = None
) -> SdkAccess:
    """A door on a folder, for a user who allows this."""
    place = Directories(str(tmp_path / "c"), str(tmp_path / "s"), str(tmp_path / "d"), "test")
    settings = Settings(place, None, agents_enabled=enabled, access=tuple(AccessRule(*rule) for rule in rules))
    base = str(tmp_path / "base")
    return SdkAccess(lambda: settings, base, actor=Actor("agent:x"), client=client, access=access, lock_wait=5.0)


def test_it_opens_one_folder_and_touches_nothing_before_a_call(tmp_path: Path) -> None:
    with closing(opened(tmp_path)) as door:
        assert [root.path for root in door.tool()._engine.roots.all()] == [str(tmp_path / "base/memories")]
        assert not (tmp_path / "base").exists()
        assert not (tmp_path / "s").exists()
        assert door.tool().call(CREATE).ok
    assert (tmp_path / "s/state.db").exists()
    assert (tmp_path / "base/memories/a.md").read_text() == "x"


@pytest.mark.parametrize(
    ("rule", "client", "access"),
    [
        ((CLIENT, "*", "ro"), "", None),
        (("reviewer", "*", "ro"), "reviewer", None),
        (("*", "global", "ro"), "reviewer", "rw"),
        (("x", "*", "rw"), "", "ro"),
    ],
)
def test_who_may_only_read_only_reads(
    tmp_path: Path, rule: tuple[str, str, str], client: str, access: str | None
) -> None:
    (tmp_path / "base/memories").mkdir(parents=True)
    with closing(opened(tmp_path, rule, client=client, access=access)) as door:
        assert door.tool().call(VIEW).ok
        assert not door.tool().call(CREATE).ok


def test_the_switch_and_the_table_shut_it(tmp_path: Path) -> None:
    with pytest.raises(RefusedError) as caught:
        opened(tmp_path, enabled=False).tool()
    assert caught.value.code == "E_DISABLED"
    for scope in ("*", "global"):
        with pytest.raises(RefusedError) as caught:
            opened(tmp_path, (CLIENT, scope, "off")).tool()
        assert caught.value.code == "E_DISABLED"
    with pytest.raises(UsageError):
        opened(tmp_path, access="nonsense").tool()
