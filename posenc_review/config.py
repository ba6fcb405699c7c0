"""Read the rotary settings of a Hugging Face model, old or new spelling.

The scalings are those of `modeling_rope_utils.py` in transformers; YaRN is of
Peng et al. 2023, "YaRN: Efficient context window extension".
"""

import json
import math
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .report import choices, plain
from .waves import speeds_of

BASE = 10_000.0  # where a config names none


class RotarySettings(NamedTuple):
    """What a config asks of a rotary function."""

    width: int
    columns: int  # how many of them turn
    base: float
    scaling: str  # default, linear, llama3, yarn or proportional
    factor: float  # of the scaling
    speeds: np.ndarray  # of each pair that turns
    length: float  # by which vectors are stretched: YaRN's attention factor
    max_len: int | None

    def __str__(self) -> str:
        """Say which angles the config asks for."""
        said = [f"base {plain(self.base)}"]
        if self.columns < self.width:
            said.append(f"{self.columns} of {self.width} columns")
        if self.scaling != "default":
            said.append(self.scaling)
        if self.factor != 1:
            said.append(f"by {plain(self.factor)}")
        if self.length != 1:
            said.append(f"lengths by {plain(self.length)}")
        some = [plain(speed, 4) for speed in self.speeds]
        if len(some) > 4:
            some[3:-1] = ["..."]
        said.append(f"radians per position {', '.join(some)}")
        return ", ".join(said)


def read_config(
    config: str | Path | dict, layers: str = "", width: int | None = None
) -> RotarySettings:
    """Read the rotary settings out of a `config.json`.

    Args:
        config: The file, or what it holds.
        layers: Whose settings to take, where a model has several sets.
        width: Of a head; else the config says it.

    Raises:
        OSError: If there is no such file.
        ValueError: If something is missing, or of no use, by its name; or
            if the scaling is unknown.
    """
    if not isinstance(config, dict):
        config = json.loads(Path(config).read_text(encoding="utf-8"))
    if not isinstance(config, dict):
        raise ValueError(f"the config is no JSON object, but {config!r}")
    if isinstance(config.get("text_config"), dict):  # it reads pictures, too
        config = config | config["text_config"]
    settings = chosen_set(rotary_sets(config), layers)
    if width is None:
        width = head_width(config)
    scaling = settings.get("rope_type") or settings.get("type") or "default"
    if scaling not in SCALINGS:
        known = ", ".join(SCALINGS)
        raise ValueError(f"unknown scaling {scaling!r}; known are {known}")
    pairs = turning_pairs(config, settings, width)
    base = number(settings, "rope_theta", BASE)
    if base <= 1:
        raise ValueError(f"rope_theta={base}: give a number above 1")
    steps = width / 2 if scaling == "proportional" else pairs
    plan = speeds_of(base, pairs, steps)
    max_len = None
    if config.get("max_position_embeddings") is not None:
        max_len = int(number(config, "max_position_embeddings"))
    old_len, name = max_len, "original_max_position_embeddings"
    for source in (settings, config):
        if source.get(name) is not None:
            old_len = number(source, name)
    if scaling in ("llama3", "yarn") and old_len is None:
        raise ValueError(f"{name} is missing")
    if settings.get("factor") is None and scaling == "yarn" and max_len:
        settings["factor"] = max_len / old_len
    factor = number(settings, "factor", 1.0)
    speeds, length = SCALINGS[scaling](plan, base, settings, old_len)
    return RotarySettings(
        width, 2 * pairs, base, scaling, factor, speeds, length, max_len
    )


def number(settings: dict, name: str, default: float | None = None) -> float:
    """Return a number above 0, or raise an error that names it."""
    value = settings.get(name, default)
    if value is None and default is not None:
        return default
    if value is None:
        raise ValueError(f"{name!r} of the scaling is missing")
    try:
        read = float(value)
    except (TypeError, ValueError):
        read = math.nan
    if not 0 < read < math.inf:
        raise ValueError(f"{name}={value!r}: give a number above 0")
    return read


def rotary_sets(config: dict) -> dict[str, dict]:
    """Return a model's sets of rotary settings by their layers' names."""
    usual = {
        "rope_theta": config.get("rope_theta", config.get("rotary_emb_base")),
        "partial_rotary_factor": config.get(
            "partial_rotary_factor", config.get("rotary_pct")
        ),
    }
    new = config.get("rope_parameters")
    if new:
        sets = {k: v for k, v in new.items() if isinstance(v, dict)}
        return {k: usual | v for k, v in (sets or {"": new}).items()}
    scaling = config.get("rope_scaling") or {}
    local = config.get("rope_local_base_freq", config.get("local_rope_theta"))
    if local is None:
        return {"": usual | scaling}
    if "global_rope_theta" in config:
        usual["rope_theta"] = config["global_rope_theta"]
    return {
        "full_attention": usual | scaling,
        "sliding_attention": usual | {"rope_theta": local},
    }


