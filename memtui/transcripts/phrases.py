"""Phrases by which people ask to remember something or correct the agent, in six languages."""

import re

LONGEST = 600
"""Longest message that counts as a correction, in characters."""

_START = r"(?:^|(?<=[.!?。！？\n]))[\s\"'“(*>-]{0,8}+"
_REMEMBER = (
    (
        r"(?:please |pls |also |and |ok(?:ay)?,? |so ){0,3}+(?:always |do )?(?:remember|memori[sz]e|note|keep in mind)"
        r"(?:: |, | (?:that|to|this|we|i|the|our|my|all|every|never|always)\b)"
    ),
    r"(?:please )?(?:don'?t forget|(?:save|store|write) (?:this|that|it) [^.\n]{0,40}?\b(?:memory|memories|notes?))\b",
    r"(?:from now on|going forward|in (?:the )?future,|for future reference)",
    r"(?:bitte )?(?:merke? dir|denke? daran|vergiss nicht|notiere?)\b|ab jetzt|von jetzt an|ab sofort|künftig",
    r"(?:souviens-toi|rappelle-toi|retiens|mémorise|n'oublie pas|note)(?: que\b| bien\b| qu'|:)",
    r"désormais|dorénavant|à partir de maintenant",
    r"(?:por favor,? )?(?:recuerda|memoriza|no olvides|ten en cuenta|anota)(?: que\b|:)",
    r"a partir de ahora|de ahora en adelante",
    r"[请請]?(?:记住|記住|记得|記得|记下|記下|别忘|不要忘)|从现在开始|從現在開始|以后|以後|今后",
    r"覚えて(?:おいて)?|忘れないで|記憶して|今後は|これからは",
)
_WRONG = (
    r"(?:no|nope|nah)(?:[,.!:;]| ?[-—])(?! ?(?:thanks|thank you|problem|worries|need|rush))",
    r"(?:no|nope) (?:that|this|it|you|use|i (?:said|meant)|not)\b",
    r"(?:please )?(?:don'?t|do not|never|stop)(?: ever)? (?!worry|mind)[a-z]+|stop[.!]",
    r"actually,? (?:no|use|it|we|i|you|the|don)|(?:that|this|it)(?:'s| is| was) (?:wrong|not (?:what|right|how))",
    r"(?:please )?use [^\n.]{1,60}? (?:instead|not)\b|instead of [^\n]{1,80}?,|(?:wrong|revert|undo)[,.! ]",
    r"i (?:said|told you|meant|asked for)\b",
    r"nein\b|nicht [a-zäöüß]+|hör auf|lass das|das ist falsch|das stimmt nicht|falsch\b|stattdessen|eigentlich",
    r"non[,.! ]|ne [^\n]{1,40}? pas\b|n'[^\n]{1,40}? pas\b|arrête|c'est faux|en fait\b|plutôt",
    r"no, (?:no|usa|eso|quiero|está)\b|para de |deja de |eso está mal|está mal|incorrecto|en realidad|no uses|no hagas",
    r"不要(?!忘)|[别別](?!忘)|不对|不對|不是|错了|錯了|停|其实|應該|应该",
    r"いや|いいえ|違[うい]|ちがう|やめて|そうじゃな|ではなく|じゃなくて",
)
_EXPLICIT, _CORRECTION = (re.compile(f"{_START}(?:{'|'.join(some)})", re.IGNORECASE) for some in (_REMEMBER, _WRONG))


def asks_to_remember(text: str) -> bool:
    """Whether a sentence of a message asks to remember something; questions do not count."""
    return not _is_question(text) and _EXPLICIT.search(text) is not None


def corrects(text: str) -> bool:
    """Whether a short message begins by saying that the agent was wrong."""
    return len(text) <= LONGEST and not _is_question(text) and _CORRECTION.match(text) is not None


def _is_question(text: str) -> bool:
    return text.rstrip().endswith(("?", "？"))
