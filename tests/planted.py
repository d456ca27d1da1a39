"""Texts with secrets, and look-alikes: made up at run time, so that no scanner takes this file for a leak."""

import base64
import json
import random
import string
from collections.abc import Callable, Iterator

ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits


def _some(signs: str, count: int) -> Callable[[random.Random], str]:
    def make(dice: random.Random) -> str:
        value = "".join(dice.choices(signs, k=count - 3))
        return value + "".join(dice.choice(part) for part in ("234567", signs, signs))

    return make


def _prefixed(prefix: str, signs: str, count: int) -> Callable[[random.Random], str]:
    return lambda dice: prefix + _some(signs, count)(dice)


def _jwt(dice: random.Random) -> str:
    parts = (
        json.dumps({"alg": "HS256", "typ": "JWT"}).encode(),
        json.dumps({"sub": dice.random()}).encode(),
        dice.randbytes(32),
    )
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)


def _block(dice: random.Random) -> str:
    lines = "\n".join(base64.b64encode(dice.randbytes(48)).decode() for _ in range(4))
    name = dice.choice(["RSA PRIVATE", "OPENSSH PRIVATE", "PRIVATE", "EC PRIVATE"])
    return f"-----BEGIN {name} KEY-----\n{lines}\n-----END {name} KEY-----"


def luhn(digits: str) -> str:
    """Append the check digit to the digits of a card."""
    total = sum(int(d) if at % 2 else sum(divmod(2 * int(d), 10)) for at, d in enumerate(digits[::-1]))
    return digits + str(-total % 10)


def _card(dice: random.Random) -> str:
    digits = luhn(dice.choice(["4539", "5412", "6011"]) + "".join(dice.choices(string.digits, k=11)))
    return dice.choice(["", " ", "-"]).join(digits[at : at + 4] for at in range(0, 16, 4))


def _iban(dice: random.Random) -> str:
    body = "".join(dice.choices(string.digits, k=18))
    rest = int("".join(str(int(sign, 36)) for sign in f"{body}DE00")) % 97
    value = f"DE{98 - rest:02}{body}"
    return dice.choice([value, " ".join(value[at : at + 4] for at in range(0, 22, 4))])


