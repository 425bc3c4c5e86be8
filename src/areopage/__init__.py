"""Areopage: juries of judges that say whether answers of a language model are safe, right and grounded.

found = await areopage.evaluate(prompt, response, documents)
decision = areopage.check_answer(prompt, response, documents)
view = areopage.run_benchmark("child_safety", target="ollama:gemma3:4b")

`__init__.pyi` lists the public interface; each name is imported when it is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
