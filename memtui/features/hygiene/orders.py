"""Rules for orders to agents that their user did not give (family I), with their guards.

Orders that are quoted, warned against or shown under a heading about attacks are reported as I, not hidden: an attacker
would use any guard that hides them. Sentences are read in six languages.
"""

import re
from collections.abc import Callable

from memtui.features.hygiene.model import GuardResult, Rule, ScannedText


def _any(words: str) -> str:
    """Build an alternation of words; `_` stands for blanks."""
    return f"(?:{'|'.join(words.split())})".replace("_", r"\s++")


_NO = re.compile(
    r"(?i)\b(?:never|not|cannot|no|avoid\w*|refuse\w*|reject\w*|forbid\w*|prohibit\w*|banned|block(?:s|ed)|instead of"
    r"|rather than|beware|warn\w*|detect\w*|prevent\w*|nicht|nie|niemals|keine?|ne|jamais|pas|nunca)\b"
    r"|n['’]t\b|不要|不得|不能|禁止|切勿|严禁|请勿|しない|ません|❌|🚫"
)
_URGED = re.compile(r"(?i)\b(?:hesitate|forget|fail|worry|only|just)\b")
_ENDS = re.compile(r"[.!?:][\s)\"'”*]|[。！？\n;]")
_QUOTES = tuple((pair[0], pair[1]) for pair in ('""', "“”", "«»", "„“", "「」", "『』", "‘’"))
_INSTALLERS = re.compile(
    r"(?i)rustup\.rs|homebrew|brew\.sh|astral\.sh|get\.docker\.com|nodesource\.com|bun\.sh|deno\.land|get\.pnpm\.io"
    r"|install\.python-poetry\.org|nvm-sh/nvm|claude\.ai/|opencode\.ai|starship\.rs|mise\.run|helm/helm|fly\.io"
    r"|tailscale\.com|ollama\.(?:com|ai)|determinate\.systems|nixos\.org|get\.volta\.sh|pixi\.sh|sdkman\.io|cursor\.com"
    r"|localhost|127\.0\.0\.1"
)
_SENDS = re.compile(
    r"(?i)\b(?:send|upload|exfiltrate|transmit|forward|leak|post|submit|e-?mail|append|paste|sende|schicke?|übermittle"
    r"|envoie[sz]?|envoye[rz]|téléverse[rz]?|transmet[sz]?|envía|enviar|envíe|manda|sube)\b|\blade?n?\b[^\n]{0,80}\bhoch\b|发送|发到|上传|传到|提交|送信|送って|アップロード"
    r"|\bcurl\b[^\n]{0,80}[ \t](?:-d|-F|-T|--data|--form)"
)
_KEPT = re.compile(
    r"(?i)\b(?:api[ _-]?keys|(?:every|each|any|all) (?:the )?(?:passwords?|keys?|tokens?|secrets?)"
    r"|all (?:the )?(?:keys|tokens)|(?:ssh|private|secret|access) keys?|secrets|credentials"
    r"|passwords|environment variables|env vars|chat history|conversation(?: history)?"
    r"|session (?:history|log|transcript)|schlüssel|zugangsdaten|passwörter|umgebungsvariablen|clés|identifiants"
    r"|mots de passe|variables d.environnement|claves|credenciales|contraseñas|variables de entorno)\b"
    r"|\.env\b|\.ssh\b|id_(?:rsa|ed25519)|\.aws/|\$\((?:env|printenv)|密钥|密码|凭证|凭据|令牌|环境变量|鍵|キー|パスワード|認証情報|環境変数"
)
_OWN_HOST = re.compile(r"(?i)(?:https?://)?(?:localhost|127\.|\[::1\]|(?:[\w-]+\.)*example\.(?:com|org|net))")
_AGENTS = re.compile(
    r"(?i)claude|agents?\b|gemini|codex|memor|system|prompt|cursor|copilot|instruction|session|user|chat"
)
_PLACED = re.compile(
    r"(?i)[\s*_]{0,4}(?:in|of|from|for|(?:set|given|made|defined) (?:by|in)) (?!now\b|good\b|this\b|that\b|ever\b)"
    r"([^\n.;]{1,60}[^\n]{0,12})"
)
"""Names whose rules are meant."""
_EARLIER = re.compile(
    r"(?i)\b(?:previous|prior|earlier|above|preceding|former|your|my|system|safety|original|initial|told)"
)
_DEICTIC = re.compile(
    r"(?i)\b(?:this|these|that you|that it|that this|it|what|your|any|anything|all|everything|commands?|steps?"
    r"|changes?|rules?|instructions?|notes?|scripts?|uploads?|truth|memor(?:y|ies))\b"
)
"""Words for what an agent does or was told, not for what a program shows."""
_HELPS = re.compile(
    r"(?i)[\s,]{0,3}(?:to|how|what to|which|whether|until|unless|before|when|while|if|once|twice|again|more"
    r"|every|on|an?|of)\b"
)


