"""How many near copies carry the state `meaning_not_checked`, and how many right answers do. One JSON line; a minute.

    python benchmarks/gate_near_copies.py

- near copies, rewordings: of each language and kind, sentences made by a program from French articles and official pages and
  from English web pages, 30 a kind: a negator, quantifier, condition, exception or bound dropped, added or exchanged, or two
  parties exchanged; and right rewordings of the same sentences (the order of clauses, other words that mean the same, a source
  named, a negator, bound, condition or exception in other words). Counts are [carry the state, all].
- written: the same for pairs written by hand, tests/gate/near_copies.
- right answers: share of the answers that carry the state, of the encyclopedia's and of the English set.

The sets lie in ../shared/data beside the repository and are not part of it.
"""

import json
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from gate_french import made_of_questions
from gate_labels import DATA, PAGES, PIAF, RAGTRUTH, questions, ragtruth_rows, read

from areopage.app.gate_rules import load_gate
from areopage.cases.records import Document
from areopage.gate.decide import Gate
from areopage.text.sentence_ends import sentences

WRITTEN = Path(__file__).parents[1] / "tests" / "gate" / "near_copies"
EVIDENCE = "wice/non_supported_tokens_dev.jsonl"
PER_KIND = 30
SHORTEST, LONGEST = 50, 260  # characters of a sentence
AROUND = 1  # sentences before and after one that are the document with it

Change = Callable[[str], str | None]
Source = tuple[str, str]  # a sentence, and the document that has it


def replaced(pattern: str, written: str | Callable[[re.Match[str]], str], *, start: bool = False) -> Change:
    """A change that replaces the first match; None for a sentence without one."""
    sought = re.compile(pattern if not start else rf"\A{pattern}", 0 if start else re.IGNORECASE)

    def change(sentence: str) -> str | None:
        changed = sought.sub(written, sentence, count=1)
        return changed if changed != sentence else None

    return change


def dropped(pattern: str) -> Change:
    """A change that drops the first match and mends what is left."""
    sought = re.compile(pattern, re.IGNORECASE)

    def change(sentence: str) -> str | None:
        left = sought.sub(" ", sentence, count=1)
        if left == sentence or len(left) < SHORTEST / 2:
            return None
        left = re.sub(r"\s+([.,])", r"\1", re.sub(r"\s{2,}", " ", left)).strip(" ,")
        return left[:1].upper() + left[1:]

    return change


def appended(words: str) -> Change:
    """A change that adds a clause at the end."""
    return lambda sentence: f"{sentence.rstrip('. ')}{words}." if sentence.rstrip().endswith(".") else None


UNSPACED = re.compile(r"[a-zà-ÿ)\]][.!?][A-Z]|[«»\[\]]|\.\.")  # two sentences in one, or a quotation
NAME = r"[A-ZÉÈ][\w’'-]{3,}(?: [A-ZÉÈ][\w’'-]{2,}){0,2}"
NAMES = re.compile(rf"(?<=[a-zà-ÿ] )(?:the |la |le |l’|l')?({NAME})(?=[ .])|\A({NAME} {NAME})(?= [a-zà-ÿ])")


def exchanged(sentence: str) -> str | None:
    """Two names change places, where a verb stands between them."""
    found = [
        (match.start(number), match.end(number)) for match in NAMES.finditer(sentence) for number in (1, 2) if match.group(number)
    ]
    for first, second in pairwise(found):
        a, b, between = sentence[slice(*first)], sentence[slice(*second)], sentence[first[1] : second[0]]
        if (
            a != b
            and not set(",;:()«»") & set(between)
            and VERB.search(between)
            and len(between) < 60
            and len(between.split()) > 1
        ):
            return f"{sentence[: first[0]]}{b}{between}{a}{sentence[second[1] :]}"
    return None


