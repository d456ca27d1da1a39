"""All rules of hygiene.

Secrets are matched by `memtui.mask`, so that the same are masked and reported.
"""

from memtui.features.hygiene.hidden import HIDDEN
from memtui.features.hygiene.model import Rule
from memtui.features.hygiene.orders import ORDERS

_SECRETS = (
    ("S01", "a private key: PEM, OpenSSH, PGP, age", "E", "a head without a line of base64 behind it"),
    ("S02", "an AWS key id", "E", "placeholders"),
    ("S03", "an AWS secret", "E", "no word for it within 40 characters, below 4 bits a character"),
    ("S04", "a GitHub token", "E", "too short ones"),
    ("S05", "a GitLab token", "E", "too short ones"),
    ("S06", "a Slack token", "E", "placeholders"),
    ("S07", "a webhook of Slack, Discord or Teams", "E", "addresses without their secret parts"),
    ("S08", "a Stripe key", "E", "placeholders; a test key: W"),
    ("S09", "a key that begins with sk-, as OpenAI's", "E", "placeholders, lower case alone"),
    ("S10", "an Anthropic key", "E", "too short ones"),
    ("S11", "a Google key or token", "E", "too short ones"),
    ("S12", "an Azure key or signature", "E", "too short ones"),
    ("S13", "a token of npm, PyPI, RubyGems, Hugging Face or Replicate", "E", "too short ones"),
    ("S14", "a key of SendGrid, Mailchimp, Mailgun, Twilio, Telegram or Discord", "E", "hex without a word for it"),
    ("S15", "a token of one of eleven services, from DigitalOcean to Heroku", "E", "too short ones"),
    ("S16", "a signed JSON web token", "W", "a head that names no algorithm"),
    ("S17", "a URL with a password", "E", "placeholders"),
    ("S18", "a bearer or basic token", "E", "below 16 characters, placeholders"),
    ("S19", "a variable set to a password, token or key", "E", "placeholders, look-ups"),
    ("S20", "a field set to a secret", "W", "placeholders, hashes, words, below 3 bits a character"),
    ("S21", "a sentence that gives a password", "W", "placeholders, common words"),
    ("S22", "a line of netrc, pgpass or htpasswd", "E", "lines of another form"),
    ("S23", "a session cookie", "W", "no word for it, below 3.5 bits a character"),
    ("S24", "the secret of a one-time password", "E", "what is no base32"),
    ("P03", "a card number", "E", "wrong check digit, numbers for tests"),
    ("P04", "an IBAN or a US social security number", "W", "wrong check digits, no word for it"),
)

DOUBLES = (
    Rule("D01", "memories that say the same", "W", "what an agent makes itself; front matter that differs", "open"),
    Rule("D02", "memories that say nearly the same", "I", "below 80 % of five-word sequences in common", "open"),
    Rule("D03", "an entry that stands in its file before already", "W", "what cannot go by itself", "cut"),
)
"""Rules over several texts or entries, evaluated in `look`."""
VERSION = 4
"""Raise it when a rule finds something else than before; cached results then expire."""
RULES = (*(Rule(*row, "mask") for row in _SECRETS), *HIDDEN, *ORDERS, *DOUBLES)
"""All rules by family; a number stands twice where one kind of thing is found in two ways."""
