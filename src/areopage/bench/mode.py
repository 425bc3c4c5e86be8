"""How the target is prompted: with a neutral system message (`attack`), or with the guidance of a persona (`defensive`)."""

from typing import Literal

Mode = Literal["attack", "defensive"]
