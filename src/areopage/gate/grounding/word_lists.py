"""Words of English and French that the grounding model treats apart: all without accents, in lower case."""

# Articles, pronouns, auxiliaries and the like, and what an answer says about texts instead of their subject:
# "based on the passages provided, the answer to your question is".
_EMPTY = """
    a an the and or but if then else of to in on at for from by with about as into onto over after before between under above
    against along around is are was were be been being am do does did done doing have has had having will would can could may
    might must shall should not no nor so than too very it its itself this that these those there here he she they them him
    his her hers
    their theirs themselves we us our ours you your yours yourself me my mine who whom whose which what when where why how
    all any
    both each every either neither few more most less least other others another some such own same only just also however
    additionally furthermore moreover therefore thus hence overall while whereas because since until unless upon within without
    through throughout during per via among across beyond regardless despite out up down off again ever yet still even much many
    several include includes included including based provided provide provides providing given according mentioned mention
    mentions mentioning one two use used using uses make makes made making get gets getting got et al etc eg ie ve ll re don
    doesn
    isn aren won didn wasn couldn wouldn cannot
    example examples instance passage passages text texts information context document documents source sources excerpt excerpts
    article articles answer answers answering answered question questions asked statement statements
    note notes noted noting summary summarize summarized summarise summarised conclude conclusion sure specific specifically
    explicit explicitly following follows follow first second third firstly secondly lastly finally brief briefly main unable
    clear clearly original hand suggest suggests suggested suggesting refer refers referred state states stated stating describe
    describes described explain explains explained discuss discusses discussed highlight highlights indicate indicates indicated
    appear appears seem seems say says said tell tells define defined definition regarding concerning related relevant detail
    details detailed particular particularly instructions step steps worth please let know hope feel
    le la les un une des du de au aux ou mais si donc or ni car en dans sur sous pour par avec sans est sont etait etaient etre
    ete ont avait avoir ayant il elle ils elles ce cet cette ces se son sa ses leur leurs on nous vous je tu te moi toi qui que
    qu quoi dont ne pas plus moins tres aussi selon ainsi alors comme entre vers chez lui eux notre nos votre vos mon ma mes ton
    ta tes tout toute tous toutes autre autres meme memes cela ceci ca jusqu lorsque lorsqu quand puis puisque peut peuvent
    pouvez doit doivent devez fait font faire soit sera seront serait lequel laquelle lesquels lesquelles auquel duquel celui
    celle ceux celles afin lors parmi contre pendant depuis malgre toutefois cependant neanmoins egalement notamment voici voila
    deux plusieurs chaque quel quelle quels quelles ici bien encore deja sinon
    extrait extraits texte textes informations exemple exemples contexte reponse reponses question questions passages
    indique indiquent indiquee indique mentionne mentionnee mentionnes precise precisent precisement specifique specifiques
    fournit fournis fournies fourni suivant suivante suivants suivantes premier premiere premierement deuxieme enfin resume
    conclusion principal principale clairement explicitement stipule prevoit prevoient dispose disposent enonce concernant
    relatif
    relative relatifs relatives document documents source sources d l s t m n c j
    apres avant dessus dessous dedans dehors devant derriere travers outre hors sauf excepte hormis envers pres loin quant
    tandis
    rien peu beaucoup trop assez presque environ aucun aucune nul nulle chacun chacune quelque quelques quelconque tel telle
    tels
    telles autant tant davantage mieux pis surtout plutot seulement uniquement toujours jamais parfois quelquefois tantot
    aussitot bientot tot tard maintenant aujourd hui hier demain alors auparavant desormais dorenavant ensuite puis
    ailleurs partout abord cote part fois non oui certes pourtant sitot lorsqu parce quoique bien fort
    suis es sommes etes etais etions etiez fus fut fumes furent etant soient soyez serai seras serons serez seraient
    ai as avons avez avais avions aviez avaient eus eut eurent eu aie ait aient aurai aura aurons auront aurait auraient
    vais va vont allait allaient ira iront irait aller alle dois devons devait devaient devra devront devrait devraient du due
    peux pouvons pouvait pouvaient pu pourra pourront pourrait pourraient puisse puissent pouvant pouvoir
    veux veut voulons veulent voulait voulaient voulu voudrait vouloir faut fallait faudra faudrait falloir
    faisait faisaient fit firent fera feront ferait faisant vaut valent vaudra semble semblent semblait
    disent dit dite dits disait disant ajoute ajoutent ajouter rappelle rappellent rappelons signale signalent evoque evoquent
    figure figurent cite citent citer parle parlent note noter noterez savoir retenir resumer resume lit lisent
    dernier derniere derniers dernieres present presente presents presentes ci la
"""
EMPTY_WORDS = frozenset(_EMPTY.split())