def _sentence(page: ScannedText, found: "re.Match[str]") -> tuple[str, str]:
    """Return the parts of a match's sentence before and after it."""
    before = page.text[max(0, found.start() - 120) : found.start()]
    behind = page.text[found.end() : found.end() + 60]
    start = max((end.end() for end in _ENDS.finditer(before)), default=0)
    ended = _ENDS.search(behind)
    return before[start:], behind[: ended.start()] if ended else behind


def _is_quoted(page: ScannedText, found: "re.Match[str]") -> bool:
    before = page.text[max(0, found.start() - 80) : found.start()].rpartition("\n")[2]
    behind = page.text[found.end() : found.end() + 120].partition("\n")[0]
    return any(
        right in behind and (before.count(left) % 2 == 1 if left == right else before.rfind(left) > before.rfind(right))
        for left, right in _QUOTES
    )


def _is_refused(page: ScannedText, found: "re.Match[str]") -> bool:
    before, behind = _sentence(page, found)
    return not _URGED.search(before) and bool(_NO.search(before) or _NO.search(behind))


def _said(page: ScannedText, found: "re.Match[str]") -> GuardResult:
    """Spare what is quoted, shown or directly refused."""
    before = " ".join(_sentence(page, found)[0].split()[-4:])
    refused = _NO.search(before) and not _URGED.search(before)
    spared = refused or page.shows(found.start()) or _is_quoted(page, found)
    return GuardResult(severity="I" if spared else "")


def _dropped(page: ScannedText, found: "re.Match[str]") -> GuardResult:
    """Spare rules of a program, as in `override all rules in ruff.toml`."""
    if found[0].lower().startswith(("drop", "skip")) and not _EARLIER.search(found[0]):
        return GuardResult(severity="I")
    placed = None if _EARLIER.search(found[0]) else _PLACED.match(page.text, found.end())
    return GuardResult(severity="I") if placed and not _AGENTS.search(placed[1]) else _said(page, found)


_FIELD = re.compile(r"[ \t]{0,8}[\w -]{1,24}:[ \t]\S")


def _turn(page: ScannedText, found: "re.Match[str]") -> GuardResult:
    """Spare tags that a sentence only names, lists of fields and system reports."""
    text, (start, end) = page.text, found.span()
    before = text[max(0, start - 120) : start].rpartition("\n")[2]
    behind = text[end : end + 200].partition("\n")
    if found[0][0] == "<":
        named = re.match(r"[ ,]{0,3}(?:tags?|blocks?|elements?|messages?|wrappers?|sections?|markers?)\b", behind[0])
        shown = bool(before.strip()) and named is not None and "</" not in behind[0]
    elif found[0].startswith(("Human", "Assistant")):
        above = text[max(0, start - 120) : max(0, start - 1)].rpartition("\n")[2]
        near = [line for line in (above, behind[2].partition("\n")[0]) if _FIELD.match(line)]
        shown = any(not line.lstrip().startswith(("Human:", "Assistant:")) for line in near)
    else:
        report = re.match(r"(?i)[#* \t]{0,6}system (?:message|notice|alert)", found[0])
        shown = (
            report is not None
            and re.search(r"(?i)\b(?:you|your|must|ignore|agents?|all|from now)\b", behind[0]) is None
        )
    return GuardResult(severity="I" if shown or page.shows(start) else "")


