"""First names that are common in French and in English, without accents and in lower case.

Left out are names that are also everyday words or places where texts capitalise them (Rose, Grace, May, Will, Victoria, Paris).
"""

_FRENCH = """
adele adeline adrien agathe agnes aicha alain albane albert alexandra alexandre alexia alexis alice aline alix alphonse
amandine amelie anais andre andree angele angelique anne annick annie anouk antoine antoinette arlette armand armelle arnaud
arthur astrid aude audrey augustin aurelia aurelie aurelien aurore axel axelle aziz baptiste barbara bastien baudouin beatrice
benedicte benjamin benoit berangere bernadette bernard berthe bertrand blandine boris brahim brice brigitte bruno camille
capucine carine carole caroline catherine cecile cedric celeste celia celine chantal charlene charles chloe christelle
christian christiane christine christophe claire clara clarisse claude claudine clemence clement clementine clotilde colette
constance coralie corentin corinne cyprien cyril cyrille damien daniel daniele danielle danny david deborah delphine denis
denise diane didier dominique dorothee edgar edith edmond edouard eliane eliott elisabeth elise elodie eloise elsa emeline
emile emilie emilien emma emmanuel emmanuelle eric erwan estelle esther etienne eugene eugenie eva evelyne fabien fabienne
fabrice fanny farid fatiha fatima fatou felix ferdinand fernand flavie flavien florian francine francis franck francois
francoise frederic frederique gabriel gabrielle gaelle gaetan gaspard gautier genevieve geoffrey georges gerald geraldine
gerard germaine ghislaine gilbert gilles ginette gisele gregoire gregory guillaume gustave guy hamid hassan helene henri
henriette herve hortense hubert hugo hugues huguette ibrahim ines irene isabelle isaure ismael jacqueline jacques jean jeanne
jeannine jeremie jeremy jerome joanna jocelyne joel joelle johan johanna jonathan josephine josette josiane julie julien
julienne juliette justine karim karima karine kevin khadija laetitia lambert laura laure laurence laurent laurie lea leila
lena leon leonie leopold lila lilian liliane lina lionel lisa lise loic lola lorraine lou louane louis louise luc lucas lucie
lucien lucienne lucile ludivine ludovic lydia lydie madeleine maelle magali malika manon marc marcel marceline marcelle
margaux margot marguerite maria marianne marie marina marine marion marius marjorie martial martin martine maryse mateo
mathias mathieu mathilde mathis matthieu maud maurice maxence maxime maximilien melanie melissa mehdi michel michele micheline
michelle mireille mohamed mohammed monique morgane mourad moussa muriel myriam nadege nadia nadine natacha nathalie nathan
nicolas nicole noemie nora nour odette odile olivia olivier ophelie oscar pascal pascale patrice patricia patrick paul paule
paulette pauline perrine philippe philomene pierre pierrick quentin rachel rachid raoul raphael raphaelle raymond raymonde
rebecca regine regis remi remy renaud rene renee richard robert roger roland romain romane romuald rosalie roxane sabine
sabrina sacha said salim salome samir samira samuel sandra sandrine sarah sebastien serge severine simone solange solene sonia
sophie stanislas stephane stephanie suzanne sylvain sylvette sylviane sylvie tanguy tatiana teddy theo theodore theophile
therese thibault thibaut thierry thomas timothee titouan tristan valentin valentine valerie vanessa veronique victor vincent
violaine virginie vivien viviane wilfried william xavier yacine yanis yann yannick yasmina yasmine youssef yves yvette yvon
yvonne zoe
"""

_ENGLISH = """
aaron abigail adam adrian aidan alan alastair albert alexander alfred alison allan allison amanda amelia amy andrea andrew
angela angus anita ann anna annabel anthony arnold ashley audrey barry beatrix becky ben benedict bernice bethany betty
beverly brandon brenda brendan brian bridget bruce bryan byron calvin cameron carl carla carol caroline cassandra catherine
cathy cecilia cedric charlie cheryl chris christina christine christopher cindy clifford clive colin connor craig cynthia
daisy darren dave deborah debra declan denise dennis derek diana diane donald donna doris dorothy douglas duncan dylan edmund
edward edwin eileen eleanor elijah elizabeth ellen elliot emily eric erin ernest ethan eugene evelyn fiona frances francis
fred frederick gareth gary gemma geoffrey george gerald gillian glenn gloria gordon graham greg gregory gwendolyn hannah
harold harriet harry harvey hazel heather helen henry herbert howard hugh ian imogen irene isaac isabella isla jack jacob jake
james jamie jane janet janice jared jasmine jason jeffrey jenna jennifer jeremy jessica jill jim joan joanne joe john johnny
jonathan jordan joseph josh joshua joyce judith judy julia julian julie justin karen kate katherine kathleen kathryn katie
keith kelly kenneth kevin kieran kimberly kirsty kyle larry laura lauren lawrence leah leonard leslie lewis liam lillian linda
lisa lloyd logan lois lorna louise lucy luke lynn mabel madison malcolm marcus margaret maria marilyn mark martha martin mary
matilda matt matthew maureen megan melanie melissa michael michelle mike mildred molly monica morgan nancy naomi natalie
natasha nathan nathaniel neil nicholas nicola nigel noah nora norman oliver olivia oscar owen pamela patricia patrick paul
paula pauline peggy penelope peter philip phillip phoebe phyllis priya rachel ralph randall raymond rebecca rhys richard
robert robin rodney roger ronald rory rosemary ross roy rupert russell ruth ryan sally sam samantha samuel sandra sara sarah
scarlett scott sean shannon sharon shaun sheila shirley simon sophia sophie spencer stacey stanley stephanie stephen steve
steven stuart susan suzanne sylvia tamara teresa terry theodore theresa thomas tiffany tim timothy tina toby todd tom tony
tracey tracy trevor tyler valerie vera vernon vincent virginia vivian walter wayne wendy wesley william winston yvonne zachary
zoe
"""

FIRST_NAMES = frozenset((_FRENCH + _ENGLISH).split())
