"""What a user does for each picture, until the screen is as wanted."""

from screenshots.visit import Visit

DECISIONS = "memtui:project/decisions.md"
DEPLOY = "memtui:project/deploy.md"
FARES = "memtui:project/domain/fares.md"
AGENTS_STEP = "`tide deploy production`, after the second sailing."


def workbench(visit: Visit) -> None:
    """The tree, on a memory an agent changed."""
    visit.start()
    visit.go_to(DECISIONS)


def first_look(visit: Visit) -> None:
    """What the program shows first: what waits."""
    visit.start()


def filter_(visit: Visit) -> None:
    """Some letters of what is looked for."""
    visit.start()
    visit.press("/")
    visit.type("sail")
    visit.rest()


def changes(visit: Visit) -> None:
    """The inbox, on a memory in a group."""
    visit.stage.checks_out()
    visit.start()
    visit.press("3")
    visit.see("Changes since you looked")
    visit.press("j", "j", "j", "j", "j")
    visit.rest()


def difference(visit: Visit) -> None:
    """One change of the inbox, word by word, on the whole screen."""
    visit.start()
    visit.press("3")
    visit.see("Changes since you looked")
    visit.press("j", "j", "j", "j")
    visit.see("decisions.md ─")
    visit.press("tab", "w", "z")
    visit.rest()


def search(visit: Visit) -> None:
    """Hits for two words."""
    visit.start()
    visit.press("ctrl+f")
    visit.type("sailing")
    visit.see("hits")
    visit.press("down", "down")
    visit.rest()


def history(visit: Visit) -> None:
    """Every version of a memory, on one that an agent wrote."""
    visit.start()
    visit.go_to(DECISIONS)
    visit.press("H")
    visit.see("History")
    visit.press("j")
    visit.rest()


def health(visit: Visit) -> None:
    """An index that a busy month left behind, on a line that leads nowhere."""
    visit.stage.neglects_an_index()
    visit.start()
    visit.press("7")
    visit.see("hunk, line")
    visit.rest()


def entries(visit: Visit) -> None:
    """The entries of a file of Hermes, on one of two lines."""
    visit.stage.has_hermes()
    visit.start()
    visit.go_to("hermes:global/MEMORY.md")
    visit.press("E")
    visit.see("Entries of hermes")
    visit.press("j", "j")
    visit.see("Entry 3 of 12")
    visit.rest()


def cost(visit: Visit) -> None:
    """What Claude Code loads, on an index that is too long."""
    visit.stage.fills_an_index()
    visit.start()
    visit.press("8", "enter")
    visit.see("Everything")
    visit.press("j", "j", "j", "j", "j")
    visit.see("memory index: cut")
    visit.press("n")
    visit.see("cut here")
    visit.rest()


def trash(visit: Visit) -> None:
    """What was deleted."""
    visit.start()
    visit.press("6")
    visit.see("scratch.md")
    visit.rest()


def activity(visit: Visit) -> None:
    """What was done, on an agent's step."""
    visit.start()
    visit.press("5")
    visit.see("What it did")
    visit.press("j")
    visit.rest()


def hot_set(visit: Visit) -> None:
    """What an agent would be given, on the first memory of it, and what fails to fit."""
    visit.stage.grows()
    visit.start()
    visit.press("4")
    visit.see("Everything")
    visit.rest()


def form(visit: Visit) -> None:
    """The front matter of a memory, with a new description half typed."""
    visit.start()
    visit.go_to(DEPLOY)
    visit.press("f9")
    visit.see("Front matter of")
    visit.press("end")
    visit.type(", in four steps")
    visit.rest()


def editor(visit: Visit) -> None:
    """A draft, while an agent saves other lines of the same memory."""
    _edit_deploy(visit)
    visit.stage.saves(DEPLOY, "migrations only add.", "migrations only add, and wait for the audit.")
    visit.see("Claude Code saved")
    visit.rest()


def conflict(visit: Visit) -> None:
    """The conflict screen: one place decided, one open, one merged."""
    _edit_deploy(visit)
    _at_end_of(visit, "The weekend")
    visit.type(" Tell the harbour office.")
    with visit.stage.engine() as engine:
        text = engine.read(visit.stage.place(engine, DEPLOY)).text
    new = text.replace("(four minutes)", "(six minutes)").replace("`tide deploy production`.", AGENTS_STEP)
    new = new.replace("Not on Friday after two.", "Not on Friday after noon.")
    visit.stage.saves(DEPLOY, text, new)
    visit.see("Claude Code saved")
    visit.press("f8")
    visit.see("CONFLICT")
    visit.rest()