def _kept_from(page: ScannedText, found: "re.Match[str]") -> GuardResult:
    """Spare advice (`Do not tell the user to ..`) and what a program shows (`hide the spinner from the user`)."""
    if page.instructs:
        return GuardResult(severity="I")
    said, behind = found[0], page.text[found.end() : found.end() + 60].partition("\n")[0]
    spared = _HELPS.match(behind) is not None
    if re.search(r"(?i)\b(?:from|to)\s++\w*\s*+\w++\Z", said) and said.isascii():  # hide .. from, reveal .. to
        spared = spared or not _DEICTIC.search(said)
    elif re.match(rf"(?i){_USER}", said):  # it is not to see
        rest = behind.strip(" .,!*_")
        spared = bool(rest) and not _DEICTIC.match(rest.removeprefix("about ").removeprefix("of "))
    elif named := re.match(r"(?i)[\s,]{0,3}(?:about |the )(.*)", behind):
        spared = not re.match(r"(?i)(?:the )?(?:real|full|actual) ", named[1]) and not _DEICTIC.match(named[1])
    return GuardResult(severity="I") if spared else _said(page, found)


def _unless_refused(page: ScannedText, found: "re.Match[str]") -> GuardResult:
    return GuardResult(severity="I" if page.about_attacks(found.start()) or _is_refused(page, found) else "")


def _own(page: ScannedText, found: "re.Match[str]") -> GuardResult:
    return GuardResult(severity="I") if page.instructs else _unless_refused(page, found)


def _piped(page: ScannedText, found: "re.Match[str]") -> GuardResult:
    near = page.text[found.end() : found.end() + 120].partition("\n")[0]
    return GuardResult(severity="I") if _INSTALLERS.search(found[0] + near) else _unless_refused(page, found)


def _sent(page: ScannedText, found: "re.Match[str]") -> GuardResult | None:
    """Match an address only in a sentence that says to send secrets."""
    near = found.start() - 120, found.end() + 60
    if not (page.near(_SENDS, *near) and page.near(_KEPT, *near)):
        return None
    before, behind = _sentence(page, found)
    around = before + found[0] + behind
    if _OWN_HOST.match(found[0]) or not (_SENDS.search(around) and _KEPT.search(around)):
        return None
    verdict = GuardResult(severity="I") if _is_refused(page, found) else _said(page, found)
    return verdict._replace(said=around)


