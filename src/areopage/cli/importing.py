"""Imports beside other imports."""

from contextlib import suppress
from importlib import import_module
from threading import Thread

CLIENT = "aiohttp"
"""The client of the models' servers. Its import reads the certificates of the system, outside of Python, in 0.04 s."""


def import_beside(name: str) -> None:
    """Begin to import a module in a thread; a fault shows where the module is imported for use."""
    Thread(target=_import, args=[name], name=f"import {name}").start()


def _import(name: str) -> None:
    with suppress(ImportError):
        import_module(name)
