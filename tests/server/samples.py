"""Questions of a help desk with good and bad answers, and the scores that a jury gives them."""

from typing import NamedTuple


class Sample(NamedTuple):
    """A question with its answer, and the scores that its jury gives: exactitude, completude, format, sources."""

    question: str
    answer: str
    document: str
    scores: tuple[float, float, float, float]
    feedback: str
    weakness: str


SAMPLES = (
    Sample(
        "Combien de jours de congés aurai-je acquis au 31 mai si j’ai commencé le 1er décembre ?",
        "**Analyse** : six mois de travail.\n\n**Principe** : 2,5 jours ouvrables par mois.\n\n**Règle** : 2,5 × 6 = 15 jours "
        "ouvrables.\n\n**Sources** : Convention collective de démonstration, article 18.",
        "Le salarié acquiert 2,5 jours ouvrables de congés payés par mois de travail effectif.",
        (9.5, 9.0, 9.5, 9.0),
        "Réponse juste et sourcée ; le calcul est donné pas à pas.",
        "",
    ),
    Sample(
        "Mon employeur peut-il m’imposer mes dates de vacances ?",
        "L’employeur arrête les dates après avis du salarié, et les communique deux mois à l’avance (article 19).",
        "L'employeur arrête les dates après avis du salarié et les lui communique deux mois à l'avance.",
        (8.0, 7.0, 4.5, 7.5),
        "Le fond est bon ; la structure attendue manque.",
        "La réponse ne suit pas la structure Analyse, Principe, Règle, Sources.",
    ),
    Sample(
        "Quel est le délai de rétractation pour l’achat d’un logement ?",
        "Il y a un délai de quelques jours, il faudrait vérifier auprès de votre notaire.",
        "L’acquéreur dispose de dix jours pour se rétracter, à compter du lendemain de la remise de l’acte.",
        (3.0, 2.0, 1.5, 0.5),
        "Réponse vague : le délai n’est pas indiqué alors qu’il figure dans le document.",
        "Le délai de dix jours n’est pas donné.",
    ),
    Sample(
        "How long is the notice period for a tenant in a tense zone?",
        "**Analysis**: notice by the tenant.\n\n**Principle**: three months.\n\n**Rule**: one month in a tense zone.\n\n"
        "**Sources**: Demonstration act, article 15.",
        "The tenant’s notice period is three months; it is one month in a tense zone.",
        (8.5, 8.0, 9.0, 8.0),
        "Right and complete.",
        "",
    ),
    Sample(
        "Le notaire peut-il refuser d’authentifier un acte ?",
        "Oui, s’il estime que l’acte est contraire à la loi ; il conseille alors les parties.",
        "Le notaire refuse de prêter son ministère lorsque l’acte est contraire à la loi.",
        (7.5, 6.5, 5.5, 6.0),
        "Réponse correcte, sans référence précise.",
        "L’article n’est pas cité.",
    ),
)

WEAK = SAMPLES[2]
