"""The fence around text from outside: markers that its author cannot know, and no control token within.

A marker carries a nonce. The nonce is made of the fenced content itself and a secret of the ledger: the author of the text cannot
know it, and it is the same when a run is resumed.

Chat templates mark turns by control tokens, and servers obey them anywhere in a prompt: a text could end its own
turn and speak as the system or as the judge. Servers also look for images where a token stands for one, and refuse a call that
has none: a text could escape its judgment. A space without width after a token's first character makes ordinary text of it.
"""

import hashlib
import hmac
import re
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct, structs

NONCE_LENGTH = 16


class Hardening(Struct, frozen=True, kw_only=True):
    """The protections of a judge against the text that it judges; an audit leaves one out to measure it.

    Args:
        fence: texts stand between markers with a nonce, and the prompt explains these; else under plain headings.
        tokens: control tokens are parted.
        reminder: the prompt ends with a warning of texts that address the judge.
        schema: the server is sent the JSON schema of the answer.
        planted: a verdict that the text under judgment holds is not taken.
        doubt: of an answer that gives two scores, or goes on behind its verdict with one, none is taken.
        window: a reply to a prompt that the server cut is not taken.
    """

    fence: bool = True
    tokens: bool = True
    reminder: bool = True
    schema: bool = True
    planted: bool = True
    doubt: bool = True
    window: bool = True

    @property
    def asked(self) -> "Hardening":
        """The part that changes what a judge is asked; the rest is about reading its answer."""
        return structs.replace(self, planted=True, doubt=True, window=True)


HARDENED = Hardening()
"""All protections. A panel, a suite and the configuration know no other."""

# The first character of a control token. Each way of writing one covers the families that use it, listed or not.
_CONTROL = re.compile(
    r"""
    [<＜\[\]](?:
        (?<=[<＜\[])(?=[|｜])                                           # <|im_start|> <｜User｜> [|assistant|]
      | (?<=<)(?=/?(?i:
            [a-z][a-z0-9_]*[|｜]                                        # <turn|>
          | [a-z]+[0-9]*[_:▁][a-z0-9_:▁]*                               # <start_of_turn> <extra_id_0> <seed:bos>
          | _[a-z]+                                                    # <_user> of TeleChat
          | s|[be]os|pad|unk|mask|sep|cls|[se]op|eo[adh]|think(?:ing)?|thoughts?|reasoning|role|unused\d+
          | image|__[a-z]+__                                            # <__media__>, where a server looks for an image
        )>|</?SYS>>)                                                    # <<SYS>>
      | (?<=\[)(?=img-\d+\])                                            # of Ollama, too
      | (?<=\[)(?=/?(?:[A-Z]+(?:_[A-Z]+)+|INST|IMG|THINK|ARGS|PREFIX|MIDDLE|SUFFIX|[gs]?MASK|CLS|SEP|PAD|UNK|[BE]OS)\])
      | (?=~!?b[\[\]]|e~\[)                                            # ]~b]
    )
    """,
    re.VERBOSE | re.ASCII,
)


def fenced(name: str, text: str, nonce: str, hardening: Hardening = HARDENED) -> str:
    """A text between its markers, without control tokens."""
    inside = defused(text) if hardening.tokens else text
    return f"<<<{name} {nonce}>>>\n{inside}\n<<<END {name} {nonce}>>>" if hardening.fence else f"{name}:\n{inside}"


@lru_cache(maxsize=1_024)  # a case is put to each judge, criterion by criterion
def defused(text: str) -> str:
    """A text in which nothing reads as a control token of any family of models."""
    return _CONTROL.sub(lambda match: match.group() + "\u200b", text)


def has_control_token(text: str) -> bool:
    """Whether anything in a text reads as a control token of a family of models."""
    return _CONTROL.search(text) is not None


def nonce_of(content: Any, secret: bytes) -> str:
    """16 hexadecimal digits that cannot be predicted without the secret; the same for the same content."""
    return hmac.new(secret, msgspec.json.encode(content), hashlib.sha256).hexdigest()[:NONCE_LENGTH]