def deleted(visit: Visit) -> None:
    """The question after an agent deleted what is being edited."""
    _edit_deploy(visit)
    visit.stage.deletes(DEPLOY)
    visit.see("deleted, your text is kept")
    visit.press("ctrl+s")
    visit.see("DELETED")
    visit.rest()


def help_(visit: Visit) -> None:
    """The keys of the tree."""
    visit.start()
    visit.press("?")
    visit.rest()


def palette(visit: Visit) -> None:
    """Every command by name."""
    visit.start()
    visit.press(":")
    visit.type("mark")
    visit.rest()


def marks(visit: Visit) -> None:
    """Three marked memories, and the first of the two keys that move them to the trash."""
    _mark_three(visit)
    visit.press("d")
    visit.see("t moves 3 memories")
    visit.rest()


def landing(visit: Visit) -> None:
    """What three marked memories would be called after a move."""
    _mark_three(visit)
    visit.press("r")
    visit.see("Move 3 memories")
    visit.press("ctrl+u")
    visit.type("memtui:global/harbour")
    visit.rest()


def translate(visit: Visit) -> None:
    """What Serena would get of a memory of Claude Code, and what goes from the index it leaves."""
    visit.stage.has_serena()
    visit.start()
    visit.go_to("claude-code:project/feedback_testing.md")
    visit.press("r")
    visit.press("end", "ctrl+u")
    visit.type("serena:project/")
    visit.press("enter")
    visit.see("left behind")
    visit.rest()


def arriving(visit: Visit) -> None:
    """What becomes of three memories that arrive as a bundle in Serena's folder."""
    visit.stage.has_serena()
    visit.start()
    _mark_three(visit)
    visit.press("g", "x", "ctrl+u")
    visit.type("~/memories.tar")
    visit.press("enter")
    visit.see("Exported 3 memories")
    visit.press("g", "i")
    visit.see("import from")
    visit.type("~/memories.tar --into serena:project")
    visit.press("enter")
    visit.see("enter again imports")
    visit.rest()


def refused(visit: Visit) -> None:
    """A key that writes, in a workbench that only reads."""
    visit.start()
    visit.go_to(DECISIONS)
    visit.press("p")
    visit.rest()


def empty(visit: Visit) -> None:
    """The first start on a machine without memories."""
    visit.see("No memories yet")
    visit.rest()


def newcomer_agents(visit: Visit) -> None:
    """Every agent in use in this project."""
    visit.start()
    visit.press("8")
    visit.see("What costs most")
    visit.rest()


def newcomer_cut(visit: Visit) -> None:
    """The index of one of them, where loading ends."""
    newcomer_agents(visit)
    visit.press("enter", "j", "j", "j")
    visit.see("memory index: cut")
    visit.press("n")
    visit.see("cut here")
    visit.rest()


def newcomer_fix(visit: Visit) -> None:
    """What would be fixed at once."""
    newcomer_cut(visit)
    visit.press("7")
    visit.see("not loaded from here on")
    visit.press("j", "D")
    visit.see("fixes 3 findings at once")
    visit.rest()


def newcomer_trash(visit: Visit) -> None:
    """Notes about single sessions, marked."""
    newcomer_fix(visit)
    visit.press("r")
    visit.see("Fixed 3 findings")
    visit.press("1", "/")
    visit.type("session")
    visit.see("22 of 219")
    visit.press("enter", "*", "d")
    visit.see("t moves 22 memories")
    visit.rest()


def newcomer_sound(visit: Visit) -> None:
    """The same agent afterwards."""
    newcomer_trash(visit)
    visit.press("t")
    visit.see("22 memories moved to the trash")
    visit.press("8", "g", "g")
    visit.see("186 files to be read on demand")
    visit.rest()


def _mark_three(visit: Visit) -> None:
    visit.start()
    visit.go_to(FARES)
    visit.press("space", "space", "j", "space")
    visit.see("3 marked")


def _edit_deploy(visit: Visit) -> None:
    visit.start()
    visit.go_to(DEPLOY)
    visit.press("e")
    visit.see("ctrl+s")
    _at_end_of(visit, "4. `tide deploy production`.")
    visit.type(" Then watch the errors.")


def _at_end_of(visit: Visit, words: str) -> None:
    """Put the cursor behind words of the text."""
    visit.press("ctrl+f")
    visit.type(words)
    visit.press("enter", "esc", "right")
