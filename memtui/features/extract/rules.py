"""Rules that find what is worth keeping in what somebody told an agent, sentence by sentence, with absolute dates.

The five kinds and their exclusions follow Qwen Code's managed memory (`packages/core/src/memory/`). Every pattern takes
linear time.
"""

import re
from typing import NamedTuple

from memtui.day_words import absolute, day_words
from memtui.features.remember.classify import split_reasons
from memtui.markers import PRIVATE
from memtui.mask import BEGIN
from memtui.transcripts import phrases

MIN_SENTENCE, MAX_SENTENCE = 12, 600
"""Characters of a sentence; a longer unrequested one is a task, or was pasted."""
SHORT_TURN = 2_000
"""Length of a turn up to which more than explicit requests are looked for."""


class Saying(NamedTuple):
    """A statement worth keeping."""

    rule: str
    """`explicit`, `correction`, `preference`, `reference` or `project`."""
    text: str
    quote: str
    confidence: float


CONFIDENCE = {"explicit": 0.95, "correction": 0.7, "preference": 0.6, "reference": 0.6, "project": 0.5}

_FIRST, _AFTER_NO = "first", "after no"
"""Position in a turn that answers the agent: first sentence, or first after a bare `No.`."""
_FENCED = re.compile(r"^[ \t]{0,3}(```|~~~).*?(?:^[ \t]{0,3}\1[`~]*[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_SPLIT = re.compile(r"(?<=[.!?])[ \t]+(?=[\"'“(A-ZÀ-Þ0-9`])|(?<=[。！？])|\n+")
_ITEM = re.compile(r"^(?:[-*+>]|\d{1,3}[.)])[ \t]+")
_ASKED = re.compile(
    r"^(?:(?:please|pls|also|and|ok(?:ay)?|so|bitte|por favor)[,:]? )*"
    r"(?:(?:always |do )?(?:remember|memori[sz]e|note|keep in mind|don'?t forget)"
    r"(?: (?:that|this)(?=[:,])| that| to(?= )(?! me)|(?=[:,]| ))"
    r"|(?:save|store|write) (?:this|that|it) (?:to|in|into|as|for)\b[^.\n:]{0,40}\b(?:memory|memories|notes?)"
    r"|for future reference|merke? dir|denke? daran|vergiss nicht|notiere?|souviens-toi que|rappelle-toi que"
    r"|retiens que|n'oublie pas que|recuerda que|no olvides que|ten en cuenta que|anota que"
    r"|[请請]?(?:记住|記住|记得|記得|记下|記下|别忘了?|不要忘了?)|覚えておいて)(?:, dass |, das |[,:：，、]| )?\s*",
    re.IGNORECASE,
)
"""Requests to remember, which are cut from the memory; `from now on` stays because it carries meaning."""
_LEAD = re.compile(r"^(?:(?:no|nope|nah|actually|nein|non|不对|不對|不是)[ ,.!;:，。—-]+)+", re.IGNORECASE)
_POINTS = re.compile(
    r"\b(?:this|these|those|it|here|above|again|back|line|file|the (?:last|previous|first|other|same)|yet|still)\b"
    r"|\bthat(?=[.,;:!]|$| (?:one|part|test|code|thing|way)\b)"
    r"|\b(?:das|dies\w*|hier|nochmal|ça|cela|ici|esto|eso|aquí)\b|这|那|刚才",
    re.IGNORECASE,
)
_UNCLEAR = re.compile(
    r"^(?:(?:this|these|those) (?!project|repo|codebase|team|company|machine)|(?:it|this|that)\b(?! (?:project|repo)))"
    r"|^I(?:'ve|'m| have| just| am|(?: \w+ed| ran| made| did| was))\b",
    re.IGNORECASE,
)
"""Explicit requests about something only the speaker sees, or about what they just did."""
_TO_DO = re.compile(r"(?:^|[,.!] )note (?!that\b)", re.IGNORECASE)
"""Asks to note something down rather than to remember it."""
_RULE_WORDS = re.compile(
    r"\b(?:always|never|instead|rather|not|don'?t|stop|avoid|only|without|immer|nie|niemals|statt|stattdessen|toujours"
    r"|jamais|siempre|nunca)\b|不要|别|总是|应该|要用",
    re.IGNORECASE,
)
_TEMPORARY = re.compile(
    r"\b(?:today|now|currently|temporar(?:y|ily)|at the moment|for (?:this|the) (?:task|session|moment|branch|pr)"
    r"|this (?:session|task|time|once)|just this|heute|jetzt|gerade|vorerst)\b|现在|今天|暂时|這次|这次",
    re.IGNORECASE,
)
_PREFERENCE = re.compile(
    r"\b(?:i|we) (?:\w+ly |always |really |much |all )?(?:prefer|favou?r|hate|dislike|love)\b"
    r"(?! (?:it|this|that|the (?:first|second|third|last|other|former|latter|new|old))\b)"
    r"|\b(?:i|we) (?:always |really |generally |usually )?like (?!it\b|this\b|that\b|the\b|how\b|what\b|your\b)"
    r"|\b(?:i|we) (?:always |only |really )?(?:need|want) (?:all|every|each|any|no|only|short|small|plain|clear) "
    r"|\b(?:my|our) (?:preferred|favou?rite) |\bich (?:bevorzuge|mag)\b|\bje préfère\b|\bprefiero\b"
    r"|我(?:喜欢|偏好|更喜欢)",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"https?://|\b(?:grafana|dashboards?|runbooks?|ticket(?:s| system)?|docs|documentation|wiki|notion|jira|linear)\b",
    re.IGNORECASE,
)
_STATES = re.compile(
    r"\b(?:is|are|lives?|sits?|was|were|begins?|starts?|ends?|ships?|moved|found|tracked|kept|documented|ist|sind|liegt|steht|beginnt|est|está)\b|在|是",
    re.IGNORECASE,
)
_LOCATED = re.compile(
    r"https?://|\b(?:is|are|lives?|sits?|found|tracked|kept|documented|keeps?|liegt|steht|est|está)\b[^.]{0,40}?"
    r" (?:in|at|on|under|below|im|unter|dans|en) |[在]",
    re.IGNORECASE,
)
_EVENT = re.compile(
    r"\b(?:release|launch|deadline|freeze|incident|outage|milestone|go-live|cutover|migration)\b|发布|截止|冻结|事故",
    re.IGNORECASE,
)
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_DATED = re.compile(
    rf"\b\d{{4}}-\d{{2}}-\d{{2}}\b|\b{_MONTH} \d{{1,2}}\b|\b\d{{1,2}}(?:st|nd|rd|th|\.)? {_MONTH}|\bq[1-4]\b|\d月\d",
    re.IGNORECASE,
)
_COMMANDS = re.compile(
    r"^(?:(?:please|pls|now|then|and|also|ok(?:ay)?|can you|could you|let'?s|bitte)[,:]? )*"
    r"(?:add|build|change|check|clean|click|clone|close|commit|compare|copy|create|debug|delete|deploy|do|download|draft"
    r"|explain|fetch|find|fix|follow|generate|get|give|go|help|implement|install|investigate|list|look|make"
    r"|merge(?! freeze)|move|open|plan|prepare|push|put|read|refactor|remove|rename|replace|review|run|search"
    r"|see|send|set|show|start|summari[sz]e|take|tell|test|try|update|upgrade|use|verify|why|what|how|where|when|who|which|is|are|does|did|write)\b",
    re.IGNORECASE,
)


def sayings(text: str, at: int, *, answers: bool) -> tuple[Saying, ...]:
    """Return what is worth keeping in one turn from time `at`; `answers`: the agent spoke before it."""
    plain = _FENCED.sub("\n", text)
    if phrases.asks_to_remember(plain):
        plain, why, how = split_reasons(plain)
        reasons = [f"{name}: {value}" for name, value in (("Why", why), ("How to apply", how)) if value]
    else:
        reasons = []
    found: list[Saying] = []
    answer = _FIRST if answers and len(text) <= phrases.LONGEST else ""
    for sentence in _sentences(plain):
        rule = _rule(sentence, answer, short=len(text) <= SHORT_TURN)
        answer = _AFTER_NO if answer and not _LEAD.sub("", f"{sentence} ") else ""
        if not rule:
            continue
        kept = _ASKED.sub("", sentence) if rule == "explicit" else _LEAD.sub("", sentence)
        if len(kept) < (MIN_SENTENCE // 2 if rule == "explicit" else MIN_SENTENCE) or _UNCLEAR.match(kept):
            continue
        kept = kept[:1].upper() + kept[1:]
        body = "\n".join([absolute(kept, at), *(reasons if rule == "explicit" else ())])
        found.append(Saying(rule, body, sentence, CONFIDENCE[rule]))
    return tuple(found)


def _sentences(text: str) -> list[str]:
    parts = (part.strip() for part in _SPLIT.split(text))
    return [
        _ITEM.sub("", part)
        for part in parts
        if part and not part.startswith(">") and PRIVATE not in part and BEGIN not in part
    ]


def _rule(sentence: str, answer: str, *, short: bool) -> str:
    """Return the rule that a sentence matches, or nothing; `answer` is its position in an answer to the agent."""
    if len(sentence) < MIN_SENTENCE or sentence.endswith(("?", "？")):
        return ""
    if phrases.asks_to_remember(sentence) and not _TO_DO.search(sentence):
        return "explicit"
    if not short or len(sentence) > MAX_SENTENCE or _TEMPORARY.search(sentence):
        return ""
    if answer == _AFTER_NO or (answer and phrases.corrects(sentence)):
        rest = _LEAD.sub("", sentence)
        if len(rest.split()) >= 3 or not rest.isascii():
            return "correction" if _RULE_WORDS.search(sentence) and not _POINTS.search(rest) else ""
        return ""
    if _PREFERENCE.search(sentence):
        return "preference"
    if _COMMANDS.match(sentence):
        return ""
    if _PLACE.search(sentence) and _STATES.search(sentence) and _LOCATED.search(sentence):
        return "reference"
    if _EVENT.search(sentence) and (_DATED.search(sentence) or day_words(sentence, 0)) and _STATES.search(sentence):
        return "project"
    return ""
