"""Words of English and French that the grounding model treats apart. All without accents, in lower case."""

EMPTY_WORDS = frozenset(
    """
    a an the and or but if then else of to in on at for from by with about as into onto over after before between under above
    is are was were be been being am do does did done doing have has had having will would can could may might must shall should
    not no nor so than too very it its itself this that these those there here he she they them him his her hers their theirs we us
    our ours you your yours me my mine who whom whose which what when where why how all any both each few more most other others
    another some such own same just also however additionally furthermore moreover therefore thus hence overall while because
    since until upon within without through during per via among out up down off again ever yet still even much many
    including include includes included based provided given according mentioned mention mentions one two use used using uses
    make makes made get gets et al etc eg ie ve ll re don doesn isn aren won didn wasn cannot
    example passage passages text texts information context
    le la les un une des du de au aux ou mais si donc or ni car en dans sur sous pour par avec sans est sont etait etaient etre
    ete ont avait avoir ayant il elle ils elles ce cet cette ces se son sa ses leur leurs on nous vous je tu te moi toi qui que
    qu quoi dont ne pas plus moins tres aussi selon ainsi alors comme entre vers chez lui eux notre nos votre vos mon ma mes ton
    ta tes tout toute tous toutes autre autres meme memes cela ceci ca cest jusqu lorsque lorsqu quand puis peut peuvent doit
    doivent fait font faire soit sera seront serait lequel laquelle lesquels lesquelles auquel duquel celui celle ceux celles
    document documents passage extrait extraits texte information informations contexte exemple
    """.split()
)
