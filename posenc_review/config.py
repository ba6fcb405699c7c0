"""Read the rotary settings of a Hugging Face model, old or new spelling."""

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
        ValueError: If something is missing, or the scaling is unknown.
    """
    if not isinstance(config, dict):
        config = json.loads(Path(config).read_text(encoding="utf-8"))
    if isinstance(config.get("text_config"), dict):  # it reads pictures, too
        config = config | config["text_config"]
    settings = chosen_set(rotary_sets(config), layers)
    width = width or head_width(config)
    scaling = settings.get("rope_type") or settings.get("type") or "default"
    if scaling not in SCALINGS:
        known = ", ".join(SCALINGS)
        raise ValueError(f"unknown scaling {scaling!r}; known are {known}")
    pairs = turning_pairs(config, settings, width)
    base = float(settings.get("rope_theta") or BASE)
    steps = width / 2 if scaling == "proportional" else pairs
    plan = speeds_of(base, pairs, steps)
    old_len = (
        config.get("original_max_position_embeddings")
        or settings.get("original_max_position_embeddings")
        or config.get("max_position_embeddings")
    )
    max_len = config.get("max_position_embeddings")
    if scaling in ("llama3", "yarn") and not old_len:
        raise ValueError("original_max_position_embeddings is missing")
    if settings.get("factor") is None and scaling == "yarn" and max_len:
        settings["factor"] = max_len / old_len
    try:
        factor = float(settings.get("factor") or 1)
        speeds, length = SCALINGS[scaling](plan, base, settings, old_len)
    except KeyError as missing:
        raise ValueError(f"{missing} of the scaling is missing") from None
    return RotarySettings(
        width, 2 * pairs, base, scaling, factor, speeds, length, max_len
    )


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
        return dict(*sets.values())
    raise ValueError(
        f"the config has several sets: give layers, of {choices(sets)}"
    )


def head_width(config: dict) -> int:
    """Return how many columns a head has, or its rotary part (DeepSeek)."""
    for name in ("qk_rope_head_dim", "head_dim"):
        if config.get(name):
            return int(config[name])
    hidden = config.get("hidden_size") or config.get("n_embd")
    heads = config.get("num_attention_heads") or config.get("n_head")
    if hidden and heads:
        return int(hidden) // int(heads)
    raise ValueError("the config gives no head_dim: give a width")


def turning_pairs(config: dict, settings: dict, width: int) -> int:
    """Return how many pairs of columns turn."""
    columns = config.get("rotary_dim")  # GPT-J's spelling
    if columns is None:
        part = settings.get("partial_rotary_factor")
        columns = width * (1.0 if part is None else float(part))
    return int(columns) // 2


def no_scaling(plan, base, settings, old_len) -> tuple[np.ndarray, float]:
    """Leave the speeds as the base has them."""
    return plan, 1.0


def linear(plan, base, settings, old_len) -> tuple[np.ndarray, float]:
    """Divide all speeds, and so the positions, by the factor."""
    return plan / float(settings["factor"]), 1.0


def proportional(plan, base, settings, old_len) -> tuple[np.ndarray, float]:
    """Divide the speeds if there is a factor; exponents count the head."""
    return plan / float(settings.get("factor") or 1), 1.0


def llama3(plan, base, settings, old_len) -> tuple[np.ndarray, float]:
    """Divide the speeds of slow pairs, and some of those between."""
    slow = float(settings["low_freq_factor"])
    fast = float(settings["high_freq_factor"])
    turns = old_len * plan / (2 * np.pi)  # in the length of training
    kept = np.clip((turns - slow) / (fast - slow), 0, 1)
    return plan * (kept + (1 - kept) / float(settings["factor"])), 1.0


def yarn(plan, base, settings, old_len) -> tuple[np.ndarray, float]:
    """Divide as llama3 does, but along the pairs' numbers; and stretch."""
    factor = float(settings["factor"])
    pairs = len(plan)

    def pair_of(turns: float) -> float:
        """Return the pair that makes so many turns in the old length."""
        return pairs * math.log(old_len / (turns * 2 * np.pi)) / math.log(base)

    low = pair_of(float(settings.get("beta_fast") or 32))
    high = pair_of(float(settings.get("beta_slow") or 1))
    if settings.get("truncate", True):
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, 2 * pairs - 1)
    high += 0.001 * (low == high)
    kept = 1 - np.clip((np.arange(pairs) - low) / (high - low), 0, 1)
    return plan * (kept + (1 - kept) / factor), yarn_length(factor, settings)


def yarn_length(factor: float, settings: dict) -> float:
    """Return YaRN's attention factor."""

    def stretch(weight: float) -> float:
        return 0.1 * weight * math.log(factor) + 1 if factor > 1 else 1.0

    if settings.get("attention_factor") is not None:
        return float(settings["attention_factor"])
    one, other = settings.get("mscale"), settings.get("mscale_all_dim")
    if one and other:
        return stretch(one) / stretch(other)
    return stretch(1)


SCALINGS = {
    "default": no_scaling,
    "linear": linear,
    "llama3": llama3,
    "yarn": yarn,
    "proportional": proportional,
}
