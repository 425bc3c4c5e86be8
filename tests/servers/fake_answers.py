"""What the fake server answers: scores, texts whole or faulty, and their form in either protocol."""

import hashlib
import json
import math
import re
from dataclasses import dataclass
from typing import Any

MOMENT = "2026-01-01T00:00:00Z"
SAYS = "says:"  # a fault that begins so goes on with why the answer ends, a colon, and its text


def true_score(model: str, system: str, user: str) -> int:
    """The score, 0 to 5, that this server gives."""
    return hashlib.blake2b(f"{model}\0{system}\0{user}".encode(), digest_size=4).digest()[0] % 6


def joint_score(model: str, system: str, user: str, criterion: str, lowest: int, highest: int) -> int:
    """The score that this server gives a criterion in a joint answer, ends included."""
    drawn = hashlib.blake2b(f"{model}\0{system}\0{user}\0{criterion}".encode(), digest_size=4).digest()[0]
    return lowest + drawn % (highest - lowest + 1)


def true_answer(model: str, user: str) -> str:
    """The response of a model under test; two of them differ in the model and in the question."""
    return f"{model} says {hashlib.blake2b(user.encode(), digest_size=4).hexdigest()}. Ask your teacher, too."


@dataclass(frozen=True)
class Call:
    """One chat call as it arrived, and the fault that it was answered with ("" for none)."""

    path: str
    model: str
    messages: tuple[tuple[str, str], ...]
    options: dict[str, Any]
    asks_verdict: bool
    authorization: str
    body: bytes
    fault: str

    @property
    def system(self) -> str:
        """The system message."""
        return next((text for role, text in self.messages if role == "system"), "")

    @property
    def user(self) -> str:
        """The first user message."""
        return next((text for role, text in self.messages if role == "user"), "")

    @property
    def joint_scores(self) -> dict[str, int]:
        """The score that a whole answer gives each criterion, in order; nothing where the call is not a joint one."""
        asked = json.loads(self.body)
        schema = asked.get("format") or (asked.get("response_format") or {}).get("json_schema", {}).get("schema", {})
        parts = {name: part["properties"] for name, part in schema.get("properties", {}).items() if "properties" in part}
        scores = {name: part["score"].get("anyOf", [part["score"]])[0] for name, part in parts.items()}
        return {
            name: joint_score(self.model, self.system, self.user, name, score["minimum"], score["maximum"])
            for name, score in scores.items()
        }

    @property
    def score(self) -> int:
        """The score that a whole answer to this call gives."""
        return true_score(self.model, self.system, self.user)


def answer_text(call: Call) -> tuple[str, str]:
    """The text of an answer, faulty where the call's fault says so, and why it ended."""
    if call.fault.startswith(SAYS):
        end, _, text = call.fault.removeprefix(SAYS).partition(":")
        return text, end
    if not call.asks_verdict:
        return true_answer(call.model, call.user), "stop"
    if call.joint_scores:
        return joint_text(call)
    score = call.score
    whole = json.dumps({"score": score, "explanation": f"Reason {score} from {call.model}.", "evidence_extracts": [call.model]})
    other = json.dumps({"score": (score + 1) % 6, "explanation": "another"})
    match call.fault:
        case "cut":
            return whole[: len(whole) // 2], "length"
        case "cut_early":
            return whole[: len('{"score":')], "length"
        case "fenced":
            return f"Here it is:\n```json\n{whole}\n```\n", "stop"
        case "prose":
            return f"I would give this answer {score} out of 5, since it is kind.", "stop"
        case "two":
            return f"{whole}\n{other}", "stop"
        case "outside":
            return json.dumps({"score": 17, "explanation": "far too good"}), "stop"
        case _:
            return whole, "stop"


def joint_text(call: Call) -> tuple[str, str]:
    """The text of a joint answer, faulty where the call's fault says so, and why it ended."""
    answer = joint_answer(call)
    first = next(iter(call.joint_scores))
    whole = json.dumps(answer)
    match call.fault:
        case "cut":
            return whole[: whole.index('"feedback"') + 20], "length"
        case "cut_early":
            return whole[: len('{"')], "length"
        case "fenced":
            return f"Here it is:\n```json\n{whole}\n```\n", "stop"
        case "prose":
            return "I would give this answer good marks, since it is kind.", "stop"
        case "two":
            return f"{whole}\n{json.dumps(answer | {first: {'score': call.joint_scores[first] ^ 1}})}", "stop"
        case "outside":
            return json.dumps(answer | {first: {"score": 17, "explanation": "far too good"}}), "stop"
        case "missing":
            return json.dumps({name: value for name, value in answer.items() if name != first}), "stop"
        case "flat":
            return json.dumps(answer | call.joint_scores), "stop"
        case _:
            return whole, "stop"


def joint_answer(call: Call) -> dict[str, Any]:
    """A whole joint answer."""
    verdicts: dict[str, Any] = {
        name: {"explanation": f"Reason {score} of {name} from {call.model}.", "score": score, "evidence_extracts": [call.model]}
        for name, score in call.joint_scores.items()
    }
    remarks = {"strengths": ["short"], "weaknesses": ["vague"], "suggestions": ["cite the article"]}
    return {**verdicts, "feedback": f"{call.model} has read it.", **remarks}


LIKELY = 0.75
"""The probability of each digit that this server writes; the rest is that of the next one."""


def log_probabilities(text: str) -> list[dict[str, Any]]:
    """The tokens of a text, each digit one of its own, with what is likely at each place."""

    def token(text: str, likely: float) -> dict[str, Any]:
        return {"token": text, "logprob": math.log(likely), "bytes": list(text.encode())}

    def place(text: str) -> dict[str, Any]:
        if not text.isdigit():
            return {**token(text, 1.0), "top_logprobs": [token(text, 1.0)]}
        other = str((int(text) + 1) % 6)
        return {**token(text, LIKELY), "top_logprobs": [token(text, LIKELY), token(other, 1.0 - LIKELY)]}

    return [place(part) for part in re.findall(r"[0-9]|[^0-9]+", text)]


def reply_to(call: Call, text: str, finish_reason: str, prompt_tokens: int) -> dict[str, Any]:
    """The reply of the protocol that the call came by, with log-probabilities where it asks for them."""
    tokens = log_probabilities(text) if json.loads(call.body).get("logprobs") else None
    completion_tokens = max(1, len(text) // 4)
    message = {"role": "assistant", "content": text}
    if call.path == "/api/chat":
        counts = {"prompt_eval_count": prompt_tokens, "eval_count": completion_tokens}
        return {
            "model": call.model,
            "created_at": MOMENT,
            "message": message,
            "done": True,
            "done_reason": finish_reason,
            **({"logprobs": tokens} if tokens is not None else {}),
            **counts,
        }
    usage = {"prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens}
    choice = {"index": 0, "message": message, "finish_reason": finish_reason}
    choice |= {"logprobs": {"content": tokens}} if tokens is not None else {}
    return {"id": "chatcmpl-1", "object": "chat.completion", "model": call.model, "choices": [choice], "usage": usage}


def digest(model: str) -> str:
    """What identifies a model's weights."""
    return hashlib.sha256(model.encode()).hexdigest()


def draw(body: bytes, nth: int, what: str) -> float:
    """A number in [0, 1) that depends on nothing else."""
    number = hashlib.blake2b(body + f"\0{nth}\0{what}".encode(), digest_size=8).digest()
    return int.from_bytes(number, "big") / 2**64
