"""Deliveries: nothing lost, nothing twice where the receiver cannot know it again, and no secret ever shown."""

import random
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.config.read import load_settings, read_environment
from memtui.engine import Engine
from memtui.engine.ledger.schedules import PlannedRun
from memtui.engine.task import COMPLETED, FAILED, QUEUED, Task
from memtui.errors import RefusedError
from memtui.features.delivery import work
from memtui.features.delivery.outbox import defuse, parts, queue, usable_entry
from memtui.features.delivery.vendors import PostRequest, PostResponse, retry_after, webhook_signature
from memtui.features.schedules.plan import add
from memtui.features.tasks.lanes import work_off
from memtui.features.tasks.shown import may_be_delivered
from memtui.features.tasks.work import workspace_of
from memtui.wire.session import Options, Session, open_session
from tests import planted
from tests.cli.conftest import Cli
from tests.conftest import Clock
from tests.examples import chosen_seed, sized, tried
from tests.features.delivery.fakes import SECRET, Vendors, vendors

WHSEC = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
CONFIG = """
[channels.eng]
speak = true
[channels.mute]
speak = false
[delivery.ding]
kind = "dingtalk"
channel = "eng"
to = "cid1"
app = "robot"
secret = "env:SECRET"
url = "{url}"
[delivery.lark]
kind = "feishu"
channel = "eng"
to = "oc_1"
app = "cli_1"
secret = "env:SECRET"
url = "{url}"
[delivery.hook]
kind = "webhook"
secret = "env:WHSEC"
url = "{url}/hook"
"""


@pytest.fixture
def server() -> Iterator[Vendors]:
    with vendors() as found:
        yield found


