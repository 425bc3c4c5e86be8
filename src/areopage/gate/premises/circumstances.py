"""Whether a question tells a circumstance of the person who asks, and an answer repeats it as one; French and English.

A circumstance needs no document: "I have 3 children", "depuis le 3 mars", "my flat of 62 m²". What a question says of the
service, or wants to have confirmed, is none: "lunch is £3.10, isn't it?", "I have 30 days in which to ask".
"""

import re
from typing import Literal

from areopage.gate.premises.clauses import Around

Nature = Literal["duration", "share", "other"]

_WORDS = r"(?:[\w'’-]+\s+|[\w]*['’]){0,4}"
_I = (
    r"(?:\bj['’]|\b(?:je|moi|nous|i|we)\b|\bon (?!(?:my|the|an?|your|our|this|that|it|top|time|page|line|foot|board|sale"
    r"|behalf|which|what|how|when|if|and|or|[0-9]+|(?:mon|tues|wednes|thurs|fri|satur|sun)\w+|(?:jan|feb|mar|apr|may|jun"
    r"|jul|aug|sep|oct|nov|dec)\w*)\b)(?=\w)|\b(?:still|only|already|just) (?:have|got)\b|\b(?:ayant|étant|having|being)\b"
    r"|\bil me (?:reste|manque)\b"
    r"|\A\W*(?:am|need|got|have|had|paid|bought|moved|signed|checked|live|living|just|suis|ai|avons)\b)"
)
_MINE = re.compile(r"\b(?:mon|ma|mes|notre|nos|my|our)\b")
_FIRST_PERSON = re.compile(rf"{_I}|{_MINE.pattern}")
_SUBJECT_I = re.compile(_I)
# A clause that goes on about what the one before spoke of: "and it came to £1,340", "qui a 16 ans".
_GOES_ON = re.compile(
    r"\W*(?:and |et |which |that |who |it |he |she |they |this |qui |il |elle |ils |elles |ça |cela |c['’]|dont |aged |née? )"
)
_VERBLESS = re.compile(
    r"\W*(?:(?:and|et|ou|or|of|de|avec|with|plus|the|my|mon|ma|mes|l['’]|les?|la|an?|une?)\b\W*)*[\w'’-]*\s*\Z"
)
_HEARD = re.compile(
    r"\b(?:told|heard|read|said|announced|promised|says|saw|seems|apparently|informed|think|thought|believe|understand"
    r"|understood|know|gather"
    r"|assume|suppose|dit|disent|lu|vu|entendu|annoncé|promis|parlé|paraît|semble|crois|pense|informé|croyais|sais|compris"
    r"|suppose|imagine)\b"
)
_NORM = re.compile(
    r"\b(?:droits?|peux|peut|pouvez|puis|(?:dois|devez|doit)(?!\s*\Z)|devrai\w*|faut|entitled|can|may|must|should"
    r"|(?<!\A)(?<!\A )need|allowed|eligible"
    r"|bénéfici\w*|perce\w*|dispos\w*|plafon\w*|limit\w*|maxim\w*|minim\w*|capped|couvert\w*|covered|autorisé\w*|seuil"
    r"|threshold|ceiling|rule"
    r"|règle)\b"
)
_TO_DO = re.compile(r"\s*(?:pour|to|in which|afin|notice)\b")
_TAG = re.compile(
    r"[,\s]*(?:right|correct|isn['’]?t|aren['’]?t|doesn['’]?t|don['’]?t|is (?:that|it|this)(?! (?:normal|legal|allowed))|non"
    r"|n['’]est-ce|c['’]est(?! (?:normal|légal|permis))|est-ce(?! (?:normal|légal|permis|autorisé|que j))|exact"
    r"|d['’]accord|hein|pas vrai|yes|no|ok|vrai|vous confirmez|do you confirm|can you confirm)\b[^?.!]{0,16}[?.!]*\s*\Z"
)
_IF = re.compile(
    rf"\b(?:if|si|s['’]il|en cas de)\s+{_WORDS}\Z|\bsi (?:je|j['’]|nous|on)[^,;.!?]{{0,60}}\Z|\bif (?:i|we)\b[^,;.!?]{{0,60}}\Z"
)
# What a question supposes: "if I place 10,000 euros", "with 3 children", "pour une famille de 5".
_SUPPOSED = re.compile(
    rf"\b(?:if|si|s['’]il|en cas de)\s+{_WORDS}\Z"
    rf"|\b(?:avec|with|for|pour|aged|earning|having)\s+(?:(?:an?|une?|my|mon|ma|mes|notre|nos|our|only|about|environ"
    rf"|seulement)\s+(?:[\w'’-]+\s+(?:(?:de|of)\s+|d['’])?)?)?\Z"
    r"|\b(?:avec|with|for|pour)\s+(?:my|mon|ma|mes|notre|nos|our)\s+(?:[\w'’-]+\s+){1,3}(?:(?:de|of|à|at)\s+|d['’])\Z"
    r"|\b(?:avec|with)\s+(?:an?|une?|my|mon|ma|mes|our|notre|nos)\s[^,;:.!?]{0,40}\s(?:et|and)\s+\Z"
    r"|\bâgée?s? de\s+\Z|\bsi (?:je|j['’]|nous|on)[^,;.!?]{0,60}\Z|\bif (?:i|we)\b[^,;.!?]{0,60}\Z"
)
_WITH = re.compile(r"\b(?:my age of|mon âge de)\s+\Z|\b(?:avec|with|aged|âgée?s? de|pour une?|for an?)\s+\Z")
# "our flat (14 Weaver Court)", "ma voiture : Clio de 2011 vendue le 5/10".
APPOSED = re.compile(r"\b(?:mon|ma|mes|notre|nos|my|our)\s+(?:[\w'’-]+\s*){1,3}[(:,–][^.;:,!?]{0,40}\Z")
_SINCE = re.compile(
    r"\b(?:i|we)(?:['’]ve| have) (?:been|\w+ed) (?:\w+ ){0,2}\Z|\bça fait \Z|\b(?:enceinte|âgée?) de \Z|\b(?:since|depuis"
    r"|for|pendant|durant)\s+(?:the |le |la |l['’]|plus de |more than |over |about |presque |nearly )?\Z"
)
_LASTED = re.compile(
    r"\s*(?:d['’]ancienneté|d['’]expérience|de (?:carrière|service|mariage|vie|retard)|of (?:service|experience|marriage)"
    r"|ago|old\b|pregnant|enceinte|[\w ]{0,20}\b(?:left|remaining|restants?|unused)\b)"
)
OWNED = (
    r"\s+(?:(?!(?:est|is|are|sont|sur|on|to|via|avec|with|pour)\b)[\w'’-]+\s+){0,3}(?:(?:à|de|of|at|for|from|worth|n°"
    r"|no\.?|number|numéro|\()\s*|d['’])?\Z"
)
"""What stands between a possessive and a piece that belongs to it."""
_OWN_NUMBER = re.compile(r"\b(?:mes|nos|my|our)\s+(?:[\w-]+\s+)?\Z")
_OWN_THING = re.compile(
    r"\b(?:mon|ma|mes|notre|nos|my|our)\s+(?:[\w'’-]+\s+){0,3}(?:(?:de|of|worth|n°|no\.?|number|numéro|\()\s*|d['’])\Z"
    r"|\bmy [\w-]+ [a-z]{2} \Z"
)
# "after having moved on 1 May", "après avoir emménagé"
_PARTICIPLE = re.compile(r"\b(?:ayant|étant|having|being|après avoir|après être|après (?:mon|ma))\b[^,;:.!?]{0,40}\Z")
_HAVE = re.compile(
    r"\b(?:still have|j['’](?:en )?ai|nous avons|on a|nous sommes|on est|je (?:suis|fais|pèse|mesure)|i(?:['’]m| am"
    r"|['’]ve(?: got)?| have(?: got)?)|we(?:['’]re| are|['’]ve(?: got)?| have(?: got)?))\s+(?:[\w'’-]+\s+)?\Z"
)
# Notes without a verb, "QF 640", and a bill: "the service came to £240".
_BRIEF = re.compile(
    r"\W*(?:(?!the\b|le\b|la\b|les\b|l['’]|your\b|votre\b|vos\b|sa\b|son\b)[\w'’-]+\s+){0,2}(?:[\w/]+[-/])?\Z"
    r"|\W*the [\w ]{1,30}? came to \Z"
)
# What the user has and pays for does such things: "my insurance pays £45".
_SERVING = re.compile(
    r"\b(?:pays?|covers?|earns?|gives?|offers?|costs?|lets?|allows?|provides?|promises?|refunds?|reimburses?|charges?"
    r"|runs?|lasts?|takes?|asks?"
    r"|grants?|knocks?|quotes?|says|states?|wants?|rembours\w*|couvr\w*|donn\w*|offr\w*|coût\w*|rapport\w*|perme\w*"
    r"|prévoi\w*|dur\w*|prome\w*"
    r"|vers\w*|prend|autoris\w*|réclam\w*|demand\w*|factur\w*|impos\w*|appliqu\w*|parl\w*|dit|cit\w*)\b"
)
_RELATIVE = re.compile(
    r"\b(?:ma|mon|mes|notre|nos|my|our) (?:[\w-]+ )?(?:filles?|fils|enfants?|bébé|mari|femme|épou\w+|conjointe?|compagn\w+"
    r"|copain|copine"
    r"|mère|père|parents?|frères?|sœurs?|soeurs?|grand-\w+|daughters?|sons?|child|children|kids?|baby|husband|wife|partner"
    r"|mother|mum|mom|father|dad"
    r"|brothers?|sisters?|grand\w+|dog|cat|chien|chienne|chat|boys?|girls?)\b"
)
_THIRD_PERSON = re.compile(r"\b(?:elles?|ils?|she|he|they|her|his|him|their|son|sa|ses)\b")
# The answer: to whom it speaks, or under which circumstances something holds.
_YOURS = re.compile(r"\b(?:vous|votre|vos|tu|t['’]|toi|ton|ta|tes|you|your|please|(?!chez|assez|nez)\w{2,}ez)\b")
_YOURS_AFTER = re.compile(
    r"\s*(?:[\w'’-]+\s+)?(?:(?:that|which|qu[e'’])\s*)?(?:you|vous|tu)\b(?! (?:can|must|may|should|pouvez|devez|peux|dois))"
)
_GIVEN = re.compile(
    r"(?:\b(?:avec|with|pour|for|si|if|ayant|having|étant|being|aged|âgée?s?|en cas|dès lors|given|compte tenu|depuis"
    r"|after|après|au bout"
    r"|on an?|on the|on your|sur une?|sur les|sur vos|sur votre|earning|living|paying|vivant|gagnant|touchant|payant"
    r"|bien que?|although|though"
    r"|née?s?|born|since|as|puisqu(?:e|['’])|comme|vu|bought|sold|paid|dated|datée?s?|achetée?s?|débutant"
    r"|starting)\s*(?:[\w'’-]+\s+|[\w]*['’]){0,7}"
    r"|^\W*(?:(?:[^\W\d_]+ed|bought|sold|paid|born|[^\W\d_]+[ée]e?s?)\s)?(?:(?:à|at|in|from|on|of|sur|under|by|de"
    r"|en)\s+(?:(?!est\b|is\b|sont\b|are\b)[\w'’-]+\s+|[\w]*['’]){0,3}|le\s+)"
    r"|(?:%|percent|per cent|pour cent)\s*(?:of|de|des|sur)\s+(?:(?:the|your|vos|votre|les?|la)\s+)?)\Z"
)


