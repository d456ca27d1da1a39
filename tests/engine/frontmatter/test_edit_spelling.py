"""What is written is read as this one text by every reader, also inside brackets."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from memtui.engine.frontmatter.edit import flow_list, item, key, quoted, spellings
from tests.engine.yaml_blocks import values


@pytest.mark.parametrize("value", ["no", "null", "~", "1", "1e3", "2024-01-01", "a, b", "[a", "}", "x: y", "# c", ""])
def test_what_is_something_else_without_quotes_gets_them(value: str) -> None:
    assert item(value, flow=True) == f'"{value}"'
    assert yaml.safe_load(flow_list([value, "a"])) == [value, "a"]


def test_quotes_stay() -> None:
    assert item("it's", flow=True) == '"it\'s"'
    assert item("b", flow=False) == "b"
    assert next(spellings("2025-02-02", "", "2024-01-01")) == "2025-02-02"
    assert key("true") == '"true"'


@given(st.lists(values, max_size=5))
def test_any_list_in_brackets_is_read_as_it_was_meant(texts: list[str]) -> None:
    assert yaml.load(flow_list(texts), Loader=yaml.BaseLoader) == texts
    assert yaml.safe_load(flow_list(texts)) == texts


@given(st.text(max_size=20).filter(lambda text: text.encode("utf-8", "ignore").decode() == text))
def test_any_text_in_quotes_is_read_as_it_is(text: str) -> None:
    assert yaml.safe_load(quoted(text)) == text