VERB = re.compile(
    r"\b(?:is|was|are|were|has|had|\w{3,}ed|gave|made|took|won|led|wrote|est|était|fut|a|avait|ont|\w{3,}(?:ait|aient|èrent|ent)"
    r"|devient|reçoit|succède|bat|prend|remporte|épouse|fonde|nomme)\b"
)
NEGATIVE_FR = r"\b(n[e’'] ?)(\w+) (?:pas|plus|jamais) "
CHANGES: dict[str, dict[str, list[Change]]] = {
    "fr": {
        "negation": [
            replaced(
                r" (est|sont|était|étaient|sera|seront|peut|peuvent|doit|doivent) (?!pas|plus|jamais|que)",
                lambda match: f" n’{match[1]} pas " if match[1][0] in "eé" else f" ne {match[1]} pas ",
            ),
            replaced(NEGATIVE_FR, lambda match: f"{match[2]} "),
        ],
        "quantifier": [
            replaced(r"\btous les\b", "certains"),
            replaced(r"\btoutes les\b", "certaines"),
            replaced(r"\bchaque\b", "quelque"),
            replaced(r"\b(?:certains|quelques|plusieurs)(?= \w+s\b)", "tous les"),
            replaced(r"\bcertaines\b", "toutes les"),
            replaced(r"\bla plupart des\b", "tous les"),
            replaced(r"Les (?=\w+s\b)", "Tous les ", start=True),
            replaced(r"\bseulement \b", ""),
            replaced(r"\buniquement \b", ""),
        ],
        "condition": [
            dropped(r"(?<= )(?:à condition|sous réserve|à moins|en cas d)[^,.;]{5,}(?=[,.;])"),
            dropped(r"\A(?:si|s’il) [^,.;]{8,},"),
            appended(", seulement si le maire le demande"),
            appended(" à condition que la demande soit faite par écrit"),
        ],
        "exception": [
            dropped(r",? ?(?:sauf|hormis|à l’exception|à l'exception|excepté)[^,.;]{3,}(?=[,.;])"),
            appended(", sauf pendant l’été"),
            appended(", à l’exception des mineurs"),
        ],
        "bound": [
            replaced(r"\bau moins\b", "au plus"),
            replaced(r"\bau plus\b", "au moins"),
            replaced(r"\bplus d(?=e \d|[’']un|e la moitié)", "moins d"),
            replaced(r"\bmoins d(?=e \d|[’']un)", "plus d"),
            replaced(r"\bjusqu[’']à\b", "à partir de"),
            replaced(r"\bau moins \b", ""),
            replaced(r"\bau minimum\b", "au maximum"),
            replaced(r"\bau maximum\b", "au minimum"),
            replaced(r"\bplus de (?=\d)", ""),
            replaced(r"\bavant (?=\d|le \d)", "après "),
            replaced(r"\baprès (?=\d|le \d)", "avant "),
        ],
        "parties": [exchanged],
    },
    "en": {
        "negation": [
            replaced(
                r" (is|are|was|were|can|will|should|must|may|could|has been|have been) (?!not|never|n't)",
                lambda match: f" {match[1]} not " if " " not in match[1] else f" {match[1].split()[0]} not been ",
            ),
            replaced(r" not (?!only|just|to )", " "),
            replaced(r"\b(do|does|did|is|are|was|ca|wo)n't\b", lambda match: {"ca": "can", "wo": "will"}.get(match[1], match[1])),
        ],
        "quantifier": [
            replaced(r"\ball (?=\w+s\b)", "some "),
            replaced(r"\ball of the\b", "some of the"),
            replaced(r"\bevery\b", "almost no"),
            replaced(r"\beach\b", "some"),
            replaced(r"\bmost (?=\w+s\b)", "all "),
            replaced(r"\bsome (?=\w+s\b)", "all "),
            replaced(r"\bmany\b", "all"),
            replaced(r"\bonly \b", ""),
            replaced(r"\bseveral\b", "all"),
            replaced(r"\balways\b", "sometimes"),
        ],
        "condition": [
            dropped(r"\A(?:if|unless) (?!you (?:want|like|wish|would|need))[^,.;]{8,},"),
            dropped(
                r"(?<! even)(?<! see)(?<! ask)(?<! know)(?<! determine) (?:if|unless|provided that|as long as) "
                r"(?!(?:you (?:like|want|wish|need)|necessary|needed|desired|possible))[^,.;]{5,}(?=[.;])"
            ),
            appended(", only if it is requested in writing"),
            appended(" provided that the owner agrees"),
        ],
        "exception": [
            dropped(r",? ?\b(?:except|excluding|other than|apart from|with the exception)\b[^,.;]{3,}(?=[,.;])"),
            appended(", except in summer"),
            appended(", with the exception of minors"),
        ],
        "bound": [
            replaced(r"\bat least\b", "at most"),
            replaced(r"\bmore than\b(?= \d| a| one| half| two)", "less than"),
            replaced(r"\bless than\b", "more than"),
            replaced(r"\bup to\b(?= \d| a| one| two)", "at least"),
            replaced(r"\bat least \b", ""),
            replaced(r"\bminimum\b", "maximum"),
            replaced(r"\bmaximum\b", "minimum"),
            replaced(r"\bbefore (?=\d)", "after "),
            replaced(r"\bafter (?=\d)", "before "),
            replaced(r"\bover (?=\d)", "under "),
        ],
        "parties": [exchanged],
    },
}
SYNONYMS = {
    "fr": (
        ("située?", "qui se trouve"),
        ("construite?", "bâti"),
        ("important(e?)s?", "majeur"),
        ("débute", "commence"),
        ("grand nombre", "nombre élevé"),
        ("permet de", "rend possible de"),
        ("notamment", "entre autres"),
        ("environ", "à peu près"),
        ("ainsi", "de cette façon"),
        ("célèbre", "connu"),
        ("également", "aussi"),
        ("effectue", "fait"),
        ("utilise", "emploie"),
        ("créée?", "fondé"),
        ("principalement", "surtout"),
        ("difficile", "ardu"),
    ),
    "en": (
        ("large", "big"),
        ("begin", "start"),
        ("usually", "typically"),
        ("approximately", "about"),
        ("also", "as well"),
        ("help", "assist"),
        ("however", "yet"),
        ("important", "essential"),
        ("small", "little"),
        ("contains", "has"),
        ("located", "found"),
        ("called", "named"),
        ("use", "employ"),
        ("often", "frequently"),
        ("create", "make"),
        ("quickly", "fast"),
        ("such as", "like"),
        ("need", "require"),
    ),
}
FRAMES = {
    "fr": (
        lambda text: f"Selon le document, {text[:1].lower()}{text[1:]}",
        lambda text: f"Oui : {text[:1].lower()}{text[1:]}",
        lambda text: f"En effet, {text[:1].lower()}{text[1:]}",
    ),
    "en": (
        lambda text: f"According to the document, {text[:1].lower()}{text[1:]}",
        lambda text: f"Yes, {text[:1].lower()}{text[1:]}",
        lambda text: f"The passage says that {text[:1].lower()}{text[1:]}",
    ),
}
EQUIVALENTS = {
    "fr": (
        replaced(r"\bau moins\b", "au minimum"),
        replaced(r"\btous les (?=\w+s\b)", "l’ensemble des "),
        replaced(r"\bsauf\b", "hormis"),
        replaced(r"\buniquement\b", "seulement"),
        replaced(r"\bla plupart des\b", "la majorité des"),
        replaced(r"\blorsque\b", "quand"),
        replaced(r"\bcertains\b", "quelques"),
        replaced(r"\bjusqu[’']à (?=\d)", "au plus "),
        replaced(r"\bplus de (?=\d)", "au-delà de "),
    ),
    "en": (
        replaced(r"\bat least\b", "a minimum of"),
        replaced(r"\bevery\b", "each"),
        replaced(r"\bexcept\b", "other than"),
        replaced(r"\bonly\b", "solely"),
        replaced(r"\bif you\b", "when you"),
        replaced(r"\bseveral\b", "some"),
        replaced(r"\bup to\b(?= \d)", "at most"),
        replaced(r"\bmore than\b(?= \d)", "over"),
        replaced(r"\bcannot\b", "can not"),
        replaced(r"\bdoes not\b", "doesn't"),
    ),
}