# Words that state little by themselves: an answer may use them of its own without saying much that its documents do not.
_LIGHT = """
    important importantly various variety ensure ensures ensuring additional additionally further depend depending depends
    necessary necessarily need needs needed need process different like likely vary varies varying time times once well due help
    helps helping involve involves involved place possible possibly possibility check consider considered certain certainly
    determine determined determining potential potentially way ways next often enter amount appropriate significant
    significantly
    allow allows allowing individual individuals understand understanding understood choose role factor factors see seen
    multiple
    general generally usually typically commonly option options associate associated directly come comes essential especially
    one
    ones rather effective known primarily lead leads leading led available take takes taking took related best better good set
    proper properly work works working alone crucial type types kind kinds complete completely receive easy easily key want
    wants
    similar similarly impact form forms terms term able case cases result results resulting cause caused avoid create creates
    created contribute difficult issue issues useful numerous large larger small smaller great greater high higher low lower new
    old part parts thing things people person someone area areas number numbers order real really simple simply several strong
    whole actually alternatively although aspect aspects become becomes begin begins beginning believe bring brings call called
    change changes common contain contains current currently day days end ends enough entire exact exactly fact find finds found
    full give gives giving go goes going happen happens keep keeps kept last leave level levels long look looks lot mean means
    meaning method methods move near now occur occurs offer offers particular perform play point points possible present
    previous previously problem problems produce purpose purposes put quickly reach reason reasons recommend recommended remain
    remains remember require required requires right seek show shows showing shown side single size specific start starts
    started stay suitable support sure system tend tends think together try trying unique unless unlike want whether world year
    years yes consult
    important importante importants importantes importance divers diverses differents differentes different certain certaine
    certains certaines possible possibles possibilite necessaire necessaires general generale generalement souvent
    habituellement
    permet permettent permettre permettant assurer assure garantir depend dependre dependent cas cadre facon facons maniere
    manieres fois temps moment ensuite lieu partie parties chose choses personne personnes type types sorte forme formes nombre
    grand grande grands grandes petit petite petits petites nouveau nouvelle nouveaux nouvelles bon bonne bons bonnes meilleur
    meilleure haut haute bas basse long longue prendre pris prend mettre mis met donner donne donnent donnant trouver trouve
    trouvent rester reste venir vient devient devenir utiliser utilise utilisent utilisation effectuer effectue effectuee
    realiser
    realise realisee obtenir obtient recevoir recoit besoin role facteur facteurs principaux raison raisons effet effets but
    objet
    aider aide comprendre comprend comporte considerer considere consideree appele appelee nomme nommee situe situee correspond
    correspondent represente represente constitue constituent consiste concerne concernent actuellement egal egale ensemble
    an ans
    annee annees jour jours oui simple simplement directement lie liee lies recommande conseille convient
    prennent prenait prirent prises mise mises mettent mettait tenir tient tiennent tenait tenu tenue garder garde gardent
    gardee
    laisser laisse laissent laissait rendre rend rendent rendu rendue servir sert servent porter porte portent passer passe
    passent passait suivre suit suivent suivi voir voit voient vu vue vus entrer entre entrent sortir sort sortent arriver
    arrive
    arrivent partir part partent parti choisir choisit choisissent choisi choix tourner tourne jouer joue jouent compter compte
    comptent commencer commence commencent commencer continuer continue finir finit terminer termine demander demande demandent
    appartenir appartient exister existe existent revenir revient reviennent ouvrir ouvre ouvert ouverte fermer ferme
    limiter limite
    limites limitee accorder accorde accordent admettre admet admis exiger exige exigent exigee exigees imposer impose imposent
    autoriser autorise autorisee interdire interdit interdite appliquer applique appliquent application viser vise visent
    visee visees
    ecrire ecrit ecrite reunir reunit reunis achever acheve acheve prevu prevue prevus prevues fixer fixe fixee fixees
    debut fin milieu cours suite sujet sens mot mots nom noms monde vie question situation situations condition conditions
    regle regles
    chiffre chiffres liste niveau titre qualite sorte genre point points idee idees solution solutions probleme problemes
    difference differences consequence consequences resultat resultats avantage avantages importance origine etat place
    places cadre
    rapport egard face faveur mesure totalite majorite minorite plupart taille montant somme valeur date dates periode duree
    delai
    etape etapes revanche vigueur attention note formule texte disposition dispositions modalite modalites
    jeune jeunes vieux vieille ancien ancienne anciens anciennes recent recente recents libre libres seul seule seuls seules
    propre propres large larges clair claire net nette plein pleine entier entiere complet complete total totale exact exacte
    facile difficile rapide rapidement lent progressivement largement fortement legerement totalement completement entierement
    obligatoire obligatoirement automatique automatiquement concretement effectivement finalement initialement
    trois quatre cinq six sept huit neuf dix onze douze troisieme quatrieme cinquieme moitie tiers quart
    gens homme hommes femme femmes enfant enfants pays ville region cote cotes main yeux
"""
LIGHT_WORDS = frozenset(_LIGHT.split())
