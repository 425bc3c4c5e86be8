"""Phrases that say a number, in both directions: the right value is delivered, a wrong one held, ordinary prose left alone."""

import pytest

from areopage.app.gate_rules import load_gate
from areopage.cases.records import Document

GATE = load_gate()
Case = tuple[str, str, list[str], list[str]]
"""A kind, a document, answers that are to be delivered, answers that are to be held."""


def verdict(response: str, document: str) -> str:
    english = any(f" {word} " in f" {document.lower()}" for word in ("the", "of", "is", "for"))
    prompt = "What does the text say?" if english else "Que dit le texte ?"
    return GATE.decide(prompt, response, [Document(id="doc1", text=document)]).verdict


CASES: list[Case] = [
    (
        "fraction",
        "Le vendeur prend en charge un tiers des frais.",
        [
            "Le vendeur prend en charge 1/3 des frais.",
            "Le vendeur prend en charge le tiers des frais.",
            "Le vendeur prend en charge un tiers des frais.",
            "Le vendeur prend en charge environ 33 % des frais.",
        ],
        [
            "Le vendeur prend en charge deux tiers des frais.",
            "Le vendeur prend en charge 2/3 des frais.",
            "Le vendeur prend en charge la moitié des frais.",
            "Le vendeur prend en charge un quart des frais.",
        ],
    ),
    (
        "fraction",
        "Le vendeur prend en charge 1/2 des frais.",
        ["Le vendeur prend en charge la moitié des frais.", "Le vendeur prend en charge 50 % des frais."],
        ["Le vendeur prend en charge un tiers des frais.", "Le vendeur prend en charge les deux tiers des frais."],
    ),
    (
        "fraction",
        "Le vendeur prend en charge 1/3 des frais.",
        ["Le vendeur prend en charge le tiers des frais."],
        ["Le vendeur prend en charge les deux tiers des frais.", "Le vendeur prend en charge la moitié des frais."],
    ),
    (
        "fraction",
        "Le vendeur prend en charge la moitié des frais.",
        ["Le vendeur prend en charge 50 % des frais.", "Le vendeur prend en charge 1/2 des frais."],
        [
            "Le vendeur prend en charge les trois quarts des frais.",
            "Le vendeur prend en charge un quart des frais.",
            "Le vendeur prend en charge 75 % des frais.",
        ],
    ),
    (
        "fraction",
        "The seller bears a third of the costs.",
        [
            "The seller bears one third of the costs.",
            "The seller bears 1/3 of the costs.",
            "The seller bears one-third of the costs.",
            "The seller bears about 33% of the costs.",
        ],
        [
            "The seller bears half of the costs.",
            "The seller bears two thirds of the costs.",
            "The seller bears a quarter of the costs.",
        ],
    ),
    (
        "fraction",
        "The seller bears half the costs.",
        ["The seller bears 50% of the costs.", "The seller bears one half of the costs."],
        ["The seller bears a third of the costs.", "The seller bears three quarters of the costs."],
    ),
    (
        "fraction",
        "The seller bears 25% of the costs.",
        ["The seller bears a quarter of the costs.", "The seller bears one fourth of the costs."],
        ["The seller bears half of the costs.", "The seller bears a third of the costs."],
    ),
    (
        "fraction",
        "L'assemblée statue à la majorité des deux tiers.",
        ["La majorité des deux tiers est requise.", "La majorité des 2/3 est requise."],
        ["La majorité des trois quarts est requise.", "La majorité des trois cinquièmes est requise."],
    ),
    (
        "fraction",
        "Le conjoint reçoit les trois huitièmes de la succession.",
        ["Le conjoint reçoit 3/8 de la succession."],
        ["Le conjoint reçoit les cinq huitièmes de la succession.", "Le conjoint reçoit un huitième de la succession."],
    ),
    ("fraction", "Les frais sont de 75 %.", ["Les frais sont des trois quarts."], ["Les frais sont de la moitié."]),
    (
        "fraction",
        "Le salarié verse un dixième de la prime.",
        ["Le salarié verse 10 % de la prime.", "Le salarié verse 1/10 de la prime."],
        ["Le salarié verse un cinquième de la prime."],
    ),
    (
        "third party",
        "Un tiers acquéreur peut demander la mainlevée. L'acte est opposable à des tiers.",
        [
            "Un tiers acquéreur peut demander la mainlevée.",
            "L'acte est opposable à un tiers.",
            "L'acte est opposable aux tiers.",
            "Le tiers acquéreur demande la mainlevée.",
        ],
        [],
    ),
    (
        "third party",
        "L'acquéreur étranger au contrat peut demander la mainlevée de l'inscription.",
        ["Un tiers peut demander la mainlevée de l'inscription."],
        [],
    ),
    (
        "third party",
        "Toute personne étrangère à l'acte peut en demander copie.",
        ["Un tiers à l'acte peut en demander copie."],
        [],
    ),
    (
        "third party",
        "Personal data is not shared with any other company.",
        ["Personal data is not shared with a third party.", "Personal data is not shared with third parties."],
        [],
    ),
    (
        "third party",
        "The company finished behind two rivals in the third quarter of the year.",
        ["The company finished behind two rivals in the third quarter."],
        [],
    ),
    (
        "prose",
        "Le titre de la section est : clauses finales. Le directeur signe la convention au nom de la société.",
        ["Le directeur signe la convention au nom de la société."],
        [],
    ),
    (
        "prose",
        "The team met in the French Quarter and played the second half.",
        ["The team met in the French Quarter and played the second half.", "The team played the second half in the Quarter."],
        [],
    ),
    (
        "prose",
        "Le quart de travail commence à 6 heures.",
        ["Le quart de travail commence à 6 heures.", "Le quart commence à 6 heures."],
        [],
    ),
    (
        "prose",
        "Le médicament se prend matin, midi et soir.",
        ["Le médicament se prend trois fois par jour.", "Le médicament se prend le matin, à midi et le soir."],
        [],
    ),
    (
        "prose",
        "Le cours a lieu trois fois par semaine.",
        ["Le cours a lieu trois fois par semaine.", "Le cours a lieu 3 fois par semaine."],
        ["Le cours a lieu quatre fois par semaine.", "Le cours a lieu deux fois par semaine."],
    ),
    (
        "quarterhour",
        "La pause dure 30 minutes.",
        ["La pause dure une demi-heure.", "La pause dure 0,5 heure.", "La pause dure une demi heure."],
        ["La pause dure un quart d'heure.", "La pause dure trois quarts d'heure.", "La pause dure un quart d’heure."],
    ),
    (
        "quarterhour",
        "The break is 30 minutes.",
        ["The break is half an hour.", "The break is a half-hour."],
        ["The break is a quarter of an hour.", "The break is three quarters of an hour."],
    ),
    (
        "quarterhour",
        "La pause dure une demi-heure.",
        ["La pause dure 30 minutes.", "La pause dure trente minutes."],
        ["La pause dure 15 minutes.", "La pause dure un quart d'heure."],
    ),
    (
        "quarterhour",
        "The break is half an hour.",
        ["The break is 30 minutes.", "The break is thirty minutes."],
        ["The break is 15 minutes."],
    ),
    (
        "yearmonth",
        "Le bail dure 2 ans et 3 mois.",
        ["Le bail dure 27 mois.", "Le bail dure deux ans et trois mois.", "Le bail dure 2 ans et 3 mois."],
        [
            "Le bail dure 24 mois.",
            "Le bail dure 3 mois.",
            "Le bail dure 2 ans.",
            "Le bail dure 36 mois.",
            "Le bail dure 28 mois.",
        ],
    ),
    (
        "yearmonth",
        "Le bail dure 27 mois.",
        ["Le bail dure 2 ans et 3 mois.", "Le bail dure deux ans et trois mois."],
        ["Le bail dure 2 ans et 4 mois.", "Le bail dure 3 ans et 3 mois."],
    ),
    (
        "yearmonth",
        "The lease is for 2 years and 3 months.",
        ["The lease is for 27 months.", "The lease is for two years and three months."],
        ["The lease is for 24 months.", "The lease is for 2 years.", "The lease is for 3 months."],
    ),
    (
        "yearmonth",
        "La peine est de 2 ans et 3 mois de prison ferme.",
        ["La peine est de 27 mois de prison ferme."],
        ["La peine est de 24 mois de prison ferme."],
    ),
    (
        "yearmonth",
        "Le délai est d'un an et six mois.",
        ["Le délai est de 18 mois."],
        ["Le délai est de 12 mois.", "Le délai est de six mois."],
    ),
    (
        "yearmonth",
        "Le délai est de 1 heure et 15 minutes.",
        ["Le délai est de 75 minutes.", "Le délai est de 1 h 15."],
        ["Le délai est de 60 minutes.", "Le délai est de 1 heure."],
    ),
    ("yearmonth", "Le délai est de 2 semaines et 3 jours.", ["Le délai est de 17 jours."], ["Le délai est de 14 jours."]),
    (
        "yearmonth",
        "Le délai est de 2 sem. 3 j.",
        ["Le délai est de 17 jours.", "Le délai est de 2 semaines et 3 jours."],
        ["Le délai est de 18 jours.", "Le délai est de 3 semaines et 2 jours.", "Le délai est de 14 jours."],
    ),
    ("yearmonth", "Le délai est de 15 j.", ["Le délai est de 15 jours."], ["Le délai est de 16 jours."]),
    ("yearmonth", "Le délai est de 15 jours.", ["Le délai est de 15 j.", "Le délai est de 15j."], ["Le délai est de 16 j."]),
    (
        "period",
        "Le rapport est remis chaque trimestre.",
        [
            "Le rapport est remis chaque trimestre.",
            "Le rapport est remis tous les trois mois.",
            "Le rapport est remis tous les 3 mois.",
        ],
        [
            "Le rapport est remis chaque semestre.",
            "Le rapport est remis tous les 6 mois.",
            "Le rapport est remis tous les six mois.",
        ],
    ),
    (
        "period",
        "Le préavis est d'un trimestre.",
        ["Le préavis est d'un trimestre.", "Le préavis est de 3 mois.", "Le préavis est de trois mois."],
        ["Le préavis est d'un semestre.", "Le préavis est d'une quinzaine.", "Le préavis est de 6 mois."],
    ),
    (
        "period",
        "Le préavis est d'un semestre.",
        ["Le préavis est de 6 mois.", "Le préavis est de six mois."],
        ["Le préavis est d'un trimestre.", "Le préavis est de 3 mois."],
    ),
    (
        "period",
        "Le préavis est de six mois.",
        ["Le préavis est d'un semestre."],
        ["Le préavis est d'un trimestre.", "Le préavis est d'une quinzaine."],
    ),
    ("period", "Le préavis est de 3 mois.", ["Le préavis est d'un trimestre."], ["Le préavis est d'un semestre."]),
    ("period", "The notice is six months.", ["The notice is 6 months."], ["The notice is a fortnight."]),
    ("period", "The notice is two weeks.", ["The notice is a fortnight.", "The notice is 14 days."], ["The notice is 3 weeks."]),
    (
        "period",
        "The notice is a fortnight.",
        ["The notice is two weeks.", "The notice is 14 days."],
        ["The notice is 10 days.", "The notice is three weeks."],
    ),
    (
        "approx",
        "Le délai est de 15 jours.",
        ["Le délai est d'une quinzaine de jours.", "Le délai est de quinze jours.", "Le délai est d'une quinzaine."],
        [
            "Le délai est d'une vingtaine de jours.",
            "Le délai est d'une dizaine de jours.",
            "Le délai est d'une trentaine de jours.",
        ],
    ),
    (
        "approx",
        "Le délai est d'une quinzaine de jours.",
        ["Le délai est d'environ 15 jours.", "Le délai est d'une quinzaine de jours.", "Le délai est de 15 jours."],
        ["Le délai est de 20 jours.", "Le délai est d'une vingtaine de jours."],
    ),
    (
        "approx",
        "La réunion compte 21 participants.",
        ["La réunion compte une vingtaine de participants."],
        ["La réunion compte une trentaine de participants.", "La réunion compte une centaine de participants."],
    ),
    (
        "approx",
        "La réunion compte une vingtaine de participants.",
        ["La réunion compte environ 20 participants.", "La réunion compte une vingtaine de participants."],
        ["La réunion compte environ 30 participants.", "La réunion compte une trentaine de participants."],
    ),
    (
        "approx",
        "La boîte contient 12 œufs.",
        ["La boîte contient une douzaine d'œufs.", "La boîte contient douze œufs."],
        ["La boîte contient une vingtaine d'œufs.", "La boîte contient deux douzaines d'œufs."],
    ),
    (
        "approx",
        "The box holds 12 eggs.",
        ["The box holds a dozen eggs.", "The box holds twelve eggs."],
        ["The box holds two dozen eggs."],
    ),
    ("approx", "The box holds a dozen eggs.", ["The box holds 12 eggs."], ["The box holds 24 eggs."]),
    (
        "approx",
        "Le site reçoit 4 300 visiteurs.",
        ["Le site reçoit des milliers de visiteurs.", "Le site reçoit plus de 4 000 visiteurs."],
        [],
    ),
    (
        "approx",
        "Le site reçoit des milliers de visiteurs.",
        ["Le site reçoit des milliers de visiteurs."],
        ["Le site reçoit 4 000 visiteurs."],
    ),
    (
        "clock",
        "Le magasin ouvre à midi et ferme à minuit.",
        [
            "Le magasin ouvre à midi et ferme à minuit.",
            "Le magasin ouvre à 12 h.",
            "Le magasin ouvre à 12h00.",
            "Le magasin ferme à minuit.",
            "Le magasin ouvre à 12:00.",
        ],
        ["Le magasin ouvre à 11 h.", "Le magasin ferme à 23 h.", "Le magasin ouvre à 14:00."],
    ),
    (
        "clock",
        "Le magasin ouvre à 12h et ferme à 0h.",
        ["Le magasin ouvre à midi.", "Le magasin ouvre à midi et ferme à minuit."],
        [],
    ),
    ("clock", "Le magasin ouvre à 10h et ferme à 18h.", [], ["Le magasin ouvre à midi.", "Le magasin ferme à minuit."]),
    (
        "clock",
        "The shop opens at 10 am and closes at 6 pm.",
        ["The shop opens at 10:00 and closes at 18:00."],
        ["The shop opens at noon.", "The shop closes at midnight."],
    ),
    (
        "clock",
        "The shop opens at noon and closes at midnight.",
        ["The shop opens at 12 pm.", "The shop opens at 12:00.", "The shop opens at noon."],
        ["The shop opens at 11 am.", "The shop opens at 1 pm."],
    ),
    (
        "clock",
        "La hotline est ouverte 24h/24 et 7j/7.",
        [
            "La hotline est ouverte 24 heures sur 24.",
            "La hotline est ouverte 24h/24, 7j/7.",
            "La hotline est ouverte 24 heures sur 24 et 7 jours sur 7.",
            "La hotline est ouverte vingt-quatre heures sur vingt-quatre.",
        ],
        ["La hotline est ouverte 12h/24."],
    ),
    (
        "clock",
        "La hotline est ouverte 24 heures sur 24, 7 jours sur 7.",
        ["La hotline est ouverte 24h/24 et 7j/7.", "La hotline est ouverte 24/7.", "La hotline est ouverte 24h/24."],
        ["La hotline est ouverte 12h/24.", "La hotline est ouverte 24h/24 et 5j/7."],
    ),
    (
        "clock",
        "The hotline is open 24 hours a day, seven days a week.",
        ["The hotline is open 24/7.", "The hotline is open 24 hours a day, 7 days a week."],
        ["The hotline is open 12 hours a day.", "The hotline is open 24/5."],
    ),
    (
        "hours",
        "Ouvert 9h-12h30 / 14h-17h30.",
        [
            "Ouvert de 9 h à 12 h 30 et de 14 h à 17 h 30.",
            "Ouvert de 9h00 à 12h30 puis de 14h00 à 17h30.",
            "Ouvert de 9:00 à 12:30.",
        ],
        [
            "Ouvert de 9 h à 12 h et de 14 h à 17 h.",
            "Ouvert de 9h30 à 12h30.",
            "Ouvert de 14h à 18h30.",
            "Ouvert de 9 h à 13 h 30.",
        ],
    ),
    (
        "hours",
        "Ouvert de 9 h à 12 h 30 et de 14 h à 17 h 30.",
        ["Ouvert 9h-12h30 / 14h-17h30.", "Ouvert 9h–12h30, 14h–17h30."],
        ["Ouvert 9h-12h / 14h-17h.", "Ouvert 9h-12h30 / 13h-17h30."],
    ),
    (
        "hours",
        "Réunion à deux heures et quart.",
        ["Réunion à 2 h 15.", "Réunion à 14h15."],
        ["Réunion à 2 h 30.", "Réunion à deux heures et demie."],
    ),
    (
        "hours",
        "Réunion à 9 h 45.",
        ["Réunion à dix heures moins le quart."],
        ["Réunion à dix heures et quart.", "Réunion à onze heures moins le quart."],
    ),
    (
        "hours",
        "Le train part à dix heures moins le quart.",
        ["Le train part à 9 h 45.", "Le train part à 9:45."],
        ["Le train part à 10 h 15.", "Le train part à 10 h."],
    ),
    ("hours", "The train leaves at quarter past nine.", ["The train leaves at 9:15."], ["The train leaves at 9:45."]),
    (
        "hours",
        "The train leaves at 9:15.",
        ["The train leaves at quarter past nine."],
        ["The train leaves at quarter to nine.", "The train leaves at half past nine."],
    ),
    (
        "ISO 8601",
        "Durée : P1Y6M.",
        ["La durée est de 18 mois.", "La durée est d'un an et six mois.", "La durée est de 1 an et 6 mois."],
        ["La durée est de 12 mois.", "La durée est de 1 an et 3 mois.", "La durée est de 6 mois.", "La durée est de 16 mois."],
    ),
    ("ISO 8601", "La durée est de 18 mois.", ["La durée est P1Y6M.", "La durée est de P18M."], ["La durée est P1Y3M."]),
    ("ISO 8601", "Durée : PT1H30M.", ["La durée est de 90 minutes.", "La durée est de 1 h 30."], ["La durée est de 60 minutes."]),
    (
        "quarter",
        "Le chiffre d'affaires du deuxième trimestre est publié.",
        [
            "Le chiffre d'affaires du 2e trimestre est publié.",
            "Le chiffre d'affaires du second trimestre est publié.",
            "Le chiffre d'affaires du T2 est publié.",
        ],
        [
            "Le chiffre d'affaires du 3e trimestre est publié.",
            "Le chiffre d'affaires du troisième trimestre est publié.",
            "Le chiffre d'affaires du premier trimestre est publié.",
            "Le chiffre d'affaires du T3 est publié.",
            "Le chiffre d'affaires du deuxième semestre est publié.",
        ],
    ),
    (
        "quarter",
        "Le chiffre d'affaires du 2e trimestre est publié.",
        ["Le chiffre d'affaires du deuxième trimestre est publié."],
        ["Le chiffre d'affaires du troisième trimestre est publié.", "Le chiffre d'affaires du 3e trimestre est publié."],
    ),
    (
        "quarter",
        "Revenue of the second quarter is published.",
        ["Revenue of the 2nd quarter is published.", "Revenue of Q2 is published."],
        ["Revenue of the third quarter is published.", "Revenue of the 3rd quarter is published.", "Revenue of Q3 is published."],
    ),
    (
        "quarter",
        "Revenue of Q2 2024 is published.",
        ["Revenue of the second quarter of 2024 is published."],
        ["Revenue of the third quarter of 2024 is published."],
    ),
    (
        "bis, ter",
        "Voir l'article 5 bis du code.",
        ["Voir l'article 5 bis du code.", "Voir l'article 5bis du code.", "Voir l'art. 5 bis du code."],
        ["Voir l'article 5 ter du code.", "Voir l'article 5 du code.", "Voir l'article 5 quater du code."],
    ),
    ("bis, ter", "Voir l'article 5 ter du code.", ["Voir l'article 5 ter du code."], ["Voir l'article 5 bis du code."]),
    ("bis, ter", "Voir l'article 5 du code.", ["Voir l'article 5 du code."], ["Voir l'article 5 bis du code."]),
    (
        "bis, ter",
        "Voir l'article 200 quater A du code général des impôts.",
        ["Voir l'article 200 quater A du code général des impôts."],
        ["Voir l'article 200 quater B du code général des impôts.", "Voir l'article 200 bis A du code général des impôts."],
    ),
    (
        "bis, ter",
        "Voir l'article L. 123-4 bis du code.",
        ["Voir l'article L. 123-4 bis du code."],
        ["Voir l'article L. 123-4 ter du code."],
    ),
    (
        "bis, ter",
        "Elle habite 12 bis rue des Lilas.",
        ["Elle habite au 12 bis rue des Lilas."],
        ["Elle habite au 12 ter rue des Lilas."],
    ),
    (
        "multiples",
        "La prime est multipliée par trois.",
        ["La prime est multipliée par trois.", "La prime est triplée.", "La prime est multipliée par 3."],
        ["La prime est multipliée par quatre.", "La prime est quadruplée.", "La prime est doublée."],
    ),
    (
        "multiples",
        "Le montant est le triple du précédent.",
        ["Le montant est trois fois le précédent."],
        [
            "Le montant est quatre fois le précédent.",
            "Le montant est le double du précédent.",
            "Le montant est le quadruple du précédent.",
        ],
    ),
    (
        "multiples",
        "Le montant est doublé.",
        ["Le montant est multiplié par deux."],
        ["Le montant est triplé.", "Le montant est multiplié par trois.", "Le montant est quatre fois plus élevé."],
    ),
    (
        "multiples",
        "Il faut renouveler trois fois la demande.",
        ["Il faut renouveler 3 fois la demande."],
        [
            "Il faut renouveler quatre fois la demande.",
            "Il faut renouveler 4 fois la demande.",
            "Il faut renouveler deux fois la demande.",
        ],
    ),
    (
        "multiples",
        "The fine is three times the price.",
        ["The fine is triple the price.", "The fine is 3 times the price."],
        ["The fine is four times the price.", "The fine is double the price.", "The fine is twice the price."],
    ),
    (
        "multiples",
        "The fine is doubled.",
        ["The fine is multiplied by two.", "The fine is doubled."],
        ["The fine is tripled.", "The fine is multiplied by three."],
    ),
    (
        "multiples",
        "The form is sent twice.",
        ["The form is sent two times.", "The form is sent twice."],
        ["The form is sent three times."],
    ),
    (
        "share of 100",
        "Le remboursement est de 1/2.",
        ["Le remboursement est de 50 %."],
        ["Le remboursement est de 30 %.", "Le remboursement est de 25 %."],
    ),
    (
        "share of 100",
        "Le remboursement est de la moitié du prix.",
        ["Le remboursement est de 50 % du prix."],
        ["Le remboursement est de 40 % du prix."],
    ),
    (
        "share of 100",
        "The refund is half of the price.",
        ["The refund is 50% of the price.", "The refund is 50 percent of the price."],
        ["The refund is 40% of the price.", "The refund is 25% of the price."],
    ),
    (
        "share of 100",
        "Le remboursement est d'un quart du prix.",
        ["Le remboursement est de 25 % du prix."],
        ["Le remboursement est de 50 % du prix."],
    ),
    (
        "share of 100",
        "Le remboursement est des deux tiers du prix.",
        [
            "Le remboursement est de 66,7 % du prix.",
            "Le remboursement est de 67 % du prix.",
            "Le remboursement est de 66,67 % du prix.",
        ],
        ["Le remboursement est de 33 % du prix.", "Le remboursement est de 60 % du prix."],
    ),
    (
        "cents",
        "Le timbre coûte 20,50 €.",
        ["Le timbre coûte 20 € 50.", "Le timbre coûte 20€50.", "Le timbre coûte 20 euros 50."],
        ["Le timbre coûte 20 € 40.", "Le timbre coûte 20 euros 40."],
    ),
    ("cents", "Le timbre coûte 20 € 50.", ["Le timbre coûte 20,50 €."], ["Le timbre coûte 20 €.", "Le timbre coûte 20,05 €."]),
    (
        "cents",
        "Le timbre coûte 20 euros 50.",
        ["Le timbre coûte 20,50 €.", "Le timbre coûte 20 € 50."],
        ["Le timbre coûte 20 €."],
    ),
    (
        "un an",
        "La durée est d'un an.",
        ["La durée est de 12 mois.", "La durée est d'une année.", "La durée est de 1 an."],
        ["La durée est de 13 mois.", "La durée est de 24 mois."],
    ),
    (
        "un an",
        "La peine est d’un emprisonnement d’un an et d’une amende de 6 000 euros.",
        ["La peine est d'une année d'emprisonnement et 6 000 euros d'amende."],
        [],
    ),
]


@pytest.mark.parametrize("case", CASES, ids=[f"{kind}-{number}" for number, (kind, *_) in enumerate(CASES)])
def test_a_phrase_says_its_number_and_no_other(case: Case) -> None:
    _, document, right, wrong = case
    assert [answer for answer in right if verdict(answer, document) != "deliver"] == []
    assert [answer for answer in wrong if verdict(answer, document) == "deliver"] == []
