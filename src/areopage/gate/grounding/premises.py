"""What an answer makes of something that only the question has: does it affirm it?

An answer does not affirm what it denies ("the dose is not 500 mg"), attributes to the user beside something else ("you mention
500 euros; the documents say 250"), asks back, or repeats of the user's own circumstances ("with 3 children, you receive ...").
"""

import re
from collections.abc import Sequence

from msgspec import Struct

from areopage.gate.records import Place
from areopage.text.folding import lower_case

_MOST = 300  # characters on each side of a piece that are looked at
# A full stop behind a title or an abbreviation ends no sentence.
_END = re.compile(r"(?<!\bm)(?<!\bmr)(?<!\bdr)(?<!\bmrs)(?<!\bms)(?<!\bme)(?<!\bart)(?<!\bl)(?<!\br)(?<!\bno)[.!?…](?=\s)|\n")
_CLAUSE = re.compile(
    r"[,;:()–—](?=\s)|\s[-–—]\s"
    r"|\s(?:mais|but|whereas|alors qu(?:e|['’])|tandis qu(?:e|['’])|while|car|because|since|puisqu(?:e|['’])|donc"
    r"|so)(?=\s|\b)"
    r"|(?<!plutôt )\b(?:that|qu(?:e|['’]))(?=\s|\b)"
    r"|\s(?:et|and)(?=\s+(?:je|j['’]|mon|ma|mes|on|il|elle|la?|les?|i|my|the|they|he|she|it|we|is|do|does|can|est"
    r"|puis|dois)\b)"
)
_OPENER = re.compile(r"\A\W*(?:no|non|nope|yes|oui|si)\b[\s,]*")
_NOT = (
    r"(?:\b(?:pas|jamais|aucune?|ni|non|rien|not|never|nor|neither|cannot|no|nothing|nowhere|unlike|contrary to"
    r"|as opposed to|avoid|beware of|ignore|disregard|évitez|ignorez|méfiez-vous|oubliez)\b"
    r"|\bcontrairement (?:à|aux?)\b|\bne (?:peux|peut|pouvons|saurais|saurait|puis)\b|n['’]t\b|\brather than\b"
    r"|\binstead of\b|\bplutôt qu[e'’]"
    r"|\bau lieu d|\bn(?:['’]|e )[\w'’ ]{1,24}?\bplus\b)"
)
_BOUNDS = (
    r"(?:plus|moins|avant|après|delà|dépass\w*|exc[éè]d\w*|sans|without|unless|until|before|after|more|less|over"
    r"|under|than|exceed\w*"
    r"|only|seulement|uniquement|later|earlier|tard|tôt|qu[e'’]|just|seule?|inférieure?s?|supérieure?s?"
    r"|doubt|doute|prevents?|empêche\w*|forbids?|interdit\w*|problem|problème|wrong|erreur|error|surpris\w*)"
)
_DENIED = re.compile(rf"{_NOT}(?:\s*(?!{_BOUNDS}\b)[\w'’]+\.?[\s-]+|\s*[\w'’]*['’]){{0,6}}\s*\Z")
# Beside the value that holds: "20 less than the 89 that you paid".
_COMPARED = re.compile(
    r"\b(?:less|lower|more|higher|cheaper|dearer|earlier|later|fewer|shorter|longer) than (?:the|your|these|those) \Z"
    r"|\b(?:moins|plus|inférieure?s?|supérieure?s?)(?: \w+)? (?:qu['’]|que |aux? |à )(?:les?|vos|votre|ces?)? ?\Z"
)
_REMINDING = re.compile(r"\b(?:oubli|omett|hésit)\w+ pas\b|\b(?:forget|omit|hesitate)\b")
_SAYING = (
    r"(?:di[st]\w*|indiqu\w+|mentionn\w+|précis\w+|confirm\w*|prév\w+|affirm\w+|permet\w*|sûre?|certaine?|exacte?"
    r"|vrai|correct"
    r"|say|says|state\w*|mention\w*|true|right|sure|clear|provide\w*|specif\w+|show\w*)"
)
_DOUBTED = re.compile(
    rf"{_NOT}[^.;:]{{0,40}}\b{_SAYING}\b[^.;:]{{0,24}}\b(?:qu(?:e|['’])|si|s['’]|that|whether|if)"
    r"|\b(?:faux|inexact|erroné|incorrect|wrong|false|untrue|mistaken)\b[^.;:]{0,10}\b(?:qu(?:e|['’])|that|to say|de dire)"
)
_DENIED_AFTER = re.compile(
    r"(?:\s*[\w'’«»\"/%€$-]+){0,7}?\s*\b(?:"
    r"n['’]?(?:est|étai\w*|sont|e sont|e serait) (?:donc |en fait )?pas (?:la|l['’]|les?|celui|celle|ceux|dans"
    r"|exact|correct|bon|ce\b|cité|donn|nomm|connu|confirm|à |notre|nos|fourn|écrit|mentionn"
    r"|indiqu|prév|une?|vrai|juste|exig|requis|demand|nécessaire|applicable|valable)"
    r"|ne (?:se )?(?:figur|correspond|s['’]appliqu|exist|ressort|relèv|trouv|concern|vient)\w* (?:donc )?(?:pas"
    r"|plus|dans aucun|nulle|à (?:rien|aucun)|rien|aucun)"
    r"|n['’](?:appara\w*|exist\w*|y figur\w*|est pas) ?(?:pas|dans aucun|nulle)"
    r"|(?:is|are|was|were)(?: not|n['’]t) (?:actually |in fact )?(?:the|an?|in|correct|right|mentioned|stated"
    r"|found|what|one|ours?|listed|part|true|required|needed|necessary|applicable|valid|accurate|given|shown|named|known|among|from"
    r"|confirmed|backed|supported|anywhere|that|theirs|his|hers|used|any|something|written|cited|there|on|our|quite)\b"
    r"|(?:do|does|did)(?: not|n['’]t) (?:appear|match|correspond|apply|exist|concern|come|figure|feature)"
    r"|(?:is|are|was|were|would|serait|est|sont) (?:nowhere|no longer|unknown|absente?s?|introuvables?|inconnue?s?"
    r"|nulle part|worth (?:query|check)"
    r"|out of date|outdated|(?:be )?(?:too|trop) \w+|not\W*\Z|périmée?s?|dépassée?s?|à vérifier)"
    r"|(?:appears?|comes? up|figure|se trouve) (?:nowhere|nulle part)|(?:ha(?:s|ve)|a|ont) (?:nothing|rien) "
    r"|vien(?:t|nent) d['’]ailleurs|comes? from (?:elsewhere|somewhere else)"
    r"|(?:est|sont|semblen?t?|serait|paraît|is|are|was|were|seems?|looks?|sounds?|appears?) (?:to be )?"
    r"(?:wrong|false|incorrect|mistaken|fauss?e?|inexact|erron|incorrect))"
)
_USER = (
    r"(?:\byou(?:['’]ve)?|\byour (?!contract|lease|policy|agreement|bank statement)\w+|\bthe (?:question|user"
    r"|customer|caller)"
    r"|\b(?:the|la|le|l['’]|your|votre|my|mon) ?(?:brochure|leaflet|ad|advert|web ?site|site|dépliant|publicité|annonce"
    r"|vendeur|seller|presse|press|forum|neighbou?r|voisine?|friend|ami|colleague|collègue)"
    r"|\bvous|\bvot?re? (?!contrat|bail|police|convention|relevé)\w+|\bla question|\bvos \w+)"
)
_TELLING = (
    r"(?:mention|cit|quot|giv|gave|sai[dt]|say|stat|writ|wrote|indicat|suggest|speak|spoke|talk|refer|assum"
    r"|suppos|put|ask|claim"
    r"|promis|announc|report|plac|propos|think|thought|believ|heard|read|told|parl|indiqu|évoqu|di[st]|avanc|donn"
    r"|situ|invoqu|écri"
    r"|annonc|demand|pens|croy|affirm|suggér|réfé|entend|lisez|lu\b|part(?:ez|i)|imagin)"
)
_TOLD_BEFORE = re.compile(
    rf"(?<!\bas )(?<!\bcomme )(?<!\bque )(?<!\bdont )(?<!\bthat ){_USER}\s+(?:[\w'’]+\s+"
    rf"|[\w]*['’]){{0,4}}?{_TELLING}[^.;:!?]{{0,60}}\Z"
)
_TOLD_AFTER = re.compile(
    rf"(?:\s*[\w'’«»\"-]+){{0,4}}?\s*(?:(?:that |which |,? ?que |,? ?dont |qu['’]on "
    rf"|que l['’]on )?{_USER}\s+(?:[\w'’]+\s+|[\w]*['’]){{0,3}}?{_TELLING}"
    r"|qu(?:e l)?['’]on vous|(?:in|from|of|on|dans|de|sur) (?:your|the|votre|la|cette) "
    r"(?:question|message|e?-?mail|courriel|letter|courrier|lettre|brochure|leaflet|advert|quote|devis|invoice|facture|sms|flyer"
    r"|poster|affiche|prospectus|note))"
)
_CONTRAST = re.compile(
    r"\b(?:mais|but|alors que|whereas|while|tandis que|however|cependant|toutefois|pourtant|or|d['’]après|selon"
    r"|according to|instead"
    r"|actually|in fact|en réalité|(?:the|les?|ces?) (?:documents?|textes?|texts?|sources?|passages?|extraits?"
    r"|accord|agreement))\b"
)
_YES = (
    r"(?:yes|yeah|yep|oui|exact\w*|correct\w*|right|true|indeed|absolutely|certainly|of course|sure|(?:that"
    r"|this)(?:['’]s| is) (?:right"
    r"|correct|true|what)|c['’]est (?:exact|vrai|bien|juste|correct|ça|cela|ce qu)|en effet|effectivement"
    r"|tout à fait|bien sûr"
    r"|absolument|d['’]accord|(?:it (?:is|does)|you (?:are|can|do|may)|they (?:are|do))(?= *[!.:,])"
    r"|je (?:vous )?(?:le )?confirme|i (?:can )?confirm|you are right|vous avez raison)"
)
_AFFIRMS = re.compile(rf"\W*{_YES}\b")
_CONFIRMED_AFTER = re.compile(
    r"\b(?:is|are|was|were|est|sont|étai\w+|['’]s)\s+(?:indeed |bien |tout à fait |absolument |also )?"
    r"(?:correct|right|true|exact|juste|vrai|confirmé|confirmed|due?s?\b|valid|applicable)"
)
_ASKS_BACK = re.compile(
    r"(?:do you mean|did you mean|are you (?:asking|referring)|could you|can you|would you|voulez-vous"
    r"|parlez-vous|souhaitez-vous"
    r"|pouvez-vous|pourriez-vous|vouliez-vous|s['’]agit-il|faites-vous)"
)

