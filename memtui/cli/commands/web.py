"""`memtui web`: the workbench in a browser on this machine, read-only unless asked."""

from memtui.cli.call import Call


def web(call: Call) -> int:
    """Print the address to open, and serve until interrupted."""
    write = call.args.flag("write") and not call.options.read_only
    words = [word for word in call.again() if word not in ("--json", "--read-only")]
    words += [] if write else ["--read-only"]
    words += ["demo"] if call.args.flag("demo") else []

    def ready(address: str) -> None:
        call.out.fact({"address": address, "write": write}, address)
        call.out.flush()
        may = "read and change" if write else "read"
        call.out.say(f"Whoever has this address can {may} your memories. ctrl+c ends it.")
        if call.args.flag("open"):
            import webbrowser

            webbrowser.open(address)

    call.workbench.serve(words, port=call.args.number("port", 0), ready=ready, narrate=call.out.say)
    return 0
