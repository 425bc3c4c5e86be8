"""Whether an answer denies a piece of itself, leaves it to the user, or says that it cannot be confirmed; French and English.

| the answer | for example |
|---|---|
| denies it in its clause | the dose is not 500 mg; 30 days rather than 45; inutile d'écrire à ... |
| denies what follows from it | 555-0187 isn't in the list; le chiffre de 90 km/h est erroné; BIENVENUE20, que je ne connais pas |
| cannot confirm it | I can't find 555-0187; rien n'indique 0,70 €; as for 15 October, our documents give no date |
| attributes it and goes on with something else | you mention 45 days, but ...; if somebody told you 3 %, I see no trace of it |
"""

import re

from areopage.gate.premises.clauses import Around

_VERB = r"[\w'’-]+"
# Negators that stand before what they deny.
_NOT = re.compile(
    r"\b(?:pas|jamais|aucune?s?|ni|non|rien|nullement|inutile|not|never|nor|neither|cannot|no|none|nothing|nowhere"
    r"|needless|unlike"
    r"|contrary to|opposed to|avoid|beware|ignore|disregard|évitez|ignorez|oubliez|méfiez-vous)\b|n['’]t\b"
    r"|\b(?:rather|other) than\b|\binstead of\b|\b(?:plutôt|autre) qu(?:e\b|['’])|\bau lieu d|\bà la place d"
    r"|\bcontrairement à?|\bdifférente?s? d|\bdifferent from\b|\bfar from\b|\bloin d"
    r"|\bn(?:['’]|e )[\w'’ ]{1,24}?\bplus\b|\bne (?:peux|peut|pouvons|saurais|saurait|puis)\b"
)
_BESIDE = re.compile(r"(?:\s*[\w'’«»\"/%€$£&-]+\.?){0,7}\s*[\w'’(«\"]*\s*\Z")
# Between a negator and a piece, these turn the denial into a bound: "no later than", "not only", "n'excède pas".
_BOUND = re.compile(
    r"\b(?:plus|moins|avant|après|delà|dépass\w*|exc[éè]d\w*|sans|without|unless|until|before|after|more|less|fewer|over"
    r"|under|than"
    r"|exceed\w*|only|seulement|uniquement|later|earlier|tard|tôt|just|seule?|inférieure?s?|supérieure?s?"
    r"|doubts?|doute|prevents?|empêche\w*|forbids?|interdi\w*|problem|problème|wrong|erreur|error|surpris\w*)\b|\bqu(?:e\b"
    r"|['’])"
)
_REMINDING = re.compile(
    r"\b(?:oubli|omett|hésit|manqu)\w+ pas\b|\b(?:forget|omit|hesitate|fail)\b|\bnon seulement\b|\bnot only\b"
)
OPENER = re.compile(r"\A\W*(?:no|non|nope|yes|oui|si)\b[\s,]*")
# Beside the value that holds: "20 less than the 89 that you paid".
_COMPARED = re.compile(
    r"\b(?:less|lower|more|higher|cheaper|dearer|earlier|later|fewer|shorter|longer) than (?:the|your|these|those) \Z"
    r"|\b(?:moins|plus|inférieure?s?|supérieure?s?)(?: \w+)? (?:qu['’]|que |aux? |à )(?:les?|vos|votre|ces?)? ?\Z"
)
# Verbs of knowing and telling, by their beginnings.
_KNOWING = (
    r"(?:confirm|find|found|see\b|seen\b|tell\b|told\b|say|said\b|verif|check|know|trace|mention|stat(?:e|es|ed|ing)\b"
    r"|specif|giv|list"
    r"|nam(?:e|es|ed)\b|show|contain|indicat|includ|appear|figur|describ|provid|quot|cit(?:e|es|ed)\b|refer|speak|spoke"
    r"|exist|come up"
    r"|correspond|match|evidence|information|aware|sure\b|certain\b|record|support|vouch|set out|recogni"
    r"|trouv(?!er(?:a|ont|ai)\b)|voi[rs]\b|vois\b|voyons|vu\b|dire\b|di[ts]\b|disent|dite?s?\b|vérifi|sai[st]\b|savons"
    r"|savoir|précis|indiqu|donn|nomm|contien"
    r"|apparaî|apparai|décri|fourni|parl|évoqu|prévoi|prévu|conna|connu|prononc|report|comport|dispos|recens|référenc|renseign"
    r"|communiqu|lis\b|lit\b|lisons|repér|ressort|garanti|atteste|chiffr|fix|écri[tv]|impos)"
)
_BREAK = re.compile(
    r"[.;:!?](?=\s|\Z)|\s[–—-]\s|\b(?:but|mais|however|cependant|toutefois|so|donc|because|since|car|puisque|if|when"
    r"|unless|once|lorsque"
    r"|quand|dès|sauf|à moins)\b|,? (?:and|et) (?=(?:the|les?|la|l['’]|it|you|vous|il|elle)\b)"
)
# Those that only documents and writers do: a rule "gives" as well.
_CONFIRMING = re.sub(r"\|(?:giv|donn|provid|fourni|show)(?=\|)", "", _KNOWING)
DOCUMENT = (
    r"(?:documents?|documentation|textes?|texts?|sources?|passages?|extraits?|extracts?|excerpts?|fiches?|notices?"
    r"|informations?|guides?"
    r"|handbook|rules|règlements?|règles|conditions|pages?|policy|material|éléments|manual|charter|charte|accord|agreement"
    r"|convention|contrat|contract|licence|lease|bail|bylaws?|statuts?|programme|offre|offer|site|website|liste?|barème"
    r"|grille|tableau|mode d['’]emploi)"
)
_NEVER = r"(?:\b(?:not|never|no|nothing|none|nowhere|neither|cannot|unable to|without|only)\b|n['’]t\b)"
_JAMAIS = r"\b(?:pas|aucune?|rien|nulle|ni|jamais|que?)\b"
_UNABLE = re.compile(
    rf"\b(?:i|we)\b[^.;:]{{0,24}}?{_NEVER}[^.;:]{{0,24}}?\b{_KNOWING}"
    rf"|(?:\bje |\bnous |\bon |\bj['’])(?:\w+ )?(?:n['’]|ne )[^.;:]{{0,40}}?\b{_KNOWING}|\bj['’]ignore\b|\b(?:impossible"
    rf"|incapable) (?:pour moi )?d[e'’][^.;:]{{0,12}}{_KNOWING}"
    rf"|\b(?:our|my|the|these|this|nos|notre|mes|les?|ces?|cette|la|l['’]|aucune?|no"
    rf"|none of the) ?(?:[\w'’-]+ )?{DOCUMENT}\b[^.;,]{{0,30}}?(?:{_NEVER}|\bn['’]|\bne )[^.;,]{{0,24}}?\b(?:{_KNOWING}"
    rf"|number)"
    rf"|{DOCUMENT}\b[^.;,]{{0,30}}?\b{_KNOWING}\w* (?:no|nothing|neither|none|only)\b"
    rf"|\b{_NEVER}[^.;:]{{0,30}} in (?:our|my|the|these|this) (?:\w+ )?{DOCUMENT}\b|{_JAMAIS}[^.;:]{{0,40}} (?:dans|sur"
    rf"|par) (?:nos|notre|les?|la|ces?|cette|mes) ?{DOCUMENT}\b"
    rf"|\b(?:is|are|was|were)(?: not|n['’]t| nowhere) (?:\w+ ){{0,2}}?{_CONFIRMING}|\bno (?:[\w'’-]+ ){{1,3}}?(?:is|are"
    rf"|was|were) (?:\w+ )?{_CONFIRMING}"
    rf"|\b(?:n['’]|ne )(?:y |est |sont |a |ont |en |se |s['’]|l['’]|le |la |les ){{0,3}}?(?:est|sont|été)?(?:\w+ )?(?:pas"
    rf"|nulle part|plus|jamais) (?:été |y )?{_CONFIRMING}"
    rf"|\b(?:no|aucune?) (?:mention|trace|record|reference|indication|information|référence)"
    rf"|\b(?:n['’]|ne )(?:s['’]|se |y |en )?{_CONFIRMING}\w* (?:\w+ )?(?:pas|nulle|rien|aucune?|dans aucun)\b|\b(?:rien"
    rf"|nothing)\b[^.;:]{{0,24}}?\b{_CONFIRMING}"
    r"|\bsilent\b|\bmuets?\b|\bd['’]ailleurs\b|\bfrom (?:elsewhere|somewhere else)\b"
    r"|(?:\b(?:not|pas)\b|n['’]t\b) (?:\w+ ){0,2}?(?:true|right|correct|the case|vrai|exact|le cas)\b"
    r"|\b(?:untrue|inexact|faux|wrong|false|incorrect) (?:that|qu|to|de|d['’])"
)
_HEARER = re.compile(r"\b(?:you|vous|tu) (?:do|don|can|need|have|will|are|ne|n)\W?\w*\Z")
# What is denied of a piece that stands before it.
_SAME = (
    r"(?:the\b|an?\b|one\b|ours?\b|mine\b|that\b|it\b|his\b|hers\b|theirs\b|what\b|in\b|on\b|from\b|among\b|part\b|any"
    r"|something|there\b"
    r"|correct|right\b|valid|true\b|accurate|enough|sufficient|applicable|needed|required|necessary|quite\b|used\b|backed"
    r"|written"
    r"|le\b|la\b|l['’]|les\b|celui|celle|ceux|dans\b|de nous|à nous|notre|nos\b|ce\b|une?\b|exact|bon\b|bonne\b|vrai|juste"
    r"|exig|requis"
    r"|demand|nécessaire|valable|écrit|suffi)"
)
_NOT_IS = r"(?:is|are|was|were|est|sont|était|étaient|serait) (?:pas |plus )?"
_DENIED_AFTER = re.compile(
    r"(?:\s*[\w'’«»\"/%€$£)-]+){0,8}?\s*\b(?:"
    rf"(?:is|are|was|were)(?: not|n['’]t) (?:\w+ly |in fact |quite |one of )?(?!a (?:problem|issue|concern))(?:{_SAME}"
    rf"|{_KNOWING})"
    rf"|(?:n['’]?|ne )?(?:est|sont|était|étaient|serait) (?:donc |en fait |toutefois |pourtant )?(?:pas|plus"
    rf"|nulle part) (?:non plus )?"
    rf"(?:{_SAME}|{_KNOWING})"
    rf"|(?:do|does|did|can|could)(?: not|n['’]t) (?:be )?(?:apply(?! (?:to(?! (?:you|this|your|that)\b)|for|on|before"
    rf"|after|until|during|when|if)\b)|belong|concern|come\b|feature"
    rf"|{_KNOWING})"
    rf"|(?:n['’]|ne )(?:s['’]|se |l['’]|en |y )?(?:{_KNOWING}|correspond|appliqu|exist|relèv|concern|vien|provien|éman"
    rf"|suffi)\w*"
    r" (?:donc |toutefois )?(?:pas|plus|nulle|rien|aucune?|dans aucun|à (?:rien|aucun))(?! (?:aux?|à l|avant|après|en cas"
    r"|pendant|dans ce cas)\b)"
    r"|(?:is|are|was|were|would|serait|est|sont) (?:nowhere|no longer|unknown|absente?s?|introuvables?|inconnue?s?|nulle part"
    r"|worth (?:query|check)|out of date|outdated|obsolete|(?:be )?(?:too|trop) \w+|not\W*\Z|périmée?s?|dépassée?s?|à vérifier)"
    r"|(?:appears?|comes? up|figurent?|se trouve(?:nt)?) (?:nowhere|nulle part)|(?:ha(?:s|ve)|a|ont) (?:nothing|rien) "
    r"|(?:would |will )?exceeds?\b|excèdent?\b|excéderai\w+|dépasse(?:nt|raient|rait)?\b"
    r"|vien(?:t|nent) d['’]ailleurs|comes? from (?:elsewhere|somewhere else)"
    r"|(?:est|sont|semblen?t?|serait|paraît|is|are|was|were|seems?|looks?|sounds?|appears?|must be|may be|might be"
    r"|doi(?:ven)?t être) (?:to be )?(?:an? |une )?"
    r"(?:wrong|false|incorrect|mistake|mix-up|typo|error|confusion|misunderst|myth|old\b|erreur|fauss?e?|inexact|erron"
    r"|incorrect|ancien))"
)
# "E27, but this code is not described": what follows speaks of the piece and denies it.
_THAT = re.compile(
    r"[^.;!?]{0,60}?[,;:–—(] ?(?:(?:but|mais|and|et|or|though|although) )?(?:(?:i|we|je|nous)\b|(?:which|that|this|it"
    r"|one|ce|cette|cet|cela|ça|celui|celle"
    r"|qu[ei]?|dont|il|elle)\b|qu['’])(?P<denial>[^.;!?,]{0,80})"
    r"|[^.;!?]{0,80}?\b(?:que|qu['’]|that|which|dont)\s?(?:je|j['’]|nous|i|we|on)\b[^.;!?]{0,60}"
)
TOPIC = (
    r"(?:\A|[.;:!?,–—(])\W*(?:(?:but|mais|and|et|now|or)\W+)?(?:as (?:for|to)|regarding|concerning|about|quant (?:à|aux?)"
    r"|concernant|s['’]agissant d"
    r"|à propos d|au sujet d|pour ce qui est d|en ce qui concerne)[^.;!?]*\Z"
)
SAYING = (
    r"(?:mention|cit|quot|giv|gave|sa(?:id|y)|stat(?:e|ing)|writ|wrote|indicat|suggest|speak|spoke|talk|refer|assum|suppos"
    r"|put\b|ask|claim"
    r"|promis|announc|report|propos|think|thought|believ|heard|read|told|tell|seen|saw|found|expect|understood|picked up"
    r"|have in mind|come across"
    r"|plac|parl|indiqu|évoqu|di[st]e?s?\b|disait|disent|avanc|donn|situ|invoqu|écri|annonc|demand|pens|croy|affirm|suggér"
    r"|réfé|entend|lisez|lu\b|vu\b|part(?:ez|i)|imagin"
    r"|trouvé|comptez|tenez|communiqu|transmis|mis\b|signal|rapport)"
)
_SOMEONE = (
    r"(?:\byou(?:['’](?:ve|d|re))?|\byour (?!contract|lease|policy|agreement|bank statement)\w+(?: \w+)?|\bthe (?:question"
    r"|user|customer|caller)"
    r"|\b(?:some|any)(?:one|body)(?: [\w'’]+){0,4}?|\b(?:people|they|he|she)|\bvous|\bvot?re? (?!contrat|bail|police"
    r"|convention|relevé)\w+"
    r"|\bla question|\bvos \w+|\b(?:te|ton|ta|tu)\b(?: \w+)?|\bon\b|\bquelqu['’]un(?: [\w'’]+){0,4}?"
    r"|\b(?:the|la|le|l['’]|a|un|une) ?(?:brochure|leaflet|ad|advert|web ?site|site|dépliant|publicité|annonce|vendeur"
    r"|seller|presse|press|forum"
    r"|neighbou?r|voisine?|friend|ami|colleague|collègue|person|personne|message|article|review|post))"
)
_WORDS = r"(?:[\w'’-]+\s+|[\w]*['’])"
_TOLD_BEFORE = re.compile(
    rf"(?<!\bas )(?<!\bcomme )(?<!\bque )(?<!\bdont )(?<!\bthat ){_SOMEONE}\s+{_WORDS}{{0,4}}?{SAYING}[^.;:!?]{{0,80}}\Z"
    r"|\b(?:according to|selon|d['’]après|from) (?:what )?(?:you|your|vous|votre|vos|ce que vous|ton|ta|tes"
    r"|toi)\b[^.;!?]{0,60}\Z"
    r"|(?<!as )(?<!comme )\b(?:spoke|said|told|mentioned|promised|quoted|claimed|suggested|announced|wrote)\b[^.;:!?]{0,60}\Z"
    r"|\b(?:a|ont|avait|aurait)(?: \w+)? (?:dit|parlé|annoncé|promis|indiqué|mentionné|évoqué|affirmé)\b[^.;:!?]{0,60}\Z"
    rf"|\b(?:may|might|could) (?:well )?(?:have |be )?{SAYING}[^.;:!?]{{0,60}}\Z|\b(?:a|ont|aura|auront)(?: bien)? (?:pu"
    rf"|peut-être)\b[^.;:!?]{{0,60}}\Z"
)
_TOLD_AFTER = re.compile(
    rf"(?:\s*[\w'’«»\"€$£%)-]+){{0,6}}?,?\s*(?:(?:that |which |que |dont |qu['’]on |que l['’]on |qu['’]"
    rf"|as )?{_SOMEONE}\s+{_WORDS}{{0,3}}?{SAYING}"
    rf"|(?:mentioned|quoted|given|cited|stated|suggested|promised|announced|advertised) (?:by|in|on|to)\b|qu(?:e l)?['’]on vous"
    r"|(?:mentionnée?s?|citée?s?|indiquée?s?|annoncée?s?|évoquée?s?|promise?s?|donnée?s?) (?:par|dans|sur|à|au)\b"
    r"|(?:in|from|of|on|dans|de|sur) (?:your|the|votre|la|cette) (?:question|message|e?-?mail|courriel|letter|courrier"
    r"|lettre|brochure"
    r"|leaflet|advert|quote|devis|sms|flyer|poster|affiche|prospectus|note))"
)
_TOLD_INVERTED = re.compile(
    rf"[^.;:!?]{{0,30}}\b(?:que? |qu['’]|that |which |dont )(?:vous |you )?{SAYING}\w* (?:votre|vos|your|l['’]|la|le|les"
    rf"|the|une?|an?)\b"
)
_TURN = re.compile(
    r"\b(?:mais|but|alors que|whereas|while|though|although|tandis que|however|cependant|toutefois|pourtant|en revanche"
    r"|par contre"
    r"|d['’]après|selon|according to|instead|actually|in fact|en réalité"
    r"|(?:the|our|my|these|nos|notre|mes|les?|ces?|la|l['’]) ?(?:documents?|documentation|textes?|texts?|sources?"
    r"|passages?|extraits?"
    r"|accord|agreement|information|fiche|notice|page|guide|rules|règlement))\b"
)
_LIMITED = re.compile(
    r"\b(?:only|rather|plutôt|seulement|not|no|nothing|nowhere|without|pas|aucune?|rien|sans|cannot)\b|n['’]t\b"
)
_NEGATED_NEXT = re.compile(
    r"(?:\s*[\w'’]+){0,4}?\s*(?:(?:is|are|was|were|do|does|did|can|could|will|would)(?: not|n['’]t)|cannot|(?:n['’]"
    r"|ne )\w+ (?:pas|plus))\b"
)
YES = (
    r"(?:yes|yeah|yep|oui|exact\w*|correct\w*|right|true|indeed|agreed|confirmed|absolutely|certainly|of course|sure"
    r"|(?:that|this)(?:['’]s"
    r"| is) (?:right"
    r"|correct|true|what)|it (?:did|has|was|will|hasn['’]t changed)(?= *[!.:,])"
    r"|c['’]est (?:exact|vrai|bien|juste|correct|ça|cela|ce qu)|en effet|effectivement|tout à fait|bien sûr"
    r"|absolument|d['’]accord|(?:it (?:is|does)|you (?:are|can|do|may)|they (?:are|do))(?= *[!.:,])"
    r"|je (?:vous )?(?:le |la )?confirme|i (?:can )?confirm|you are right|vous avez raison)"
)
_AFFIRMS = re.compile(rf"\W*{YES}\b")


