"""French answers that are right, and wrong ones made of them: other contexts, other figures. Everything comes from a seed."""

import random
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from areopage.cases.records import Document
from areopage.text.figure_forms import TextFigure, figures
from areopage.text.reference_forms import legal_references
from areopage.text.sentence_ends import sentences

DISTRACTORS = 2  # documents on other subjects that stand beside the right one
PATTERNS = (
    "La réponse est : {}.",
    "Il s'agit de {}.",
    "D'après le document, la réponse à la question est {}.",
)
# What a writer changes without changing what is said.
SYNONYMS = (
    ("afin de", "pour"), ("ainsi que", "et"), ("cependant", "toutefois"), ("notamment", "en particulier"), ("lors de", "pendant"),
    ("également", "aussi"), ("environ", "à peu près"), ("débute", "commence"), ("grâce à", "du fait de"), ("car", "parce que"),
    ("est situé", "se trouve"), ("possède", "a"), ("par exemple", "entre autres"), ("de nombreux", "beaucoup de"),
)  # fmt: skip
YEAR = re.compile(r"(?<=en )1[0-8][0-9]{2}(?![0-9 ][0-9])\b")
ASIDE = re.compile(r"\s\([^()]{1,80}\)")


class Made(msgspec.Struct, frozen=True, kw_only=True):
    """An answer with its documents; `kind` tells how it was made."""

    kind: str
    prompt: str
    response: str
    documents: tuple[Document, ...]
    wrong: bool
    group: str


def made_of_questions(rows: list[dict[str, Any]], seed: int) -> Iterator[Made]:
    """Right and wrong answers to questions on encyclopedia articles (fields title, context, question, answers)."""
    draw, other_draw = random.Random(seed), random.Random(seed + 1)
    for row in rows:
        others = [other for other in draw.sample(rows, 12) if other["title"] != row["title"]]
        own = Document(id="1", text=row["context"])
        far = [Document(id=str(number), text=other["context"]) for number, other in enumerate(others[: DISTRACTORS + 1], 2)]
        right, swapped = (own, *far[:DISTRACTORS]), tuple(far)
        answer = row["answers"][0]
        sentence = _sentence_at(row["context"], answer["answer_start"])
        writings = {
            "in a sentence": draw.choice(PATTERNS).format(answer["text"].rstrip(" .")),
            "own sentence": sentence,
            "paraphrase": paraphrased(sentence),
        }
        for kind, response in writings.items():
            yield Made(kind=kind, prompt=row["question"], response=response, documents=right, wrong=False, group=row["title"])
            yield Made(
                kind=f"{kind}, contexts swapped",
                prompt=row["question"],
                response=response,
                documents=swapped,
                wrong=True,
                group=row["title"],
            )
        yield from _altered(row["question"], sentence, right, row["title"], draw)
        yield from _swapped(row["question"], sentence, right, row["title"], other_draw)
        bare = PATTERNS[0].format(answer["text"].rstrip(" ."))
        yield from _swapped(row["question"], bare, right, row["title"], other_draw, ", bare answer")


def made_of_pages(pages: list[dict[str, Any]], seed: int) -> Iterator[Made]:
    """Sentences of official pages (fields doc, page, text) as answers, and the same with other figures and references."""
    draw, other_draw = random.Random(seed), random.Random(seed + 1)
    for number, page in enumerate(pages):
        text = page["text"]
        near = [Document(id=str(other), text=pages[other % len(pages)]["text"][:2000]) for other in (number + 7, number + 23)]
        documents = (Document(id="page", text=text), *near)
        usable = [span.text for span in sentences(text, "fr") if 60 <= len(span.text) <= 400]
        for sentence in draw.sample(usable, min(len(usable), 6)):
            response = " ".join(sentence.split())
            for kind, written in (("own sentence", response), ("paraphrase", paraphrased(response))):
                yield Made(kind=kind, prompt="", response=written, documents=documents, wrong=False, group=page["doc"])
            yield from _altered("", response, documents, page["doc"], draw)
            yield from _swapped("", response, documents, page["doc"], other_draw)


