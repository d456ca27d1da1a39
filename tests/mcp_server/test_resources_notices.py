"""A client is told of every change, whoever made it, in the way of its protocol, and never of what it may not see."""

import threading

import anyio
import pytest

from memtui.engine.model import Actor, Address
from memtui.mcp_server import resources
from tests.mcp_server.talk import ProtocolError, Store, Talk, talk

URI = "memory:///memories/global/a.md"
ADDRESS = Address("memtui:global", "a.md")
LISTED, UPDATED = "notifications/resources/list_changed", "notifications/resources/updated"


def change(store: Store, text: str) -> None:
    """Write as another process of memtui does."""
    with store.engine() as engine:
        start = engine.read(ADDRESS)
        engine.save(ADDRESS, text, expected_sha256=start.sha256, actor=Actor("mcp:gemini"))


async def subscribed(it: Talk) -> None:
    await it.hello()
    await it.ask("resources/list")
    await it.ask("resources/subscribe", uri=URI)


async def test_another_program_s_file_and_another_client_s_write_are_told(store: Store) -> None:
    store.write("global/a.md", "one\n")
    store.know()
    async with talk() as it:
        await subscribed(it)
        await anyio.to_thread.run_sync(change, store, "two\n")
        await it.wait_told(UPDATED, uri=URI)
        await anyio.to_thread.run_sync(store.write, "global/new.md", "text\n")
        await it.wait_told(LISTED)


async def test_its_own_changes_are_told_too(store: Store) -> None:
    async with talk() as it:
        await subscribed(it)
        await it.memory("create", path="/memories/global/a.md", file_text="one\n")
        await it.wait_told(LISTED)
        await it.wait_told(UPDATED, uri=URI)


async def test_who_asked_for_nothing_is_still_told_of_new_memories(store: Store) -> None:
    store.write("global/a.md", "one\n")
    store.know()
    async with talk() as it:
        await it.hello()
        await anyio.to_thread.run_sync(store.write, "global/new.md", "text\n")
        await it.wait_told(LISTED)


async def test_fifty_creations_of_its_own_are_few_messages(store: Store) -> None:
    async with talk() as it:
        await it.hello()
        for number in range(50):
            await it.memory("create", path=f"/memories/global/{number}.md", file_text="one\n")
            if number == 25:
                await it.wait_told(LISTED)
                assert (await it.ask("resources/list"))["resources"]
        await it.wait(lambda: sum(one["method"] == LISTED for one in it.told) == 2)
        assert len((await it.ask("resources/list"))["resources"]) == 50
        assert [one["method"] for one in it.told] == [LISTED, LISTED]


async def test_after_unsubscribing_only_the_list_is_told(store: Store) -> None:
    store.write("global/a.md", "one\n")
    store.know()
    async with talk() as it:
        await subscribed(it)
        await it.ask("resources/unsubscribe", uri=URI)
        await anyio.to_thread.run_sync(change, store, "two\n")
        await it.memory("create", path="/memories/global/b.md", file_text="one\n")
        await it.wait_told(LISTED)
        assert UPDATED not in [one["method"] for one in it.told]


async def test_a_stream_of_the_later_protocol_brings_what_was_asked_for(store: Store) -> None:
    store.write("global/a.md", "one\n")
    store.know()
    async with talk() as it:
        await it.hello(modern=True)
        asked = {"resourcesListChanged": True, "resourceSubscriptions": [URI]}
        await it.begin("subscriptions/listen", notifications=asked)
        await it.wait_told("notifications/subscriptions/acknowledged")
        await anyio.to_thread.run_sync(change, store, "two\n")
        await it.wait_told(UPDATED, uri=URI)
        await it.memory("create", path="/memories/global/b.md", file_text="one\n")
        await it.wait_told(LISTED)


async def test_only_memories_can_be_subscribed_to(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "MAX_SUBSCRIPTIONS", 1)
    async with talk() as it:
        await it.hello()
        with pytest.raises(ProtocolError, match="E_USAGE"):
            await it.ask("resources/subscribe", uri="file:///etc/passwd")
        await it.ask("resources/subscribe", uri=URI)
        with pytest.raises(ProtocolError, match="E_TOO_MANY"):
            await it.ask("resources/subscribe", uri="memory:///memories/global/b.md")


async def test_who_was_shut_out_is_told_no_more_until_let_in_again(store: Store) -> None:
    async with talk() as it:
        await subscribed(it)
        store.configure("[agents]\nenabled = false\n")
        await anyio.to_thread.run_sync(store.write, "global/secret.md", "text\n")
        assert (await it.memory("view", path="/memories"))[1].startswith("E_DISABLED")
        store.configure("")
        await it.ask("resources/list")
        await it.memory("create", path="/memories/global/a.md", file_text="one\n")
        await it.wait_told(UPDATED, uri=URI)
        assert not any("secret" in str(one) for one in it.told)


def watches() -> set[threading.Thread]:
    """The threads that follow memories now, for whomever."""
    return {thread for thread in threading.enumerate() if thread.name == "memtui-watch"}


async def test_the_watch_ends_with_the_connection(store: Store) -> None:
    before = watches()
    async with talk() as it:
        await subscribed(it)
        await it.memory("create", path="/memories/global/a.md", file_text="one\n")
        await it.wait_told(LISTED)
        begun = watches() - before
        assert begun
    assert not begun & watches()


class Late:
    """A watch that begins only when the test says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begin = threading.Event()
        follow = resources.Notices._follow

        def late(self_: resources.Notices) -> None:
            self.begin.wait(20)
            follow(self_)

        monkeypatch.setattr(resources.Notices, "_follow", late)


@pytest.mark.parametrize("modern", [False, True])
@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("by_memtui", [False, True])
async def test_a_change_right_after_subscribing_is_told_however_late_the_watch_begins(
    store: Store, monkeypatch: pytest.MonkeyPatch, *, modern: bool, known: bool, by_memtui: bool
) -> None:
    store.write("global/a.md", "one\n")
    if known:
        store.know()
    late = Late(monkeypatch)
    async with talk() as it:
        await it.hello(modern=modern)
        if modern:
            await it.begin("subscriptions/listen", notifications={"resourceSubscriptions": [URI, "nonsense"]})
            await it.wait_told("notifications/subscriptions/acknowledged")
        else:
            await it.ask("resources/subscribe", uri=URI)
        await anyio.to_thread.run_sync(change if by_memtui else _write_outside, store, "two\n")
        late.begin.set()
        await it.wait_told(UPDATED, uri=URI)


def _write_outside(store: Store, text: str) -> None:
    store.write("global/a.md", text)


async def test_a_memory_that_is_made_right_after_subscribing_is_told(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = Late(monkeypatch)
    async with talk() as it:
        await it.hello()
        await it.ask("resources/subscribe", uri=URI)
        store.write("global/a.md", "new\n")
        late.begin.set()
        await it.wait_told(UPDATED, uri=URI)
