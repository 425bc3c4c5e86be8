"""Texts with contacts, names, codes and measures; answers that name others, by kind, and answers that name the same ones.

Beside them numbers in words and in digits, and texts that are built to stall the gate.
"""

from collections.abc import Iterator, Mapping

from servers.spelling import in_english, in_french

FRENCH = (
    "La mairie est joignable au 01 44 55 66 77 ou à accueil@mairie-exemple.fr, du lundi au vendredi de 9 h à 17 h 30. "
    "Le formulaire se trouve sur https://www.mairie-exemple.fr/demarches/conges. La directrice est Mme Claire Dupont, "
    "à Lyon. Les frais se paient sur le compte IBAN FR76 3000 6000 0112 3456 7890 189. L'appareil pèse 12 kg, "
    "fonctionne en 230 V, avec un débit de 45 l/min, entre 0 et 40 °C, à une vitesse de 50 km/h au plus. Son numéro "
    "de série est AX-2047, le logiciel est en version 3.2.1. La notice est en page 14. Le rapport de transmission est "
    "de 3:1. La commune compte 1,4 million d'habitants. La réunion a lieu en salle B12 à 18 h. La garantie dure deux "
    "ans."
)
ENGLISH = (
    "The office answers at 020 7946 0958 or help@city-example.org, Monday to Friday. The form is at https://www.city- "
    "example.org/forms/leave. The director is Ms Claire Dupont, in Leeds. The device weighs 12 kg, runs on 230 V with "
    "a flow of 45 l/min, from 0 to 40 °C, at up to 50 km/h. Its serial number is AX-2047 and the software is version "
    "3.2.1. Report it on line 12 of Form 1040. See page 14. The gear ratio is 3:1. The city has a population of 1.4 "
    "million. The meeting is in room B12 at 6 pm. The warranty lasts two years."
)

WRONG_FRENCH: Mapping[str, tuple[str, ...]] = {
    "telephone": ("La mairie est joignable au 01 44 55 66 78.",),
    "e-mail": (
        "Écrivez à contact@mairie-exemple.fr.",
        "Écrivez à accueil@mairie-modele.fr.",
    ),
    "link": (
        "Le formulaire se trouve sur https://www.mairie-autre.fr/demarches/conges.",
        "Le formulaire se trouve sur www.mairie-exemple.fr/formulaires.",
    ),
    "IBAN": ("Le compte est FR76 3000 6000 0112 3456 7890 188.",),
    "person": (
        "La directrice est Mme Sophie Bernard.",
        "La directrice est Claire Martin.",
    ),
    "place": ("La directrice travaille à Marseille.",),
    "weekday": ("La mairie est ouverte du lundi au samedi.",),
    "measure": (
        "L'appareil pèse 15 kg.",
        "L'appareil fonctionne en 110 V.",
        "L'appareil a un débit de 65 l/min.",
        "L'appareil fonctionne entre 5 et 60 °C.",
        "La vitesse est de 80 km/h.",
    ),
    "code": (
        "Son numéro de série est AX-3041.",
        "Le logiciel est en version 3.4.1.",
        "La réunion a lieu en salle B21.",
    ),
    "page, line, form": ("La notice est en page 41.",),
    "ratio": ("Le rapport de transmission est de 4:1.",),
    "number of people": ("La commune compte 2,1 millions d'habitants.",),
    "time": ("La réunion a lieu à 19 h.",),
    "duration": ("La garantie dure trois ans.",),
}

WRONG_ENGLISH: Mapping[str, tuple[str, ...]] = {
    "telephone": ("Call 020 7946 0959.",),
    "e-mail": ("Write to info@city-example.org.",),
    "link": (
        "The form is at www.city-sample.org/forms/leave.",
        "The form is at https://www.city-example.org/forms/travel.",
    ),
    "person": ("The director is Ms Jane Porter.",),
    "place": ("The director works in Bristol.",),
    "weekday": ("The office is open Monday to Saturday.",),
    "measure": (
        "The device weighs 15 kg.",
        "The device runs on 110 V.",
        "The flow is 65 l/min.",
        "It works from 5 to 60 °C.",
        "The device reaches 80 km/h.",
    ),
    "code": (
        "The serial number is AX-3041.",
        "The software is version 3.4.1.",
        "The meeting is in room B21.",
    ),
    "page, line, form": (
        "Report it on line 8 of Form 1040.",
        "Report it on line 12 of Form 1099.",
        "See page 41.",
    ),
    "ratio": ("The gear ratio is 4:1.",),
    "number of people": ("The city has a population of 2.1 million.",),
    "time": ("The meeting is at 7 pm.",),
    "duration": ("The warranty lasts three years.",),
}

