"""Signs that what a hook recorded is not what the user asked and read."""

import re
from collections.abc import Iterator

from areopage.ledger import Answer
from areopage.monitor.hook.messages import UNSEEN_TEXTS
from areopage.monitor.hook.stream_text import decoded, is_framed

_PLACEHOLDER = re.compile(r"\[[\w ]{1,40}\]|\{[\w ]{0,40}\}|<[\w ]{1,40}>|None|null|undefined|NaN")
_OBJECT = re.compile(
    r"<[\w.\[\], ]+ (object|at|generator|coroutine|function)\b[^>]*>$|<(async_)?(generator|coroutine|function|bound method)\b"
    r"|[A-Z]\w*\(\w+=|content=['\"\[]|\(?['\"][^\n]{0,1000}['\"], [\[{]"
)
_ONE_WORD = re.compile(r"\s*[^\s?!？\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]+\s*")
_READ_OF_TEXT, _READ_OF_OBJECT = 100_000, 2_000


def doubts_of(answer: Answer) -> Iterator[str]:
    """The kinds of doubt about a recorded answer.

    The answer or the question is a printed object, a placeholder such as `[message]`, the frames of a stream, JSON; the question
    is one word; the answer is the question; documents are names without texts; judges are not shown a part of the question.
    """
    turns = answer.case.turns
    question, response = (turns[-1].content if turns else "")[:_READ_OF_TEXT].strip(), (answer.case.response or "").strip()
    response = response[:_READ_OF_TEXT]
    texts = (question, response)
    if any(_OBJECT.match(text[:_READ_OF_OBJECT]) for text in texts):
        yield "object"
    elif any(_PLACEHOLDER.fullmatch(text) for text in texts):
        yield "placeholder"
    if any(is_framed(text) for text in texts):
        yield "frames"
    elif any(isinstance(decoded(text), dict | list) for text in texts if text.startswith(("{", "[{"))):
        yield "json"
    if len(turns) < 2 and _ONE_WORD.fullmatch(question):
        yield "one_word"
    if question and question == response:
        yield "echo"
    documents = answer.case.documents
    if documents and not any(len(document.text.split()) > 1 for document in documents):
        yield "names_only"
    if any(line in UNSEEN_TEXTS for turn in turns for line in turn.content.splitlines()):
        yield "unseen"