# The question: what a person says of himself, and not as something to be confirmed.
_FIRST_PERSON = re.compile(r"(?:\b(?:j|m)['’]|\b(?:je|mon|ma|mes|moi|nous|notre|nos|i|my|me|we|our|us)\b)")
_OF_A_KIND = re.compile(
    r"\b(?:salariée?|employée?|entreprise|société|famille|couple|ménage|personne|homme|femme|retraitée?"
    r"|étudiante?|cliente?|assurée?"
    r"|patiente?|adulte|(?:un|des|d['’]un|mon) bien|maison|logement|appartement|terrain|prêt|emprunt|commune"
    r"|ville|household|family"
    r"|person|people|company|business|employee|worker|child|children|enfant|adult|man|woman|patient|student|house"
    r"|flat|apartment"
    r"|property|loan|town)s?\s+(?:[\w'’]+\s+|[\w]*['’]){0,2}(?:de|d['’]|of|aged|with|avec|âgée?s? de|à|worth"
    r"|gagnant|earning|ayant"
    r"|having)\s*\Z"
)
_SUPPOSED = re.compile(
    r"\b(?:if|si|s['’]il|avec|with|pour une?|for an?|aged|âgée?s? de|en cas de)\s+(?:[\w'’]+\s+|[\w]*['’]){0,4}\Z"
)
_BORN = re.compile(r"\b(?:née?s?|born)\s+(?:le|en|on|in)\s+\Z")
_YOURS_AFTER = re.compile(r"\s*(?:(?:that|which|que)\s+)?(?:you|vous|tu)\b(?! (?:can|must|may|should|pouvez|devez|peux|dois))")
_COUNT = re.compile(r"[0-9]{1,4} [^\W\d_]{3,}")
_AT = re.compile(r"\b(?:at|à)\s+\Z")
_AGE = re.compile(r"[0-9]{1,3}(?:\s*(?:ans|years?(?: old)?))?")
_DEADLINE = re.compile(
    r"(?:\b(?:until|till|up to|by|within|d['’]ici|sous)|\bjusqu['’](?:à|aux?)|\bau plus tard)\s*(?:[\w'’]+\s+){0,2}\Z"
)
_MY = re.compile(r"\b(?:mon|ma|mes|notre|nos|my|our)\s+(?:[\w'’-]+\s+(?:(?:de|of)\s+|d['’]))?\Z")
_YOUR = re.compile(r"\b(?:votre|vos|ton|ta|tes|your)\s+(?:[\w'’-]+\s+(?:(?:de|of)\s+|d['’]))?\Z")
# The number of something that the user has.
_NUMBERED = re.compile(r"[a-z]{0,4}[-_]?[0-9]{4,15}")
_MY_NUMBER = re.compile(r"\b(?:mon|ma|mes|notre|nos|my|our)\s+[\w'’-]+\s+(?:(?:number|numéro|n°|no\.?)\s*)?\Z")
_YOUR_NUMBER = re.compile(r"\b(?:votre|vos|ton|ta|tes|your)\s+[\w'’-]+\s+(?:(?:number|numéro|n°|no\.?)\s*)?\Z")
_LASTING = re.compile(r"%|\b(?:mois|jours?|semaines?|ans?|années?|months?|days?|weeks?|years?|h|heures?|hours?)\b|/")
# What the user has done already, or earns or owes.
_DONE = re.compile(
    r"\b(?:j['’]ai|nous avons|on a)\s+(?:déjà )?\w+(?:é|i|is|u|it)\s+(?:\w+ )?\Z"
    r"|\b(?:je gagne|nous gagnons|je dois déjà)\s+(?:\w+ )?\Z"
    r"|\b(?:i|we)(?:['’]ve| have)?\s+(?:already )?"
    r"(?:(?!need)\w+ed|paid|bought|sold|spent|sent|gave|lent|saved|earn|owe)\s+(?:\w+ )?\Z"
)
_RULED = re.compile(r"\b(?:seuil|plafond|limite?|threshold|ceiling|rule|règle)\b[\w' ]{0,12}\Z")
_RELATIVE = re.compile(
    r"\b(?:ma|mon|mes|notre|nos|my|our) (?:[\w-]+ )?(?:filles?|fils|enfants?|bébé|mari|femme|épou\w+|conjointe?|compagn\w+"
    r"|mère|père"
    r"|parents?|frères?|sœurs?|soeurs?|grand-\w+|daughters?|sons?|child|children|kids?|baby|husband|wife|partner|mother|mum|mom|father|dad"
    r"|brothers?|sisters?|grand\w+)\b"
)
_THIRD_PERSON = re.compile(r"\b(?:elles?|ils?|she|he|they|her|his|him|their)\b")
_ASKED = re.compile(
    r"^\W*(?:(?:so|and|but|et|mais|donc|alors)\s+)?(?:is|are|do|does|did|can|could|must|should|may|will|would|was"
    r"|were|have|has|am)\b"
    r"|est-ce|n['’]est-ce|(?<!rendez)-(?:je|t-il|t-elle|t-on|il|ils|elle|elles|on|vous|nous)\b"
)
_TAG = re.compile(
    r"[,\s]*(?:right|correct|isn['’]t|aren['’]t|doesn['’]t|don['’]t|is (?:that|it|this)(?! (?:normal|legal|allowed))|non"
    r"|n['’]est-ce|c['’]est(?! (?:normal|légal|permis))|est-ce(?! (?:normal|légal|permis|autorisé|que j))|exact"
    r"|d['’]accord|hein"
    r"|pas vrai|yes|no|ok|vrai|vous confirmez|do you confirm|can you confirm)\b"
)
_NEXT_TAG = re.compile(
    r"\W*(?:is (?:that|it|this)(?! (?:normal|legal|allowed))|are you sure|can you confirm|do you confirm"
    r"|vous confirmez|confirmez-vous"
    r"|pouvez-vous confirmer|c['’]est(?! (?:normal|légal|permis))"
    r"|est-ce (?:vrai|exact|correct|bien|que c['’]est)|est-ce (?:le|la|les) bon|right\b|correct\b|true\b|exact\b)"
)
_HEARD = re.compile(
    r"\b(?:told|heard|read|said|announced|promised|says|saw|seems|apparently|informed|think|believe|dit|disent|lu"
    r"|vu|entendu|annoncé"
    r"|promis|parlé|paraît|semble|crois|pense|informé|croyais|thought)\b"
)
_NORM = re.compile(
    r"\b(?:droits?|peux|peut|pouvez|puis|(?:dois|devez|doit)(?!\s*\Z)|devrai\w*|faut|entitled|can|may|must|should"
    r"|need|allowed"
    r"|eligible|bénéfici\w*"
    r"|perce\w*|dispos\w*|plafon\w*|limit\w*|maxim\w*|minim\w*|capped|couvert\w*|covered|autorisé\w*)\b"
)
# The answer: to whom it speaks, or under which circumstances something holds.
_SECOND_PERSON = re.compile(r"\b(?:vous|votre|vos|tu|ton|ta|tes|you|your|please|(?!chez|assez|nez)\w{2,}ez)\b")
_GIVEN = re.compile(
    r"(?:\b(?:avec|with|pour|for|si|if|ayant|having|étant|being|aged|âgée?s?|en cas|dès lors|given|compte tenu"
    r"|depuis|after|après|au bout|on an?|earning|living|paying|vivant|gagnant|touchant|payant|bien que?|although|though"
    r"|née?s?|born|since|as|puisqu(?:e|['’])|comme|vu)\s*(?:[\w'’]+\s+|[\w]*['’]){0,4}|^\W*(?:(?:[^\W\d_]+ed|bought|sold|paid|born|[^\W\d_]+[ée]e?s?)\s)?(?:à|at|in|from|on|le|en)\s+)\Z"
)
_SEARCH = re.compile(r"[^.?!\n]{1,60}")
"""A question of a few words as search engines have them: it names a topic and asserts nothing."""
_OF_A_TOPIC = re.compile(r"\b(?:on|in|of|for|from|with|pour|sur|avec|dans|de|d['’])\s*(?:an?|une?)\s+(?:[\w'’-]+\s+)?\Z")
_THE = re.compile(r"\b(?:les|des|ces|ses|leurs|the|these|those|of|its|their)\s+(?:[\w-]+\s+)?\Z")
_WHICH = re.compile(r"\W*(?:[àdp]\w* )?(?:combien|quel|quelle|quels|quelles|quand|où|what|which|how|when|where)\b")
# A question about a level names it: "the salary of a technician T2".
_LEVEL = re.compile(r"[a-z]{1,2}[0-9]{1,2}")
_OF_A_LEVEL = re.compile(r"(?:\b(?:une?|an?)|d['’]une?)\s+(?:[\w'’-]+\s+){1,3}\Z")
_POSSESSED = re.compile(
    r"\b(?:mon|ma|mes|notre|nos|votre|vos|ton|ta|tes|my|our|your)\s+(?:[\w'’-]+\s+){1,3}(?:(?:est|is|of|de)\s+)?(?:le\s+)?\Z"
)