RIGHT_FRENCH = (
    "Appelez le 01.44.55.66.77.",
    "Appelez le +33 1 44 55 66 77.",
    "Écrivez à accueil@mairie-exemple.fr.",
    "Le formulaire se trouve sur mairie-exemple.fr/demarches/conges.",
    "Le site est www.mairie-exemple.fr.",
    "Le compte est FR7630006000011234567890189.",
    "La directrice est Madame Dupont.",
    "La directrice est Claire Dupont.",
    "La mairie est joignable le mercredi.",
    "L'appareil pèse 12 kilos.",
    "L'appareil pèse 12 000 g.",
    "L'appareil fonctionne en 230 volts.",
    "La température va de 0 à 40 °C.",
    "Le numéro de série est AX2047.",
    "La notice est en page 14.",
    "La commune compte 1 400 000 habitants.",
    "La réunion a lieu en salle B12 à 18 heures.",
    "Le rapport est de 3 pour 1.",
)
RIGHT_ENGLISH = (
    "Call 020-7946-0958.",
    "The director is Claire Dupont.",
    "The director works in Leeds.",
    "The office answers on Wednesday.",
    "It weighs 12 kg.",
    "It weighs 12,000 g.",
    "It runs on 230 volts.",
    "Report it on line 12 of Form 1040.",
    "See page 14.",
    "The population is 1,400,000.",
    "The meeting is in room B12.",
)

NUMBERS = (*range(2, 101), 120, 150, 201, 250, 365, 999, 1_200, 1_500, 3_000, 250_000)
FRENCH_NUMBERS: Mapping[str, tuple[str, ...]] = {
    "La prime de naissance est de {} euros.": ("{} €", "{} euros"),
    "Le taux de la retenue est de {} pour cent.": ("{} %", "{} pour cent"),
    "Le congé de naissance dure {} jours.": ("{} jours",),
    "Le préavis de départ est de {} mois.": ("{} mois",),
    "La garantie du bâtiment est de {} ans.": ("{} ans",),
}
ENGLISH_NUMBERS: Mapping[str, tuple[str, ...]] = {
    "The birth bonus is {} dollars.": ("${}", "{} dollars"),
    "The rate of the deduction is {} percent.": ("{}%", "{} percent"),
    "The birth leave lasts {} days.": ("{} days",),
    "The notice period is {} months.": ("{} months",),
}
STALLING = ("1 €Jean ", "ÀÉ- 1 €", "deux euros ", "Jean 1 € Paul ", "5 kg A12 ", "Mme X. a@b.fr ")
"""Units of texts whose cost must grow with their length and with nothing else."""


def pairs_of_numbers(sentence: str) -> Iterator[tuple[str, str, bool]]:
    """Of a sentence of `FRENCH_NUMBERS` or `ENGLISH_NUMBERS`: answer, document, and whether they say the same number."""
    french = sentence in FRENCH_NUMBERS
    shown = (FRENCH_NUMBERS if french else ENGLISH_NUMBERS)[sentence]
    for number in NUMBERS:
        other = 15 if number != 15 else 18
        strange = next(_writings(other, french=french))
        for words in _writings(number, french=french):
            in_words = sentence.format(words)
            for figure in shown:
                in_digits = sentence.replace(shown[-1], figure).format(number)
                yield in_words, in_digits, True
                yield in_digits, in_words, True
            yield in_words, sentence.format(strange), False
            yield sentence.format(number), sentence.format(strange), False
            yield in_words, sentence.format(other), False


def _writings(number: int, *, french: bool) -> Iterator[str]:
    if not french:
        yield in_english(number)
        return
    yield in_french(number)
    yield in_french(number, hyphens=True)
    yield in_french(number, belgian=True)
