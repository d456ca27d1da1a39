"""The Python client, both forms of it, against a real daemon."""

from __future__ import annotations

import json
from collections.abc import Iterator

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.daemon.client import (
    AsyncDaemonClient,
    DaemonClient,
    DaemonError,
    MemoryChanged,
    TaskChanged,
    Unknown,
    _event_of,
)
from tests.daemon.running import Machine, Running


def test_a_program_remembers_asks_and_follows(running: Running) -> None:
    where = running.where["socket"]
    with (
        DaemonClient(socket=where, client_id="page") as client,
        DaemonClient(socket=where, client_id="page") as follower,
        DaemonClient(socket=where) as other,
    ):
        last = next(iter(_ids(follower)))
        task = client.remember_workspace_memory("The project uses pnpm", scope="project", key="one")
        assert (task.context_mode, task.scope) == ("workspace", "project")
        again = client.remember_workspace_memory("The project uses pnpm", scope="project", key="one")
        assert again.task_id == task.task_id
        with pytest.raises(DaemonError) as refused:
            other.get_workspace_memory_remember_task(task.task_id)
        assert (refused.value.status, refused.value.code) == (404, "remember_task_not_found")
        done = client.get_workspace_memory_remember_task(task.task_id, wait=60)
        assert done.status == "completed"
        assert client.cancel_workspace_memory_task(task.task_id) == done
        assert [one["taskId"] for one in client.tasks()["tasks"]] == [task.task_id]
        assert isinstance(client.status(), dict)
        told = [next(events) for events in [follower.events(last_event_id=last)] for _ in range(3)]
        queued, begun, changed = told
        assert isinstance(queued, TaskChanged)
        assert isinstance(begun, TaskChanged)
        assert (queued.status, begun.status) == ("queued", "running")
        assert isinstance(changed, MemoryChanged)
        assert (changed.source, changed.task_id, changed.client_id) == (
            "workspace_memory_remember",
            task.task_id,
            "page",
        )
        assert (changed.scope, changed.touched_scopes) == ("managed", ("project",))
        seen = next(other.events(last_event_id=begun.id))
        assert seen == changed


def test_a_program_forgets_what_it_was_shown_and_has_the_rest_looked_through(running: Running) -> None:
    with DaemonClient(socket=running.where["socket"], client_id="editor") as client:
        kept = client.remember_workspace_memory("The lighthouse blinks twice.", scope="global")
        client.get_workspace_memory_remember_task(kept.task_id, wait=60)
        asked = client.forget_workspace_memory("lighthouse", scope="user")
        shown = client.get_workspace_memory_forget_task(asked.task_id, wait=60)
        assert shown.result is not None
        assert (shown.scope, shown.result["outcome"], shown.result["touchedScopes"]) == ("user", "found", [])
        ids = [one["id"] for one in shown.result["items"]]
        asked = client.forget_workspace_memory(ids=ids, apply=True)
        gone = client.get_workspace_memory_forget_task(asked.task_id, wait=60)
        assert gone.result is not None
        assert (gone.result["outcome"], gone.result["touchedScopes"]) == ("forgotten", ["user"])
        assert client.recall_workspace_memory("lighthouse")["strategy"] == "none"
        dream = client.dream_workspace_memory()
        assert client.get_workspace_memory_dream_task(dream.task_id, wait=60).status == "completed"
        assert {"workspace_memory_dream", "workspace_memory_recall"} <= set(client.capabilities()["features"])


def _ids(client: DaemonClient) -> Iterator[str]:
    """The id that a stream begins with."""
    with client._http.stream("GET", "/workspace/memory/events") as response:
        for line in response.iter_lines():
            if line.startswith("id: "):
                yield line.removeprefix("id: ")


async def test_the_same_with_an_event_loop(running: Running) -> None:
    async with AsyncDaemonClient(socket=running.where["socket"]) as client:
        task = await client.remember_workspace_memory("Ferries leave at six.", context_mode="clean")
        done = await client.get_workspace_memory_remember_task(task.task_id, wait=60)
        assert done.status == "completed"
        with pytest.raises(DaemonError, match="invalid_event_id"):
            await anext(client.events(last_event_id="abc"))
        async for event in client.events(last_event_id="0-0"):
            assert isinstance(event, TaskChanged | MemoryChanged)
            break


def test_a_port_wants_the_token(machine: Machine) -> None:
    with machine.serve("--port", "0", "--no-socket") as running:
        assert running.where["socket"] is None
        assert not machine.socket.exists()
        with open(running.where["token_file"], encoding="ascii") as file:
            token = file.read()
        with DaemonClient(url=running.where["url"], token=token) as client:
            assert client.tasks() == {"tasks": []}
        right = {"Authorization": f"Bearer {token}"}
        path = "/workspace/memory/tasks"
        for headers, status in (
            ([], 401),
            ([("Authorization", "Bearer " + token[:-1])], 401),
            ([("Authorization", token)], 401),
            ([("Authorization", right["Authorization"])] * 2, 400),
            ([*right.items(), ("Host", "evil.example")], 421),
            ([*right.items(), ("Host", "127.0.0.1:1")], 421),
            ([*right.items(), ("Origin", running.where["url"])], 403),
        ):
            assert running.http.get(path, headers=headers).status_code == status
        assert running.http.get(f"{path}?token={token}").status_code == 401
        assert running.http.get("/health").status_code == 200
    with (
        machine.serve("--port", "0", "--new-token") as running,
        DaemonClient(url=running.where["url"], token=token) as client,
        pytest.raises(DaemonError, match="token"),
    ):
        client.tasks()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the library's own socket
def test_no_daemon_is_said(machine: Machine) -> None:
    with DaemonClient(socket=str(machine.socket)) as client, pytest.raises(DaemonError, match="memtui serve"):
        client.capabilities()


@given(
    st.text(max_size=40) | st.builds(json.dumps, st.recursive(st.none() | st.text(max_size=5), st.lists)),
    st.sampled_from(["memory_changed", "task", "dream", "resync", "message"]),
)
def test_what_cannot_be_read_is_told_as_it_came(data: str, name: str) -> None:
    assert _event_of(httpx2.ServerSentEvent(name, data, "1-2")) == (Unknown("1-2", name, data) if data else None)