def reworded(sentence: str, language: str, draw: random.Random) -> str | None:
    """A right rewording: two changes that leave the meaning."""
    turns: list[Change] = [_turned, _shortened, *(_synonym(pair) for pair in SYNONYMS[language]), *EQUIVALENTS[language]]
    draw.shuffle(turns)
    done = 0
    for turn in turns:
        changed = turn(sentence)
        if changed is not None:
            sentence, done = changed, done + 1
        if done == 2:
            break
    if done == 0:
        return None
    return draw.choice(FRAMES[language])(sentence) if done == 1 else sentence


def _turned(sentence: str) -> str | None:
    """An opening of place or time goes to the end."""
    found = re.fullmatch(r"((?:En|À|Au|Dans|Depuis|Pendant|In|At|During|On|From|For) [^,;:.]{3,40}), ([^:;]{30,})\.", sentence)
    return f"{found[2][:1].upper()}{found[2][1:]} {found[1][:1].lower()}{found[1][1:]}." if found else None


def _shortened(sentence: str) -> str | None:
    """Without what stands in brackets, or an apposition with a relative pronoun."""
    left = re.sub(r" \([^()]{3,}\)|, (?:qui|which|who) [^,.;]{5,}(?=[,.])", "", sentence, count=1)
    return left if left != sentence else None


def _synonym(pair: tuple[str, str]) -> Change:
    return replaced(rf"\b{pair[0]}\b", pair[1])


