"""Selection of the target from the suite or the user."""

from areopage.bench.spec import Target
from areopage.bench.target_prompts import Mode
from areopage.jury.options import price_of, typed_reference
from areopage.models.reference import ModelReference
from areopage.suites.loader import Suite


def choose_target(suite: Suite, wanted: str | None, mode: Mode) -> Target | None:
    """Return the named target, else the suite's first enabled model, else None.

    Raises:
        ModelError: the name is not a reference.
    """
    system_prompt = getattr(suite.config.test_modes, mode).system_prompt
    for section in suite.config.models:
        reference = ModelReference.parse(section.model, default_provider=section.provider)
        if (wanted is None and section.enabled) or wanted == str(reference):
            return Target(
                reference=reference,
                options=dict(section.options),
                single_prompt=section.single_prompt,
                system_prompt=system_prompt,
                price=price_of(section.price),
            )
    return Target(reference=typed_reference(wanted), system_prompt=system_prompt) if wanted is not None else None
