"""Where everything stands: each place cut out of the block is the value it is said to be."""

from itertools import pairwise

from hypothesis import given

from memtui.engine.frontmatter import OK
from memtui.engine.frontmatter.edit import FIELDS, LIST, TEXT, ValueSpan, outline
from memtui.engine.frontmatter.guard import survey
from tests.engine.yaml_blocks import blocks


def test_every_part_has_its_place() -> None:
    text = "# c\nname: 'n' # x\ntags:\n  - a\n\n  - b  # y\n\nm: {t: [u, v]}\nlong: |\n  one\n\n\nend:\n"
    root = outline(text)
    cut = {field.key: text[field.node.start : field.node.end] for field in root.fields}
    assert cut["name"] == "'n'"
    assert cut["tags"] == "- a\n\n  - b"
    assert cut["m"] == "{t: [u, v]}"
    assert cut["long"] == "|\n  one"
    assert cut["end"] == ""
    assert [text[field.start : field.end] for field in root.fields] == [field.key for field in root.fields]
    assert (root.fields[1].node.kind, root.fields[1].node.style) == (LIST, "")
    assert (root.fields[2].node.kind, root.fields[2].node.style) == (FIELDS, "[")
    assert root.fields[2].node.fields[0].node.items[1].value == "v"


def test_a_block_without_fields_has_none() -> None:
    for text in ("", "# only a comment\n", "- a\n", "text\n"):
        assert outline(text).fields == ()


@given(blocks)
def test_parts_lie_one_after_the_other_and_inside_each_other(text: str) -> None:
    seen = survey(text)
    if seen.status == OK:
        check(outline(text), text)


def check(node: ValueSpan, text: str) -> None:
    assert 0 <= node.start <= node.end <= len(text)
    parts = [*node.items, *(field.node for field in node.fields)]
    assert node.kind != TEXT or not parts
    assert all(node.start <= one.start and one.end <= node.end for one in parts)
    assert all(one.end <= other.start for one, other in pairwise(parts))
    for one in parts:
        check(one, text)