_GUARDS = "quoted, refused, in code or under a heading about attacks: I"
_REFUSED = "refused, or under a heading about attacks: I"
_OWN = f"in rules of the user's own: I; {_REFUSED}"
_MORE = r"(?:\w++,?\s++){0,5}?"
_BY_USER = r"(?:do(?:es)?|must|should|may|shall)\s*+(?:not|never|n['’]t)\s++"
_USER = r"(?:(?:the|your|any)\s++)?+(?:user|human|developer|operator|owner|anyone|anybody)\b"
_PAST = _any(
    "all any every each of the your my these those this previous previously prior earlier above preceding other"
    " existing former current system safety initial original given"
)
_RULES = _any(
    "instructions? rules? guidelines? prompts? directions orders directives? constraints policies training guidance"
)
_DROP = _any(
    "ignore disregard forget override bypass do_not_follow don.t_follow stop_following pay_no_attention_to"
    " set_aside put_aside drop skip discard disobey do_not_obey don.t_obey"
)
_VOID = (
    r"(?:(?:do\s++)?no(?:t|\s++longer)\s++(?:apply|count|hold|bind)|(?:are|is|have\s++been|has\s++been)\s++(?:now\s++)?+"
    r"(?:void|cancel|revoked|superseded|invalid|suspended|lifted|null))"
)
_DROPPED = (
    rf"{_DROP}\s++"
    rf"(?:(?:{_PAST}\s++){{1,6}}(?<!\bthe\s)(?<!\bthis\s){_RULES}\b|(?:everything|anything|all|what(?:ever)?)\s++"
    r"(?:(?:that|which|the|developers|you|was|were|is|has|have|been|i|we)\s++){0,4}+"
    r"(?:above|before\b(?! you)|earlier|told|said))"
    rf"|treat\s++(?:{_PAST}\s++){{1,3}}{_RULES}\s++as\s++(?:outdated|obsolete|void|invalid)"
    rf"|(?:(?:previous|prior|earlier|above|preceding|system|safety|original|initial|all|your)\s++){{1,4}}{_RULES}\s++{_VOID}"
    rf"|{_RULES}\s++(?:above|before|so\s++far|(?:that\s++)?+you\s++(?:were|have\s++been)\s++given)\s++{_VOID}"
    rf"|no\s++longer\s++bound\s++by\s++(?:{_PAST}\s++){{0,4}}{_RULES}"
    rf"|{_any('ignoriere ignorieren_sie missachte vergiss vergessen_sie verwirf')}\s++{_MORE}"
    rf"{_any('anweisungen instruktionen regeln vorgaben befehle richtlinien zuvor vorher bisher oben')}\b"
    r"|beachten?\s++(?:sie\s++)?+keine\s++der\s++(?:vorherigen|bisherigen|obigen|früheren)\s++\w"
    r"|fai(?:s|tes)\s++abstraction\s++de\w*+\s++(?:\w++\s++)?(?:instructions|consignes|règles|directives)"
    r"|pas[ae]\s++por\s++alto\s++(?:\w++\s++){1,2}(?:instrucciones|reglas|indicaciones|normas)"
    r"|(?:bisherige|vorherige|frühere|obige)[nr]?\s++(?:anweisungen|instruktionen|regeln|vorgaben|richtlinien)\s++"
    r"(?:gelten|zählen)\s++(?:ab\s++\w++\s++)?+nicht|\bsetze?n?\s++(?:dich|sie\s++sich)\s++über\s++"
    rf"{_MORE}(?:anweisungen|instruktionen|regeln|vorgaben|richtlinien)\b"
    r"|(?:instructions|consignes|règles|directives)\s++(?:précéde|antérieur|ci-dessus)\w*+\s++ne\s++"
    r"(?:s['’]appliquent|valent|comptent|sont)\s++plus"
    r"|(?:instrucciones|reglas|indicaciones|normas)\s++(?:anteriores|previas|del\s++sistema)\s++(?:ya\s++)?+no\s++"
    r"(?:son\s++válidas|valen|se\s++aplican|rigen|cuentan)"
    rf"|(?:ignore[rz]?|oublie[rz]?|ne\s++t(?:ien|en)\w++\s++pas\s++compte\s++d\w++|ne\s++(?:respecte[sz]?|suis|suivez)"
    rf"\s++(?:pas|plus))\s++{_MORE}"
    rf"{_any('instructions consignes règles directives')}\s++{_MORE}(?:précéde|antérieur|ci-dessus|système)"
    rf"|{_any('ignor[ae] ignora[rd] olvid[ae] no_sigas caso_omiso_de')}\s++{_MORE}"
    rf"{_any('instrucciones reglas indicaciones órdenes normas')}\s++{_MORE}(?:anterior|previa|del sistema)"
)
_DROPPED_THERE = (
    r"(?:忽略|无视|忽视|忘记|忘掉|不要理会|不要遵守|無視)[^\n。]{0,6}(?:之前|以前|先前|此前|上面|上述|以上|所有|一切|全部|系统)"
    r"[^\n。]{0,6}(?:指令|指示|说明|规则|提示|命令|要求|規則|設定)"
    r"|(?:之前|以前|先前|此前|上面|上述|以上)[^\n。]{0,6}(?:指令|指示|说明|规则|提示|命令|要求)[^\n。]{0,4}"
    r"(?:作废|不再有效|无效|失效|不再适用)"
    r"|(?:これまで|以前|前|上記)[^\n。]{0,4}(?:指示|命令|ルール|規則|プロンプト)[^\n。]{0,4}無効"
    r"|(?:これまで|以前|前|上記|すべて|全て|今まで|システム)[^\n。]{0,10}(?:指示|命令|ルール|規則|プロンプト)[^\n。]{0,6}"
    r"(?:無視|忘れ|従わな|破棄)"
)
_SILENT = (
    r"(?:not|never|(?:do|must|should)n['’]t|without)\s++(?:ever\s++)?+(?:(?:tell|inform|notify|alert|warn|show)(?:ing)?+"
    rf"|(?:reveal|mention|disclos\w)\w{{0,4}}+\s++{_MORE}to)\s++{_USER}|(?:hide|conceal|keep)\s++{_MORE}from\s++"
    rf"{_USER}|(?:not|never|(?:do|must|should)n['’]t)\s++let\s++{_USER}\s++(?:know|see|notice|find|learn)"
    rf"|{_USER}\s++{_BY_USER}(?:ever\s++)?+(?:know|find\s++out|notice|learn|see|hear)\b"
    r"|without\s++the\s++(?:user|human|developer)(?:['’]s)?+\s++(?:know|notic)"
    rf"|keep\s++{_USER}\s++in\s++the\s++dark|say\s++nothing\s++{_MORE}to\s++{_USER}"
    rf"|avoid\s++(?:telling|informing|notifying|(?:mentioning|revealing|disclosing)\s++{_MORE}to)\s++{_USER}"
    r"|n['’]en\s++parle[sz]?\s++(?:pas|jamais)\s++à\s++l['’]utilisateur"
    rf"|(?:sage?|sagen sie|verrate?|erzähle?|informiere)\s++{_MORE}(?:be)?(?:nutzer|user)\s++{_MORE}(?:nichts|nicht)\b"
    rf"|erwähne?\s++{_MORE}(?:be)?(?:nutzer|user)\s++nicht\b"
    r"|(?:nutzer|user)\s++(?:darf|soll)\s++(?:\w++\s++){0,2}?(?:nichts|nicht)\s++(?:\w++\s++){0,2}?(?:erfahren|wissen|merken)"
    r"|n(?:e\s++|['’])(?:dis|dites|révèle[sz]?|mentionne[sz]?|informe[sz]?)"
    rf"\s++{_MORE}(?:pas|rien|jamais)\s++{_MORE}(?:à\s++)?l['’]utilisateur"
    r"|l['’]utilisateur\s++ne\s++doit\s++(?:pas|jamais|rien)\s++(?:le\s++)?+(?:savoir|voir|apprendre|remarquer)"
    r"|usuario\s++no\s++debe\s++(?:saber|ver|enterarse|notar)"
    rf"|no\s++(?:le\s++|se\s++lo\s++)?+(?:digas?|informes?|menciones|reveles|cuentes)\s++{_MORE}al?\s++usuario"
)
_SILENT_THERE = (
    r"(?:不要|不得|别|切勿|无需|请勿)[^\n。]{0,4}(?:告诉|告知|通知|提醒|透露给|让)[^\n。]{0,3}(?:用户|使用者)"
    r"|(?:不要|不得|别|切勿|请勿)向(?:用户|使用者)(?:提及|提到|透露|说)|对(?:用户|使用者)(?:保密|隐瞒)"
    r"|(?:ユーザー?|利用者|使用者)に(?:知られ|気付かれ|気づかれ)(?:ない|ず)"
    r"|(?:ユーザー?|利用者|使用者)には?[^\n。]{0,8}(?:言わ|伝え|知らせ|教え|話さ|報告し)(?:ない|るな)"
)