class Around(Struct, frozen=True):
    """A piece of a text with its clause and its sentence, in lower case.

    Args:
        before, after: of its clause.
        opening, closing: of its sentence: what stands before the piece, and what stands behind it.
        following: the sentence behind its own.
    """

    before: str
    after: str
    opening: str
    closing: str
    following: str


def around_piece(low: str, start: int, end: int) -> Around:
    """What stands around a piece of a text that is in lower case."""
    first, last = max(0, start - _MOST), min(len(low), end + _MOST)
    for match in _END.finditer(low, first, start):
        first = match.end()
    stop = _END.search(low, end, last)
    closes = stop.end() if stop else last
    further = _END.search(low, closes, min(len(low), closes + _MOST))
    opening, closing = low[first:start], low[end:closes]
    begin = max((match.end() for match in _CLAUSE.finditer(opening)), default=0)
    parted = _CLAUSE.search(closing)
    following = low[closes : further.end() if further else closes + _MOST]
    return Around(opening[begin:], closing[: parted.start()] if parted else closing, opening, closing, following)


class Premises:
    """A question, and what an answer makes of its figures and names."""

    def __init__(self, prompt: str, response: str) -> None:
        """Both as they are `Readable`: positions are those in these texts."""
        self._prompt, self._response = lower_case(prompt), lower_case(response)

    def affirms(self, start: int, end: int, asked: tuple[int, int], beside: Sequence[Place], *, contact: bool = False) -> bool:
        """Whether the answer affirms a piece of itself that the question has too.

        Args:
            asked: where the question has it.
            beside: what of the same kind the documents support, in the answer.
            contact: whether it is a contact, which is the user's own only where both say whose it is.
        """
        said = around_piece(self._response, start, end)
        if self._asks_back(said) or _denied(said):
            return False
        if self._attributed(said, end, beside):
            return False
        if _SEARCH.fullmatch(self._prompt.strip()) and _OF_A_TOPIC.search(said.before):
            return False
        question = around_piece(self._prompt, *asked)
        if (
            _LEVEL.fullmatch(self._response, start, end)
            and _OF_A_LEVEL.search(question.before)
            and _WHICH.match(question.opening)
        ):
            return False
        if contact and not (_POSSESSED.search(question.before) and _POSSESSED.search(said.before)):
            return True
        piece = self._response[start:end]
        return not ((not contact and _of_user(piece, question, said)) or _repeated(piece, question, said))

    def confirms(self, start: int, end: int) -> bool:
        """Whether a sentence, or the answer, begins with a yes."""
        opening = around_piece(self._response, start, end).opening
        return (_AFFIRMS.match(opening) or _AFFIRMS.match(self._response)) is not None

    def enumerated(self, start: int, end: int) -> bool:
        """Whether the question asks which things those are that it counts."""
        return _THE.search(around_piece(self._prompt, start, end).before) is not None

    @staticmethod
    def _asks_back(said: Around) -> bool:
        return said.closing.rstrip().endswith("?") and _ASKS_BACK.search(said.opening) is not None

    def _attributed(self, said: Around, end: int, beside: Sequence[Place]) -> bool:
        """Whether the user is named as the one who says it, and the answer goes on with something else."""
        told = _TOLD_BEFORE.search(said.opening) or _TOLD_AFTER.match(said.closing)
        if not told or _AFFIRMS.match(self._response) or _AFFIRMS.match(said.opening):
            return False
        rest = said.closing + said.following
        if _CONFIRMED_AFTER.search(rest) or _AFFIRMS.match(said.following):
            return False
        near = any(end <= place.start <= end + len(rest) or 0 < end - place.end <= _MOST for place in beside)
        return near or _CONTRAST.search(rest) is not None or _DENIED_AFTER.match(said.closing) is not None


