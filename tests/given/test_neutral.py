"""No text ends the block it stands in, speaks as another or hides; code and prose stay as they are."""

import html
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.given import neutral
from tests.given import attacks, blocks


@pytest.mark.parametrize("attack", attacks.CLOSINGS)
def test_no_spelling_of_our_tags_survives(attack: str) -> None:
    for text in (attack, f"before {attack} after", f"x{attack}"):
        assert blocks.tags(neutral.body(text)) == {}
        assert blocks.tags(neutral.line(text)) == {}


@pytest.mark.parametrize("attack", attacks.ENCODED)
def test_what_is_encoded_stays_so_when_it_is_decoded_once(attack: str) -> None:
    once = html.unescape(neutral.body(attack)).replace("%25", "%").replace("\\\\", "\\")
    assert blocks.tags(once) == {}
    assert blocks.tags(html.unescape(neutral.line(attack))) == {}


@pytest.mark.parametrize("attack", attacks.SPEAKERS)
def test_nobody_else_speaks(attack: str) -> None:
    assert blocks.speakers(neutral.body(attack)) == []
    assert blocks.speakers(neutral.line(attack)) == []


@pytest.mark.parametrize("attack", attacks.HIDDEN)
def test_what_is_hidden_becomes_visible(attack: str) -> None:
    for shown in (neutral.body(attack), neutral.line(attack)):
        assert not [c for c in shown if c != "\ufe0f" and unicodedata.category(c) in ("Cf", "Cc", "Zl", "Zp")]
        assert "\u0301" * 13 not in shown


@pytest.mark.parametrize("attack", attacks.LINKS)
def test_no_link_is_live_on_a_line(attack: str) -> None:
    shown = neutral.line(attack)
    assert "](" not in shown
    assert "][" not in shown


@pytest.mark.parametrize("attack", attacks.ALL)
def test_a_line_stays_one_line_between_quotes(attack: str) -> None:
    shown = neutral.line(attack)
    assert "\n" not in shown
    assert not set('"<>') & set(shown)
    assert len(shown.splitlines()) <= 1


@pytest.mark.parametrize(
    "text",
    [
        "Use `list[int]`, `dict[str, list[User]]` and `x < y`.\n",
        "if a < b && c > d: return a<b\n",
        "List<System> systems = new ArrayList<User>();\n",
        "git clone git@example.org:<user>/<repo>.git\n",
        "<div class='x'>&amp; &nbsp;</div> [docs](docs/index.md) ![x](y.png)\n",
        "| a | b |\n|---|---|\n\tindented\n",
        "100 % of C:\\new\\x3 and \\u00e9, %20\n",
        "naïve café, 日本語, 👩‍💻 🇩🇪 ❤️\n",
        "the memory file and the system prompt\n",
        "a < system and b\n",
        "<!-- a comment --> done\n",
    ],
)
def test_code_and_prose_stay_as_they_are(text: str) -> None:
    assert neutral.body(text) == text


def test_line_ends_become_line_feeds_and_a_mark_of_byte_order_goes() -> None:
    assert neutral.body("\ufeffa\r\nb\r\n") == "a\nb\n"


def test_a_comment_without_end_hides_nothing() -> None:
    assert neutral.body("a <!-- b") == "a &lt;!-- b"


def test_plain_lines_are_handed_back() -> None:
    text = "How we write code"
    assert neutral.line(text) is text
    assert neutral.line('say "hi" & <b>') == "say &quot;hi&quot; &amp; &lt;b&gt;"


SIGNS = st.sampled_from(
    [
        *"</\\|>&;#x3c%[] _-\n\t",
        "\u200b",
        "\u0301",
        "＜",
        "／",
        "‹",
        "&lt;",
        "\\u003c",
        "m",
        "M",
        "м",
        "e",
        "е",
        "o",
        "0",
    ]
)
PIECES = st.lists(
    st.one_of(
        SIGNS,
        st.sampled_from(
            ["memory", "_file", "memory_file", "hot_memories", "memory_index", "system", "im_start|", "]("]
        ),
        st.sampled_from(attacks.ALL),
        st.text(max_size=6),
    ),
    max_size=14,
).map("".join)


@given(PIECES)
def test_no_mixture_survives(text: str) -> None:
    for shown in (neutral.body(text), neutral.line(text)):
        assert blocks.tags(shown) == {}
    assert "\n" not in neutral.line(text)
    assert not set('"<>') & set(neutral.line(text))


HOSTILE = [
    "<",
    "\\",
    "&amp;",
    "%25",
    "<\u200b",
    "<user>",
    "[",
    "<|",
    "&#0000",
    "< system ",
    "</memory",
    "＜",
    "\n<",
    "<!--",
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_time_grows_with_the_text_and_no_faster(unit: str) -> None:
    def best(size: int) -> float:
        text = (unit * (size // len(unit) + 1))[:size]
        times = []
        for _ in range(3):
            start = time.process_time()
            neutral.body(text)
            neutral.line(text)
            times.append(time.process_time() - start)
        return min(times)

    assert best(32 * 1024) < 8 * best(8 * 1024) + 0.02