def paraphrased(sentence: str) -> str:
    """The sentence without asides, with another beginning and other words for some that mean little."""
    written = ASIDE.sub("", sentence)
    for old, new in SYNONYMS:
        written = re.sub(rf"\b{old}\b", new, written, count=1)
    return f"Selon le document, {written[:1].lower()}{written[1:]}"


def _sentence_at(text: str, position: int) -> str:
    """The sentence that stands there."""
    return next((span.text for span in sentences(text, "fr") if span.start <= position < span.end), text)


def _altered(prompt: str, sentence: str, documents: tuple[Document, ...], group: str, draw: random.Random) -> Iterator[Made]:
    """The sentence with one figure or reference changed to one that stands nowhere; one answer for each kind that it has."""
    spots = dict([("year", run.span()) for run in YEAR.finditer(sentence)][:1])
    in_digits = [figure for figure in figures(sentence) if figure.kind != "duration" and _digits(figure.text)]
    spots |= {figure.kind: (figure.start, figure.end) for figure in in_digits}
    references = legal_references(sentence)
    if references:
        spots["reference"] = (references[0].start, references[0].end)
    everything = "\n".join([prompt, *(document.text for document in documents)])
    for kind, (start, end) in spots.items():
        for _ in range(20):
            changed = _other(sentence[start:end], draw)
            if changed != sentence[start:end] and not _digits(changed) & _digits(everything):
                response = sentence[:start] + changed + sentence[end:]
                yield Made(kind=f"altered {kind}", prompt=prompt, response=response, documents=documents, wrong=True, group=group)
                break


def _swapped(
    prompt: str, sentence: str, documents: tuple[Document, ...], group: str, draw: random.Random, also: str = ""
) -> Iterator[Made]:
    """The sentence with one figure changed to another of its kind and unit in the same documents, as it is and paraphrased.

    One of the first document is taken where it has any. A figure of the same sentence is never taken: two that change places
    there leave the same words around both.
    """
    own = figures(sentence)
    held = [(number, figure) for number, document in enumerate(documents) for figure in figures(document.text)] if own else []
    done: set[str] = set()
    for one in own:
        if one.kind in done or sum(other.start == one.start for other in own) > 1:
            continue
        others = [(number, other) for number, other in held if _exchangeable(one, other, sentence)]
        if others:
            done.add(one.kind)
            _, taken = draw.choice([pair for pair in others if pair[0] == 0] or others)
            response = sentence[: one.start] + taken.text + sentence[one.end :]
            for kind, written in (
                (f"swapped {one.kind}{also}", response),
                (f"swapped {one.kind}, paraphrase", paraphrased(response)),
            ):
                if written == response or not also:
                    yield Made(kind=kind, prompt=prompt, response=written, documents=documents, wrong=True, group=group)


def _exchangeable(one: TextFigure, other: TextFigure, sentence: str) -> bool:
    """Whether a figure may take another's place and makes the sentence say something else."""
    values = [str(own.value) for own in figures(sentence) if (own.kind, own.unit) == (one.kind, one.unit)]
    if (one.kind, one.unit) != (other.kind, other.unit) or other.text in sentence:
        return False
    if one.kind == "date" and len(str(one.value)) != len(str(other.value)):
        return False
    return not any(str(other.value).startswith(value) or value.startswith(str(other.value)) for value in values)


def _other(written: str, draw: random.Random) -> str:
    """Another figure in the same writing: its longest run of digits is drawn anew, a year within twenty years."""
    runs = list(re.finditer(r"\d+", written))
    longest = max(runs, key=lambda run: (len(run.group()), run.start()))
    digits = longest.group()
    if re.fullmatch(r"(?:1\d|20)\d\d", digits):
        fresh = str(int(digits) + draw.choice([-1, 1]) * draw.randint(1, 20))
    else:
        fresh = str(draw.randint(10 ** (len(digits) - 1), 10 ** len(digits) - 1))
    return written[: longest.start()] + fresh + written[longest.end() :]


def _digits(text: str) -> set[str]:
    """The longest runs of digits: what must not stand in the documents for a change to be one."""
    runs = re.findall(r"\d+", text)
    longest = max(map(len, runs), default=0)
    return {run for run in runs if len(run) == longest} if len(text) < 80 else set(runs)
