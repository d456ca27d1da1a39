"""The MCP server, started from the command line; the front itself is `__main__`'s to load."""

from memtui.wire.call import Call


def mcp(call: Call) -> int:
    """Serve one client on standard input and output, until it goes."""
    if call.out.interactive:
        call.out.say("memtui mcp talks to a program, not to you: an MCP client starts it and speaks JSON on its input.")
    context = "none" if call.args.flag("no_context") else "short" if call.args.flag("short_context") else "full"
    # Settings that cannot be read are said to the client: one whose server ends at once cannot tell its user why.
    return call.mcp.serve(call.reload, call.given, access=call.args.text("access"), context=context)