def _denied(said: Around) -> bool:
    """Whether an answer denies a piece of itself."""
    if _COMPARED.search(said.opening):
        return True
    before = _OPENER.sub("", said.before, count=1) if said.before == said.opening else said.before
    if _DENIED.search(before) and not _REMINDING.search(before):
        return True
    return _DOUBTED.search(said.opening) is not None or _DENIED_AFTER.match(said.closing) is not None


def _of_user(piece: str, asked: Around, said: Around) -> bool:
    """Whether question and answer both name something as the user's: "my order of 85 euros", "your invoice 88213"."""
    if _NUMBERED.fullmatch(piece) and _MY_NUMBER.search(asked.before) and _YOUR_NUMBER.search(said.before):
        return True
    return not _LASTING.search(piece) and bool(_MY.search(asked.before) and _YOUR.search(said.before))


def _repeated(piece: str, asked: Around, said: Around) -> bool:
    """Whether a question tells a circumstance of the user, and the answer repeats it as one."""
    age = _AGE.fullmatch(piece) is not None
    lasting = _LASTING.search(piece) is not None
    if not lasting and _DONE.search(asked.before) and not _HEARD.search(asked.before):
        return True
    if not _circumstance(asked, age=age) and (lasting or not _MY.search(asked.before)):
        return False
    counted = _COUNT.fullmatch(piece) and not lasting
    if _YOURS_AFTER.match(said.after) or (counted and not said.before.strip()):
        return True
    relative = _RELATIVE.search(asked.opening) and _THIRD_PERSON.search(said.before)
    return relative is not None or _repeats(said, age=age)


