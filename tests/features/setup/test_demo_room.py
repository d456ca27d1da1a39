"""The room of the demonstration: two speakers are named, one vote of two waits, and a schedule is there."""

from pathlib import Path

from memtui.config.read import load_settings
from memtui.config.surroundings import surroundings_from
from memtui.demo import world
from memtui.engine import now_ms
from memtui.features.approvals.decide import stands
from memtui.features.setup.demo_room import furnish
from memtui.wire.session import Options, open_in


def test_two_people_spoke_one_vote_waits_and_a_digest_is_due(tmp_path: Path) -> None:
    made = world.build(str(tmp_path / "w"), waiting_at=now_ms())
    settings = load_settings({"HOME": made.folder, "MEMTUI_HOME": made.memtui_home})
    around = surroundings_from(settings, cwd=made.project)._replace(system_dir=made.system)
    furnish(around, settings)
    with open_in(around, settings, Options(), lock_wait=5).engine as engine:
        (room,) = [root for root in engine.roots.all() if root.scope == "channel"]
        records = engine.history.audit(limit=10)
        assert [one.who for one in records if one.address.root == room.id and one.after] == [
            "Ines · bot · harbour",
            "Marit · bot · harbour",
        ]
        assert engine.changes.unseen() == ()
        (waits,) = engine.proposals.all()
        stand = stands(engine, settings, [waits])[waits.id]
        assert (stand.short, stand.mine) == ("1 of 2: Ines yes, waits for you", True)
        assert [one.name for one in engine.schedules.all()] == ["morning"]
