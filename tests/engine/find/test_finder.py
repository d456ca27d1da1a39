"""The search over everything: nothing is missed, it tells early and stops when told, and the best field comes first."""

import os
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memtui.engine import Engine
from memtui.engine.find.finder import SNIPPET, find, graded
from memtui.engine.find.index import discard, words
from memtui.engine.model import Actor, Address, Hit, Memory, Root, SearchQuery, SearchResult
from memtui.errors import UsageError
from memtui.matching import fold, parse, typed
from tests.examples import examples

ME = Actor("cli")


class Place:
    """Two roots, and engines on them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.start = time.time()
        self.roots = (
            Root("notes", str(folder / "notes"), scope="global"),
            Root("mine", str(folder / "mine"), agent="memtui", scope="project"),
        )
        for root in self.roots:
            os.makedirs(root.path)

    def engine(self) -> Engine:
        return Engine.open(self.roots, state_dir=str(self.folder / "state"))

    def write(self, address: str, text: str | bytes, *, age: float = 3600.0) -> None:
        root, _, path = address.partition("/")
        full = self.folder / root / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_bytes(text if isinstance(text, bytes) else text.encode())
        then = self.start - age
        os.utime(full, (then, then))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "place")


def names(found: SearchResult) -> list[str]:
    return [str(hit.memory.address) for hit in found.hits]


def later() -> int:
    """Return the time a minute from now, so that what was just written counts as settled."""
    return time.time_ns() // 1_000_000 + 60_000


def test_names_descriptions_and_bodies_of_every_root_are_found(place: Place) -> None:
    place.write("notes/tabs.md", "nothing")
    place.write("notes/about.md", "---\ndescription: all about Tabs\n---\nnothing")
    place.write("mine/deep/er/body.md", "one\ntwo\n  we use TABS here, tabs!\n")
    place.write("mine/other.md", "spaces")
    with place.engine() as engine:
        found = engine.search.find(SearchQuery("tabs"))
        assert names(found) == ["notes/tabs.md", "notes/about.md", "mine/deep/er/body.md"]
        assert (found.total, found.complete, dict(found.roots)) == (3, True, {"notes": 2, "mine": 1})
        last = found.hits[-1]
        assert (last.field, last.line, last.column, last.places) == ("body", 3, 10, 2)
        assert [last.snippet[a:b] for a, b in last.marks] == ["TABS", "tabs"]
        assert names(engine.search.find(SearchQuery("tabs", scope="project"))) == ["mine/deep/er/body.md"]
        assert names(engine.search.find(SearchQuery("tabs", agent="memtui"))) == ["mine/deep/er/body.md"]
        assert names(engine.search.find(SearchQuery("tabs", roots=frozenset({"notes"})))) == names(found)[:2]
        assert names(engine.search.find(SearchQuery("tabs", bodies=False))) == names(found)[:2]
        assert engine.search.find(SearchQuery("  ")).total == 0
        hits, more = engine.search.once("tabs", limit=2)
        assert (tuple(hits), more) == (found.hits[:2], True)
        with pytest.raises(UsageError):
            engine.search.once(" ")


def test_of_equal_hits_pinned_then_used_then_recent_ones_come_first(place: Place) -> None:
    for name, age in (("old", 9_000.0), ("new", 3_600.0), ("used", 9_500.0), ("pinned", 9_900.0)):
        place.write(f"notes/{name}.md", "the word", age=age)
    with place.engine() as engine:
        engine.watch.reconcile()
        engine.pins.record_use(Address("notes", "used.md"), actor=Actor("agent:x"))
        engine.pins.set([Address("notes", "pinned.md")], True, actor=ME)  # noqa: FBT003
        assert names(engine.search.find(SearchQuery("word"))) == [
            f"notes/{n}.md" for n in ("pinned", "used", "new", "old")
        ]


def test_what_is_kept_follows_the_disk(place: Place) -> None:
    place.write("notes/a.md", "first text")
    place.write("notes/b.md", "first text")
    with Engine.open(place.roots, state_dir=str(place.folder / "state"), clock=later) as engine:
        assert names(engine.search.find(SearchQuery("first"))) == ["notes/a.md", "notes/b.md"]
        place.write("notes/a.md", "second text", age=30)
        assert names(engine.search.find(SearchQuery("second"))) == ["notes/a.md"]
        assert names(engine.search.find(SearchQuery("first"))) == ["notes/b.md"]
        # Without listing anew, what is on disk still decides what is a hit.
        place.write("notes/b.md", "third text", age=20)
        assert names(engine.search.find(SearchQuery("first", fresh=False))) == []
        os.unlink(place.folder / "notes/a.md")
        assert names(engine.search.find(SearchQuery("second", fresh=False))) == []
        engine.search.forget()
        assert names(engine.search.find(SearchQuery("third"))) == ["notes/b.md"]


def test_it_tells_early_and_stops_when_told(place: Place) -> None:
    for number in range(60):
        place.write(f"notes/{'tabs' if number == 7 else 'other'}-{number}.md", "we use tabs")
    with place.engine() as engine:
        told: list[SearchResult] = []
        found = engine.search.find(SearchQuery("tabs"), tell=told.append)
        assert found.total == 60
        assert names(told[0]) == ["notes/tabs-7.md"]
        assert not told[0].complete
        asked = []

        def stop() -> bool:
            asked.append(1)
            return len(asked) > 10

    discard(str(place.folder / "state"))
    with place.engine() as engine:
        stopped = engine.search.find(SearchQuery("tabs"), stop=stop)
        assert (stopped.hits, stopped.complete) == ((), False)
        assert len(asked) == 11


def test_old_versions_and_deleted_memories_are_found_when_asked_for(place: Place) -> None:
    with place.engine() as engine:
        kept = engine.memories.create(Address("notes", "a.md"), "the old needle\n", actor=ME)
        engine.save(Address("notes", "a.md"), "the new text\n", expected_sha256=kept.sha256, actor=ME)
        engine.memories.create(Address("mine", "gone.md"), "---\ndescription: d\n---\na needle here\n", actor=ME)
        engine.memories.delete([Address("mine", "gone.md")], actor=ME)
        assert engine.search.find(SearchQuery("needle")).total == 0
        found = engine.search.find(SearchQuery("needle", versions=True))
        assert sorted(names(found)) == ["mine/gone.md", "notes/a.md"]
        assert (found.total, dict(found.roots)) == (2, {"mine": 1, "notes": 1})
        by_name = {hit.memory.address.name: hit for hit in found.hits}
        old = by_name["a.md"]
        assert old.version is not None
        assert old.version.sha256 == kept.sha256
        assert (old.memory.sha256 != kept.sha256, old.memory.missing) == (True, False)
        assert (old.field, old.line, old.column, old.snippet) == ("body", 1, 9, "the old needle")
        gone = by_name["gone.md"]
        assert gone.memory.missing
        assert gone.memory.sha256 is None
        assert gone.line == 4
        assert engine.search.find(SearchQuery("needle gone", versions=True)).total == 1  # the name counts as well
        assert engine.search.find(SearchQuery("gone", versions=True)).total == 0  # but alone it says nothing of a text
        assert engine.search.find(SearchQuery("new", versions=True)).total == 1  # the current version is no old one
        assert engine.search.find(SearchQuery("needle -old", versions=True)).total == 1
        assert engine.search.find(SearchQuery("needle", versions=True, scope="global")).total == 1
        hits, _ = engine.search.once("needle", versions=True)
        assert len(hits) == 2


def test_a_redacted_version_is_not_found(place: Place) -> None:
    with place.engine() as engine:
        first = engine.memories.create(Address("notes", "a.md"), "a secret\n", actor=ME)
        engine.save(Address("notes", "a.md"), "clean\n", expected_sha256=first.sha256, actor=ME)
        assert engine.search.find(SearchQuery("secret", versions=True)).total == 1
        engine.redaction.redact(Address("notes", "a.md"), first.sha256, reason="a key", actor=ME)
        assert engine.search.find(SearchQuery("secret", versions=True)).total == 0


def without_index(place: Place) -> Engine:
    """Open an engine where the name of the index is taken, so that every text is read."""
    state = place.folder / "state without an index"
    (state / "index.db").mkdir(parents=True, exist_ok=True)
    return Engine.open(place.roots, state_dir=str(state))


TEXT = st.text('abßİé -"\n日本Ba_', max_size=24)
NAME = st.text("abßé 日-_", min_size=1, max_size=6).filter(lambda name: name.strip() == name and name != "-")


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(NAME, TEXT, min_size=1, max_size=6), TEXT, st.data())
def test_the_index_finds_what_the_scan_finds(
    tmp_path_factory: pytest.TempPathFactory, memories: dict[str, str], query: str, data: st.DataObject
) -> None:
    place = Place(tmp_path_factory.mktemp("finding") / "place")
    expected = set()
    asked = typed(query)
    for number, (name, text) in enumerate(memories.items()):
        path = f"{'deep/' * (number % 2)}{name}.md"
        place.write(f"notes/{path}", text)
        held = [fold(path), fold(text)]
        if asked and asked.allows(*held) and all(any(t.is_in(one) for one in held) for t in asked.terms):
            expected.add(f"notes/{path}")
    with without_index(place) as engine:
        scanned = engine.search.find(SearchQuery(query))
    assert set(names(scanned)) == expected
    with place.engine() as engine:
        assert engine.search.find(SearchQuery(query)) == scanned  # Nothing is in the index yet.
        engine.search.settle()
        assert engine.search.find(SearchQuery(query)) == scanned
        changed = data.draw(st.sampled_from(sorted(memories)))
        number = list(memories).index(changed)
        place.write(f"notes/{'deep/' * (number % 2)}{changed}.md", data.draw(TEXT), age=30)
        now = engine.search.find(SearchQuery(query))  # One text is read, the others are in the index.
        engine.search.settle()
    with without_index(place) as engine:
        assert engine.search.find(SearchQuery(query)) == now
    with place.engine() as engine:
        told: list[SearchResult] = []
        assert engine.search.find(SearchQuery(query), tell=told.append) == now
        for found in told:
            assert {hit for hit in found.hits if hit.version is None} <= set(now.hits)
        if asked:
            assert engine.search.once(query)[0] == now.hits


def test_the_first_hits_come_before_the_list_and_each_is_looked_at(place: Place) -> None:
    for number in range(250):
        place.write(f"notes/{number:03}.md", f"the word of {number}", age=9_000 + number)
    with place.engine() as engine:
        engine.search.find(SearchQuery("word"))
        engine.search.settle()
    place.write("notes/000.md", "something else now")
    os.unlink(place.folder / "notes/001.md")
    place.write("notes/003.md", "the word is still here, but this is no longer the text of the row", age=9_003)
    place.write("notes/new.md", "a word that is new")
    told: list[SearchResult] = []
    with place.engine() as engine:
        found = engine.search.find(SearchQuery("word", limit=5), tell=told.append)
        assert not told[0].complete
        assert names(told[0]) == ["notes/002.md", "notes/004.md"]  # what is new is known by no list yet
        assert names(found)[:2] == ["notes/new.md", "notes/002.md"]
        assert (found.total, found.complete) == (249, True)


def test_texts_that_are_gone_leave_the_index(place: Place) -> None:
    place.write("notes/a.md", "first needle")
    place.write("notes/b.md", "second needle")
    with place.engine() as engine:
        engine.search.find(SearchQuery("needle"))
        engine.search.settle()
        assert b"first needle" in kept(place)
        os.unlink(place.folder / "notes/a.md")
        place.write("notes/b.md", "third needle", age=30)
        assert names(engine.search.find(SearchQuery("needle"))) == ["notes/b.md"]
        engine.search.settle()
        assert b"first needle" not in kept(place)
        assert b"second needle" not in kept(place)
        assert b"third needle" in kept(place)


def kept(place: Place) -> bytes:
    return b"".join(path.read_bytes() for path in (place.folder / "state").glob("index.db*"))


def test_a_redaction_empties_the_index(place: Place) -> None:
    with place.engine() as engine:
        first = engine.memories.create(Address("notes", "a.md"), "a secret\n", actor=ME)
        assert engine.search.find(SearchQuery("secret")).total == 1
        engine.search.settle()
        engine.save(Address("notes", "a.md"), "clean\n", expected_sha256=first.sha256, actor=ME)
        assert b"a secret" in kept(place)
        engine.redaction.redact(Address("notes", "a.md"), first.sha256, reason="a key", actor=ME)
        assert b"secret" not in kept(place)
        assert not engine.redaction.unerased().pending
        assert engine.search.find(SearchQuery("clean")).total == 1


def test_who_only_reads_leaves_the_index_as_it_is(place: Place) -> None:
    place.write("notes/a.md", "a needle")
    with place.engine() as engine:
        engine.rows.list()
    with Engine.open(place.roots, state_dir=str(place.folder / "state"), read_only=True) as engine:
        assert names(engine.search.find(SearchQuery("needle"))) == ["notes/a.md"]
    assert not (place.folder / "state" / "index.db").exists()


def test_an_index_that_is_damaged_under_way_changes_no_answer(place: Place) -> None:
    for number in range(40):
        place.write(f"notes/{number}.md", f"needle {number}")
    with place.engine() as engine:
        before = engine.search.find(SearchQuery("needle 3"))
        engine.search.settle()
        path = place.folder / "state" / "index.db"
        path.write_bytes(path.read_bytes()[:4_096] + b"?" * 50_000)
        for beside in path.parent.glob("index.db-wal"):
            beside.write_bytes(b"?" * 5_000)
        for _ in range(3):
            assert engine.search.find(SearchQuery("needle 3")) == before
            engine.search.settle()


def test_two_processes_build_at_once(place: Place) -> None:
    for number in range(300):
        place.write(f"notes/{number}.md", f"needle {number}")
    with place.engine() as one, place.engine() as other:
        found = [one.search.find(SearchQuery("needle")), other.search.find(SearchQuery("needle"))]
        one.search.settle()
        other.search.settle()
        found += [one.search.find(SearchQuery("needle")), other.search.find(SearchQuery("needle"))]
        assert all(each == found[0] for each in found)
        assert found[0].total == 300


PIECES = (
    "tabs",
    "Ferry",
    "café",
    "CAFE\u0301",
    "部署脚本",
    "署",
    "retry_queue",
    " ",
    "\n",
    "-",
    "x1",
    "ｆｅｒｒｙ",
    "a" * 1_500,
)


@given(
    st.dictionaries(
        st.sampled_from(["a.md", "ferry/b.md", "café.md", "部署.md"]), st.lists(st.sampled_from(PIECES), max_size=12)
    ),
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=4),
)
@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_holders_of_whole_words_are_the_same_by_the_index_and_by_reading(
    tmp_path_factory: pytest.TempPathFactory, texts: dict[str, list[str]], asked: list[str]
) -> None:
    place = Place(tmp_path_factory.mktemp("holders"))
    for name, parts in texts.items():
        place.write(f"notes/{name}", "".join(parts) + " Description: no\n")
    wanted = words(fold("".join(asked))).words
    expected = [
        {name for name, parts in texts.items() if word in words(fold("".join(parts) + " Description: no\n")).words}
        for word in wanted
    ]
    named = [{name for name in texts if word in words(fold(name)).words} for word in wanted]
    for _ in range(2):
        with place.engine() as engine:
            held = engine.search.holders(wanted, SearchQuery(""))
            paths = [row.address.path for row in held.rows]
            assert [{paths[at] for at in one.bodies} for one in held.words] == expected
            assert [{paths[at] for at in one.names} for one in held.words] == named
            engine.search.settle()


LETTERS = st.text('aAbßİsSéE\u0301ﬁ \n-"日', max_size=60)


def score(query: str, *, name: str = "", description: str = "", body: str = "") -> Hit | None:
    return find(parse(query), Memory(Address("r", name), "s", "a", 0, 0, None, description), body)


def order(query: str, *memories: tuple[str, str, str]) -> list[str]:
    """Return the names of those that match, the best first."""
    ranks = [(graded(parse(query), name, about, body.casefold()), name) for name, about, body in memories]
    return [name for _, name in sorted((best[0], name) for best, name in ranks if best)]


def test_a_substring_in_any_case_matches() -> None:
    assert score("PREF", name="notes/preferences.md") is not None
    assert score("strasse", body="Die STRAẞE, die Straße") is not None
    assert score("ΣΊΣΥΦΟΣ", body="σίσυφος") is not None
    assert score("other", name="preferences.md", description="about tabs", body="text") is None


def test_every_word_must_be_somewhere() -> None:
    texts = {"name": "deploy.md", "description": "how releases go out", "body": "line one\nuse the blue button\n"}
    found = score("blue deploy", **texts)
    assert found is not None
    assert found.field == "name"
    assert found.places == 1
    assert score("blue absent", **texts) is None
    far = score("button   LINE", **texts)
    assert far is not None
    assert (far.field, far.line, far.column, far.snippet) == ("body", 2, 14, "use the blue button")


def test_a_phrase_must_stand_together_and_may_go_over_a_line_end() -> None:
    assert score('"blue button"', body="the blue\n   button") is not None
    assert score('"blue button"', body="the button is blue") is None
    assert score('"blue button"', name="blue.md", body="button") is None
    found = score('"blue button"', body="one\nthe Blue\n   button")
    assert found is not None
    assert (found.line, found.column, found.snippet) == (2, 5, "the Blue")
    assert [found.snippet[a:b] for a, b in found.marks] == ["Blue"]


def test_an_excluded_word_may_be_nowhere() -> None:
    assert score("blue -red", body="blue") is not None
    for field in ("name", "description", "body"):
        texts = {"name": "", "description": "", "body": "blue"} | {field: "blue RED"}
        assert score("blue -red", **texts) is None
    assert score('blue -"red thing"', body="blue red\nthing") is None
    assert score('blue -"red thing"', body="blue thing red") is not None


def test_names_come_before_descriptions_before_bodies() -> None:
    assert order(
        "tabs",
        ("in-body.md", "", "we use tabs tabs tabs"),
        ("in-description.md", "about tabs", ""),
        ("tabs/in-folder.md", "", ""),
        ("tabs.md", "", ""),
        ("no.md", "", ""),
    ) == ["tabs.md", "tabs/in-folder.md", "in-description.md", "in-body.md"]


def test_the_whole_query_comes_before_its_words_and_whole_words_before_beginnings_before_parts() -> None:
    assert order(
        "blue button",
        ("words.md", "", "the button is blue"),
        ("part.md", "", "the skyblue buttons"),
        ("begin.md", "", "the blue buttons"),
        ("whole.md", "", "the blue button"),
    ) == ["whole.md", "begin.md", "part.md", "words.md"]
    assert order("tab", ("c.md", "", "stab"), ("b.md", "", "tabs"), ("a.md", "", "a tab")) == ["a.md", "b.md", "c.md"]


def test_line_column_and_snippet_are_those_of_the_match() -> None:
    found = score("needle", body="one\n\n  the Needle here \r\nneedles\n")
    assert found is not None
    assert (found.field, found.line, found.column, found.snippet) == ("body", 3, 7, "the Needle here")
    assert found.marks == ((4, 10),)
    assert found.places == 2
    found = score("x", description="only x")
    assert found is not None
    assert (found.line, found.column, found.snippet, found.marks) == (None, None, "only x", ((5, 6),))


def test_the_line_with_the_most_of_the_words_is_shown() -> None:
    body = "a button\n" * 3 + "blue\nthe button that is blue\nthe blue button\n"
    found = score("blue button", body=body)
    assert found is not None
    assert found.line == 6


def test_a_long_line_is_cut_around_the_match() -> None:
    for before, after in ((0, 5000), (5000, 0), (3000, 3000), (30, 100), (2, 200)):
        found = score("needle", body="first\n" + "word " * (before // 5) + "Needle" + " tail" * (after // 5))
        assert found is not None
        assert [found.snippet[a:b] for a, b in found.marks] == ["Needle"]
        assert len(found.snippet) <= SNIPPET + 2
        assert found.snippet.startswith("…") == (before > SNIPPET)
        assert found.line == 2


def test_letters_that_grow_when_folded_do_not_move_the_snippet() -> None:
    found = score("needle", body="ß" * 1000 + "needle" + "ß" * 1000)
    assert found is not None
    assert [found.snippet[a:b] for a, b in found.marks] == ["needle"]
    assert found.column == 1001


@given(LETTERS, LETTERS, LETTERS, LETTERS)
def test_a_hit_holds_every_term_and_nothing_with_all_of_them_is_missed(
    query: str, name: str, description: str, body: str
) -> None:
    if not query.split():
        return
    asked = parse(query)
    texts = [fold(text) for text in (name, description, body)]
    expected = all(any(term.is_in(text) for text in texts) for term in asked.terms) and asked.allows(*texts)
    found = score(query, name=name, description=description, body=body)
    assert (found is not None) == expected
    if found is None:
        return
    assert "\n" not in found.snippet or found.field != "body"
    assert len(found.snippet) <= SNIPPET + 2
    for start, end in found.marks:
        assert 0 <= start < end <= len(found.snippet)
    assert (found.line is None) == (found.column is None) == (found.field != "body")
    if found.line is not None and found.column is not None:
        line = body.split("\n")[found.line - 1]
        assert asked.spans(body)
        assert found.column <= len(line)
        assert any(
            start == len("\n".join(body.split("\n")[: found.line - 1])) + (found.line > 1) + found.column - 1
            for start, _ in asked.spans(body)
        )