def sources(language: str) -> list[Source]:
    """Sentences of real texts, each with those beside it."""
    if language == "fr":
        texts = [*dict.fromkeys(row["context"] for row in read(PIAF)), *(page["text"] for page in read(PAGES))]
    else:
        texts = list(dict.fromkeys(document.text for row in ragtruth_rows(read(RAGTRUTH)) for document in row.documents))
        texts += [" ".join(row["evidence"][1:]) for row in map(json.loads, (DATA / EVIDENCE).read_text().splitlines())]
    found: list[Source] = []
    for text in texts:
        spans = [" ".join(span.text.split()) for span in sentences(text, language)]
        for at, sentence in enumerate(spans):
            whole = sentence[0].isupper() and sentence.endswith(".") and not UNSPACED.search(sentence)
            if SHORTEST <= len(sentence) <= LONGEST and whole:
                found.append((sentence, " ".join(spans[max(0, at - AROUND) : at + AROUND + 1])))
    random.Random(11).shuffle(found)
    return found


def carries(gate: Gate, answer: str, document: str) -> bool:
    decision = gate.decide("?", answer, [Document(id="doc1", text=document, score=0.9)])
    return any(reason.code == "meaning_not_checked" for reason in decision.reasons)


def near_copies(found: Sequence[Source], language: str, kind: str) -> Iterator[Source]:
    """Near copies of a kind with their documents: each way of making one in turn, 30 in all."""
    ways = CHANGES[language][kind]
    left = [_made_by(way, found) for way in ways]
    count = 0
    while left and count < PER_KIND:
        for way in list(left):
            copy = next(way, None)
            if copy is None:
                left.remove(way)
            elif count < PER_KIND:
                count += 1
                yield copy


def _made_by(way: Change, found: Sequence[Source]) -> Iterator[Source]:
    for sentence, document in found:
        copy = way(sentence)
        if copy is not None:
            yield copy, document


def rewordings(found: Sequence[Source], language: str) -> Iterator[Source]:
    draw = random.Random(5)
    made = ((reworded(sentence, language, draw), document) for sentence, document in found)
    count = 0
    for answer, document in made:
        if answer is not None:
            count += 1
            yield answer, document
        if count == PER_KIND * 6:
            return


def counted(flags: Iterator[bool]) -> list[int]:
    values = list(flags)
    return [sum(values), len(values)]


def made(gate: Gate) -> dict[str, Any]:
    result: dict[str, Any] = {"near copies": {}, "rewordings": {}}
    for language in ("fr", "en"):
        found = sources(language)
        kinds = {kind: counted(carries(gate, *copy) for copy in near_copies(found, language, kind)) for kind in CHANGES[language]}
        kinds["all"] = [sum(counts[at] for counts in kinds.values()) for at in (0, 1)]
        result["near copies"][language] = kinds
        result["rewordings"][language] = counted(carries(gate, *pair) for pair in rewordings(found, language))
    return result


def written(gate: Gate) -> dict[str, Any]:
    flags: dict[str, list[list[int]]] = defaultdict(lambda: [[0, 0], [0, 0]])
    for path in sorted(WRITTEN.glob("*.jsonl")):
        for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            for at, text in enumerate(("near_copy", "rewording")):
                flags[row["lang"]][at][0] += carries(gate, row[text], row["document"])
                flags[row["lang"]][at][1] += 1
    return {language: dict(zip(("near copies", "rewordings"), counts, strict=True)) for language, counts in flags.items()}


def right_answers(gate: Gate) -> dict[str, list[int]]:
    def flagged(prompt: str, response: str, documents: Sequence[Document]) -> bool:
        decision = gate.decide(prompt, response, documents)
        return any(reason.code == "meaning_not_checked" for reason in decision.reasons)

    made_right = [
        one for one in made_of_questions(questions(fitting=False), seed=0) if not one.wrong and not one.kind.startswith("swapped")
    ]
    english = ragtruth_rows(read(RAGTRUTH))
    return {
        "encyclopedia": counted(flagged(one.prompt, one.response, one.documents) for one in made_right),
        "ragtruth, right": counted(flagged(one.prompt, one.response, one.documents) for one in english if not one.ungrounded),
        "ragtruth, wrong": counted(flagged(one.prompt, one.response, one.documents) for one in english if one.ungrounded),
    }


def main() -> None:
    gate = load_gate()
    result = {"benchmark": "gate_near_copies", **made(gate), "written": written(gate), "right answers": right_answers(gate)}
    print(json.dumps(result, ensure_ascii=False))


if __name__ == "__main__":
    main()