def _in_words(words: str, there: str) -> str:
    """Build one pattern of alternatives that begin a word, and of others in scripts without blanks."""
    words = words.replace(r"\b", r"(?:(?<![^\W_])(?=[^\W_])|(?<=[^\W_])(?![^\W_]))")  # `_` may be emphasis
    return rf"(?i)(?<![^\W_])(?<![^\W_]_)(?:{words})|{there}"


_BETWEEN = r"[\s*_~>|]++"
"""Blanks, Markdown emphasis and quotation marks between words."""


def _order(
    number: str,
    what: str,
    severity: str,
    spares: str,
    fix: str,
    guard: Callable[[ScannedText, "re.Match[str]"], GuardResult | None],
    begins: str,
    pattern: str,
    anchors: str = "",
) -> Rule:
    pattern = pattern.replace(r"\s++", _BETWEEN)
    return Rule(number, what, severity, spares, fix, pattern, guard, tuple(anchors.split()), tuple(begins.split()))


ORDERS = (
    _order(
        *("I01", "an order to drop the instructions there are", "E", f"rules of a program, {_GUARDS}", "cut", _dropped),
        "ignore disregard forget override bypass do don stop pay set put drop skip discard disobey treat previous"
        " prior earlier above preceding system safety original initial all your instructions rules guidelines"
        " prompts directions orders constraints policies training guidance no missachte vergiss verwirf beachte fais"
        " faites pasa pase bisherige vorherige frühere obige setze consignes règles reglas indicaciones normas"
        " oublie ne olvide caso 忽略 无视 忽视 忘记 忘掉 不要理会 不要遵守 無視"
        " 之前 以前 先前 此前 上面 上述 以上 これまで 前 上記 すべて 全て 今まで システム",
        _in_words(_DROPPED, _DROPPED_THERE),
    ),
    _order(
        *("I02", "a turn of a conversation, or a wrapper of memories, that the text forges", "E"),
        *("a tag that is named, a list of fields, in code, under a heading about attacks: I", "cut", _turn),
        "",
        r"</?(?i:memory[_-]files?|system[_-](?:reminder|prompt)|function_(?:results?|calls)|tool_(?:results?|use)"
        r"|antml:\w+)\b[^>\n]{0,80}>|<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id)\|>"
        r"|\[/?INST\]|<</?SYS>>|(?m:^(?:Human|Assistant):[ \t]|^[#* \t]{0,6}+(?i:system (?:override|message|notice"
        r"|alert))\b[^\n:]{0,20}:)",
        "memory system function_ tool_ antml <| inst] sys>> human assistant",
    ),
    _order(
        *("I03", "an order to keep something from the user", "E"),
        *(f"{_GUARDS}; how to help, what a program shows, or in rules of the user's own: I", "cut", _kept_from),
        "not never do don must should without hide conceal keep the your any user human developer operator owner"
        " anyone anybody say avoid n sag sage verrate erzähle informiere erwähne nutzer ne l usuario no"
        " 不要 不得 别 切勿 无需 请勿 对 ユーザ 利用者 使用者",
        _in_words(_SILENT, _SILENT_THERE),
    ),
    _order(
        *("I04", "a download that is run at once", "W"),
        *(f"installers of well-known tools, this machine: I; {_REFUSED}", "open", _piped),
        "curl wget iex invoke irm iwr base64 eval source bash zsh sh python node perl ruby",
        r"(?i)\b(?:(?:curl|wget)\b[^\n|]{0,300}\|[ \t]{0,4}(?:sudo[ \t]{1,4}(?:-\w+[ \t]{1,4})?)?(?:(?:ba|z|da|k|fi)?sh"
        r"\b|(?:python3?|perl|node|ruby)[ \t]{0,4}-?[ \t]{0,4}(?=[`\"'\n]|\Z))"
        r"|(?:iex|invoke-expression)\b[^\n]{0,40}(?:irm|iwr|invoke-\w+request|invoke-restmethod|downloadstring)"
        r"|(?:irm|iwr|invoke-restmethod|invoke-webrequest)\b[^\n|]{0,300}\|[ \t]{0,4}(?:iex|invoke-expression)\b"
        r"|base64[ \t]{1,4}(?:-d|--decode)\b[^\n|]{0,100}\|[ \t]{0,4}(?:sudo[ \t]{1,4})?(?:ba|z|da)?sh\b"
        r"|(?:curl|wget)\b[^\n|]{0,300}(?:&&|;)[ \t]{0,4}(?:sudo[ \t]{1,4})?(?:ba|z)?sh[ \t]{1,4}[\w./-]"
        r"|(?:eval|source|(?:(?:ba|z)?sh|python3?|node|perl|ruby)(?: -[ce])?)[ \t]{1,4}[\"']?"
        r"(?:\$\(|<\(|`)[ \t]{0,4}(?:curl|wget)\b)",
    ),
    _order(
        *("I05", "an order to send keys, or what was said, to an address", "E"),
        *(f"example hosts, this machine; {_GUARDS}", "cut", _sent),
        "",
        r"(?i)\bhttps?://[^\s)>\"'`，。]{3,200}+|(?<![\w.+@-])[\w.+-]{1,64}+@[\w-]{1,63}+\.[\w.-]{2,63}+",
        "http @",
    ),
    _order(
        *("I06", "an order to read files that hold keys", "W", f"`.env.example`; {_REFUSED}", "open", _unless_refused),
        "cat read open print show dump include copy output head tail send upload encode content",
        r"(?i)\b(?:cat|read|open|print|show|dump|include|copy|output|head|tail|send|upload|encode|contents? of)\b"
        r"[^\n.;|]{0,40}?(?:/etc/shadow|\.(?:ssh/(?:id_\w|\*)|aws/credentials|netrc|pgpass|git-credentials"
        r"|docker/config\.json|kube/config|gnupg/)|(?:(?<=cat )|(?<=[ts] of )|(?<=the ))[`\"']?\.env(?![\w.]))",
    ),
    _order(
        *("I07", "an order to switch a guard off", "W", _REFUSED, "cut", _unless_refused),
        "-- bypass danger node_tls disable turn switch deactivate",
        r"(?i)(?<![\w-])--(?:no-verify|dangerously-\w|allow-dangerous|yolo\b)[\w-]{0,60}+|\b(?:bypassPermissions\b"
        r"|danger-full-access\b|NODE_TLS_REJECT_UNAUTHORIZED=0|(?:disable|turn off|switch off|deactivate|bypass)\s++"
        r"(?:(?:the|all|any|your|git)\s++){0,2}(?:sandbox|permission (?:check|prompt)|approvals?\b|safety|pre-commit"
        r"|git hooks|security (?:check|scan)|guardrail|confirmation))",
    ),
    _order(
        *("I08", "something to be done whenever the user asks for something", "W", _OWN, "open", _own),
        "whenever every each any always",
        r"(?i)\b(?:whenever|(?:every|each|any) time|always when)\s++(?:the user|a user|they|you|someone|anyone)\b"
        r"[^\n.]{0,100}?[\s,](?:run|execute|install|open|send|fetch|download|curl|upload|visit|append|insert|post)\s",
    ),
    _order(
        *("I09", "an order to copy the text into other memories", "E", _GUARDS, "cut", _said),
        "kopiere schreibe copie copia copy add append insert include paste repeat propagate replicate write spread"
        " save 这 この",
        r"(?i)\b(?:(?:kopiere?n?|schreibe?)\s++diesen?\s++\w++\s++in\s++(?:alle|jede)|copie[rz]?\s++ce(?:tte|t)?+\s++\w++"
        r"\s++dans\s++(?:tou(?:te)?s|chaque)|copi[ae]r?\s++est[ae]\s++\w++\s++en\s++(?:tod[ao]s|cada))\b"
        r"|这[条段份个][^\n。]{0,6}(?:复制|添加|写入)到?[^\n。]{0,3}(?:所有|每个|全部|其他)"
        r"|この(?:メモ|指示|文章?|ノート|記憶)[^\n。]{0,4}(?:すべて|全て|各)[^\n。]{0,10}(?:コピー|追加|書き込)"
        r"|\b(?:copy|add|append|insert|include|paste|repeat|propagate|replicate|write|spread|save)\s++(?:this|these"
        r"|the\s++above)\s++(?:exact\s++|whole\s++)?+(?:note|memory|instruction|rule|text|message|paragraph|prompt|block"
        r"|line|entry|section)s?+\s++(?:(?:in|to|into|at|the|top|end|start|of|across|verbatim)\s++){1,5}+"
        rf"(?:all|every|each|any|other)\s++{_MORE}(?:memor(?:y|ies)|files?|notes?|projects?|repositor|repos?\b|agents?"
        r"|outputs?|repl(?:y|ies)|responses?|conversations?|sessions?|\S{0,20}\.md)",
    ),
)
