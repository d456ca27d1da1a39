"""Back and forward through places, and bookmarks that follow their memory or say that it is gone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memtui.engine.model import Actor, Address, AuditRecord, Memory
from memtui.errors import NotFoundError
from memtui.tui.browse.jumps import KEPT, Bookmark, JumpList, Spot, read_bookmarks, whereabouts
from tests.tui.fake_engine import NOW
from tests.tui.shown import engine_with, shown

AUTH = "memtui:project/decisions/auth.md"
CODE = "memtui:global/style/code.md"
TODO = "memtui:workspace/todo.md"


def spot(name: str) -> Spot:
    return Spot("memories", ("memory", "notes", name))


def test_back_and_forward() -> None:
    places = JumpList()
    assert places.back(spot("a")) is None
    assert places.forward() is None
    places.note(spot("a"))
    places.note(spot("b"))
    assert places.back(spot("c")) == spot("b")
    assert places.back(spot("b")) == spot("a")
    assert places.back(spot("a")) is None
    assert [places.forward(), places.forward(), places.forward()] == [spot("b"), spot("c"), None]


def test_a_jump_from_the_middle_forgets_what_was_ahead() -> None:
    places = JumpList()
    for name in "abc":
        places.note(spot(name))
    places.back(spot("d"))
    places.back(spot("c"))
    places.note(spot("e"))
    assert places.forward() is None
    assert places.back(spot("f")) == spot("e")
    assert places.back(spot("e")) == spot("a")


@given(st.lists(st.sampled_from("abc<>"), max_size=300))
def test_it_never_leaves_the_list_and_stays_small(steps: list[str]) -> None:
    places = JumpList()
    for step in steps:
        if step == "<":
            places.back(spot("here"))
        elif step == ">":
            places.forward()
        else:
            places.note(spot(step))
        assert len(places._spots) <= KEPT + 1
        assert 0 <= places._at <= len(places._spots)


class Past:
    """An audit, oldest first."""

    def __init__(self, *records: tuple[str, str | None], there: str = "") -> None:
        self._records = [
            AuditRecord(
                number, "", Address("r", old), Address("r", new) if new else None, "outside",
                "renamed" if new else "deleted", None, None, NOW + number, "done",
            )
            for number, (old, new) in enumerate(records)
        ]  # fmt: skip
        self._there = there

    def audit(self, *, address: Address | None = None, limit: int = 200) -> tuple[AuditRecord, ...]:
        found = [record for record in self._records if address in (record.address, record.new_address)]
        return tuple(reversed(found))[:limit]

    def memory(self, address: Address) -> Memory:
        if address.path != self._there:
            raise NotFoundError("gone")
        return Memory(address, "global", "files", 0, NOW, None)


def find(past: Past, name: str, at: int = NOW) -> tuple[str, bool]:
    address, there = whereabouts(past, Address("r", name), at)
    return address.path, there


def test_a_renamed_memory_is_found_through_every_rename() -> None:
    assert find(Past(("a", "b"), ("b", "c"), there="c"), "a") == ("c", True)
    assert find(Past(("a", "b"), ("b", "a"), there="a"), "a") == ("a", True)
    assert find(Past(there="a"), "a") == ("a", True)


def test_a_deleted_one_is_said_under_its_last_name() -> None:
    assert find(Past(("a", "b"), ("b", None)), "a") == ("b", False)


def test_what_was_renamed_before_the_bookmark_was_set_is_not_followed() -> None:
    assert find(Past(("a", "b"), there="a"), "a", at=NOW + 5_000) == ("a", True)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["a", "Z", "é", ""]), inner),
        max_leaves=15,
    )
)
def test_whatever_was_kept_makes_bookmarks_or_none(value: object) -> None:
    for letter, mark in read_bookmarks(value).items():
        assert letter.isascii()
        assert mark.name
        assert read_bookmarks({letter: [*mark.key, mark.at]}) == {letter: mark}


# On the screen


async def test_bookmarks_are_set_listed_and_gone_to() -> None:
    async with shown() as screen:
        await screen.go(AUTH)
        await screen.press("b", "x")
        await screen.until_text(f"Bookmark x: {AUTH}. ' x goes there.")
        await screen.go(TODO)
        await screen.press("'")
        assert "x auth.md" in screen.footer
        await screen.press("x")
        await screen.until(lambda: screen.here == AUTH)
        await screen.press("[")
        await screen.until(lambda: screen.here == TODO)
        await screen.press("]")
        await screen.until(lambda: screen.here == AUTH)


async def test_letters_are_letters_only_for_one_key_and_esc_takes_them_back() -> None:
    async with shown() as screen:
        await screen.go(AUTH)
        await screen.press("b", "escape")
        assert not screen.browser.jumping.bookmarks
        await screen.press("b", "down")
        assert not screen.browser.jumping.bookmarks
        await screen.press("'")
        assert "no bookmark yet" in screen.footer
        await screen.press("d", "'", "p")
        assert not [call for call in screen.engine.calls if call[0] in ("set_pinned", "delete")]
        await screen.press("b", "p", "j")
        assert set(screen.browser.jumping.bookmarks) == {"p"}
        assert not [call for call in screen.engine.calls if call[0] == "set_pinned"]


async def test_a_bookmark_follows_a_rename_and_says_a_deletion() -> None:
    async with shown() as screen:
        await screen.go(AUTH)
        await screen.press("b", "a")
        old, new = Address.parse(AUTH), Address.parse("memtui:project/decisions/login.md")
        screen.engine.rename(old, new, actor=Actor("tui"))
        screen.browser.bridge.refresh([old, new])
        await screen.until(lambda: new in screen.browser.forest.nodes)
        await screen.go(TODO)
        await screen.press("'", "a")
        await screen.until(lambda: screen.here == str(new))
        assert screen.browser.jumping.bookmarks["a"].address == new
        screen.engine.outside_delete(str(new))
        await screen.until(lambda: new not in screen.browser.forest.nodes)
        await screen.press("'", "a")
        await screen.until_text(f"Bookmark a: {new} was deleted")


async def test_a_bookmark_goes_there_from_a_view_and_through_a_filter() -> None:
    async with shown() as screen:
        await screen.go(AUTH)
        await screen.press("b", "a", "/")
        await screen.type("todo")
        await screen.press("enter", "3", "'", "a")
        await screen.until(lambda: screen.here == AUTH and screen.app.screen is screen.browser)
        assert not screen.browser.forest.filtered
        await screen.press("[")
        await screen.until(lambda: screen.app.screen is not screen.browser)


async def test_the_editor_and_the_ends_are_places_to_come_back_to() -> None:
    async with shown(engine_with()) as screen:
        await screen.go(CODE)
        await screen.press("enter")
        await screen.until(lambda: screen.browser.editing)
        await screen.press("escape")
        await screen.until(lambda: not screen.browser.editing)
        await screen.press("G", "[")
        await screen.until(lambda: screen.here == CODE)


async def test_forward_goes_forward_again_after_a_way_back_through_the_tree_and_a_view() -> None:
    async with shown(engine_with()) as screen:
        await screen.go(CODE)
        await screen.press("5", "1", "G")
        last = screen.here
        await screen.press("[")
        await screen.until(lambda: screen.here == CODE)
        await screen.press("[")
        await screen.until(lambda: screen.app.screen is not screen.browser)
        await screen.press("1")  # a jump of its own from the view
        await screen.press("G", "[")
        await screen.until(lambda: screen.here == CODE)
        await screen.press("]")
        await screen.until(lambda: screen.here == last)


async def test_a_bookmark_is_forgotten_and_so_it_is_at_the_next_start() -> None:
    async with shown(place_name="here") as screen:
        await screen.go(AUTH)
        await screen.press("b", "x", "b", "y")
        screen.browser.returning.flush()
        await screen.press("'")
        assert "- and a letter forgets one" in screen.footer
        await screen.press("-", "x")
        await screen.until_text(f"Bookmark x is forgotten; {AUTH} stays as it is.")
        screen.browser.returning.flush()
        kept = screen.engine.places["here"]
        assert isinstance(kept, dict)
        assert set(kept["bookmarks"]) == {"y"}
        await screen.press("'", "-", "escape")
        assert set(screen.browser.jumping.bookmarks) == {"y"}
        await screen.press(":")
        await screen.type("forget bookmark")
        await screen.until_text(f"Forget bookmark y: {AUTH}")
        await screen.press("enter")
        await screen.until(lambda: not screen.browser.jumping.bookmarks)


async def test_no_way_back_is_said() -> None:
    async with shown() as screen:
        await screen.press("[")
        assert "no place to go back to" in screen.footer
        await screen.press("]")
        assert "no place to go forward to" in screen.footer


async def test_bookmarks_are_in_the_palette() -> None:
    async with shown() as screen:
        await screen.go(AUTH)
        await screen.press("b", "q", ":")
        await screen.type("bookmark q")
        await screen.until_text(f"Go to bookmark q: {AUTH}")


def test_a_bookmark_of_a_folder_has_a_name() -> None:
    assert Bookmark(("folder", "notes", "style"), 0).name == "notes/style"
    assert Bookmark(("scope", "global"), 0).name == "global"
