"""The question before what only a person may do: put on the controlling terminal, and answered by a typed `yes`.

Standard input and options do not count, because a program writes them as easily as a person does.
"""

from memtui.cli.call import Call
from memtui.errors import RefusedError

YES = "yes"


def ask(call: Call, act: str, question: str, elsewhere: str) -> None:
    """Have a person agree; where memtui only looks nobody is asked, because the engine refuses the change.

    Args:
        call: the command.
        act: what is done, as in `Only a person may accept a root`.
        question: what is asked.
        elsewhere: where else a person does it, as the end of a sentence.

    Raises:
        RefusedError: `E_PERSON`: an agent runs the command, there is no terminal, or they typed something else.
    """
    if call.options.read_only:
        return
    hint = f"Do it in a terminal of your own, or {elsewhere}."
    call.approver.require(act, hint)
    typed = call.out.ask_person(f"{question} Type yes: ")
    if typed is None:
        raise RefusedError(f"Only a person may {act}, and there is no terminal to ask at.", code="E_PERSON", hint=hint)
    if typed.strip() != YES:
        raise RefusedError(f"Only a typed yes does this: {act}.", code="E_PERSON", hint="Run it again to be asked.")


def agrees(call: Call, question: str) -> bool:
    """Whether a person types yes to a further question; nobody is there to do so without a terminal."""
    return (call.out.ask_person(f"{question} Type yes: ") or "").strip() == YES
