"""The English words that the text analysis knows: data, read by `lexicon` and `numbers`."""

ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen"
    " nineteen"
)
TENS = "ten twenty thirty forty fifty sixty seventy eighty ninety"
# A month's name, then its abbreviations.
MONTHS = (
    "january/jan february/feb march/mar april/apr may june/jun july/jul august/aug september/sep october/oct november/nov"
    " december/dec"
)
UNITS = {
    "day": "day", "week": "week", "month": "month", "quarter": "quarter", "year": "year", "minute": "min minute",
    "hour": "hour h",
}  # fmt: skip
# Adjectives for a number of months.
PERIODS = {
    3: "quarterly", 6: "half-yearly", 12: "annual", 24: "biennial", 36: "triennial", 48: "quadrennial", 60: "quinquennial",
    120: "decennial",
}  # fmt: skip
NEGATIONS = "not no never none without cannot unable neither nor"
# Abbreviations that never end a sentence; titles do not either, with a capital (Prof. Martin).
UNENDING = "mr mrs ms vs cf viz e.g i.e approx"
TITLES = "dr drs prof st rev hon gen col capt lt sgt sen rep gov mt"
# No end where a number follows; then those that end a sentence only where a capital follows.
BEFORE_NUMBERS = "no nos p pp fig figs vol ch sec art eq ca max min"
OPEN_ENDED = "etc inc ltd co corp jr sr a.m p.m al est dept ave blvd max min"
# Words that tell the language; those that French and English write alike (on, a, as, or, but, plus, me, son, car) tell nothing.
FUNCTION_WORDS = """
the an and is are was were be been being of to in at by for from with without about into onto over under between that this these
those there which who whom whose what when where why how not no nor if then than so it its he she they them we you your our their
his her my i do does did done has have had having will would can could may might must shall should any each every some such only
also yes because while during through per more most other
"""
# Articles, pronouns, auxiliaries and the like, and what an answer says about texts instead of their subject; without accents.
EMPTY_WORDS = """
a an the and or but if then else of to in on at for from by with about as into onto over after before between under above against
along around is are was were be been being am do does did done doing have has had having will would can could may might must shall
should not no nor so than too very it its itself this that these those there here he she they them him his her hers their theirs
themselves we us our ours you your yours yourself me my mine who whom whose which what when where why how all any both each every
either neither few more most less least other others another some such own same only just also however additionally furthermore
moreover therefore thus hence overall while whereas because since until unless upon within without through throughout during per
via among across beyond regardless despite out up down off again ever yet still even much many several include includes included
including based provided provide provides providing given according mentioned mention mentions mentioning one two use used using
uses make makes made making get gets getting got et al etc eg ie ve ll re don doesn isn aren won didn wasn couldn wouldn cannot
example examples instance passage passages text texts information context document documents source sources excerpt excerpts
article articles answer answers answering answered question questions asked statement statements note notes noted noting summary
summarize summarized summarise summarised conclude conclusion sure specific specifically explicit explicitly following follows
follow first second third firstly secondly lastly finally brief briefly main unable clear clearly original hand suggest suggests
suggested suggesting refer refers referred state states stated stating describe describes described explain explains explained
discuss discusses discussed highlight highlights indicate indicates indicated appear appears seem seems say says said tell tells
define defined definition regarding concerning related relevant detail details detailed particular particularly instructions step
steps worth please let know hope feel
"""
# Words that state little alone: an answer may use them without saying much that its documents do not; without accents.
LIGHT_WORDS = """
important importantly various variety ensure ensures ensuring additional additionally further depend depending depends necessary
necessarily need needs needed process different like likely vary varies varying time times once well due help helps helping
involve involves involved place possible possibly possibility check consider considered certain certainly determine determined
determining potential potentially way ways next often enter amount appropriate significant significantly allow allows allowing
individual individuals understand understanding understood choose role factor factors see seen multiple general generally usually
typically commonly option options associate associated directly come comes essential especially one ones rather effective known
primarily lead leads leading led available take takes taking took related best better good set proper properly work works working
alone crucial type types kind kinds complete completely receive easy easily key want wants similar similarly impact form forms
terms term able case cases result results resulting cause caused avoid create creates created contribute difficult issue issues
useful numerous large larger small smaller great greater high higher low lower new old part parts thing things people person
someone area areas number numbers order real really simple simply several strong whole actually alternatively although aspect
aspects become becomes begin begins beginning believe bring brings call called change changes common contain contains current
currently day days end ends enough entire exact exactly fact find finds found full give gives giving go goes going happen happens
keep keeps kept last leave level levels long look looks lot mean means meaning method methods move near now occur occurs offer
offers particular perform play point points present previous previously problem problems produce purpose purposes put quickly
reach reason reasons recommend recommended remain remains remember require required requires right seek show shows showing shown
side single size specific start starts started stay suitable support sure system tend tends think together try trying unique
unless unlike whether world year years yes consult
"""
# Common first names without accents; not those that are also everyday words or places (Rose, Grace, May, Will, Victoria, Paris).
FIRST_NAMES = """
aaron abigail adam adrian aidan alan alastair albert alexander alfred alison allan allison amanda amelia amy andrea andrew angela
angus anita ann anna annabel anthony arnold ashley audrey barry beatrix becky ben benedict bernice bethany betty beverly brandon
brenda brendan brian bridget bruce bryan byron calvin cameron carl carla carol caroline cassandra catherine cathy cecilia cedric
charlie cheryl chris christina christine christopher cindy clifford clive colin connor craig cynthia daisy darren dave deborah
debra declan denise dennis derek diana diane donald donna doris dorothy douglas duncan dylan edmund edward edwin eileen eleanor
elijah elizabeth ellen elliot emily eric erin ernest ethan eugene evelyn fiona frances francis fred frederick gareth gary gemma
geoffrey george gerald gillian glenn gloria gordon graham greg gregory gwendolyn hannah harold harriet harry harvey hazel heather
helen henry herbert howard hugh ian imogen irene isaac isabella isla jack jacob jake james jamie jane janet janice jared jasmine
jason jeffrey jenna jennifer jeremy jessica jill jim joan joanne joe john johnny jonathan jordan joseph josh joshua joyce judith
judy julia julian julie justin karen kate katherine kathleen kathryn katie keith kelly kenneth kevin kieran kimberly kirsty kyle
larry laura lauren lawrence leah leonard leslie lewis liam lillian linda lisa lloyd logan lois lorna louise lucy luke lynn mabel
madison malcolm marcus margaret maria marilyn mark martha martin mary matilda matt matthew maureen megan melanie melissa michael
michelle mike mildred molly monica morgan nancy naomi natalie natasha nathan nathaniel neil nicholas nicola nigel noah nora norman
oliver olivia oscar owen pamela patricia patrick paul paula pauline peggy penelope peter philip phillip phoebe phyllis priya
rachel ralph randall raymond rebecca rhys richard robert robin rodney roger ronald rory rosemary ross roy rupert russell ruth ryan
sally sam samantha samuel sandra sara sarah scarlett scott sean shannon sharon shaun sheila shirley simon sophia sophie spencer
stacey stanley stephanie stephen steve steven stuart susan suzanne sylvia tamara teresa terry theodore theresa thomas tiffany tim
timothy tina toby todd tom tony tracey tracy trevor tyler valerie vera vernon vincent virginia vivian walter wayne wendy wesley
william winston yvonne zachary zoe
"""
