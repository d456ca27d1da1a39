"""Agents' settings: data, small, and never a folder or a pattern where a name is wanted."""

from pathlib import Path

from memtui.agents.loads.settings import below, file_names, read_json, read_toml, texts


def test_what_cannot_be_read_is_empty(tmp_path: Path) -> None:
    file = tmp_path / "a"
    assert read_json(str(file)) == read_toml(str(file)) == {}
    for data in (b"[1]", b"\xff", b"[" * 5_000, b""):
        file.write_bytes(data)
        assert read_json(str(file)) == {}
    file.write_bytes(b"a = \xff")
    assert read_toml(str(file)) == {}
    file.write_bytes(b"a = 1")
    assert read_toml(str(file)) == {"a": 1}


def test_values_of_another_kind_are_left_out() -> None:
    assert below({"a": {"b": 1}}, "a") == {"b": 1}
    assert below({"a": 1}, "a") == {}
    assert texts(["a", 1, "b"]) == ("a", "b")
    assert texts("a") == ("a",)
    assert texts(None) == ()
    assert file_names(["A.md", "../A.md", "*.md", "", "..", "a\\b", "a\0"]) == ("A.md",)


def test_settings_of_a_checkout_are_not_read_through_a_link_out(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "secret").mkdir()
    for folder in ("in", "secret"):
        (tmp_path / folder / "s.json").write_text('{"a": 1}')
    (tmp_path / "in" / "link.json").symlink_to("../secret/s.json")
    (tmp_path / "in" / "near.json").symlink_to("s.json")
    (tmp_path / "in" / "out").symlink_to("../secret")
    inside = str(tmp_path / "in")
    assert read_json(f"{inside}/s.json", inside) == read_json(f"{inside}/near.json", inside) == {"a": 1}
    assert read_json(f"{inside}/link.json", inside) == read_json(f"{inside}/out/s.json", inside) == {}
    assert read_json(f"{inside}/out/s.json") == {"a": 1}