@pytest.fixture
def session(server: Vendors, clock: Clock, config: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    monkeypatch.setenv("SECRET", SECRET)
    monkeypatch.setenv("WHSEC", WHSEC)
    monkeypatch.setattr(work, "_tokens", {})
    monkeypatch.setattr(work, "_conversations", {})
    config.write_text(CONFIG.format(url=server.url))
    found = open_session(load_settings(read_environment()), Options(only_roots=True), lock_wait=5)
    clock.advance(seconds=600)  # not at a full hour, when Feishu's are spread
    engine = Engine.open(found.roots, state_dir=found.settings.state_dir, clock=clock)
    yield found._replace(engine=engine)
    engine.close()


def put(session: Session, name: str, text: str, cause: str = "") -> tuple[Task, ...]:
    settings = load_settings(read_environment())
    lane = workspace_of(session.surroundings).id
    with session.engine.claims.together():
        return queue(session.engine, settings, name, cause or text, "news", text, workspace=lane, client="cli")


def run(session: Session, clock: Clock, *, steps: int = 40) -> list[Task]:
    """Work the lane off, going to the time of whatever waits; gives the tasks as they are then."""
    for _ in range(steps):
        work_off(session, workspace=workspace_of(session.surroundings), stop=bool)
        waiting = session.engine.tasks.all(None, (QUEUED,))
        if not waiting:
            break
        clock.now = max(clock.now, min(task.not_before for task in waiting))
    return list(session.engine.tasks.all())


def said(task: Task) -> str:
    return (task.error or ("", ""))[1]


@pytest.mark.parametrize("name", ["ding", "lark", "hook"])
def test_a_message_is_sent_once_by_each_kind(session: Session, server: Vendors, clock: Clock, name: str) -> None:
    assert len(put(session, name, "hello", "one")) == 1
    assert put(session, name, "hello", "one") == (), "the same cause sends it once"
    (task,) = run(session, clock)
    assert (task.state, server.counts()) == (COMPLETED, {"hello": 1})
    session.engine.tasks.finish(task.id, COMPLETED)


@pytest.mark.parametrize(
    ("name", "faults", "state", "words", "times"),
    [
        ("ding", ["expired"], COMPLETED, "", 1),
        ("lark", ["expired"], COMPLETED, "", 1),
        ("ding", ["expired", "expired"], FAILED, "delivery_refused", 0),
        ("ding", ["429", "503"], COMPLETED, "", 1),
        ("ding", ["html"], FAILED, "no JSON", 0),
        ("ding", ["redirect"], FAILED, "redirect", 0),
        ("hook", ["redirect"], FAILED, "HTTP 307", 0),
        ("ding", ["after"], FAILED, "delivery_unknown", 1),
        ("ding", ["before"], FAILED, "delivery_unknown", 0),
        ("ding", ["500"], FAILED, "delivery_unknown", 1),
        ("ding", ["huge"], FAILED, "delivery_unknown", 1),
        ("lark", ["after", "500"], COMPLETED, "", 1),
        ("lark", ["after"] * 4, FAILED, "delivery_unknown", 1),
        ("hook", ["after", "before", "huge"], COMPLETED, "", 1),
        ("hook", ["before"] * 9, FAILED, "delivery_refused", 0),
    ],
)
def test_an_answer_decides_what_becomes_of_it(
    session: Session, server: Vendors, clock: Clock, name: str, faults: list[str], state: str, words: str, times: int
) -> None:
    server.faults = list(faults)
    put(session, name, "hello")
    (task,) = run(session, clock)
    assert (task.state, words in said(task), len(server.came)) == (state, True, times)
    assert (SECRET in said(task), server.credentials) == (False, [])


def test_a_person_sends_what_is_unknown_again(session: Session, server: Vendors, clock: Clock) -> None:
    server.faults = ["before"]
    put(session, "ding", "hello")
    (task,) = run(session, clock)
    session.engine.tasks.retry(task.id)
    assert (run(session, clock)[0].state, server.counts()) == (COMPLETED, {"hello": 1})


def test_a_conversation_that_is_no_open_one_is_converted_once(
    session: Session, server: Vendors, clock: Clock, config: Path
) -> None:
    config.write_text(config.read_text().replace('"cid1"', '"chat77"'))
    put(session, "ding", "a")
    put(session, "ding", "b")
    assert [task.state for task in run(session, clock)] == [COMPLETED] * 2
    assert [room for room, _ in server.came] == ["cid-converted"] * 2


def test_a_token_is_fetched_once_and_again_before_it_ends(session: Session, server: Vendors, clock: Clock) -> None:
    for wait in (0, 3_600, 3_500, 60):
        clock.advance(seconds=wait)
        put(session, "ding", f"at {wait}")
        run(session, clock)
    assert (len(server.came), server.fetched) == (4, 2)


def test_a_wrong_secret_is_told_and_never_shown(
    session: Session, server: Vendors, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "wrong-secret")
    for name in ("ding", "lark"):
        put(session, name, "x")
    tasks = run(session, clock)
    assert all(task.state == FAILED and "no token" in said(task) and "wrong" not in said(task) for task in tasks)


def test_a_file_that_others_may_read_is_no_secret(
    session: Session, server: Vendors, clock: Clock, config: Path, tmp_path: Path
) -> None:
    file = tmp_path / "secret"
    file.write_text(f"{SECRET}\n")
    file.chmod(0o644)
    config.write_text(config.read_text().replace('secret = "env:SECRET"', f'secret = "file:{file}"'))
    put(session, "ding", "x")
    (task,) = run(session, clock)
    assert (task.error or ("",))[0] == "E_CREDENTIAL"
    file.chmod(0o600)
    session.engine.tasks.retry(task.id)
    assert run(session, clock)[0].state == COMPLETED


def test_a_room_in_which_memtui_may_not_speak_is_refused_at_once(session: Session, config: Path) -> None:
    text, settings = config.read_text(), session.settings
    for change in (('channel = "eng"', 'channel = "mute"'), ('channel = "eng"', ""), ('to = "cid1"', "")):
        config.write_text(text.replace(change[0], change[1], 1))
        settings = load_settings(read_environment())
        wanted = PlannedRun(0, "one", "@daily", "UTC", ("digest",), "ding", "", "cli", "w", 0, 0)
        with pytest.raises(RefusedError) as error:
            add(session.engine, settings, wanted)
        assert error.value.code == "E_DELIVERY"
    with pytest.raises(RefusedError):
        usable_entry(settings, "nobody")


def test_quiet_hours_hold_a_message(session: Session, server: Vendors, clock: Clock, config: Path) -> None:
    config.write_text(
        config.read_text().replace("speak = true", 'speak = true\nquiet = "22:00-07:00"\nzone = "UTC"', 1)
    )
    put(session, "ding", "night")
    work_off(session, workspace=workspace_of(session.surroundings), stop=bool)
    (task,) = session.engine.tasks.all()
    assert (task.state, (task.not_before - clock.now) / 3_600_000) == (QUEUED, 7 - 600 / 3_600)
    assert (run(session, clock)[0].state, len(server.came)) == (COMPLETED, 1)


def test_nothing_is_lost_and_nothing_comes_twice_but_where_that_is_told(
    session: Session, server: Vendors, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    seed = chosen_seed()
    chance = random.Random(seed)
    texts = [f"message {n}" for n in range(sized(30, 10_000))]
    names = {text: chance.choice(("ding", "lark", "hook")) for text in texts}
    real = work.post

    def killed(request: PostRequest) -> PostResponse:
        dies = chance.random() if "oken" not in request.url else 1.0
        if dies < 0.05:
            raise KeyboardInterrupt
        answer = real(request)
        if dies < 0.1:
            raise KeyboardInterrupt
        return answer

    monkeypatch.setattr(work, "post", killed)
    states = {}
    for text in texts:
        put(session, names[text], text)
        kinds = ("after", "before", "429", "503", "500", "expired", "huge")
        server.faults = [chance.choice(kinds) if chance.random() < 0.4 else "" for _ in range(3)]
        for _ in range(60):
            try:
                work_off(session, workspace=workspace_of(session.surroundings), stop=bool)
            except KeyboardInterrupt:
                continue  # as if the process had died there: the task is left running
            waiting = session.engine.tasks.all(None, (QUEUED,))
            if not waiting:
                break
            clock.now = max(clock.now, min(task.not_before for task in waiting))
        (claim,) = session.engine.claims.of(f"deliver:{text}:")
        states[text] = claim.state  # now: what waits long moves the clock on by years
        assert (claim.state, names[text]) != ("unknown", "hook"), f"seed {seed}: a webhook is repeated"
        ended = session.engine.tasks.all(limit=1)[0]
        if claim.state == "sending" and ended.state == FAILED:  # killed so often that it was given up, and told
            states[text] = "unknown" if may_be_delivered(ended) else "lost"
    counts = server.counts()
    for text in texts:
        told = states[text] in ("unknown", "refused")
        assert counts[text] <= 1, f"seed {seed}: {text} by {names[text]} came twice"
        assert counts[text] == 1 or told, f"seed {seed}: {text} by {names[text]} was lost: {states[text]}"
    assert not session.engine.tasks.all(None, (QUEUED,)), f"seed {seed}"
    unknown = sum(state in ("unknown", "refused") for state in states.values())
    tried(messages=len(texts), came=sum(counts.values()), told_as_unknown_or_refused=unknown, twice=0, lost=0)


def test_secrets_are_not_sent(session: Session, server: Vendors, clock: Clock) -> None:
    seed = chosen_seed()
    for kind, secret, text in islice(planted.secrets(seed), sized(62, 500)):
        with pytest.raises(RefusedError) as error:
            put(session, "hook", f"before\n{text}\nend", cause=secret)
        assert (error.value.code, secret in str(error.value)) == ("E_SECRET", False), f"seed {seed}: {kind}"
    assert (run(session, clock), server.came) == ([], [])
    tried(secrets=sized(62, 500), secrets_sent=0)


def test_the_signature_of_a_webhook_is_that_of_the_published_example() -> None:
    body = b'{"test": 2432232314}'
    assert webhook_signature(WHSEC, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", body) == (
        "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    )


@given(st.lists(st.sampled_from(["word " * 30, "```", "| a | b |", "|---|", "", "x" * 5_000]), max_size=120))
def test_parts_are_short_and_whole_and_fences_are_closed(lines: list[str]) -> None:
    found = parts("\n".join(lines))
    assert all(len(part) <= 3_500 and part.count("```") % 2 == 0 for part in found)
    assert sum(part.count("word") for part in found) == sum(line.count("word") for line in lines)


def test_a_hostile_name_mentions_nobody_and_hides_no_link() -> None:
    shown = defuse('[x](https://evil) @all <at user_id="all"> \x1b[31m\u202e')
    assert "](" not in shown
    assert all(sign not in shown for sign in ("@all", "<at", "\x1b", "\u202e"))


@pytest.mark.parametrize(("text", "seconds"), [("5", 5), ("99999999", 43_200), ("Wed, 21 Oct", 0), ("²", 0), ("", 0)])
def test_a_pause_that_is_asked_for_has_a_bound(text: str, seconds: int) -> None:
    assert retry_after(text) == seconds


@pytest.mark.parametrize("url", ["http://127.0.0.1:97x97/SECRET", "http://[127.0.0.1/SECRET", "https://a..b/SECRET"])
def test_what_is_no_address_or_secret_is_said_and_not_shown(
    cli: Cli, config: Path, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    config.write_text('[delivery.hook]\nkind = "webhook"\nsecret = "env:WHSEC"\nurl = "env:URL"\n')
    for address, secret in ((url, WHSEC), ("https://example.org/SECRET", "whsec_abc"), (f"{url} x", WHSEC)):
        monkeypatch.setenv("URL", address)
        monkeypatch.setenv("WHSEC", secret)
        (row,) = cli("delivery", "--json").items
        assert (row["usable"], "SECRET" in str(row), secret in str(row)) == (False, False, False)
        tried = cli("delivery", "test", "hook")
        assert ("cannot be one" in tried.out, "SECRET" in tried.out + tried.err) == (True, False)
    with pytest.raises(work.NotSentError) as error:
        work.post(PostRequest(url, {}, b"{}"))
    assert "SECRET" not in str(error.value)


def test_a_secret_that_a_receiver_echoes_is_not_shown(
    session: Session, server: Vendors, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "plain-words-of-the-app")
    server.echo = True
    for name in ("ding", "lark"):
        put(session, name, "x")
    tasks = run(session, clock)
    assert all("no token" in said(task) and "[masked: secret]" in said(task) for task in tasks)
    assert not any("plain-words" in said(task) for task in tasks)


def test_what_is_no_https_or_not_trusted_is_not_sent_to(
    server: Vendors,
) -> None:
    with pytest.raises(work.NotSentError) as error:
        work.post(PostRequest(server.url.replace("http:", "https:"), {}, b"{}"))
    assert "127.0.0.1" in str(error.value)
    with pytest.raises(work.NotSentError):
        work.post(PostRequest("http://127.0.0.1.example/", {}, b"{}"))


def test_an_answer_that_takes_too_long_is_none(server: Vendors) -> None:
    server.faults = ["slow"]
    with pytest.raises(work.NoAnswerError):
        work.post(PostRequest(f"{server.url}/hook", {}, b"{}"), timeout=0.2)
    server.hold.set()


def test_the_digest_names_what_changed_and_nothing_of_what_it_says(
    cli: Cli, config: Path, notes: Path, server: Vendors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", SECRET)
    monkeypatch.setenv("WHSEC", WHSEC)
    config.write_text(CONFIG.format(url=server.url))
    assert cli("digest").out == "Nothing changed.\n"
    root = f"--root=notes={notes}"
    assert cli("create", "notes/plan.md", "-", root, stdin=b"the body\nof it\n").status == 0
    out = cli("digest", root).out
    assert "notes/plan.md  you  +2 -0" in out
    assert "body" not in out
    assert cli("digest", root, "--to", "hook").status == 0
    assert cli("delivery", "test", "ding").status == 0
    assert [room for room, _ in server.came] == ["/hook", "cid1"]
    monkeypatch.delenv("SECRET")
    rows = {row["name"]: row["usable"] for row in cli("delivery", "--json").items}
    assert rows == {"ding": False, "lark": False, "hook": True}
    assert "SECRET" in str([row for row in cli("doctor", "--json").items if row["topic"] == "delivery"])