WORD = _some(string.ascii_letters + string.digits, 14)
PLANTS: dict[str, tuple[Callable[[random.Random], str], tuple[str, ...]]] = {
    "S01 block": (_block, ("key:\n{}\nend", "{}", '"""\n{}\n"""')),
    "S01 age": (_prefixed("AGE-SECRET-" + "KEY-1", UPPER, 58), ("{}", "age: `{}`", "key {} end")),
    "S02": (_prefixed("AK" + "IA", UPPER, 16), ("{}", "AWS_ACCESS_KEY_ID={}", "use `{}` for the bucket")),
    "S03": (_some(ALNUM, 40), ("aws_secret_access_key = {}", "AWS secret: {}", "the AWS one is `{}`")),
    "S04": (
        _prefixed("gh" + "p_", ALNUM, 36),
        ("{}", "deploy with {} from the laptop", "https://{}@example.org/x.git"),
    ),
    "S04 fine": (_prefixed("github_" + "pat_", ALNUM, 82), ("{}", "({})", "token={}\n")),
    "S05": (_prefixed("gl" + "pat-", ALNUM, 20), ("{}", "PRIVATE-TOKEN: {}", "'{}'")),
    "S06": (_prefixed("xo" + "xb-123456789012-", ALNUM, 24), ("{}", "Slack: {}.", "`{}`")),
    "S06 app": (_prefixed("xa" + "pp-1-A0123-", ALNUM, 40), ("{}", "{},", "app {}")),
    "S07 slack": (_prefixed("T0AB12/B0CD34/", ALNUM, 24), ("https://hooks.slack.com/services/{}",) * 3),
    "S07 discord": (_prefixed("123456789012345678/", ALNUM, 60), ("https://discord.com/api/webhooks/{}",) * 3),
    "S08": (_prefixed("sk_" + "live_", ALNUM, 24), ("{}", "stripe: {}", '"{}"')),
    "S09": (_prefixed("sk-" + "proj-", ALNUM, 48), ("{}", "OPENAI_API_KEY={}", "key {} expires")),
    "S10": (_prefixed("sk-" + "ant-api03-", ALNUM + "-", 90), ("{}", "ANTHROPIC_API_KEY={}", "`{}`")),
    "S11": (_prefixed("AI" + "za", ALNUM, 35), ("{}", "?key={}", "maps: {}")),
    "S11 token": (_prefixed("ya" + "29.", ALNUM, 60), ("{}", "({})", "token {}")),
    "S12": (_some(ALNUM + "+/", 86), ("AccountName=x;AccountKey={}==;", "SharedAccessKey={}", "AccountKey={}")),
    "S12 sas": (_some(ALNUM, 44), ("https://x.example.net/a?sv=2022&sig={}&se=1",) * 3),
    "S13 npm": (_prefixed("np" + "m_", ALNUM, 36), ("{}", "//registry/:_authToken={}", "`{}`")),
    "S13 pypi": (_prefixed("py" + "pi-AgEIcHlwaS5vcmc", ALNUM, 90), ("{}", "password = {}", "{} ")),
    "S13 hf": (_prefixed("h" + "f_", ALNUM, 34), ("{}", "HF_TOKEN={}", "model token {}")),
    "S14 sendgrid": (
        lambda dice: f"S{'G'}.{_some(ALNUM, 22)(dice)}.{_some(ALNUM, 43)(dice)}",
        ("{}", "mail: {}", "'{}'"),
    ),
    "S14 twilio": (_prefixed("S" + "K", HEX, 32), ("twilio {}", "Twilio SID: {}", "api key {}")),
    "S14 telegram": (_prefixed("123456789:" + "AA", ALNUM, 33), ("{}", "bot {}", "telegram: {}")),
    "S15 do": (_prefixed("do" + "p_v1_", HEX, 64), ("{}", "DO: {}", "`{}`")),
    "S15 shopify": (_prefixed("shp" + "at_", HEX, 32), ("{}", "shop {}", "`{}`")),
    "S15 databricks": (_prefixed("da" + "pi", HEX, 32), ("{}", "host token {}", "`{}`")),
    "S15 vault": (_prefixed("hv" + "s.", ALNUM, 90), ("{}", "VAULT_TOKEN={}", "`{}`")),
    "S15 linear": (_prefixed("lin_" + "api_", ALNUM, 40), ("{}", "linear {}", "`{}`")),
    "S15 notion": (_prefixed("nt" + "n_", ALNUM, 46), ("{}", "notion {}", "`{}`")),
    "S15 figma": (_prefixed("fi" + "gd_", ALNUM, 40), ("{}", "figma {}", "`{}`")),
    "S16": (_jwt, ("{}", "Authorization: Bearer {}", "cookie jwt={};")),
    "S17": (WORD, ("postgres://ann:{}@db/main", "https://bot:{}@git.example.org/x", "redis://:{}@cache:6379/0")),
    "S18": (_some(ALNUM, 32), ("Authorization: Bearer {}", "-H 'authorization: bearer {}'", "Basic {}==")),
    "S19": (WORD, ("DB_PASSWORD={}", "export API_TOKEN='{}'", 'SMTP_SECRET="{}"')),
    "S20": (WORD, ('"api_key": "{}"', "secret: {}", "token = '{}'")),
    "S21": (WORD, ("The staging password is {}.", "Das Passwort lautet {}", "密码是 {}")),
    "S21 quoted": (
        _some("abcdefghi", 9),
        ("the password is `{}`", "le mot de passe est «{}»", "la contraseña es '{}'"),
    ),
    "S22": (
        WORD,
        ("machine git.example.org login ann password {}", "db.example.org:5432:main:ann:{}", "login x password {}"),
    ),
    "S23": (_some(ALNUM, 40), ("Cookie: sessionid={}; a=b", "Set-Cookie: PHPSESSID={}", "cookie sid={}")),
    "S24": (_some("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 32), ("otpauth://totp/x:ann?secret={}&issuer=x",) * 3),
    "P03": (_card, ("card {}", "{} exp 12/30", "charge `{}`")),
    "P04": (_iban, ("IBAN {}", "pay to {}.", "`{}`")),
}
"""For each kind what makes a value, and three sentences around it."""

INNOCENT = (
    "AKIA" + "IOSFODNN7EXAMPLE is the example key of AWS",
    "ghp_" + "x" * 36 + " stands for the token",
    "sk-" + "your-key-goes-right-here-please stands in the docs",
    "the class name sk-loading-spinner-container-large-v2 is from a library",
    "API_KEY=${API_KEY}",
    "DB_PASSWORD=$(pass show db/{n})",
    "DB_PASSWORD=<your password {n}>",
    "export TOKEN={{ vault.token{n} }}",
    "password: changeme",
    "api_key: your-api-key-{n}",
    "token = os.environ['TOKEN_{n}']",
    "secret: process.env.SECRET_{n}",
    "The password is stored in the vault, entry {n}.",
    "password: SecretStr = field{n}()",
    "The password is required for step {n}.",
    "Das Passwort ist abgelaufen, seit {n} Tagen.",
    "token budget: {n}000 tokens",
    "max_tokens: {n}096, token_count = {n}12",
    "sha256 {hex64}",
    "commit {hex40} fixed it",
    "integrity sha512-{b64}",
    "uuid 123e4567-e89b-12d3-a456-42661417{n4}",
    "https://example.org:8080/a@b and git@example.org:x/y{n}",
    "postgres://user:password@localhost/db{n}",
    "SSH_PRIVATE_KEY=/home/ann/.ssh/id_{n4}",
    "redis://:<password>@cache:{n4}/0",
    "Authorization: Bearer <token> (see step {n})",
    "basic internationalization of {n} pages",
    "Basic authentication is off on port {n4}",
    "-----BEGIN CERTIFICATE-----\n{b64}\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\n{b64}\n-----END PUBLIC KEY-----",
    "files that hold `-----BEGIN RSA PRIVATE KEY-----` are refused, rule {n}",
    "eyJ is how a JWT begins, {n}",
    "card 4242 4242 4242 4242 is for tests, case {n}",
    "order 4539 1488 0343 646{n}x is no card",
    "build 17000000000{n4}",
    "phone +49 170 123{n4}",
    "IBAN DE00 1234 5678 9012 3456 78 is wrong, {n}",
    "app.py:1234:5:E501:line",
    "12:30:45 it stopped {n} times",
    "root:x:0:0:root:/root:/bin/bash {n}",
    "session=short, cookie banner {n}",
)
"""Sentences with nothing to hide."""


def secrets(seed: int) -> Iterator[tuple[str, str, str]]:
    """Give three texts for each kind: its name, the secret, and the text around it."""
    dice = random.Random(seed)
    for kind, (make, sentences) in PLANTS.items():
        for sentence in sentences:
            value = make(dice)
            yield kind, value, sentence.format(value)


def innocents(seed: int) -> Iterator[str]:
    """Give three texts of each innocent kind."""
    dice = random.Random(seed)
    for text in INNOCENT * 3:
        signs = {
            "n": str(dice.randrange(1, 9)),
            "n4": str(dice.randrange(1000, 9999)),
            "hex64": "".join(dice.choices(HEX, k=64)),
            "hex40": "".join(dice.choices(HEX, k=40)),
            "b64": base64.b64encode(dice.randbytes(64)).decode(),
        }
        for name, value in signs.items():
            text = text.replace(f"{{{name}}}", value)
        yield text
