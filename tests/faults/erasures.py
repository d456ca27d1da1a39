"""Redactions, and a search for what they left: no byte of a redacted text is in any file of the state folder.

Each text is put wherever memtui can keep one: versions, drafts, conflicts, labels, reasons, rows, places, copies for an
editor, backups, damaged ledgers. The search looks at raw bytes and into everything that zlib can unpack.
"""

import random
import shutil
import time
import zlib
from collections import Counter
from pathlib import Path

from memtui.engine import Engine, now_ms
from memtui.engine.ledger.creation import is_sound
from memtui.engine.model import Address, Draft, OpenConflict, SearchQuery, Write
from tests.faults.report import Result, Tally
from tests.faults.world import ME, World, at, new_world, sha

DAY_MS = 86_400_000
_MOST_UNPACKED = 1 << 20


class _Clock:
    """A clock that is moved by days, so that there are backups of several."""

    def __init__(self) -> None:
        self.now = now_ms() - 5 * DAY_MS

    def __call__(self) -> int:
        return self.now


def run(base: Path, short: bool, seed: int) -> Result:
    """Redact many texts that are kept everywhere, one by one and at once, and look for each."""
    tally = Tally("erasures", "redactions", "texts left", "pending", seed=seed)
    numbers = random.Random(seed)
    count = 8 if short else 200
    tokens = [f"sk-{numbers.randbytes(12).hex()}" for _ in range(count)]
    world, clock = new_world(base / "world"), _Clock()
    for number in range(3):
        with _engine(world, clock) as engine:
            for token in tokens[number::3]:
                _live(engine, numbers, token, searched=numbers.random() < 0.1 or token == tokens[2::3][-1])
            engine.places.keep(f"place {number}", {"words": tokens[number]})
        clock.now += DAY_MS
    _spoil(world, tokens, numbers)
    before = found(world.state, tokens)
    for kind in ("state.db", "backups", "damaged", "rows", "places", "edits", "index.db"):
        if not any(kind in where for where in before):
            tally.blame("blind", f"the search finds nothing in {kind}, where there is something")
    _redact(world, clock, tokens, tally)
    after = found(world.state, tokens)
    for where, some in after.items():
        tally.blame("texts left", f"{len(some)} in {where}")
    backups = sorted((world.state / "backups").iterdir())
    if len(backups) != 3 or not all(is_sound(str(path), 0) for path in backups):
        tally.blame("backups lost", str(backups))
    _rest(world, clock, tokens, tally)
    kept = Counter(where.partition("/")[0].partition("-")[0] for where in before)
    tally.note(f"before: {sum(map(len, before.values())):,} finds in {kept.total()} files")
    return tally.result()


def _engine(world: World, clock: _Clock) -> Engine:
    return Engine.open(world.roots, state_dir=str(world.state), clock=clock)


def _live(engine: Engine, numbers: random.Random, token: str, *, searched: bool) -> None:
    """Put a text wherever one can be."""
    me, name = ME, at(f"{token[3:11]}.md")
    long = "".join(f"note {line}: {numbers.random()}\n" for line in range(numbers.choice((0, 3, 40, 400))))
    clean = f"---\ndescription: {name.path} is clean\n---\nbegin\n{long}end\n".encode()
    secret = f"---\ndescription: with {token}\n---\nbegin\n{long}token {token}\nend\n".encode()
    engine.memories.create(name, b"first\n", actor=me)
    engine.save(name, secret, expected_sha256=sha(b"first\n"), actor=me)
    engine.rows.list()
    if searched:
        _search(engine, token)
    if numbers.random() < 0.5:
        engine.drafts.save(Draft(name, sha(secret), secret.decode() + "more\n", (0, 0), 1))
    if numbers.random() < 0.5:
        yours = b"yours\n" + secret
        engine.save(name, yours, expected_sha256=sha(b"stale"), actor=me)
        engine.drafts.save_conflict(OpenConflict(name, sha(secret), yours, secret, f'{{"own": "token {token}"}}', 1))
    if numbers.random() < 0.3:
        other = at(f"copies/{name.path}")
        engine.memories.create(other, secret, actor=me)
        engine.memories.delete([other], actor=me)
    if numbers.random() < 0.3:
        engine.redaction.redact(name, sha(b"first\n"), reason=f"stood beside {token}", actor=me, everywhere=True)
    if numbers.random() < 0.5:
        engine.together.do([Write(name, clean, sha(secret))], actor=me, label=f"take out 'token {token}'")
    else:
        engine.save(name, clean, expected_sha256=sha(secret), actor=me)


