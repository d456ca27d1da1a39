"""The session every front starts from."""

import os
from pathlib import Path

import pytest

from memtui.config.settings import Settings, load_settings, read_environment
from memtui.errors import NotFoundError, UsageError
from memtui.wire.session import Options, open_session, other_projects, own_roots


@pytest.fixture
def settings() -> Settings:
    return load_settings(read_environment())


def test_opening_touches_nothing_on_disk(settings: Settings, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    session = open_session(settings, Options(), lock_wait=1)
    session.engine.close()
    assert sorted(tmp_path.rglob("*")) == before
    assert [root.id for root in session.roots] == ["memtui:global", "memtui:project", "memtui:workspace"]


def test_the_options_reach_the_roots(settings: Settings, tmp_path: Path) -> None:
    project = tmp_path / "elsewhere"
    project.mkdir()
    options = Options(project=str(project), roots=(f"notes={tmp_path}",))
    session = open_session(settings, options, lock_wait=1)
    assert session.engine.roots.find("notes").path == str(tmp_path)
    assert session.surroundings.project == str(project)
    assert session.options is options


def test_other_projects_are_found_on_demand(settings: Settings, home: Path) -> None:
    memory = home / ".claude" / "projects" / "-somewhere-else" / "memory"
    memory.mkdir(parents=True)
    (memory / "MEMORY.md").write_text("")
    session = open_session(settings, Options(), lock_wait=1)
    here = {root.path for root in session.roots}
    assert str(memory) not in here
    assert str(memory) in {root.path for root in other_projects(session)}


def test_own_roots_are_those_of_the_project_also_when_all_were_asked_for(settings: Settings, home: Path) -> None:
    memory = home / ".claude" / "projects" / "-somewhere-else" / "memory"
    memory.mkdir(parents=True)
    one = open_session(settings, Options(), lock_wait=1)
    every = open_session(settings, Options(all_projects=True), lock_wait=1)
    assert str(memory) in {root.path for root in every.roots}
    assert [root.id for root in own_roots(every)] == [root.id for root in one.roots]
    assert own_roots(one) is one.roots


def test_a_project_that_is_not_there_is_named(settings: Settings) -> None:
    with pytest.raises(NotFoundError, match="nowhere"):
        open_session(settings, Options(project="nowhere"), lock_wait=1)


def test_a_working_directory_that_is_gone_is_no_traceback(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(UsageError, match="working directory is gone"):
        open_session(settings, Options(), lock_wait=1)
    os.chdir(tmp_path)
