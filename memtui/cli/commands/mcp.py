"""The MCP server, started from the command line; the front itself is `__main__`'s to load."""

from memtui.cli.call import Call


def mcp(call: Call) -> int:
    """Serve one client on standard input and output, until it goes."""
    if call.out.interactive:
        call.out.say("memtui mcp talks to a program, not to you: an MCP client starts it and speaks JSON on its input.")
    context = not call.args.flag("no_context")
    return call.mcp.serve(call.reload, call.options, access=call.args.text("access"), context=context)