def _search(engine: Engine, token: str) -> None:
    """Search, and wait until the texts are in the index."""
    assert engine.search.find(SearchQuery(token)).total
    builder = engine.search._builder
    if builder is not None:
        builder.join()


def _spoil(world: World, tokens: list[str], numbers: random.Random) -> None:
    """Leave what killed editors, stopped processes and damage leave."""
    for number, suffix in enumerate(("", "-wal", "")):
        source = world.state / "state.db" if not number else sorted((world.state / "backups").iterdir())[number]
        target = world.state / f"state.db.damaged-{number // 2}{suffix}"
        target.write_bytes(source.read_bytes()[:-5_000])
    shutil.copy(world.state / "state.db", world.state / "state.db.part")
    shutil.copy(world.state / "state.db", world.state / "backups" / "state-1.db.part")
    for token in numbers.sample(tokens, 5):
        folder = world.state / "edits" / f"edit-{token[-6:]}"
        folder.mkdir(parents=True)
        (folder / f"{token[3:11]}.md").write_text(f"something else\ntoken {token}\n")
    (world.state / "rows").mkdir(exist_ok=True)
    (world.state / "rows" / "0").write_text(tokens[0])


def _redact(world: World, clock: _Clock, tokens: list[str], tally: Tally) -> None:
    """Redact every version with a token: a tenth one by one, the rest at once, while another process looks."""
    with _engine(world, clock) as other, _engine(world, clock) as engine:
        other.history.of(at("nothing.md"))
        chosen = []
        for token in tokens:
            for name in (at(f"{token[3:11]}.md"), at(f"copies/{token[3:11]}.md")):
                chosen += [(name, version) for version in _with(engine, name, token)]
        first = len(chosen) // 10
        started = time.monotonic()
        for address, version in chosen[:first]:
            engine.redaction.redact(address, version, reason="held a key", actor=ME, everywhere=True)
        single = (time.monotonic() - started) / max(1, first)
        started = time.monotonic()
        engine.redaction.redact_all(chosen[first:], reason="held a key", actor=ME, everywhere=True)
        tally.note(f"one {single * 1_000:.0f} ms, {len(chosen) - first:,} at once {time.monotonic() - started:.1f} s")
        tally.add("redactions", len(chosen))
        left = engine.redaction.unerased()
        tally.add("pending", int(left.pending))
        for path in left.damaged:
            engine.redaction.drop_damaged(path)
            tally.add("damaged ledgers")


def _with(engine: Engine, address: Address, token: str) -> list[str]:
    shas = dict.fromkeys(version.sha256 for version in engine.history.of(address) if not version.redacted)
    return [one for one in shas if token.encode() in engine.history.read(address, one)]


def _rest(world: World, clock: _Clock, tokens: list[str], tally: Tally) -> None:
    """What nobody redacted is there as before."""
    with _engine(world, clock) as engine:
        for token in tokens:
            name = at(f"{token[3:11]}.md")
            if engine.history.read(name, engine.read(name).sha256) != engine.read(name).bytes:
                tally.blame("too much", f"the current text of {name}")


def found(folder: Path, tokens: list[str]) -> dict[str, set[str]]:
    """The files below a folder that hold a token, plain or packed, and which."""
    result: dict[str, set[str]] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            text = data.decode("latin-1") + "".join(_unpacked(data))
            if some := {token for token in tokens if token in text}:
                result[str(path.relative_to(folder))] = some
    return result


def _unpacked(data: bytes) -> list[str]:
    """What zlib makes of every place at which something packed may begin."""
    texts, start = [], data.find(b"x\x01")
    while start >= 0:
        try:
            texts.append(zlib.decompressobj().decompress(data[start:], _MOST_UNPACKED).decode("latin-1"))
        except zlib.error:
            texts.append(_prefix(data[start : start + 8_192]))
        start = data.find(b"x\x01", start + 1)
    return texts


def _prefix(data: bytes) -> str:
    """What zlib makes of the beginning of something that is cut or goes on elsewhere."""
    stream, text = zlib.decompressobj(), b""
    try:
        for byte in data:
            text += stream.decompress(bytes([byte]))
    except zlib.error:
        pass  # from here on it is something else
    return text.decode("latin-1")
