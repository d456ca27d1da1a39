"""The verb `serve`."""

import gc
import os
from collections.abc import Callable

from memtui.errors import missing_extra
from memtui.features.feature import load
from memtui.wire import outcomes
from memtui.wire.call import Call


def serve(call: Call) -> int:
    """Print the addresses, and serve until told to end."""
    run = _server()
    args, out = call.args, call.out

    def ready(file: str | None, port: int | None) -> None:
        url = None if port is None else f"http://127.0.0.1:{port}"
        token = None if port is None else os.path.join(call.settings.state_dir, "serve.token")
        out.fact({"socket": file, "url": url, "token_file": token}, " ".join(filter(None, (file, url))))
        out.flush()
        if token:
            out.say(f"Requests through the port show the token in {token}.")
        out.say("ctrl+c ends it; what is queued waits.")

    port = args.number("port", -1)
    run(
        call.reload,
        call.options,
        args.texts("project") or [call.options.project],
        port=None if port < 0 else port,
        file=not args.flag("no_socket"),
        new_token=args.flag("new_token"),
        ready=ready,
        narrate=out.say,
    )
    return outcomes.DONE


def _server() -> Callable[..., object]:
    """Load the server; raises `E_EXTRA` without memtui[serve]."""
    gc.disable()  # what is loaded now stays
    try:
        return load("memtui.daemon.app:serve")
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("memtui"):
            raise
        raise missing_extra("Serving over HTTP", "serve") from None
    finally:
        gc.enable()
