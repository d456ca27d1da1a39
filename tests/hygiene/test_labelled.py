"""What is found on the labelled set stays at least as it is promised."""

from memtui.features.hygiene.orders import ORDERS
from tests.hygiene.labelled import figures, hidden, orders, sound_so

LIMITS = {"secrets": (0.95, 0.97), "hidden text": (1.0, 0.97), "orders": (0.95, 0.97), "doubles": (0.9, 1.0)}
"""Recall and precision."""


def test_each_family_finds_what_it_is_for_and_little_else() -> None:
    assert (len(hidden()) >= 60, len(orders()) >= 110, len(sound_so()) >= 60) == (True,) * 3
    assert {rule for rule, _ in orders()} == {rule.id for rule in ORDERS}
    found = figures()
    assert set(found) == set(LIMITS)
    for family, (recall, precision) in LIMITS.items():
        one = found[family]
        assert one.recall >= recall, one.missed
        assert one.precision >= precision, one.wrong