def affirms_all(response: str) -> bool:
    """Whether a sentence, or an answer, begins with a yes."""
    return _AFFIRMS.match(response) is not None


def compares(said: Around) -> bool:
    """Whether a piece is only what something else is more or less than."""
    return _COMPARED.search(said.opening) is not None


def denied(said: Around, *, rival: bool) -> dict[str, bool]:
    """How an answer denies a piece of itself; `rival`: something of its kind that the documents support stands behind it."""
    return {
        "denied before": _denied_before(said, rival=rival),
        "denied behind": _DENIED_AFTER.match(said.closing) is not None,
        "unconfirmed": _unconfirmed(said),
    }


def _denied_before(said: Around, *, rival: bool) -> bool:
    """Whether a negator of its clause denies the piece; not with a word of a bound, unless the right value follows."""
    before = OPENER.sub("", said.before, count=1) if said.before == said.opening else said.before
    if _REMINDING.search(before):
        return False
    for match in _NOT.finditer(before):
        between = before[match.end() :]
        if not _BESIDE.fullmatch(between):
            continue
        if not _BOUND.search(between) or (rival and re.match(r"[\s,;:.]*(?:but|mais)\b", said.after or said.closing)):
            return True
    return False


def _unconfirmed(said: Around) -> bool:
    parts = [match.end() for match in _BREAK.finditer(said.opening)]
    near = said.opening[parts[-1] if parts else 0 :]
    unable = _UNABLE.search(near)
    if unable and not _HEARER.search(near[: unable.end()]) and not _REMINDING.search(near):
        return True
    topic = re.search(TOPIC, said.opening) is not None
    if topic and _UNABLE.search(said.rest):
        return True
    that = _THAT.match(said.closing)
    return that is not None and _UNABLE.search(that.group()) is not None


def unable(low: str) -> bool:
    """Whether a sentence says that something is not known; what it knows besides is not looked at."""
    match = _UNABLE.search(low)
    return match is not None and not _HEARER.search(low[: match.end()])


def attributed(said: Around, *, rival: bool, yes: bool) -> bool:
    """Whether somebody is named as the one who says a piece, and the answer goes on with something else; `yes`: it begins so."""
    if affirms_all(said.opening) or affirms_all(said.following):
        return False
    turns = rival or _TURN.search(said.rest) is not None
    if _TOLD_BEFORE.search(said.opening):
        return turns or _LIMITED.search(said.rest) is not None
    match = _TOLD_AFTER.match(said.closing) or _TOLD_INVERTED.match(said.closing)
    if yes or not match:
        return False
    return turns or _NEGATED_NEXT.match(said.closing, match.end()) is not None
