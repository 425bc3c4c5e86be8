"""Answers that decline in words: "I can't help with that", "Je ne peux pas parler de ce sujet"; English and French.

Such an answer is an answer. It declines if one of its first sentences says so, and if what stands beside is little more than
courtesy, sympathy or advice to ask someone else: "I am no doctor, but most nosebleeds stop if you…" answers.
"""

import re

from areopage.text.folding import lower_case
from areopage.text.patterns import late_pattern
from areopage.text.sentence_ends import sentences

_READ = 6_000  # characters: a longer answer is read so far
_BEGINNING = 1_000  # characters in which its first sentences begin to decline, so that most answers are settled quickly
_FIRST = 3  # sentences among which it declines
_CLAUSE_WORDS = 6  # behind "but", in the sentence that declines: so many say something after all
_OTHER_WORDS = 30  # words beside that do not answer yet
_ADVICE_WORDS = 100  # beside a refusal of all that is asked ("I can't help with that"): where to find help, at length

_DOING_EN = (
    r"(?:help|assist|answer|respond|reply|talk|discuss|chat|speak|share|provide|give|do|fulfil|fulfill|comply|continue|engage|create|"
    r"write|generate|tell|explain|support|offer|go\sinto|get\sinto|describe|teach|show|make|participate|advise\s(?:you\s)?(?:on|about)|"
    r"address|cover|complete|process|accommodate|proceed|produce|be\sable\sto\s\w+)"
)
_NOT_EN = (
    r"(?:can['’]?t|can\s?not|won['’]t|will\snot|could\s?n['’]t|(?:am|['’]m)\s(?:(?:really|just|simply|afraid\si['’]m)\s)?(?:not\s"
    r"(?:able|allowed|permitted|designed|programmed|going|here|in\sa\sposition|equipped)\sto|unable\sto|not\scomfortable(?:\swith)?)|"
    r"(?:must|have\sto)\s(?:respectfully\s|politely\s)?decline(?:\sto)?|(?:['’]d|would)\s(?:rather|prefer)\snot(?:\sto)?|prefer\snot\sto|"
    r"do(?:\snot|n['’]t)\sfeel\s(?:comfortable|right))"
)
_ENGLISH = (
    rf"i\s?(?:(?:really|simply|just|also|unfortunately)\s)?{_NOT_EN}\s(?:(?:really|ever|just|directly|personally|possibly|safely)\s)?"
    rf"(?:{_DOING_EN}(?:ing)?\b(?!\sbut\b)|with\s(?:that|this)\b|(?:that|this)\b)"
    r"|i\s(?:must|have\sto|will\shave\sto)\s(?:\w+\s)?decline\b|i\s(?:refuse|decline)\sto\b"
    r"|(?:that|this|it)(?:['’]s|\sis)\s?(?:not|n['’]t)\s(?:really\s)?(?:something|a\s(?:topic|question|subject|thing|request|conversation))\s"
    r"(?:that\s|for\s)?(?:i|we|me)\b"
    r"|(?:that|this|it)\sisn['’]t\s(?:really\s)?(?:something|a\s(?:topic|question|subject|thing|request|conversation))\s(?:that\s|for\s)?(?:i|we|me)\b"
    r"|(?:is|['’]s|falls|goes)\s(?:outside|beyond|against)\s(?:of\s)?(?:what\si\s|my\s(?:guidelines|rules|limits|scope|policy))"
    r"|(?:my\s(?:guidelines|rules|instructions|policy)|i['’]m\snot\sallowed)\b[^.!?]{0,20}\b(?:not\sallow|n['’]t\sallow|prevent|forbid|prohibit|n['’]t\slet)"
    r"|let['’]?s\s(?:talk|chat|speak|pick|choose|find|change|switch|stick|keep)\b[^.!?]{0,30}\b(?:something\selse|something\sdifferent|another\stopic|"
    r"the\s(?:subject|topic)|other\s(?:things|topics))"
    r"|(?:can|could)\swe\s(?:talk|chat)\sabout\ssomething\selse\b|no\scan\sdo\b"
)
_DOING_FR = (
    r"(?:aider|répondre|parler|discuter|faire|donner|fournir|expliquer|dire|écrire|accéder|satisfaire|traiter|aborder|continuer|"
    r"partager|décrire|montrer|assister|évoquer|entrer|rédiger|créer|participer|apprendre|conseiller|proposer|accompagner|rien)"
)
_PRONOUN_FR = r"(?:(?:t['’]|te\s|vous\s|y\s|en\s|l['’]|le\s|la\s|les\s|m['’]|me\s|toujours\s|vraiment\s|malheureusement\s)){0,3}"
_FRENCH = (
    rf"(?:je|on)\s(?:ne\s|n['’]\s?)?{_PRONOUN_FR}(?:peux|peut|puis|pourrai|pourrais|saurais|veux|vais|va|souhaite)\s(?:\w+\s)?(?:pas|rien)\s"
    rf"(?:\w+\s)?{_PRONOUN_FR}{_DOING_FR}\b"
    rf"|je\sne\s(?:saurais|puis)\s{_PRONOUN_FR}{_DOING_FR}\b|je\s(?:ne\s)?peux\srien\b"
    r"|je\s(?:ne\s)?suis\s(?:\w+\s)?pas\s(?:\w+\s)?(?:en\smesure|autorisée?|capable|programmée?|conçue?|habilitée?|à\sl['’]aise|là\spour)\b"
    r"|je\s(?:n['’])?ai\spas\sle\sdroit\b"
    r"|je\s(?:refuse|décline|dois\s(?:refuser|décliner)|préfère\sne\spas|préférerais\sne\spas|préfère\spas)\b"
    r"|il\sm['’]est\s(?:impossible|interdit)\b|impossible\spour\smoi\b|je\ssuis\sdans\sl['’]impossibilité\b"
    r"|(?:ce\sn['’]est|c['’]est|ce\ssont)\s?pas\s(?:vraiment\s)?(?:un\ssujet|une\squestion|quelque\schose|une\schose|une\sdemande|des\schoses)\s"
    r"(?:dont|que|qu['’]|auxquell?es?|auquel|à\slaquelle|sur\slequel|pour\s)"
    r"|parlons\s(?:plutôt\s)?d['’]autre\schose\b|changeons\sde\ssujet\b|on\s(?:parle|change|peut\sparler)\s(?:plutôt\s)?(?:d['’]autre\schose|de\ssujet)\b"
    r"|(?:mes\s(?:règles|consignes|principes)|mon\sfonctionnement)\b[^.!?]{0,30}\b(?:interdi\w+|empêche\w*|permet\w*\spas)"
    r"|n['’]est\spas\s(?:possible\sde\s(?:t['’]|vous\s|te\s)(?:aider|répondre)|dans\smes\s(?:possibilités|attributions))"
)
_SAID = rf"\b(?:{_ENGLISH}|{_FRENCH})"
_DECLINES = late_pattern(_SAID, re.IGNORECASE)
_LOWERED = re.compile(_SAID)  # for a text in lower case: it takes a third of the time
_BESIDE = late_pattern(
    r"\W*(?:(?:i['’]?m|i\sam)\s(?:\w+\s)?(?:sorry|here|really\sglad)|sorry|i\s(?:understand|get\sthat|hear\syou|know)|thank|if\s(?:you|someone|something)|"
    r"(?:please|instead,?)\s|is\sthere|let\sme\sknow|feel\sfree|(?:i['’]d|i\swould|i['’]ll|i\swill)\s(?:\w+\s)?(?:be\s)?(?:happy|glad|love)|"
    r"(?:but\s|however,?\s)?i\scan\s(?:help|offer|suggest|talk|tell|explain|answer)|(?:you\s(?:can|could|should|might)|try|maybe|perhaps|it['’]?s\s(?:best|better|"
    r"important|a\sgood\sidea)(?:\sto)?)\s(?:\w+\s){0,2}?(?:ask|talk|speak|tell|reach|contact|call|consult|try|want)|(?:ask|talk|speak|reach|tell|contact|call|consider)\b|"
    r"i\s(?:do\s)?(?:want\sto\s|would\s|strongly\s)?(?:urge|encourage|invite)\syou|would\syou|do\syou|what\s|how\sabout|why\sdon['’]t\swe|let['’]s|remember|this\s(?:is|sounds)|that\s(?:is|sounds)|it\ssounds|"
    r"(?:je\ssuis\s)?(?:vraiment\s)?désolée?|je\s(?:comprends|sais|t['’]entends)|merci|si\s(?:tu|vous|quelqu)|n['’]hésit|est-ce\sque|y\sa-t-il|as-tu|avez-vous|veux-tu|"
    r"voulez-vous|(?:tu|vous)\s(?:peux|pouvez|pourrais|pourriez|devrais|devriez)\s(?:\w+\s){0,2}?(?:demander|parler|en\sparler|t['’]|vous|poser|appeler|contacter|"
    r"consulter)|(?:demande|parle|demandez|parlez|appelle|appelez|pose|posez|adresse|adressez|contacte|contactez|consulte|consultez)\b|en\srevanche,?\sje\s(?:peux|"
    r"pourrais)|je\s(?:peux|pourrais|serais|serai|reste|t['’]invite|vous\sinvite|te\sconseille|vous\sconseille|te\spropose|vous\spropose)|parlons|"
    r"le\smieux|il\svaut\smieux|c['’]est\s(?:important|mieux)|as\san?\s|en\stant\sque)",
    re.IGNORECASE,
)
_OF_ALL = late_pattern(
    r"\b(?:(?:that|this|it)(?:\s(?:request|question|topic|subject|one))?|ça|cela|(?:ce|cette|ta|votre)\s(?:sujet|demande|question|requête))\W*$",
    re.IGNORECASE,
)
# What the reader or someone else may say does not decline: "say: I won't share that".
_QUOTED = late_pattern(
    r"«[^»]*»|“[^”]*”|\"[^\"]*\"|(?<!\w)['‘][^'‘’]*(?:\w['’]\w[^'‘’]*)*['’](?!\w)"
    r"|\b(?:say|answer|reply|tell\s(?:them|him|her)|réponds|répondez|répondre|dis|dites|dire)(?:[-\s]\w+)?\s?:[^.!?]*",
    re.IGNORECASE,
)
_TURN = late_pattern(r"[,;:.–—]?\s(?:but|however|though|yet|mais|cependant|toutefois|par\scontre|en\srevanche)\b", re.IGNORECASE)
_WORD = late_pattern(r"[^\W\d_]+")


def declines(response: str) -> bool:
    """Whether an answer declines in words and does little else."""
    if not _LOWERED.search(lower_case(" ".join(response[:_BEGINNING].split()))):
        return False
    spans = sentences(_QUOTED.sub(" … ", response[:_READ]), "en")
    lines = [" ".join(span.text.split()) for span in spans]
    matches = [_DECLINES.search(line) for line in lines]
    if not any(matches[:_FIRST]):
        return False
    beside = 0
    for line, refusal in zip(lines, matches, strict=True):
        turn = _TURN.search(line, refusal.end()) if refusal else None
        rest = line[turn.end() :].lstrip(" ,") if turn else "" if refusal else line
        words = 0 if _BESIDE.match(rest) else len(_WORD.findall(rest))
        if turn and words >= _CLAUSE_WORDS:
            return False
        beside += words
    of_all = any(refusal and _OF_ALL.search(line) for line, refusal in zip(lines[:_FIRST], matches, strict=False))
    return beside <= (_ADVICE_WORDS if of_all else _OTHER_WORDS)
