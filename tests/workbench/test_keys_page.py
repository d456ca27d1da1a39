"""The page about keys is what the table of actions says."""

from memtui.workbench.actions import ACTIONS
from memtui.workbench.keys import keys_page
from tests.house.source import ROOT


def test_the_page_is_the_table() -> None:
    assert (ROOT / "docs/keys.md").read_text() == keys_page()


def test_a_key_that_is_a_sign_of_tables_is_escaped_and_writing_is_said() -> None:
    action = ACTIONS[0]._replace(keys=("|",), writes=True)
    assert f"| `\\|` | {action.help} *writes* | `{action.id}` |" in keys_page([action])
