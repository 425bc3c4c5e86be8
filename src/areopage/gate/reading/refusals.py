"""Answers that only say that they do not know, and words that admit that something is not from the documents; English and French.

A refusal says that the documents or the writer cannot answer. It is no hallucination, provided that nothing is claimed with it:
neither in the same sentence (after "but", by a name or figure that the question does not have, by too many words of its own)
nor in another sentence.
"""

import re
from collections.abc import Sequence, Set
from functools import cached_property

from areopage.text import WORD, Span, lower_case, stem, stems

_LONGEST = 400  # characters: a longer sentence is no plain refusal, and the expressions below stay quick
_MOST_SENTENCES = 12  # nor is an answer of more of them
_READ_PROMPT = 20_000  # characters
_OWN_WORDS = 4  # stems that neither the question nor a refusal has: more of them say something

# Looked for first, since the expressions below take longer.
_CUES = (
    " not ", "n't", "n’t", "cannot", "unable", " no ", "insufficient", " none ", "unclear", " silent", " pas ", " pas.", " aucun",
    "impossible", "insuffisan", "ignore", "incapable", "incapacité", "nothing", " rien ", "unknown", "inconnu", " non ",
)  # fmt: skip
_SOURCE_EN = (
    r"(?:documents?|passages?|sources?|texts?|contexts?|excerpts?|extracts?|knowledge\sbase"
    r"|(?:provided|given|available|supplied|retrieved|above|this|the)\s(?:\w+\s)?information|information\s(?:provided|given|available|i\shave|above))"
)
_SOURCE_FR = (
    r"(?:documents?|passages?|sources?|textes?|contexte|extraits?|base\sde\sconnaissances?"
    r"|(?:informations?|éléments|données)\s(?:fournie?s?|disponibles?|données?|transmise?s?|à\sma\sdisposition))"
)
_TELLING_EN = (
    r"(?:say|mention|specify|state|answer|address|indicate|explain|discuss|describe|tell|clarify|define|cover"
    r"|(?:contain|provide|give|include|offer|have|list)\s(?:\w+\s){0,3}?(?:information|answers?|mention|details?|enough|specifics?|data|"
    r"references?|explanation|indication|clear|direct|any))"
)
_TELLING_FR = (
    r"(?:dit|disent|(?:précise|mentionne|traite|indique|parle|évoque|aborde|explique)(?:nt)?|répond(?:ent)?|définissent|définit"
    r"|(?:suffisent|suffit|permet(?:tent)?)\s(?:\w+\s){0,3}?(?:de\s|d['’]|à\s|pour\s)(?:\w+\s|l['’]|y\s){0,2}?"
    r"(?:répondre|trouver|dire|déterminer|savoir|connaître|établir|préciser|confirmer|renseigner|conclure|affirmer|vérifier)"
    r"|(?:contien(?:nen)?t|fournissent|fournit|(?:donne|comporte|apporte|offre)(?:nt)?)\s"
    r"(?:\w+\s|d['’]|l['’]){0,4}?(?:informations?|réponses?|mention|précisions?|éléments?|détails?|indications?|données?|réponse))"
)
_FINDING_EN = r"(?:answer|find|determine|provide|locate|say|tell|confirm|help\b(?!\sbut)|give|respond|specify|see)"
_FINDING_FR = (
    r"(?:répondre|trouver|dire|déterminer|fournir|donner|confirmer|préciser|indiquer|aider|renseigner|savoir|communiquer)"
)
_ENGLISH = (
    r"\bi\s(?:do\snot|don['’]t)\s(?:know\b|have\s(?:\w+\s){0,3}?(?:answers?|information|data|details|access|knowledge|documents?)\b)"
    r"|\bi\shave\sno\s(?:\w+\s){0,2}?(?:answers?|information|data|details?|idea|knowledge)\b"
    rf"|\bthere(?:\s(?:is|was)|['’]s)\snothing\s(?:about|on|regarding|concerning)\s.{{0,60}}?\b(?:in|from)\s(?:\w+\s){{0,3}}?{_SOURCE_EN}"
    rf"|\b(?:i(?:['’]m|\sam|\swas)\s|it\sis\s|am\s|is\s|^\W*)(?:\w+\s)?(?:unable|not\sable|not\spossible|impossible)\sto\s(?:\w+\s)?{_FINDING_EN}\b"
    rf"|\b(?:i|we|one)\s(?:can\s?not|can['’]t|could\snot|couldn['’]t|did\snot|didn['’]t)\s(?:\w+\s)?{_FINDING_EN}\b"
    r"|\b(?:question|this|it)\s(?:can\s?not|can['’]t)\sbe\s(?:answered|determined)\b"
    rf"|\bno\s(?:\w+\s){{0,2}}?(?:answer|information|mention|details?|data)\b.{{0,60}}?\b(?:in|from|by)\s(?:\w+\s){{0,3}}?{_SOURCE_EN}"
    r"|\bno\s(?:\w+\s){0,2}?(?:answer|information|mention|details?)\s(?:\w+\s){0,3}?(?:was|were|is|are|could\sbe)\s(?:found|available|provided|given)\b"
    rf"|\bnone\sof\s(?:\w+\s){{0,3}}?{_SOURCE_EN}\s(?:\w+\s)?{_TELLING_EN[:-1]}|mentions?|answers?|contains?|addresse?s?|provides?)\b"
    rf"|\b{_SOURCE_EN}\s(?:that\s(?:was|were|is|are)\s\w+\s|i\shave\s|provided\s|given\s|available\s|above\s|here\s)?"
    rf"(?:(?:do|does|did)(?:\snot|n['’]t)\s(?:\w+\s){{0,2}}?{_TELLING_EN}\b|(?:is|are)(?:\snot|n['’]t)\s(?:sufficient|enough)\b"
    r"|(?:is|are)\s(?:insufficient|silent|unclear)\b|(?:has|have|contains?|provides?|gives?)\sno\s(?:\w+\s){0,2}?(?:information|answer|mention|details?)\b)"
    r"|\b(?:is|are|was|were)(?:\snot|n['’]t)\s(?:\w+\s)?(?:mentioned|specified|stated|given|provided|included|answered|found|addressed|covered|"
    rf"available|explained|discussed|indicated|described|known)\s(?:\w+\s)?(?:in|by|from)\s(?:\w+\s){{0,4}}?{_SOURCE_EN}"
    r"|\bthere(?:\s(?:is|are|was)|['’]s)\s(?:no|not\s(?:enough|sufficient|any)|insufficient)\s(?:\w+\s){0,2}?"
    r"(?:information|answer|mention|details?)\b(?=\W*$|[.,;:!?]|\s(?:about|on|of|regarding|concerning|in|for|to|available|provided|given|from|as)\b)"
    r"|\b(?:insufficient|not\senough)\s(?:information|context)\b"
    rf"|\b{_SOURCE_EN}\s(?:says?|tells?|mentions?|contains?)\snothing\b"
    r"|\b(?:is|are|was|were)\s(?:\w+\s)?not\s(?:\w+\s)?(?:mentioned|specified|stated|given|indicated)\W*$"
    r"|\bno\s(?:\w+\s){1,4}(?:is|are|was|were)\s(?:\w+\s)?(?:mentioned|specified|stated|given|indicated)\b"
)
_FRENCH = (
    rf"\bje\sne\s(?:(?:le|la|les|vous)\s)?(?:sais\b|trouve\b|dispose\b|(?:peux|puis|saurais|parviens|pourrais)\s(?!que\b)(?:\w+\s){{0,3}}?(?:à\s)?{_FINDING_FR}\b"
    r"|connais\spas|possède\b|suis\spas\s(?:en\smesure|capable))"
    r"|\b(?:je\sn['’]arrive\spas|(?:je\sn['’]ai|nous\sn['’]avons)\s(?:\w+\s)?(?:pas|rien|aucune?)\s(?:\w+\s|d['’]|l['’]){0,3}?"
    r"(?:trouvée?|accès|informations?|réponse|éléments?|documents?|connaissances?|données|assez|idée))"
    r"|\b(?:j['’]|je\sl['’])ignore\b|\bje\ssuis\s(?:dans\sl['’]incapacité|incapable)\b|\bnous\sne\s(?:disposons|trouvons|savons|sommes\spas\sen\smesure)\b"
    rf"|\b(?:impossible|pas\spossible)\s(?:pour\smoi\s)?(?:de|d['’])\s?(?:\w+\s)?{_FINDING_FR}\b"
    rf"|\b{_SOURCE_FR}\s(?:(?:que\sj['’]ai|fournis?e?s?|disponibles?|donnée?s?|consultée?s?|transmise?s?|retrouvée?s?)\s)?"
    rf"(?:ne\s(?:(?:le|la|les|me|vous|nous)\s|l['’]\s?){{0,2}}|n['’](?:en\s|y\s)?){_TELLING_FR}\b"
    r"|\b(?:ne\s(?:sont|(?:figure|se\strouve)(?:nt)?)|n['’](?:est|apparaît|apparaissent|y\sa))\b.{0,40}\b(?:pas|ni|aucune?)\b.{0,40}"
    rf"\b(?:dans|par|parmi)\s(?:\w+\s){{0,3}}?{_SOURCE_FR}"
    rf"|\baucune?\s(?:\w+\s)?(?:information|réponse|élément|mention|précision|donnée|indication)s?\b.{{0,80}}\b(?:dans|par|parmi)\s(?:\w+\s){{0,3}}?{_SOURCE_FR}"
    r"|\baucune?\s(?:\w+\s)?(?:information|réponse|précision|indication)s?\s(?:\w+\s){0,2}?n['’](?:est|a)\s(?:\w+\s)?(?:été\s)?(?:trouvée?s?|disponible|fournie|donnée)\b"
    rf"|\brien\s(?:dans|parmi)\s(?:\w+\s){{0,3}}?{_SOURCE_FR}\s(?:\w+\s)?(?:ne\s(?:(?:le|la|les|me|vous|nous)\s)?|n['’])(?:l['’]\s?)?{_TELLING_FR}\b"
    rf"|\baucune?\s(?:des\s|de\sces\s)?{_SOURCE_FR}\s(?:\w+\s)?(?:ne\s(?:(?:le|la|les|me|vous|nous)\s)?|n['’](?:en\s|y\s)?){_TELLING_FR}\b"
    r"|\b(?:il\s)?n['’]y\sa\s(?:pas\s(?:assez\s)?d['’]|pas\sde\s|aucune?\s)(?:informations?|réponse|mention|précisions?|indications?)\b"
    r"|\bn['’]y\s(?:est|sont)\spas\s(?:traité|mentionné|indiqué|précisé|abordé|évoqué)e?s?\b"
    r"|\binformations?\s(?:\w+\s)?insuffisantes?\b"
    rf"|\b{_SOURCE_FR}\s(?:\w+\s)?ne\s(?:donnent?|fournissent|fournit)\spas\s(?:le|la|les|l['’]|de|d['’])"
    r"|\b(?:n['’]est|ne\ssont|n['’]a|n['’]ont)\s(?:\w+\s){0,2}?pas\s(?:été\s)?(?:\w+\s)?(?:précisé|mentionné|indiqué|spécifié|communiqué|renseigné)e?s?\b"
    r"|\bn['’]appara(?:ît|it|issent)\spas\W*$"
    r"|\baucune?\s(?:\w+\s){1,5}(?:n['’]est|ne\ssont|n['’]a\sété)\s(?:\w+\s)?(?:précisé|mentionné|indiqué|spécifié|communiqué|donné|fourni)e?s?\b"
)
# Whole answers of a few words.
_BARE = (
    r"^\W*(?:not\s(?:specified|stated|mentioned|known)|unknown|no\sidea|no\s(?:information|answer)(?:\s(?:available|found|provided))?"
    r"|aucune\sidée|inconnue?|non\s(?:précisé|spécifié|communiqué|indiqué|renseigné)e?"
    r"|(?:l['’]\s?)?informations?\s(?:non\s(?:disponible|précisée|fournie|communiquée|trouvée)|indisponible|inconnue)s?"
    r"|(?:aucune\s|pas\sd['’]\s?)(?:informations?|réponse|précisions?|indications?)(?:\s(?:disponible|trouvée|fournie)s?)?"
    r"(?:\s(?:à\sce\ssujet|sur\sce\s(?:point|sujet)|là-dessus))?)\W*$"
)
_REFUSAL = re.compile(f"{_BARE}|{_ENGLISH}|{_FRENCH}", re.IGNORECASE)
# What follows one of these claims something after all, unless it only refuses, offers help or asks for more. From what the
# documents do not say nothing follows: "no penalty is mentioned, so there is none" is a claim.
_TURN = re.compile(
    r"[\s,;:.–—](?:but|however|although|though|nevertheless|still|yet|instead|generally|typically|usually"
    r"|therefore|thus|hence|which\smeans|meaning\sthat|(?<=[,;.:–—]\s)so"
    r"|mais|cependant|toutefois|néanmoins|pourtant|en\srevanche|par\scontre|sinon|en\sgénéral|généralement|habituellement"
    r"|donc|par\sconséquent|en\sconséquence|dès\slors|ce\squi\s(?:signifie|implique|veut\sdire))\b",
    re.IGNORECASE,
)
_APOLOGY = re.compile(
    r"\s*(?:(?:i['’]m|i\sam|we['’]re|we\sare)?\s?(?:very\s|so\s)?sorry|i\sapologi[sz]e|unfortunately|(?:je\ssuis\s|nous\ssommes\s)?(?:vraiment\s)?"
    r"désolée?s?|je\s(?:m['’]excuse|regrette)|malheureusement|pardon)\b[^.!?;:,]{0,30}[,.!]?\s?(?:but|mais)\b",
    re.IGNORECASE,
)
_COURTESY = re.compile(
    r"\s*(?:(?:please\s)?(?:feel\sfree|let\sme\sknow|contact|consult|refer|provide|rephrase|try\sto)\b"
    r"|(?:i['’]d|i\swould|i['’]ll|i\swill)\s(?:be\s(?:happy|glad)|gladly|happily)|if\syou\b|should\syou\b|(?:could|can|would)\syou\b|thank|hello|hi\b|dear\b"
    r"|(?:i['’]m\s|i\sam\s)?(?:\w+\s)?sorry\b|i\sapologi[sz]e|n['’]hésitez|veuillez|merci|bonjour|bonsoir|(?:je\ssuis\s)?désolée?\b|si\svous\b"
    r"|pouvez-vous|pourriez-vous|je\svous\s(?:invite|conseille|suggère|recommande)|je\sreste|contactez|consultez|reformulez|précisez|cordialement"
    r"|adressez-vous|rapprochez-vous|vous\s(?:pouvez|pourriez)\s(?:\w+\s){0,2}?(?:contacter|consulter|adresser|rapprocher|reformuler)\b"
    r"|you\s(?:can|could|may|might)\s(?:\w+\s)?(?:contact|consult|reach\sout)\b|i\s(?:suggest|recommend)\s(?:contacting|consulting|asking|checking)\b)",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[,;:–—]\s(?:(?:and|et|please)\s)?")
_OPENS = re.compile(r"(?:and|et|but|mais|so|donc|therefore|however|cependant|toutefois)\b[\s,:]*", re.IGNORECASE)
# A claim before the refusal: "it is free, but I do not know why".
_ASSERTS = re.compile(
    r"(?:\b(?:is|are|was|were|costs?|est|sont|était|étaient|coûte(?:nt)?)\b|['’]s\b)[^.]*?(?:[,;:–—]|\s(?:but|mais))\s",
    re.IGNORECASE,
)
# A clause that says something of its own, however short: "the documents do not say; it is free".
_SAYS = re.compile(
    r"(?:[;:–—]|,\s(?=(?:and\s|et\s)?(?:(?:it|this|that|they|there)(?:['’]s|\s(?:is|are|was|were|will|has|costs?|can|must))"
    r"|c['’]est|(?:il|elle)\s(?:est|sont|y\sa|faut|coûte|suffit|peut|doit|s['’])|cela\s|ça\s|on\s(?:peut|doit)|vous\s(?:devez|avez))))\s?",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"[0-9]+")
_CITED = re.compile(r"[\[(【][^\])】]{0,60}[\])】]")
_REFUSING_WORDS = frozenset(
    stems(
        """
        answer question find found determine provide provided specific specifically exact exactly detail detailed regarding
        concerning relating related about available able unable sorry unfortunately apologize help assist topic subject matter
        mention state specify know sufficient insufficient enough clear clearly directly explicitly relevant content knowledge
        base data access basis given currently source sources
        répondre réponse question trouver préciser précis précise précisément disponible désolé malheureusement sujet fourni
        fournies concernant relatif mesure permettre permettent suffisant élément données détail exact exactement demande
        indication indiquer connaissance accès actuellement base mentionner mentionné contenir dire savoir ignorer directement
        point renseigner documents extraits traiter
        """
    )
)
# Words that an admission has, each with one of the others.
_ADMITTING = (
    ("", ("knowledge", "as far as i know", "connaissance")),
    ("not", ("mentioned", "stated", "specified", "provided", "given", "explained", "discussed")),
    ("pas", ("mentionn", "précis", "indiqu", "figur", "expliqu")),
)
_ADMISSION = re.compile(
    r"\b(?:(?:from|to|of|on|in|by|with|using)\s(?:my|our)\s(?:own\s|general\s|prior\s|background\s){0,2}knowledge"
    r"|(?:from|on|using|by)\sgeneral\sknowledge|as\sfar\sas\si\sknow"
    r"|not\s(?:\w+\s){0,2}?(?:mentioned|stated|specified|provided|given|explained|discussed)\s(?:\w+\s)?(?:in|by)\s"
    rf"(?:(?:the|these|any|this|of)\s){{1,3}}(?:\w+\s)?{_SOURCE_EN}"
    r"|à\s(?:ma|notre)\sconnaissance|(?:mes|nos)\s(?:propres\s)?connaissances(?:\sgénérales)?\b(?!\sactuelles)"
    r"|(?:d['’]après|selon|sur\sla\sbase)\s(?:de\s|des\s|les\s){0,2}connaissances\sgénérales"
    r"|pas\s(?:\w+\s){0,2}?(?:mentionn|précis|indiqu|expliqu)ée?s?\s(?:\w+\s)?(?:dans|par)\s(?:les|ces|le|ce|la)\s"
    rf"(?:\w+\s)?{_SOURCE_FR}|figure(?:nt)?\spas\s(?:\w+\s)?(?:dans|parmi)\s(?:les|ces|le)\s(?:\w+\s)?{_SOURCE_FR})",
    re.IGNORECASE,
)

# What tells a model what to do, as it is planted in documents: "ignore the previous instructions".
_INSTRUCTION_CUES = (
    "instruction",
    "consigne",
    "directive",
    "prompt",
    "invite système",
    "règles précédentes",
    "assistant",
    "language model",
    "modèle de langage",
)
_GIVEN = (
    r"(?:(?:all|any|the|these|those|your|my|of|toutes?|les|ces|vos|tes|mes|des)\s+){0,3}(?:(?:previous|prior"
    r"|above|earlier|preceding"
    r"|foregoing|former|other|system|initial|original|safety)\s+){0,2}(?:instructions?|prompts?|guidelines"
    r"|directives?|consignes?)"
)
_INSTRUCTION = re.compile(
    rf"\b(?:ignore|disregard|forget|override|bypass|ignore[zrs]?|oublie[zrs]?|outrepasse[zrs]?|contourne[zrs]?"
    rf"|ne\s+(?:tiens|tenez)\s+(?:pas|plus)\s+compte\s+(?:de|des))\s+{_GIVEN}"
    r"|\b(?:ne\s+(?:suis|suivez|respecte[zs]?)\s+(?:pas|plus)|(?:do\s+not|don['’]t|never)\s+(?:follow|obey))\s+"
    rf"{_GIVEN}"
    r"|\b(?:reveal|print|repeat|show|révèle[zrs]?|affiche[zrs]?|répète[zrs]?)\s+(?:the|your|le|la|ton|ta|votre|vos)\s+"
    r"(?:system\s+prompt|prompt|instructions|consignes|invite\s+système)"
    r"|\b(?:note|message|instructions?|consignes?)\s+(?:to|for|pour|à)\s+(?:the\s+|l['’])?(?:assistant|ai|llm"
    r"|language\s+model|modèle|ia)\b"
)


class _Question:
    """What the question already has, read when it is first wanted."""

    def __init__(self, prompt: str) -> None:
        self._prompt = prompt[:_READ_PROMPT]

    @cached_property
    def numbers(self) -> frozenset[str]:
        return frozenset(_DIGITS.findall(self._prompt))

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(stems(self._prompt))

    def has_numbers_of(self, text: str) -> bool:
        """Whether the question has every number of a text, citations aside."""
        return self.numbers.issuperset(_DIGITS.findall(_CITED.sub(" ", text)))


def is_refusal(sentence: str, prompt: str) -> bool:
    """Whether a sentence says that the answer is not known, and states nothing that the question has not."""
    return _refuses(" ".join(sentence.split()), _Question(prompt))


def admissions(response: str) -> list[Span]:
    """The words by which an answer admits that something is not from the documents: "to my knowledge"."""
    low = response.lower()
    if not any(denial in low and any(cue in low for cue in cues) for denial, cues in _ADMITTING):
        return []
    return [Span(match.group(), match.start(), match.end()) for match in _ADMISSION.finditer(response)]


def refusal_of(sentences: Sequence[tuple[str, bool]], prompt: str) -> tuple[int, ...]:
    """The sentences by which an answer refuses, if it does nothing else, of (text, whether it claims something)."""
    if len(sentences) > _MOST_SENTENCES:
        return ()
    asked = _Question(prompt)
    refusing: list[int] = []
    for index, (text, claims) in enumerate(sentences):
        line = " ".join(text.split())
        low = f" {line.lower()} "
        if any(cue in low for cue in _CUES) and _refuses(line, asked):
            refusing.append(index)
        elif claims and not _courtesy(line, asked):
            return ()
    return tuple(refusing)


def _refuses(line: str, asked: _Question, *, last: bool = False) -> bool:
    """As `is_refusal`, for a sentence with single spaces; behind the `last` refusal only courtesy may follow."""
    if len(line) > _LONGEST:
        return False
    body = _APOLOGY.sub(" ", line, count=1)
    refusal = _REFUSAL.search(body)
    if refusal is None or (_ASSERTS.search(body, 0, refusal.start()) and _own(body[: refusal.start()], asked)):
        return False
    for clause in _CLAUSE.finditer(body, refusal.end()):
        if _courtesy(body[clause.end() :], asked):
            body = body[: clause.start()]
            break
    following = _what_follows(body, refusal.end())
    if following is None:
        return not _claims(body, asked)
    start, rest = following
    again = not last and _refuses(rest, asked, last=True)
    return (again or _courtesy(rest, asked) or WORD.search(rest) is None) and not _claims(body[:start], asked)


def _what_follows(body: str, end: int) -> tuple[int, str] | None:
    """Where something of its own begins behind a refusal that ends there, and what: a clause, or what a turn brings."""
    said, turn = _SAYS.search(body, end), _TURN.search(body, end)
    if said and (turn is None or said.start() <= turn.start()):
        return said.start(), _OPENS.sub("", body[said.end() :])
    return (turn.start(), body[turn.end() :].lstrip(" ,:")) if turn else None


def _courtesy(line: str, asked: _Question) -> bool:
    """Whether a sentence greets, thanks, apologises, asks back or sends the reader elsewhere, without a figure of its own."""
    return len(line) <= _LONGEST and _COURTESY.match(line) is not None and asked.has_numbers_of(line)


def _claims(line: str, asked: _Question) -> bool:
    if not asked.has_numbers_of(line):
        return True
    words = _own(line, asked)
    named = any(word[0].isupper() and stem(word) in words for word in WORD.findall(_CITED.sub(" ", line))[1:])
    return named or len(words) > _OWN_WORDS


def _own(line: str, asked: _Question) -> Set[str]:
    return {root for root in map(stem, WORD.findall(_CITED.sub(" ", line))) if root} - asked.words - _REFUSING_WORDS


def instructions(text: str) -> list[Span]:
    """Where a text tells a model what to do; linear in the text."""
    low = lower_case(text)
    matches = _INSTRUCTION.finditer(low) if any(cue in low for cue in _INSTRUCTION_CUES) else ()
    return [Span(text[match.start() : match.end()], *match.span()) for match in matches]
