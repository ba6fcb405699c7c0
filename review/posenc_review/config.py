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
from .settings import LARGE, number, shown

OLD_LEN = "original_max_position_embeddings"
# What is read of a config, and of a set of rotary settings in it.
READ = (
    "rope_theta rotary_emb_base partial_rotary_factor rotary_pct rotary_dim"
    " rope_parameters rope_scaling rope_local_base_freq rope_type type factor"
    " low_freq_factor high_freq_factor beta_fast beta_slow truncate mscale"
    f" attention_factor {OLD_LEN}"
).split()
MORE_THAN_ANGLES = (  # of a position, though it is not called rope
    "mscale_all_dim",
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
        if len(some) > 4:
            some[3:-1] = ["..."]
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
        return of_set(given, self.width, self.columns // 2, self.max_len)


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
    path = Path(config)
    if path.is_dir():  # as "" is
        found = str(config)
        raise ValueError(f"config={found!r}: give a config.json, not a folder")
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
        return of_config(read, layers, width)
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"{config}: no JSON: {error}") from None
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
    own, notes = head_width(config, width), []
    unread = not_read(config, settings)
    if unread:
        notes.append(f"settings of the config not looked at: {unread}.")
    if width not in (None, own):
        notes.append(f"the config's heads have {own} columns, not {width}.")
    width = width or own
    part = width * positive(settings, "partial_rotary_factor", default=1)
    columns = int(positive(config, "rotary_dim", default=part, whole=True))
    if not 2 <= columns <= width:
        raise ValueError(f"{columns} of {width} columns should turn")
    max_len = positive(
        config, "max_position_embeddings", default=0, whole=True
    )
    read = of_set(settings, width, columns // 2, int(max_len) or None)
    return read._replace(notes=tuple(notes))


def of_set(
    settings: dict, width: int, pairs: int, max_len: int | None
) -> RotarySettings:
    """Return what one set of rotary settings asks for."""
    scaling = settings.get("rope_type") or settings.get("type") or "default"
    if scaling == "mrope":  # as transformers reads it, for Qwen2-VL
        scaling = "default"
    if not isinstance(scaling, str) or scaling not in SCALINGS:
        known = ", ".join(SCALINGS)
        raise ValueError(
            f"unknown scaling {shown(scaling)}; known are {known}"
        )
    base = positive(settings, "rope_theta", default=BASE)
    if base <= 1:
        raise ValueError(f"rope_theta={base}: give a number above 1")
    settings = dict(settings)
    if scaling in ("llama3", "yarn") and settings.get(OLD_LEN) is None:
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
        factor=positive(settings, "factor", default=1.0) if is_scaled else 1.0,
        frequencies=SCALINGS[scaling](usual, settings),
        length=yarn_length(settings) if scaling == "yarn" else 1.0,
        max_len=max_len,
        given=settings,
    )


def given(settings: dict, *names: str) -> str:
    """Return the first of some spellings that is given, or else the first."""
    return next((x for x in names if settings.get(x) is not None), names[0])


def positive(
    settings: dict,
    *names: str,
    default: float | None = None,
    whole: bool = False,
) -> float:
    """Return a number above 0, or raise an error that names it."""
    name = given(settings, *names)
    value = settings.get(name)
    if value is None:
        if default is None:
            raise ValueError(f"{name!r} of the scaling is missing")
        return default
    read = number(value)
    if not 1 / LARGE < read < LARGE:
        raise ValueError(
            f"{name}={shown(value)}: give a number above 0, below 1e30"
        )
    if whole and read % 1:
        raise ValueError(f"{name}={shown(value)}: give a whole number")
    return read


def rotary_sets(config: dict) -> dict[str, dict]:
    """Return a model's sets of rotary settings by their layers' names."""
    bases = ("global_rope_theta", "rope_theta", "rotary_emb_base")
    parts = ("partial_rotary_factor", "rotary_pct")
    usual = {
        "rope_theta": config.get(given(config, *bases)),
        "partial_rotary_factor": config.get(given(config, *parts)),
        OLD_LEN: config.get(OLD_LEN),
    }
    # As in transformers, the old name wins where both are given.
    name = "rope_scaling" if config.get("rope_scaling") else "rope_parameters"
    own = config.get(name) or {}
    if not isinstance(own, dict):
        raise ValueError(f"{name}={shown(own)}: give an object of settings")
    sets = {k: usual | v for k, v in own.items() if isinstance(v, dict)}
    if sets:
        return sets
    local = given(config, "rope_local_base_freq", "local_rope_theta")
    if config.get(local) is None:
        return {"": usual | own}
    near = usual | {"rope_theta": config[local]}
    return {"full_attention": usual | own, "sliding_attention": near}


def chosen_set(sets: dict[str, dict], layers: str) -> dict:
    """Return the set of some layers, or the only one."""
    if not layers and len(sets) == 1:
        return next(iter(sets.values()))
    names = "; ".join(sets)
    if not layers:
        words = f"the config has several sets: give layers, of {names}"
        raise ValueError(words)
    if layers not in sets:
        choice = f"give one of {names}"
        words = choice if names else "the config has only one set"
        raise ValueError(f"{layers=}: {words}")
    return sets[layers]


def not_read(config: dict, settings: dict) -> str:
    """Name what asks for something rotary, and is not looked at."""
    names = []
    for name, value in (config | settings).items():
        called = name.startswith(("rope", "rotary", "mrope"))
        unknown = (called or name in settings) and name not in READ
        if value and (unknown or name in MORE_THAN_ANGLES):
            names.append(repr(name))
    return ", ".join(names)


def head_width(config: dict, width: int | None) -> int:
    """Return how many columns a head has, or its rotary part (DeepSeek)."""
    names = "qk_rope_head_dim", "head_dim"
    own = positive(config, *names, default=0, whole=True)
    if own:
        return int(own)
    hidden = positive(config, "hidden_size", "n_embd", default=0, whole=True)
    names = "num_attention_heads", "n_head"
    heads = positive(config, *names, default=0, whole=True)
    if hidden and heads and not hidden % heads:
        return int(hidden / heads)
    if width is None:
        words = "no head_dim, nor heads that divide its columns"
        raise ValueError(f"the config gives {words}: give a width")
    return width


def llama3(usual: np.ndarray, settings: dict) -> np.ndarray:
    """Divide the frequencies of slow pairs, and some of those between."""
    slow = positive(settings, "low_freq_factor")
    fast = positive(settings, "high_freq_factor")
    turns = positive(settings, OLD_LEN) * usual / (2 * np.pi)
    ramp = (fast - slow) or 1e-9  # a step; not a division by 0
    kept = np.clip((turns - slow) / ramp, 0, 1)
    return usual * (kept + (1 - kept) / positive(settings, "factor"))


def yarn(usual: np.ndarray, settings: dict) -> np.ndarray:
    """Divide as llama3 does, but along the pairs' numbers."""
    pairs, old_len = len(usual), positive(settings, OLD_LEN)
    base = positive(settings, "rope_theta", default=BASE)

    def pair_of(turns: float) -> float:
        """Return the pair that makes so many turns in the old length."""
        return pairs * math.log(old_len / (turns * 2 * np.pi)) / math.log(base)

    low = pair_of(positive(settings, "beta_fast", default=32.0))
    high = pair_of(positive(settings, "beta_slow", default=1.0))
    if settings.get("truncate", True):
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, 2 * pairs - 1)
    ramp = (high - low) or 0.001  # a step; not a division by 0
    kept = 1 - np.clip((np.arange(pairs) - low) / ramp, 0, 1)
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


# What becomes of the usual frequencies.
SCALINGS: dict[str, Callable[[np.ndarray, dict], np.ndarray]] = {
    "default": lambda usual, its: usual,
    "linear": lambda usual, its: usual / positive(its, "factor"),
    "llama3": llama3,
    "yarn": yarn,
    "proportional": lambda usual, its: (
        usual / positive(its, "factor", default=1)
    ),
}
