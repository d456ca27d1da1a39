"""Who asked in Qwen Code's rooms, with its host unchanged: by its file of sessions and its sessions' own files."""

import json
import random

import pytest

from memtui.engine.model import Address
from memtui.features.attribution.chat import qwen_rooms
from memtui.features.blame.lines import blame
from tests.examples import chosen_seed, sized, tried
from tests.features.sessions.world import World, memory, world
from tests.transcripts import made

__all__ = ["memory", "world"]


def route(session: str, *, group: bool, **more: str) -> dict[str, object]:
    target = {"channelName": "team-eng", "senderId": "u1", "chatId": "c1", "isGroup": group, **more}
    return {"sessionId": session, "cwd": "/w", "target": target}


def told(world: World, *routes: object, raw: str = "") -> None:
    folder = world.home / ".qwen" / "channels"
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps({f"team-eng:{number}": one for number, one in enumerate(routes)})
    (folder / "sessions.json").write_text(raw or text)


def spoken(world: World, session: str, *turns: tuple[str, str]) -> None:
    """Write a session in which each prompt has one file written."""
    records = []
    for number, (prompt, name) in enumerate(turns):
        at, path = number * 3 + 1, f"{world.memory}/{name}"
        (world.memory / name).write_text(f"{name}\n")
        call = {"id": f"{session}{at}", "name": "write_file", "args": {"file_path": path, "content": f"{name}\n"}}
        result = {"callId": f"{session}{at}", "status": "success"}
        records += [
            made.qwen(at, at - 1 or None, "user", [{"text": prompt}], provenance="real_user"),
            made.qwen(at + 1, at, "assistant", [{"functionCall": call}]),
            made.qwen(at + 2, at + 1, "tool_result", [], toolCallResult=result),
        ]
    named = [one | {"cwd": world.cwd, "sessionId": session} for one in records]
    made.write(world.home / f".qwen/projects/-w/chats/{session}.jsonl", named)


def test_two_people_in_one_room_are_told_apart_in_activity_history_and_blame(world: World) -> None:
    told(world, route("s", group=True), route("alone", group=False, chatId="c2"), {"sessionId": 7})
    spoken(world, "s", ("[Ann] remember it", "1.md"), ("[Bob] and this", "2.md"), ("no head", "3.md"),
           ('[Loop "daily" created by Ann] Scheduled task', "4.md"))  # fmt: skip
    spoken(world, "alone", ("[Ann] typed by u1", "5.md"))
    spoken(world, "other", ("[Ann] in no room", "6.md"))
    world.clock.now += 60_000
    world.engine.watch.reconcile()
    world.read()
    (world.home / ".qwen/channels/sessions.json").unlink()  # as after a clean end
    world.read()
    makers = {}
    for number in range(1, 7):
        address = Address(world.root.id, f"{number}.md")
        uid = world.engine.roots.uid(world.root)
        makers[number] = [turn.words for turn in world.engine.turns.makers(uid, address.path).values()]
        if number < 3:
            assert blame(world.engine, address).runs[0].who("x") == makers[number][0]
    alone = makers.pop(5)[0]
    assert makers == {
        1: ["Ann · qwen · team-eng"],
        2: ["Bob · qwen · team-eng"],
        3: ["unknown · qwen · team-eng"],
        4: ["Ann · qwen · team-eng"],
        6: [],
    }
    assert alone.startswith("person ")
    assert world.engine.turns.all()[0].source == "read"
    assert len(world.engine.turns.all()) == 5
    assert world.engine.journal.verify().records == 6


@pytest.mark.parametrize(
    "raw", ["", "[]", "{", '{"a": 7}', '{"a": {"sessionId": "s", "target": []}}', "[" * 100_000, '"x"']
)
def test_a_file_that_is_none_of_the_host_names_nobody(raw: str, world: World) -> None:
    told(world, raw=raw or "\0")
    assert qwen_rooms(world.place) == ()


def test_names_that_cannot_be_one_are_passed_over(world: World) -> None:
    told(
        world, route("s" * 5_000, group=True), route("s", group=True, chatId="a\0b"), route("t", group=True, chatId="")
    )
    assert qwen_rooms(world.place) == ()
    told(world, route("s", group=True, threadId="9"), *[route(f"s{n}", group=True) for n in range(3)])
    assert [room.chat.thread for room in qwen_rooms(world.place)] == ["9", "", "", ""]


def test_turns_of_rooms_that_go_on_at_once_are_each_of_their_own_speaker(world: World) -> None:
    chance, rooms_, people = random.Random(chosen_seed()), 5, ("Ann", "Bob", "Cy")
    told(world, *(route(f"s{room}", group=True, chatId=f"c{room}") for room in range(rooms_)))
    said: dict[int, list[tuple[str, str]]] = {room: [] for room in range(rooms_)}
    expected = {}
    for number in range(sized(40, 500)):
        who, name = chance.choice(people), f"{number}.md"
        said[chance.randrange(rooms_)].append((f"[{who}] remember {number}", name))
        expected[name] = f"{who} · qwen · team-eng"
    for room, turns in said.items():
        spoken(world, f"s{room}", *turns)
    world.clock.now += 60_000
    world.engine.watch.reconcile()
    world.read()
    uid = world.engine.roots.uid(world.root)
    found = {name: [turn.words for turn in world.engine.turns.makers(uid, name).values()] for name in expected}
    assert found == {name: [who] for name, who in expected.items()}
    tried(turns_read=len(expected))
