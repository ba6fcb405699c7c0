"""Read the rotary settings of a Hugging Face model, old or new spelling.

The scalings are those of `modeling_rope_utils.py` in transformers; YaRN is of
Peng et al. 2023, "YaRN: Efficient context window extension".
"""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .frequencies import BASE, geometric
from .report import plain
from .settings import number, shown

OLD_LEN = "original_max_position_embeddings"
# What changes more than the angles of a position, and is not looked at.
NOT_LOOKED_AT = (
    "mrope_section",
    "mrope_interleaved",
    "mscale_all_dim",
    "llama_4_scaling_beta",
    "attn_temperature_tuning",
    "no_rope_layers",
)


class RotarySettings(NamedTuple):
    """What a config asks of a rotary function."""

    width: int  # of a head
    columns: int  # how many of them turn
    base: float
    scaling: str  # one of `SCALINGS`
    factor: float  # of the scaling
    frequencies: np.ndarray  # of each pair that turns
    length: float  # by which vectors are stretched: YaRN's attention factor
    max_len: int | None
    given: dict  # the settings that were read, to change one of them
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Say which angles the config asks for."""
        some = [plain(each, 4) for each in self.frequencies]
        some[3:-1] = ["..."] * (len(some) > 4)
        part, is_scaled = self.columns < self.width, self.scaling != "default"
        said = [
            (True, f"base {plain(self.base)}"),
            (part, f"{self.columns} of {self.width} columns"),
            (is_scaled, self.scaling),
            (self.factor != 1, f"by {plain(self.factor)}"),
            (self.length != 1, f"lengths by {plain(self.length)}"),
            (True, f"radians per position {', '.join(some)}"),
        ]
        return ", ".join(words for is_so, words in said if is_so)

    @property
    def layout(self) -> str:
        """Name how pairs are laid out, if they are no neighbors."""
        if self.columns == self.width:
            return "half"
        if self.scaling == "proportional":
            return "half of the head"
        return "half of the part"

    def but(self, **changes) -> "RotarySettings":
        """Return what it would ask for with some settings changed."""
        given = self.given | changes
        pairs = self.columns // 2
        return of_settings(given, self.width, pairs, self.max_len)


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
        ValueError: If something is missing, or of no use, by its name and
            the file's; or if the scaling is unknown.
    """
    if not isinstance(config, str | Path):
        return of_config(config, layers, width)
    try:
        text = Path(config).read_text(encoding="utf-8")
        # A whole number of 400 digits is no float: here it is infinity.
        read = json.loads(
            text, parse_int=lambda x: int(x) if len(x) < 300 else math.inf
        )
        return of_config(read, layers, width)
    except json.JSONDecodeError as error:
        raise ValueError(f"{config}: no JSON: {error}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{config}: no text in UTF-8") from None
    except ValueError as error:
        raise ValueError(f"{config}: {error}") from None


def of_config(
    config: object, layers: str, width: int | None
) -> RotarySettings:
    """Return what a config asks for; see `read_config`."""
    if not isinstance(config, dict):
        raise ValueError(f"the config is no JSON object: {shown(config)}")
    if isinstance(config.get("text_config"), dict):  # it reads pictures, too
        config = config | config["text_config"]
    settings = chosen_set(rotary_sets(config), layers)
    if width is None:
        width = head_width(config)
    max_len = None
    if config.get("max_position_embeddings") is not None:
        max_len = integer(config, "max_position_embeddings")
    if settings.get(OLD_LEN) is None and config.get(OLD_LEN) is not None:
        settings[OLD_LEN] = config[OLD_LEN]
    pairs = turning_pairs(config, settings, width)
    read = of_settings(settings, width, pairs, max_len)
    notes = [
        f"{name!r} changes more than the angles of a position; that was not"
        " looked at."
        for name in NOT_LOOKED_AT
        if settings.get(name) or config.get(name)
    ]
    return read._replace(notes=tuple(notes))


def of_settings(
    settings: dict, width: int, pairs: int, max_len: int | None
) -> RotarySettings:
    """Return what one set of rotary settings asks for."""
    scaling = settings.get("rope_type") or settings.get("type") or "default"
    if not isinstance(scaling, str) or scaling not in SCALINGS:
        known = ", ".join(SCALINGS)
        raise ValueError(
            f"unknown scaling {shown(scaling)}; known are {known}"
        )
    base = positive(settings, "rope_theta", BASE)
    if base <= 1:
        raise ValueError(f"rope_theta={base}: give a number above 1")
    settings = dict(settings)
    if scaling in ("llama3", "yarn"):
        if settings.get(OLD_LEN) is None:
            settings[OLD_LEN] = max_len  # or else it is missing
        if scaling == "yarn" and settings.get("factor") is None and max_len:
            settings["factor"] = max_len / positive(settings, OLD_LEN)
    steps = width / 2 if scaling == "proportional" else pairs
    usual = geometric(base, pairs, steps)
    is_scaled = scaling != "default"
    return RotarySettings(
        width,
        columns=2 * pairs,
        base=base,
        scaling=scaling,
        factor=positive(settings, "factor", 1.0) if is_scaled else 1.0,
        frequencies=SCALINGS[scaling](usual, base, settings),
        length=yarn_length(settings) if scaling == "yarn" else 1.0,
        max_len=max_len,
        given=settings,
    )


def positive(settings: dict, name: str, default: float | None = None) -> float:
    """Return a number above 0, or raise an error that names it."""
    value = settings.get(name)
    if value is None:
        if default is None:
            raise ValueError(f"{name!r} of the scaling is missing")
        return default
    read = number(value)
    if not 0 < read < math.inf:
        raise ValueError(f"{name}={shown(value)}: give a number above 0")
    return read


