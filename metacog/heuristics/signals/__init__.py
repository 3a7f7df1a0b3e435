"""The signals of hesitation: a module each, with its SignalSpec, from which everything else about it follows.

The verdict's types, default weights, forms, titles, colors, the OpenAPI document and the table in docs/heuristics.md
are made from `SPECS`. Imports only `text` and `spec`, so that a policy may know of them.
"""

from importlib import import_module
from pkgutil import iter_modules

from .spec import Evidence, Signal, SignalSpec

__all__ = ["DEFAULTS", "SEED", "SPECS", "WEIGHTS", "Evidence", "Signal", "SignalSpec"]

_found = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
# By type, in the order in which they speak.
SPECS: dict[str, SignalSpec] = {
    spec.type: spec
    for spec in sorted((module.SPEC for module in _found if hasattr(module, "SPEC")), key=lambda spec: spec.order)
}
SEED = tuple(name for name, spec in SPECS.items() if "seed" in spec.profiles)
WEIGHTS = {name: spec.weight for name, spec in SPECS.items()}
# By profile, the weights of a policy that names none.
DEFAULTS = {
    "seed": WEIGHTS,
    "aware": {name: spec.weight if spec.weight_aware is None else spec.weight_aware for name, spec in SPECS.items()},
}
