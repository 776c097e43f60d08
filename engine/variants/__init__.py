"""The variants we play, each in a file of its own."""

from engine.variant import VARIANTS
from engine.variants.chess960 import CHESS960
from engine.variants.kings_cooking import KINGS_COOKING
from engine.variants.standard import STANDARD

for _variant in (STANDARD, CHESS960, KINGS_COOKING):
    VARIANTS[_variant.name] = _variant

__all__ = ["CHESS960", "KINGS_COOKING", "STANDARD", "VARIANTS"]
