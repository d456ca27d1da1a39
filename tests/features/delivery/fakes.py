"""A server on the loopback address that takes messages as the vendors do, and fails on demand."""

import base64
import hashlib
import hmac
import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SECRET = "s3cr3t-of-the-app"


class Vendors(ThreadingHTTPServer):
    """What came, and what is to go wrong next."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.came: list[tuple[str, str]] = []
        """Address and text of each message that was taken."""
        self.faults: list[str] = []
        self.tokens: set[str] = set()
        self.fetched = 0
        self.hold = threading.Event()
        """What a slow answer waits for."""
        self.seen: set[str] = set()
        """Ids by which a repeated message is known."""
        self.echo = False
        """Whether a complaint repeats the secret."""
        self.credentials: list[str] = []
        """Everything secret that a request to another path brought."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def counts(self) -> Counter[str]:
        return Counter(text for _, text in self.came)


class _Handler(BaseHTTPRequestHandler):
    server: Vendors

    def log_message(self, *words: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        fault = self.server.faults.pop(0) if self.server.faults and "oken" not in self.path else ""
        if fault == "expired":
            self.server.tokens.clear()
        if fault in ("429", "503"):
            return self._answer(int(fault), {}, {"Retry-After": "7"})
        if fault == "redirect":
            return self._answer(307, {}, {"Location": f"{self.server.url}/elsewhere"})
        if fault == "slow":
            self.send_response(200)
            self.server.hold.wait(30)
        if fault == "html":
            return self._raw(200, b"<html>welcome</html>")
        if fault == "before":
            self.close_connection = True
            return None
        status, answer = self._take(json.loads(body), body)
        if fault == "after":
            self.close_connection = True
            return None
        if fault == "huge":
            return self._raw(200, b"x" * 200_000)
        return self._answer(500 if fault == "500" else status, answer)

    def do_GET(self) -> None:
        self.server.credentials += [str(self.headers)]
        self._answer(200, {})

    def _answer(self, status: int, answer: dict[str, object], headers: dict[str, str] | None = None) -> None:
        self._raw(status, json.dumps(answer).encode(), headers)

    def _raw(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"content-length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _take(self, said: dict[str, Any], body: bytes) -> tuple[int, dict[str, object]]:
        path = self.path.partition("?")[0]
        if path.endswith(("/accessToken", "/internal")):
            secret = said.get("appSecret", said.get("app_secret"))
            if secret != SECRET:
                told: dict[str, object] = {"message": "x" * 180 + f" {secret} is wrong"} if self.server.echo else {}
                bad: dict[str, object] = {"code": "invalidClientIdOrSecret", **told}
                return (400, bad) if "oauth2" in path else (200, {"code": 10014, **told})
            self.server.fetched += 1
            token = f"token{self.server.fetched}"
            self.server.tokens.add(token)
            return 200, {
                "code": 0, "accessToken": token, "expireIn": 7200, "tenant_access_token": token, "expire": 7200
            }  # fmt: skip
        if path.endswith("/convertToOpenConversationId"):
            return 200, {"openConversationId": "cid-converted"}
        if path == "/v1.0/robot/groupMessages/send":
            return self._dingtalk(said)
        return self._feishu(said) if path == "/open-apis/im/v1/messages" else self._webhook(said, body)

    def _dingtalk(self, said: dict[str, Any]) -> tuple[int, dict[str, object]]:
        if self.headers["x-acs-dingtalk-access-token"] not in self.server.tokens:
            return 401, {"code": "InvalidAuthentication", "message": "token"}
        if not said["openConversationId"].startswith("cid"):
            return 400, {"code": "invalid.openConversationId", "message": "no such"}
        if said["msgKey"] != "sampleMarkdown" or len(said["msgParam"].encode()) > 15_000 or not said["robotCode"]:
            return 400, {"code": "invalidParameter"}
        self.server.came.append((said["openConversationId"], json.loads(said["msgParam"])["text"]))
        return 200, {"processQueryKey": "k"}

    def _feishu(self, said: dict[str, Any]) -> tuple[int, dict[str, object]]:
        if self.headers["authorization"].removeprefix("Bearer ") not in self.server.tokens:
            return 400, {"code": 99991663, "msg": "Invalid access token"}
        text = json.loads(said["content"])["zh_cn"]["content"][0][0]["text"]
        if said["msg_type"] != "post" or len(said["uuid"]) > 50:
            return 400, {"code": 230001, "msg": "invalid"}
        if said["uuid"] not in self.server.seen:
            self.server.seen.add(said["uuid"])
            self.server.came.append((said["receive_id"], text))
        return 200, {"code": 0, "msg": "success"}

    def _webhook(self, said: dict[str, Any], body: bytes) -> tuple[int, dict[str, object]]:
        number, at = self.headers["webhook-id"], self.headers["webhook-timestamp"]
        key = base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        digest = hmac.new(key, f"{number}.{at}.".encode() + body, hashlib.sha256).digest()
        if self.headers["webhook-signature"] != "v1," + base64.b64encode(digest).decode():
            return 400, {}
        if number not in self.server.seen:
            self.server.seen.add(number)
            self.server.came.append((self.path, said["data"]["text"]))
        return 200, {}


@contextmanager
def vendors() -> Iterator[Vendors]:
    """Serve until the block ends."""
    server = Vendors()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()
