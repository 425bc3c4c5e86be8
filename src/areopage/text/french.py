"""The French words that the text analysis knows: data, read by `lexicon` and `numbers`."""

ONES = "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit dix-neuf"
TENS = "dix vingt trente quarante cinquante soixante soixante quatre-vingt quatre-vingt"
# A month's name, then its abbreviations.
MONTHS = "janvier/janv février/févr mars avril/avr mai juin juillet/juil août septembre/sept octobre/oct novembre/nov décembre"
UNITS = {
    "day": "jour j", "week": "semaine sem", "month": "mois", "quarter": "trimestre", "year": "année an", "minute": "min minute",
    "hour": "heure h",
}  # fmt: skip
# Adjectives for a number of months.
PERIODS = {
    2: "bimestriel", 3: "trimestriel", 6: "semestriel", 12: "annuel", 24: "biennal bisannuel", 36: "triennal", 48: "quadriennal",
    60: "quinquennal", 120: "décennal",
}  # fmt: skip
NEGATIONS = "pas rien aucun aucune nul nulle jamais sans ni"
# Abbreviations that never end a sentence; titles do not either, with a capital (Prof. Martin, but: un bon prof. Il ...).
UNENDING = "m mm mme mmes mlle mlles cf vs env c.-à-d c.à.d av apr"
TITLES = "dr drs pr prof me mgr st ste bd"
# No end where a number follows; then those that end a sentence only where a capital follows.
BEFORE_NUMBERS = "no nos n° p pp fig vol chap ch art al tél ann max min"
OPEN_ENDED = "etc ex p.ex j.-c al max min éd coll tél chap art fig vol"
# Words that tell the language; those that French and English write alike (on, a, as, or, but, plus, me, son, car) tell nothing.
FUNCTION_WORDS = """
le la les un une de des du au aux et ou où est sont était étaient être été ont avait avez avons que qui quoi quel quelle quels
quelles dont ce cet cette ces celui celle dans pour par avec sans sous sur chez entre vers depuis ne pas n'est il elle ils elles
nous vous je tu mon ma mes ton ta tes ses notre nos votre vos leur leurs lui en y se qu mais donc ni si comme très aussi ainsi
alors cela ça ceci puis peut peuvent peux doit doivent faut fait faire selon pourquoi comment combien quand aucun aucune tout
toute tous toutes même lors lorsque jour jours mois ans oui non voici
"""
# Articles, pronouns, auxiliaries and the like, and what an answer says about texts instead of their subject; without accents.
EMPTY_WORDS = """
le la les un une des du de au aux ou mais si donc or ni car en dans sur sous pour par avec sans est sont etait etaient etre ete
ont avait avoir ayant il elle ils elles ce cet cette ces se son sa ses leur leurs on nous vous je tu te moi toi qui que qu quoi
dont ne pas plus moins tres aussi selon ainsi alors comme entre vers chez lui eux notre nos votre vos mon ma mes ton ta tes tout
toute tous toutes autre autres meme memes cela ceci ca jusqu lorsque lorsqu quand puis puisque peut peuvent pouvez doit doivent
devez fait font faire soit sera seront serait lequel laquelle lesquels lesquelles auquel duquel celui celle ceux celles afin lors
parmi contre pendant depuis malgre toutefois cependant neanmoins egalement notamment voici voila deux plusieurs chaque quel quelle
quels quelles ici bien encore deja sinon extrait extraits texte textes informations exemple exemples contexte reponse reponses
question questions passages indique indiquent indiquee mentionne mentionnee mentionnes precise precisent precisement specifique
specifiques fournit fournis fournies fourni suivant suivante suivants suivantes premier premiere premierement deuxieme enfin
resume conclusion principal principale clairement explicitement stipule prevoit prevoient dispose disposent enonce concernant
relatif relative relatifs relatives document documents source sources d l s t m n c j apres avant dessus dessous dedans dehors
devant derriere travers outre hors sauf excepte hormis envers pres loin quant tandis rien peu beaucoup trop assez presque environ
aucun aucune nul nulle chacun chacune quelque quelques quelconque tel telle tels telles autant tant davantage mieux pis surtout
plutot seulement uniquement toujours jamais parfois quelquefois tantot aussitot bientot tot tard maintenant aujourd hui hier
demain auparavant desormais dorenavant ensuite ailleurs partout abord cote part fois non oui certes pourtant sitot parce quoique
fort suis es sommes etes etais etions etiez fus fut fumes furent etant soient soyez serai seras serons serez seraient ai as avons
avez avais avions aviez avaient eus eut eurent eu aie ait aient aurai aura aurons auront aurait auraient vais va vont allait
allaient ira iront irait aller alle dois devons devait devaient devra devront devrait devraient due peux pouvons pouvait pouvaient
pu pourra pourront pourrait pourraient puisse puissent pouvant pouvoir veux veut voulons veulent voulait voulaient voulu voudrait
vouloir faut fallait faudra faudrait falloir faisait faisaient fit firent fera feront ferait faisant vaut valent vaudra semble
semblent semblait disent dit dite dits disait disant ajoute ajoutent ajouter rappelle rappellent rappelons signale signalent
evoque evoquent figure figurent cite citent citer parle parlent note noter noterez savoir retenir resumer lit lisent dernier
derniere derniers dernieres present presente presents presentes ci
"""
# Words that state little alone: an answer may use them without saying much that its documents do not; without accents.
LIGHT_WORDS = """
important importante importants importantes importance divers diverses differents differentes different certain certaine certains
certaines possible possibles possibilite necessaire necessaires general generale generalement souvent habituellement permet
permettent permettre permettant assurer assure garantir depend dependre dependent cas cadre facon facons maniere manieres fois
temps moment ensuite lieu partie parties chose choses personne personnes type types sorte forme formes nombre grand grande grands
grandes petit petite petits petites nouveau nouvelle nouveaux nouvelles bon bonne bons bonnes meilleur meilleure haut haute bas
basse long longue prendre pris prend mettre mis met donner donne donnent donnant trouver trouve trouvent rester reste venir vient
devient devenir utiliser utilise utilisent utilisation effectuer effectue effectuee realiser realise realisee obtenir obtient
recevoir recoit besoin role facteur facteurs principaux raison raisons effet effets but objet aider aide comprendre comprend
comporte considerer considere consideree appele appelee nomme nommee situe situee correspond correspondent represente constitue
constituent consiste concerne concernent actuellement egal egale ensemble an ans annee annees jour jours oui simple simplement
directement lie liee lies recommande conseille convient prennent prenait prirent prises mise mises mettent mettait tenir tient
tiennent tenait tenu tenue garder garde gardent gardee laisser laisse laissent laissait rendre rend rendent rendu rendue servir
sert servent porter porte portent passer passe passent passait suivre suit suivent suivi voir voit voient vu vue vus entrer entre
entrent sortir sort sortent arriver arrive arrivent partir part partent parti choisir choisit choisissent choisi choix tourner
tourne jouer joue jouent compter compte comptent commencer commence commencent continuer continue finir finit terminer termine
demander demande demandent appartenir appartient exister existe existent revenir revient reviennent ouvrir ouvre ouvert ouverte
fermer ferme limiter limite limites limitee accorder accorde accordent admettre admet admis exiger exige exigent exigee exigees
imposer impose imposent autoriser autorise autorisee interdire interdit interdite appliquer applique appliquent application viser
vise visent visee visees ecrire ecrit ecrite reunir reunit reunis achever acheve prevu prevue prevus prevues fixer fixe fixee
fixees debut fin milieu cours suite sujet sens mot mots nom noms monde vie question situation situations condition conditions
regle regles chiffre chiffres liste niveau titre qualite genre point points idee idees solution solutions probleme problemes
difference differences consequence consequences resultat resultats avantage avantages origine etat place places rapport egard face
faveur mesure totalite majorite minorite plupart taille montant somme valeur date dates periode duree delai etape etapes revanche
vigueur attention note formule texte disposition dispositions modalite modalites jeune jeunes vieux vieille ancien ancienne
anciens anciennes recent recente recents libre libres seul seule seuls seules propre propres large larges clair claire net nette
plein pleine entier entiere complet complete total totale exact exacte facile difficile rapide rapidement lent progressivement
largement fortement legerement totalement completement entierement obligatoire obligatoirement automatique automatiquement
concretement effectivement finalement initialement trois quatre cinq six sept huit neuf dix onze douze troisieme quatrieme
cinquieme moitie tiers quart gens homme hommes femme femmes enfant enfants pays ville region cote cotes main yeux
"""
# Common first names without accents; not those that are also everyday words or places (Rose, Grace, May, Will, Victoria, Paris).
FIRST_NAMES = """
adele adeline adrien agathe agnes aicha alain albane albert alexandra alexandre alexia alexis alice aline alix alphonse amandine
amelie anais andre andree angele angelique anne annick annie anouk antoine antoinette arlette armand armelle arnaud arthur astrid
aude audrey augustin aurelia aurelie aurelien aurore axel axelle aziz baptiste barbara bastien baudouin beatrice benedicte
benjamin benoit berangere bernadette bernard berthe bertrand blandine boris brahim brice brigitte bruno camille capucine carine
carole caroline catherine cecile cedric celeste celia celine chantal charlene charles chloe christelle christian christiane
christine christophe claire clara clarisse claude claudine clemence clement clementine clotilde colette constance coralie corentin
corinne cyprien cyril cyrille damien daniel daniele danielle danny david deborah delphine denis denise diane didier dominique
dorothee edgar edith edmond edouard eliane eliott elisabeth elise elodie eloise elsa emeline emile emilie emilien emma emmanuel
emmanuelle eric erwan estelle esther etienne eugene eugenie eva evelyne fabien fabienne fabrice fanny farid fatiha fatima fatou
felix ferdinand fernand flavie flavien florian francine francis franck francois francoise frederic frederique gabriel gabrielle
gaelle gaetan gaspard gautier genevieve geoffrey georges gerald geraldine gerard germaine ghislaine gilbert gilles ginette gisele
gregoire gregory guillaume gustave guy hamid hassan helene henri henriette herve hortense hubert hugo hugues huguette ibrahim ines
irene isabelle isaure ismael jacqueline jacques jean jeanne jeannine jeremie jeremy jerome joanna jocelyne joel joelle johan
johanna jonathan josephine josette josiane julie julien julienne juliette justine karim karima karine kevin khadija laetitia
lambert laura laure laurence laurent laurie lea leila lena leon leonie leopold lila lilian liliane lina lionel lisa lise loic lola
lorraine lou louane louis louise luc lucas lucie lucien lucienne lucile ludivine ludovic lydia lydie madeleine maelle magali
malika manon marc marcel marceline marcelle margaux margot marguerite maria marianne marie marina marine marion marius marjorie
martial martin martine maryse mateo mathias mathieu mathilde mathis matthieu maud maurice maxence maxime maximilien melanie
melissa mehdi michel michele micheline michelle mireille mohamed mohammed monique morgane mourad moussa muriel myriam nadege nadia
nadine natacha nathalie nathan nicolas nicole noemie nora nour odette odile olivia olivier ophelie oscar pascal pascale patrice
patricia patrick paul paule paulette pauline perrine philippe philomene pierre pierrick quentin rachel rachid raoul raphael
raphaelle raymond raymonde rebecca regine regis remi remy renaud rene renee richard robert roger roland romain romane romuald
rosalie roxane sabine sabrina sacha said salim salome samir samira samuel sandra sandrine sarah sebastien serge severine simone
solange solene sonia sophie stanislas stephane stephanie suzanne sylvain sylvette sylviane sylvie tanguy tatiana teddy theo
theodore theophile therese thibault thibaut thierry thomas timothee titouan tristan valentin valentine valerie vanessa veronique
victor vincent violaine virginie vivien viviane wilfried william xavier yacine yanis yann yannick yasmina yasmine youssef yves
yvette yvon yvonne zoe
"""
