"""TOML of somebody else: what is read is what the standard library reads, and nothing takes long."""

import re
import time
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memtui
from memtui.config.toml import DEPTH, PARTS, NotTomlError, loads

MANY = ".".join("a" * (PARTS + 1))
MOST = ".".join("a" * PARTS)


@pytest.mark.parametrize(
    "text",
    [
        f"{MANY} = 1",
        f"[{MANY}]",
        f"[[{MANY}]]",
        f"x = {{ {MANY} = 1 }}",
        f'x = {{ q = """q"""", {MANY} = 1 }}',
        "x = { q = '''q'''', " + MANY + " = 1 }",
        f"x = '''\n'''\n{MANY} = 1",
        " . ".join(['"a.b"', "'c'", "d"] * PARTS) + " = 1",
        "\t.\t".join(["-"] * (PARTS + 1)) + " = 1",
        f'x = "\\"#"\n{MANY} = 1',
        f"x = '\\'\n{MANY} = 1",
        f'x = """\\""" "\\\\"""\n{MANY} = 1',
    ],
)
def test_a_key_of_too_many_parts_is_refused(text: str) -> None:
    tomllib.loads(text)
    with pytest.raises(NotTomlError, match=f"a key has more than {PARTS} parts") as error:
        loads(text)
    assert error.value.line == text.count("\n") + 1


@pytest.mark.parametrize(
    "text",
    [
        f"{MOST} = 1",
        f"x = '{'.' * 500}'",
        f'x = "{MANY}"',
        f"x = '{MANY}'",
        f'x = """\n{MANY} = 1\n"""',
        f"x = '''\n[{MANY}]\n'''",
        f"x = 1 # {MANY} = 1\n# {MANY}",
        f"x = [{'1.5, ' * 100}]",
        f"'{MANY}' = 1",
    ],
)
def test_dots_in_texts_and_comments_do_not_count(text: str) -> None:
    assert loads(text) == tomllib.loads(text)


@given(st.text(st.sampled_from("a.\"'#\\\n =[]{},1"), max_size=40))
def test_what_is_read_is_what_the_parser_reads(text: str) -> None:
    dotted = text + f"\nz = '{'.' * PARTS}'"  # so that its texts are looked for
    for one in (text, dotted):
        try:
            expected = tomllib.loads(one)
        except ValueError:
            with pytest.raises(NotTomlError):
                loads(one)
        else:
            assert loads(one) == expected


@given(st.text(st.sampled_from("a.\"'#\\\n =[]{},1"), max_size=40))
def test_no_text_before_it_hides_a_key(text: str) -> None:
    try:
        tomllib.loads(f"{text}\n[{MANY}]")
    except ValueError:
        return
    try:
        tomllib.loads(f"{text}\n]")
    except ValueError:
        with pytest.raises(NotTomlError, match="parts"):
            loads(f"{text}\n[{MANY}]")


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 5_000,
        "a = {" * 3_000,
        "a = " + "[" * DEPTH + "]" * DEPTH,
        f"[{MOST}]\n{MOST} = 1",
        f"a = {{ {MOST} = {{ {MOST} = 1 }} }}",
    ],
)
def test_what_is_nested_too_deep_is_refused(text: str) -> None:
    with pytest.raises(NotTomlError, match="nested too deeply"):
        loads(text)


def test_what_is_wrong_and_where() -> None:
    with pytest.raises(NotTomlError) as error:
        loads("a = 1\na = 2\n")
    assert (error.value.what, error.value.line) == ("Cannot overwrite a value", 2)
    assert "(at line 2, column" in str(error.value)
    with pytest.raises(NotTomlError, match="out of range"):
        loads("a = " + "1" * 5_000)


def _seconds(text: str) -> float:
    began = time.thread_time()
    try:
        loads(text)
    except NotTomlError:
        pass
    return time.thread_time() - began


@pytest.mark.parametrize(
    "unit",
    [
        ".a",
        " . a",
        '."a"',
        '\\"',
        "\\\\",
        '"""',
        "'''",
        "' ",
        " ",
        "# .\n",
        "x=[",
        "\n" + MOST + ".",
        f"\n[[{MOST}]]",
        "\n" + "a" * 200 + "=1.",
    ],
)
def test_ten_times_the_bytes_take_about_ten_times_as_long(unit: str) -> None:
    before = f"a{'.' * PARTS}"
    small, large = (before + unit * (size // len(unit)) for size in (20_000, 200_000))
    for text, more in ((small, large), ("a" + small[len(before) :] + "=1", "a" + large[len(before) :] + "=1")):
        once = min(_seconds(text) for _ in range(3))
        assert _seconds(more) < 25 * once + 0.02


def test_nothing_else_hands_text_to_the_parser() -> None:
    room = Path(memtui.__file__).parent
    own = [path for path in room.rglob("*.py") if re.search(r"\btomllib\b", path.read_text("utf-8"))]
    assert [path.relative_to(room).as_posix() for path in own] == ["config/toml.py"]
