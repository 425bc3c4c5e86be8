"""The language of a text, French or English, by its function words: enough to see that an answer is in another one."""

READ = 2_000  # characters: a language shows at the beginning
CLEAR = 1.5  # so many times more words of one language than of the other tell it

# Words that both languages write alike (on, a, as, or, but, plus, me, son, car) tell nothing and stand in neither list.
_FRENCH = frozenset(
    """
    le la les un une de des du au aux et ou où est sont était étaient être été ont avait avez avons que qui quoi quel quelle quels
    quelles dont ce cet cette ces celui celle dans pour par avec sans sous sur chez entre vers depuis ne pas n'est il elle ils
    elles nous vous je tu mon ma mes ton ta tes ses notre nos votre vos leur leurs lui en y se qu mais donc ni si comme très
    aussi ainsi alors cela ça ceci puis peut peuvent peux doit doivent faut fait faire selon pourquoi comment combien quand
    aucun aucune tout toute tous toutes même lors lorsque jour jours mois ans oui non voici
    """.split()  # noqa: SIM905 - a list literal would fill pages
)
_ENGLISH = frozenset(
    """
    the an and is are was were be been being of to in at by for from with without about into onto over under between that this
    these those there which who whom whose what when where why how not no nor if then than so it its he she they them we you
    your our their his her my i do does did done has have had having will would can could may might must shall should any each
    every some such only also yes because while during through per more most other
    """.split()  # noqa: SIM905 - a list literal would fill pages
)
# Other Romance languages write these too: they count half.
_SHARED = frozenset(["de", "la", "un", "que", "en", "se", "si", "ma", "tu", "me", "ni"])
_ACCENTS = "éèêàçùûœ"
_ELISIONS = (" l'", " d'", " qu'", " n'", " s'", " j'", " c'")
_SIGNS_FOR_A_WORD = 4  # so many accents or elisions weigh one word; short questions often have little else
_EDGES = '.,;:!?()[]"«»“”*-–—'


# What a word counts for French.
_FOR_FRENCH = {word: (word in _FRENCH) - (word in _SHARED) / 2 for word in _FRENCH | _SHARED}


def language_of(text: str) -> str:
    """ "fr" or "en", or "" where too little text tells; reads no more than the first 2,000 characters."""
    begin = text[:READ].lower().replace("’", "'")
    words = [word.strip(_EDGES) for word in begin.split()]
    french = sum([_FOR_FRENCH[word] for word in words if word in _FOR_FRENCH])
    english = sum(map(_ENGLISH.__contains__, words))
    signs = 0 if begin.isascii() else sum(map(begin.count, _ACCENTS))
    if "'" in begin:
        parted = " " + " ".join(words)
        signs += sum(map(parted.count, _ELISIONS))
    french += signs / _SIGNS_FOR_A_WORD
    if french >= 1 and french > CLEAR * english:
        return "fr"
    if english >= 1 and english > CLEAR * french:
        return "en"
    return ""
