"""`memtui web`: the workbench in a browser on this machine, read-only unless asked."""

from memtui.wire.call import Call

OPENING = "open-in-browser.html"
"""The file in the state folder that takes a browser to the workbench. A browser's command line holds its name only,
because every user of the machine can read that."""


def web(call: Call) -> int:
    """Print the address to open, and serve until interrupted."""
    write = call.args.flag("write") and not call.options.read_only
    words = [word for word in call.again() if word not in ("--json", "--read-only")]
    words += [] if write else ["--read-only"]
    words += ["demo"] if call.args.flag("demo") else []

    def ready(address: str, once: str) -> None:
        call.out.fact({"address": address, "write": write}, address)
        call.out.flush()
        may = "read and change" if write else "read"
        call.out.say(f"Whoever has this address can {may} your memories. ctrl+c ends it.")
        if call.args.flag("open") and not _open(call.settings.state_dir, once):
            call.out.say("No browser could be opened here: open the address yourself.")

    try:
        call.workbench.serve(words, port=call.args.number("port", 0), ready=ready, narrate=call.out.say)
    finally:
        if call.args.flag("open"):
            _forget(call.settings.state_dir)
    return 0


def _open(folder: str, address: str) -> bool:
    """Let the browser open an address that only the user may read; whether there is one."""
    import os
    import urllib.parse
    import webbrowser

    from memtui.engine.disk import state_file

    text = f'<!DOCTYPE html><title>memtui</title><meta http-equiv="refresh" content="0; url={address}">'
    state_file.write(folder, OPENING, text.encode())
    return webbrowser.open("file://" + urllib.parse.quote(os.path.join(folder, OPENING)))


def _forget(folder_path: str) -> None:
    import contextlib

    from memtui.engine.disk import fsio

    with contextlib.suppress(FileNotFoundError), fsio.closing(fsio.open_root(folder_path)) as folder:
        fsio.unlink(folder, OPENING)