def integer(settings: dict, name: str) -> int:
    """Return a whole number above 0, or raise an error that names it."""
    read = positive(settings, name)
    if read != round(read):
        value = shown(settings[name])
        raise ValueError(f"{name}={value}: give a whole number")
    return int(read)


def rotary_sets(config: dict) -> dict[str, dict]:
    """Return a model's sets of rotary settings by their layers' names."""
    usual = {
        "rope_theta": config.get("rope_theta", config.get("rotary_emb_base")),
        "partial_rotary_factor": config.get(
            "partial_rotary_factor", config.get("rotary_pct")
        ),
    }
    new = table_of(config, "rope_parameters")
    if new:
        sets = {k: v for k, v in new.items() if isinstance(v, dict)}
        return {k: usual | v for k, v in (sets or {"": new}).items()}
    scaling = table_of(config, "rope_scaling")
    local = config.get("rope_local_base_freq", config.get("local_rope_theta"))
    if local is None:
        return {"": usual | scaling}
    if "global_rope_theta" in config:
        usual["rope_theta"] = config["global_rope_theta"]
    return {
        "full_attention": usual | scaling,
        "sliding_attention": usual | {"rope_theta": local},
    }


def table_of(config: dict, name: str) -> dict:
    """Return the settings under a name, or none."""
    value = config.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ValueError(f"{name}={shown(value)}: give an object of settings")
    return value


def chosen_set(sets: dict[str, dict], layers: str) -> dict:
    """Return the set of some layers, or the only one."""
    names = "; ".join(sets)
    if layers and list(sets) == [""]:
        raise ValueError(f"layers={layers!r}: the config has only one set")
    if layers and layers not in sets:
        raise ValueError(f"layers={layers!r}: give one of {names}")
    if not layers and len(sets) > 1:
        raise ValueError(
            f"the config has several sets: give layers, of {names}"
        )
    return dict(sets[layers] if layers else next(iter(sets.values())))


def head_width(config: dict) -> int:
    """Return how many columns a head has, or its rotary part (DeepSeek)."""
    for name in ("qk_rope_head_dim", "head_dim"):
        if config.get(name) is not None:
            return integer(config, name)
    hidden = "n_embd" if config.get("hidden_size") is None else "hidden_size"
    heads = "num_attention_heads"
    heads = "n_head" if config.get(heads) is None else heads
    if config.get(hidden) is None or config.get(heads) is None:
        raise ValueError("the config gives no head_dim: give a width")
    return integer(config, hidden) // integer(config, heads)


def turning_pairs(config: dict, settings: dict, width: int) -> int:
    """Return how many pairs of columns turn."""
    if config.get("rotary_dim") is not None:
        columns = integer(config, "rotary_dim")
    else:
        columns = int(width * positive(settings, "partial_rotary_factor", 1.0))
    if not 2 <= columns <= width:
        turn = shown(columns)
        raise ValueError(f"{turn} of {width} columns should turn")
    return columns // 2


def llama3(usual: np.ndarray, base: float, settings: dict) -> np.ndarray:
    """Divide the frequencies of slow pairs, and some of those between."""
    slow = positive(settings, "low_freq_factor")
    fast = positive(settings, "high_freq_factor")
    turns = positive(settings, OLD_LEN) * usual / (2 * np.pi)
    if fast == slow:
        kept = (turns > fast).astype(float)
    else:
        kept = np.clip((turns - slow) / (fast - slow), 0, 1)
    return usual * (kept + (1 - kept) / positive(settings, "factor"))


def yarn(usual: np.ndarray, base: float, settings: dict) -> np.ndarray:
    """Divide as llama3 does, but along the pairs' numbers."""
    pairs, old_len = len(usual), positive(settings, OLD_LEN)

    def pair_of(turns: float) -> float:
        """Return the pair that makes so many turns in the old length."""
        return pairs * math.log(old_len / (turns * 2 * np.pi)) / math.log(base)

    low = pair_of(positive(settings, "beta_fast", 32.0))
    high = pair_of(positive(settings, "beta_slow", 1.0))
    if settings.get("truncate", True):
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, 2 * pairs - 1)
    if low == high:  # a step; not a division by 0
        high += 0.001
    kept = 1 - np.clip((np.arange(pairs) - low) / (high - low), 0, 1)
    return usual * (kept + (1 - kept) / positive(settings, "factor"))


def yarn_length(settings: dict) -> float:
    """Return YaRN's attention factor, by which vectors are stretched."""
    factor = positive(settings, "factor")

    def stretch(weight: float) -> float:
        return 0.1 * weight * math.log(factor) + 1 if factor > 1 else 1.0

    if settings.get("attention_factor") is not None:
        return positive(settings, "attention_factor")
    if settings.get("mscale") and settings.get("mscale_all_dim"):
        one = stretch(positive(settings, "mscale"))
        return one / stretch(positive(settings, "mscale_all_dim"))
    return stretch(1)


# What becomes of the usual frequencies, by a base and other settings.
SCALINGS: dict[str, Callable[[np.ndarray, float, dict], np.ndarray]] = {
    "default": lambda usual, base, settings: usual,
    "linear": lambda usual, base, settings: (
        usual / positive(settings, "factor")
    ),
    "llama3": llama3,
    "yarn": yarn,
    "proportional": lambda usual, base, settings: (
        usual / positive(settings, "factor", 1.0)
    ),
}
