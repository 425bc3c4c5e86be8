"""An answer that only says that it does not know is told from one that claims something after all."""

import pytest

from areopage.gate.reading.refusals import is_refusal, refusal_of


@pytest.mark.parametrize(
    ("sentence", "prompt"),
    [
        ("I don't know.", ""),
        ("I am unable to answer this question based on the documents.", ""),
        ("The fee is not specified in the documents.", "What is the fee?"),
        ("The provided context does not contain enough information to answer.", ""),
        ("I'm sorry, but I don't have access to Enron's exact revenue in 2000.", "What was Enron's exact revenue in 2000?"),
        ("Unable to answer based on given passages.", ""),
        ("I could not find this in the sources, but feel free to rephrase your question.", ""),
        ("Je ne sais pas.", ""),
        ("Je ne trouve pas cette information dans les documents.", "Quel est le prix ?"),
        ("Les documents fournis ne permettent pas de répondre à cette question.", ""),
        ("L’information demandée n’est pas mentionnée dans les documents fournis.", ""),
        ("Désolé, mais je ne dispose pas de cette information.", ""),
        ("Malheureusement, les extraits ne mentionnent pas le montant de l’indemnité.", "Quel est le montant de l’indemnité ?"),
        ("Aucun des documents ne traite de cette question.", ""),
        ("Je n’ai pas trouvé d’information sur ce sujet dans les sources [doc1].", ""),
        ("Les extraits ne disent rien du montant de l’indemnité.", "Quel est le montant de l’indemnité ?"),
        ("Le montant ne figure pas dans les extraits.", ""),
        ("L’année exacte, elle, n’apparaît pas.", ""),
        ("Aucun taux n’est indiqué dans les passages fournis.", ""),
        ("No figure is given for the second year.", ""),
        ("The passages say nothing about the fee.", ""),
        ("Sorry, I have no information about that.", ""),
        ("There's nothing about that in the documents.", ""),
        ("Not specified.", ""),
        ("I do not know yet.", ""),
        ("The documents do not mention a weekend rate, so I cannot say.", ""),
        ("Cette information ne figure pas dans les documents.", ""),
        ("La réponse ne se trouve pas dans les extraits.", ""),
        ("Le document ne précise pas le tarif.", ""),
        ("L’extrait ne mentionne pas le samedi.", "Êtes-vous ouverts le samedi ?"),
        ("Rien dans les documents ne permet de répondre.", ""),
        ("Les extraits fournis ne disent rien du prix du permis.", "Quel est le prix du permis ?"),
        ("Aucune information à ce sujet.", ""),
        ("Aucune idée.", ""),
        ("Information non disponible.", ""),
        ("Pas d’information disponible.", ""),
        ("Je l'ignore.", ""),
        ("Nous n’avons pas trouvé de réponse à votre question.", ""),
        ("Je ne suis pas en mesure de vous renseigner sur ce point, je vous invite à contacter l’étude.", ""),
        ("Les documents ne précisent pas le prix, donc je ne peux pas répondre.", ""),
        ("Les documents ne suffisent pas pour répondre : la question n’y est pas traitée.", ""),
        ("Aucun des extraits ne le mentionne ; je ne peux donc pas répondre.", ""),
    ],
)
def test_a_sentence_that_only_refuses_is_a_refusal(sentence: str, prompt: str) -> None:
    assert is_refusal(sentence, prompt)
    assert refusal_of([(sentence, True)], prompt) == (0,)


@pytest.mark.parametrize(
    "sentence",
    [
        "I don't know, but the capital of Spain is Madrid.",
        "The documents do not mention that the fee is 500 €.",
        "The vaccine is not given to pregnant women.",
        "I do not know why Henry Ford sold it to Chrysler.",
        "There is no information fee.",
        "The documents do not have to be signed by the buyer.",
        "Les documents ne précisent pas le délai, mais la loi impose dix jours.",
        "Les documents ne sont pas signés.",
        "Aucune information personnelle n’est conservée.",
        "Je ne peux que confirmer que le prix est fixe.",
        "Je n’ai aucun doute que le bail est valable.",
        "Le vendeur n’est pas tenu de répondre.",
        "The documents do not mention a penalty, so there is none.",
        "I don't know, it is free.",
        "Parking is free, but I do not know the opening hours.",
        "Je ne sais pas, c’est gratuit.",
        "Les documents ne précisent pas le prix ; il est libre.",
        "The documents do not say; parking is free.",
        "Aucun document n’est exigé.",
        "Le document ne suffit pas.",
        "Not available.",
        "Non disponible.",
        "Les documents ne mentionnent pas de pénalité de retard, donc il n’y en a pas.",
        "Les documents ne mentionnent pas de pénalité ; par conséquent, aucune n’est due.",
        "Les documents ne permettent pas de vendre le bien.",
        "Rien dans les documents n’interdit la vente.",
        "Aucune information n’est exigée du vendeur.",
        "Les documents ne le précisent pas, le bail court cependant depuis le mariage de la propriétaire.",
    ],
)
def test_a_sentence_that_claims_something_is_none(sentence: str) -> None:
    assert not is_refusal(sentence, "What is it?")
    assert refusal_of([(sentence, True)], "What is it?") == ()


def test_a_refusal_among_claims_is_not_pure() -> None:
    refusal, claim = ("Je ne trouve pas cette information dans les documents.", True), ("Le bail dure trois ans.", True)
    courtesy = ("N’hésitez pas à préciser votre question.", True)
    assert refusal_of([refusal, courtesy], "") == (0,)
    assert refusal_of([courtesy, refusal, ("Bonne journée", False)], "") == (1,)
    assert refusal_of([refusal, claim], "") == ()
    assert refusal_of([claim, refusal], "") == ()
    assert refusal_of([courtesy], "") == ()
    assert refusal_of([], "") == ()