def circumstance(asked: Around, nature: Nature, *, age: bool, date: bool) -> int:
    """How surely a question tells of the person who asks: 2 where he has, did or is something, 1 where it may be so, else 0."""
    if age and (_IF.search(asked.before) or _WITH.search(asked.before)):
        return 2
    if _HEARD.search(asked.opening) or _HEARD.search(asked.before + asked.after) or _TAG.match(asked.closing[len(asked.after) :]):
        return 0
    if _IF.search(asked.before) or _OWN_NUMBER.search(asked.before):
        return 1
    if nature == "other" and _OWN_THING.search(asked.before):
        return 1
    if _PARTICIPLE.search(asked.before):
        return 1
    if nature != "duration" and _SUPPOSED.search(asked.before):
        return 1
    if _NORM.search(asked.before) or _TO_DO.match(asked.after):
        return 0
    return _without_rule(asked, nature, age=age, date=date)


def noted(asked: Around) -> bool:
    """Whether a question has a piece in a note without a verb: "Flat 9C."."""
    return _BRIEF.match(asked.before) is not None and not asked.closing.rstrip().endswith("?") and not asked.after.strip(" .")


def _without_rule(asked: Around, nature: Nature, *, age: bool, date: bool) -> int:
    lasted = _SINCE.search(asked.before) is not None or _LASTED.match(asked.after) is not None
    if asked.closing.rstrip().endswith("?") and len(asked.after) == len(asked.closing):
        return int(lasted and _FIRST_PERSON.search(asked.opening) is not None)
    pronoun = _SUBJECT_I.search(asked.before) is not None
    goes_on = _GOES_ON.match(asked.before) or _VERBLESS.match(asked.before)
    if nature == "other" and APPOSED.search(asked.opening):
        return 1
    near = asked.opening if asked.before != asked.opening else asked.previous + asked.opening
    personal = pronoun or _MINE.search(asked.before) or (_FIRST_PERSON.search(near) and goes_on)
    if not personal:
        return int(nature == "other" and _BRIEF.match(asked.before) is not None and not asked.closing.rstrip().endswith("?"))
    if age or lasted:
        return 2
    if nature == "duration":
        return int(_HAVE.search(asked.before) is not None and not asked.closing.rstrip().endswith("?"))
    if nature == "share":
        return int(pronoun)
    if not pronoun and not goes_on and not date:
        return int(_SERVING.search(asked.before) is None)
    return 2 if _HAVE.search(asked.before) else 1


def repeated(asked: Around, said: Around, sure: int, *, counted: bool) -> bool:
    """Whether an answer speaks of what a question tells (as surely as `sure`) as of a circumstance of the user."""
    if _YOURS_AFTER.match(said.after) or (counted and not said.before.strip()):
        return True
    if _GIVEN.search(said.before) or _GIVEN.search(said.opening):
        return True
    if _RELATIVE.search(asked.opening) and _THIRD_PERSON.search(said.before):
        return True
    if _NORM.search(said.before):
        return False
    return _YOURS.search(said.before) is not None or sure > 1


SUBJECT_I, MINE, HEARD = _SUBJECT_I.pattern, _MINE.pattern, _HEARD.pattern