def _circumstance(asked: Around, *, age: bool) -> bool:
    """Whether a question says something of the person who asks, or supposes it, and does not ask whether it is so."""
    whole = asked.before + asked.after
    if age and _SUPPOSED.search(asked.before):
        return True
    if _RULED.search(asked.before):
        return False
    if _HEARD.search(whole) or _TAG.match(asked.closing[len(asked.after) :]) or _NEXT_TAG.match(asked.following):
        return False
    if _OF_A_KIND.search(asked.before) or _SUPPOSED.search(asked.before) or _BORN.search(asked.before):
        return True
    if _NORM.search(asked.before) or _DEADLINE.search(asked.before):
        return False
    if age and _AT.search(asked.before):
        return True
    last = asked.closing.rstrip().endswith("?") and len(asked.after) == len(asked.closing)
    return _FIRST_PERSON.search(asked.before) is not None and not last and not _ASKED.search(whole)


def _repeats(said: Around, *, age: bool) -> bool:
    """Whether an answer speaks of the user's circumstances, or of what holds under them."""
    if _OF_A_KIND.search(said.before) or _GIVEN.search(said.before) or _GIVEN.search(said.opening):
        return True
    if _NORM.search(said.before):
        return False
    return _SECOND_PERSON.search(said.before) is not None or (age and _AT.search(said.before) is not None)