def chosen_set(sets: dict[str, dict], layers: str) -> dict:
    """Return the set of some layers, or the only one."""
    if layers in sets:
        return dict(sets[layers])
    if layers and list(sets) == [""]:
        raise ValueError(f"layers={layers!r}: the config has only one set")
    if layers:
        raise ValueError(f"layers={layers!r}: give one of {choices(sets)}")
    if len(sets) == 1:
        (only,) = sets.values()
        return dict(only)
    raise ValueError(
        f"the config has several sets: give layers, of {choices(sets)}"
    )


def head_width(config: dict) -> int:
    """Return how many columns a head has, or its rotary part (DeepSeek)."""
    for name in ("qk_rope_head_dim", "head_dim"):
        if config.get(name) is not None:
            return int(number(config, name))
    sizes = []
    for names in (
        ("hidden_size", "n_embd"),
        ("num_attention_heads", "n_head"),
    ):
        given = [name for name in names if config.get(name) is not None]
        if not given:
            raise ValueError("the config gives no head_dim: give a width")
        sizes.append(int(number(config, given[0])))
    return sizes[0] // sizes[1]


def turning_pairs(config: dict, settings: dict, width: int) -> int:
    """Return how many pairs of columns turn."""
    if config.get("rotary_dim") is not None:  # GPT-J's spelling
        columns = number(config, "rotary_dim")
    else:
        columns = width * number(settings, "partial_rotary_factor", 1.0)
    if not 2 <= columns <= width:
        raise ValueError(f"{columns:g} of {width} columns should turn")
    return int(columns) // 2


def no_scaling(plan, base, settings, old_len) -> tuple[np.ndarray, float]:
    """Leave the speeds as the base has them."""
    return plan, 1.0


def linear(plan, base, settings, old_len) -> tuple[np.ndarray, float]:
    """Divide all speeds, and so the positions, by the factor."""
    return plan / number(settings, "factor"), 1.0


def proportional(plan, base, settings, old_len) -> tuple[np.ndarray, float]:
    """Divide the speeds if there is a factor; exponents count the head."""
    return plan / number(settings, "factor", 1.0), 1.0


def llama3(plan, base, settings, old_len) -> tuple[np.ndarray, float]:
    """Divide the speeds of slow pairs, and some of those between."""
    slow = number(settings, "low_freq_factor")
    fast = number(settings, "high_freq_factor")
    turns = old_len * plan / (2 * np.pi)  # in the length of training
    kept = np.clip((turns - slow) / (fast - slow), 0, 1)
    return plan * (kept + (1 - kept) / number(settings, "factor")), 1.0


def yarn(plan, base, settings, old_len) -> tuple[np.ndarray, float]:
    """Divide as llama3 does, but along the pairs' numbers; and stretch."""
    factor = number(settings, "factor")
    pairs = len(plan)

    def pair_of(turns: float) -> float:
        """Return the pair that makes so many turns in the old length."""
        return pairs * math.log(old_len / (turns * 2 * np.pi)) / math.log(base)

    low = pair_of(number(settings, "beta_fast", 32.0))
    high = pair_of(number(settings, "beta_slow", 1.0))
    if settings.get("truncate", True):
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, 2 * pairs - 1)
    if low == high:  # a step; not a division by 0
        high += 0.001
    kept = 1 - np.clip((np.arange(pairs) - low) / (high - low), 0, 1)
    return plan * (kept + (1 - kept) / factor), yarn_length(factor, settings)


def yarn_length(factor: float, settings: dict) -> float:
    """Return YaRN's attention factor."""

    def stretch(weight: float) -> float:
        return 0.1 * weight * math.log(factor) + 1 if factor > 1 else 1.0

    if settings.get("attention_factor") is not None:
        return number(settings, "attention_factor")
    if settings.get("mscale") and settings.get("mscale_all_dim"):
        one = stretch(number(settings, "mscale"))
        return one / stretch(number(settings, "mscale_all_dim"))
    return stretch(1)


SCALINGS = {
    "default": no_scaling,
    "linear": linear,
    "llama3": llama3,
    "yarn": yarn,
    "proportional": proportional,
}
