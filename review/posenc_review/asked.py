"""What a rotary function is held to: a config, or the series it follows.

`read_config` reads the rotary settings of a Hugging Face model. The scalings
are those of `modeling_rope_utils.py` in transformers; YaRN is of Peng et al.
2023, "YaRN: Efficient context window extension". Without a config, `guess`
says which base the frequencies of all pairs follow.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .changes import EXACT, SLIPS
from .formula import geometric
from .measure import STEADY, Measured, Pairs
from .report import Finding, OutOfReachError, number, plain, shown

BASE = 10_000.0
USUAL_BASES = (BASE, 500_000.0, 1_000_000.0)
OLD_LEN = "original_max_position_embeddings"
PART = "partial_rotary_factor"
# Settings that are read, and those that leave angles as they are: of layouts,
# and of pictures. Others are refused.
KNOWN = (
    f"rope_parameters rope_scaling rope_type type rope_theta {PART}"
    " rope_local_base_freq rotary_pct rotary_dim rotary_emb_base factor"
    " low_freq_factor high_freq_factor beta_fast beta_slow truncate mscale"
    f" mscale_all_dim attention_factor {OLD_LEN} max_position_embeddings"
    " rope_interleave rope_interleaved mrope_section mrope_interleaved"
    " llama_4_scaling_beta"
).split()
# Settings that change how wide heads are, in ways that are not read here.
OTHER_WIDTHS = ("global_head_dim", "kv_channels", "attention_head_dim")
# Models whose code takes other columns or another order of pairs than their
# config says; seen in transformers 5.23.
OTHER_MODELS = ("embedding_gemma2", "eomt_dinov3", "ernie4_5_vl")
OTHER_MODELS += ("minimax_m3_vl", "musicflamingo")
INSTEAD = "give frequencies= and length= instead of a config"
POWERS = tuple(2.0**power for power in range(-1, 7))
# Settings that a function may have mistaken, and for which values.
OTHER_VALUES: dict[str, tuple] = {
    "rope_theta": USUAL_BASES,
    "factor": (*POWERS, 40.0),
    OLD_LEN: (*(2**k for k in range(9, 21)), *range(1000, 101_000, 1000)),
    "low_freq_factor": POWERS,
    "high_freq_factor": POWERS,
    "beta_fast": POWERS,
    "beta_slow": POWERS,
    "truncate": (True, False),
}
HIGHEST = 1e12  # a base that is higher makes no sense
NEARLY = 0.02  # a pair that misses a base by less was meant to follow it
FEW = 0.25  # of the pairs: so many may be wrong; more are of another kind
ROUGH = 1e-4  # a base that misses another by less, relatively, is that one


class RotarySettings(NamedTuple):
    """What a config asks of a rotary function."""

    width: int  # of a head
    scaling: str  # one of `SCALINGS`
    base: float
    frequencies: np.ndarray  # of each pair that turns
    length: float  # by which vectors are stretched: YaRN's attention factor
    max_len: int | None
    given: dict  # the settings that were read, to change one of them
    others: dict[str, dict]  # those of other layers, by their names

    @property
    def columns(self) -> int:
        """Return how many columns turn."""
        return 2 * len(self.frequencies)

    @property
    def convention(self) -> str:
        """Name base and scaling."""
        words = f"base {plain(self.base)}"
        if self.scaling != "default":
            factor = positive(self.given, "factor", default=1)
            words += f", {self.scaling} by {plain(factor)}"
        return words

    def __str__(self) -> str:
        """Say which angles the config asks for."""
        words = [self.convention]
        if self.columns < self.width:
            words.append(f"{self.columns} of {self.width} columns")
        if self.length != 1:
            words.append(f"lengths by {plain(self.length)}")
        words.append(f"radians per position {few(self.frequencies)}")
        return ", ".join(words)

    @property
    def layout(self) -> str:
        """Name how pairs are laid out, if they are no neighbors."""
        if self.columns == self.width:
            return "half"
        whole_head = self.scaling == "proportional"
        return "half of the head" if whole_head else "half of the part"


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
        ValueError: If something is missing, or of no use, or changes widths
            or frequencies in a way that is not read; by its name.
    """
    if isinstance(config, str | Path):
        config = json.loads(Path(config).read_text(encoding="utf-8"))
    if not isinstance(config, dict):
        raise ValueError(f"the config is no JSON object: {shown(config)}")
    kind = str(config.get("model_type", ""))
    if isinstance(config.get("text_config"), dict):  # it reads pictures, too
        config = config | config["text_config"]
    if kind.startswith(OTHER_MODELS):
        words = "turns other columns than its config says, or in another order"
        raise ValueError(f"{kind!r} {words}: {INSTEAD}")
    sets = rotary_sets(config)
    if not layers and len(sets) == 1:
        layers = next(iter(sets))
    if layers not in sets:
        known = "; ".join(filter(None, sets)) or "none: it has one set"
        raise ValueError(f"{layers=}: give one of {known}")
    settings = sets.pop(layers)
    refuse_unread(config, settings)
    width = width or head_width(config, settings)
    max_len = int(positive(config, "max_position_embeddings", default=0))
    part = positive(config, "rotary_dim", default=0) / width
    if part:
        settings = settings | {PART: part}
    read = of_set(settings, width, max_len or None)
    return read._replace(others=sets)


def of_set(settings: dict, width: int, max_len: int | None) -> RotarySettings:
    """Return what one set of rotary settings asks for."""
    scaling = settings.get("rope_type") or settings.get("type") or "default"
    if scaling == "mrope":  # as transformers reads it, for Qwen2-VL
        scaling = "default"
    if scaling not in SCALINGS:
        known = ", ".join(SCALINGS)
        words = f"unknown scaling {shown(scaling)}; known are {known}"
        raise ValueError(f"{words}. For others, {INSTEAD}")
    base = positive(settings, "rope_theta", default=BASE)
    if base <= 1:
        raise ValueError(f"rope_theta={base}: give a number above 1")
    columns = round(width * positive(settings, PART, default=1), 6) // 2 * 2
    if not 2 <= columns <= width:
        raise ValueError(f"{columns:g} of {width} columns should turn")
    settings = dict(settings)
    if settings.get(OLD_LEN) is None:
        settings[OLD_LEN] = max_len
    if scaling == "yarn" and settings.get("factor") is None and max_len:
        settings["factor"] = max_len / positive(settings, OLD_LEN)
    steps = width / 2 if scaling == "proportional" else columns / 2
    usual = geometric(base, int(columns) // 2, steps)
    rates = SCALINGS[scaling](usual, settings)
    length = yarn_length(settings) if scaling == "yarn" else 1.0
    return RotarySettings(
        width, scaling, base, rates, length, max_len, settings, {}
    )


def positive(
    settings: dict, *names: str, default: float | None = None
) -> float:
    """Return the first number that is given; it has to be above 0."""
    for name in names:
        value = settings.get(name)
        if value is not None:
            if not number(value) > 0:
                raise ValueError(f"{name}={shown(value)}: give a number > 0")
            return float(value)
    if default is None:
        raise ValueError(f"{names[0]!r} is missing in the config")
    return default


def rotary_sets(config: dict) -> dict[str, dict]:
    """Return a model's sets of rotary settings by their layers' names."""
    usual = {OLD_LEN: config.get(OLD_LEN)}
    for name, old_name in (
        ("rope_theta", "rotary_emb_base"),
        (PART, "rotary_pct"),
    ):
        value = config.get(name)
        usual[name] = config.get(old_name) if value is None else value
    # As in transformers, the old name wins where both are given.
    name = "rope_scaling" if config.get("rope_scaling") else "rope_parameters"
    own = config.get(name) or {}
    if not isinstance(own, dict):
        raise ValueError(f"{name}={shown(own)}: give an object of settings")
    sets = {name: of for name, of in own.items() if isinstance(of, dict)}
    usual |= {name: of for name, of in own.items() if name not in sets}
    local = config.get("rope_local_base_freq")
    if not sets and local is not None:
        usual_type = {"rope_type": "default", "rope_theta": local}
        sets = {"full_attention": {}, "sliding_attention": usual_type}
    return {name: usual | of for name, of in (sets or {"": {}}).items()}


def refuse_unread(config: dict, settings: dict) -> None:
    """Raise an error for settings that change angles, and are not read."""
    named = ("rope", "rotary", "mrope", "global_rope", "local_rope")
    names = [name for name in config if name.startswith(named)]
    for name in [*names, *settings]:
        if name not in KNOWN and settings.get(name, config.get(name)):
            raise ValueError(f"{name!r} is not read: {INSTEAD}")
    if config.get("qk_rope_head_dim") and (settings.get(PART) or 1) != 1:
        words = "'qk_rope_head_dim' and a partial rotary factor: which columns"
        raise ValueError(f"{words} turn is not read; {INSTEAD}")


def head_width(config: dict, settings: dict) -> int:
    """Return how many columns a head has, or its rotary part (DeepSeek)."""
    other = [name for name in OTHER_WIDTHS if config.get(name)]
    if settings.get("rope_type") == "proportional" and not other:
        other = [f"{OTHER_WIDTHS[0]} (by default, 512)"]
    if other:
        raise ValueError(f"{other[0]} may be the heads' width: give a width")
    own = positive(config, "qk_rope_head_dim", "head_dim", default=0)
    hidden = positive(config, "hidden_size", "n_embd", default=0)
    heads = positive(config, "num_attention_heads", "n_head", default=0)
    if not own and heads and not hidden % heads:
        own = hidden / heads
    if not own or own % 1:
        words = "no whole head_dim, nor heads that divide its columns"
        raise ValueError(f"the config gives {words}: give a width")
    return int(own)


# What becomes of the usual frequencies.


def linear(usual: np.ndarray, settings: dict) -> np.ndarray:
    """Divide all frequencies."""
    return usual / positive(settings, "factor")


def proportional(usual: np.ndarray, settings: dict) -> np.ndarray:
    """Divide all frequencies, if a factor is given."""
    return usual / positive(settings, "factor", default=1)


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


SCALINGS: dict[str, Callable[[np.ndarray, dict], np.ndarray]] = {
    "default": lambda usual, settings: usual,
    "linear": linear,
    "llama3": llama3,
    "yarn": yarn,
    "proportional": proportional,
}


# Which other frequencies a function may have taken.


def mistaken(config: RotarySettings) -> Iterator[tuple[Finding, np.ndarray]]:
    """Yield what else a config might be taken for, and the frequencies."""
    rates = config.frequencies
    usual = geometric(config.base, len(rates))
    if config.columns < config.width:
        words = "Exponents count the columns of the head, not of its part."
        of_head = geometric(config.base, len(rates), config.width / 2)
        yield Finding("scaling", words), of_head
    for words, settings in other_settings(config):
        try:
            other = of_set(settings, config.width, config.max_len)
        except ValueError:  # a setting of that scaling is missing
            continue
        finding = Finding("scaling", f"The frequencies are those of {words}.")
        yield finding, other.frequencies
    for words, other in (
        ("Frequencies are multiplied by the factor.", usual**2 / rates),
        ("Frequencies are divided by the factor twice.", rates**2 / usual),
        (
            "Fast pairs are divided by the factor, and slow ones are kept.",
            usual * (1 + (rates / usual).min()) - rates,
        ),
    ):
        yield Finding("scaling", words), other


def other_settings(config: RotarySettings) -> Iterator[tuple[str, dict]]:
    """Yield settings that may have been taken for those of a config."""
    given = config.given | {"rope_type": config.scaling}
    for name, settings in config.others.items():
        yield f"the other layers, {name}", settings
    if config.scaling == "yarn":
        both = {"beta_fast": None, "beta_slow": None}
        yield "the defaults of beta_fast and beta_slow", given | both
    for name, others in (
        {"rope_type": tuple(SCALINGS)} | OTHER_VALUES
    ).items():
        asked = given.get(name)
        due = "its default" if asked is None else asked
        for value in others:
            if value != asked:
                words = f"{name} {value}, where the config asks for {due}"
                yield words, given | {name: value}
    words = f"base {plain(BASE)}, without scaling: rope_theta is not read"
    default = {"rope_type": "default", "rope_theta": BASE}
    yield f"{words} either", given | default


def slips(
    base: float, pairs: int, seen: Measured
) -> Iterator[tuple[Finding, np.ndarray]]:
    """Yield which other base might be used, and the frequencies."""
    others = dict.fromkeys(USUAL_BASES, "")
    others[BASE] = f": {plain(BASE)} is the usual default"
    for cause, slip in SLIPS.items() if pairs > 1 else ():
        others[float(slip(base, 2 * pairs))] = f": it suggests {cause}"
    found, factor = fitted(seen, pairs) or (base, 1)
    if factor == 1:
        others.setdefault(found, "")
    for other, hint in others.items():
        if abs(other / base - 1) > ROUGH:
            words = f"The base is {plain(other)}, where {plain(base)} is asked"
            finding = Finding("base", f"{words} for{hint}.")
            yield finding, geometric(other, pairs)


# Without a config: which base the frequencies follow.


class Series(NamedTuple):
    """What the frequencies of all pairs follow."""

    frequencies: np.ndarray
    words: str = ""  # for the convention
    doubt: np.ndarray | float = 0.0  # of frequencies that are as measured
    notes: tuple[str, ...] = ()


def usual_series(bases: Iterable[float], pairs: Pairs) -> list[Series]:
    """Return the series of some bases.

    Where only a part of the columns turns, exponents may count all of them.
    """
    count, every = len(pairs.columns), []
    for base in bases:
        words = f"base {plain(base)}"
        every.append(Series(geometric(base, count), words))
        if pairs.rest.size:
            rates = geometric(base, count, pairs.width // 2)
            every.append(Series(rates, f"exponents of the head, {words}"))
    return every


def guess(seen: Measured, pairs: Pairs) -> list[Series]:
    """Return the series that the frequencies of all pairs may follow.

    That is one that they follow; or else those of the usual bases, the
    likeliest first, so that `explain` may say how they miss it.
    """
    count = len(seen.frequencies)
    if count == 1:
        words = f"{plain(seen.frequencies[0])} radians per position"
        return [
            Series(np.ones(1), "1 radian per position"),
            Series(seen.frequencies, words, seen.spread),
        ]
    usual = usual_series(USUAL_BASES, pairs)
    usual.sort(key=lambda series: misses(seen, series.frequencies).sum())
    if not seen.even or not misses(seen, usual[0].frequencies).any():
        return usual
    found = fitted(seen, count)
    if not found:
        return usual
    base, factor = found
    words = f"base {plain(base)}"
    words += f", linear by {plain(factor)}" if factor != 1 else ""
    notes = [
        f"base {plain(base)} suggests {cause} of {plain(other)}."
        for cause, slip in SLIPS.items()
        for other in USUAL_BASES
        if abs(base / slip(other, 2 * count) - 1) <= ROUGH
    ]
    rates = geometric(base, count) / factor
    return [Series(rates, words, seen.spread / 4, tuple(notes)), *usual]


def misses(
    seen: Measured, due: np.ndarray, loose: float = EXACT
) -> np.ndarray:
    """Tell which pairs have other frequencies than those of a series.

    Whole turns are not seen, and pairs that stand still are left out.
    """
    off = np.abs(np.angle(np.exp(1j * (seen.frequencies - due))))
    return (off > seen.spread + loose * np.abs(due)) & (seen.frequencies != 0)


def fitted(seen: Measured, pairs: int) -> tuple[float, float] | None:
    """Return a base that all pairs follow, and what divides all of them.

    Degrees for radians, and angles that are multiplied or divided by 2 pi,
    are slips and no divided positions: `explain` names them.
    """
    rates = seen.frequencies
    if pairs < 2 or rates.min() <= 0:
        return None
    weights = rates / (seen.spread + EXACT * rates)
    slope, start = np.polyfit(np.arange(pairs), np.log(rates), 1, w=weights)
    base, factor = float(np.exp(-slope * pairs)), float(np.exp(-start))
    slips = np.array([180 / np.pi, 2 * np.pi])
    slipped = np.abs(factor / slips - 1) < 1e-3  # 16 bits tell no more
    if not 1 < base < HIGHEST or factor < 1 - EXACT or slipped.any():
        return None
    # Round numbers first, where a fit cannot tell them from others.
    for some in roundest(base, 1e-5), base:
        for by in roundest(factor, ROUGH), factor:
            if not misses(seen, geometric(some, pairs) / by, 4 * EXACT).any():
                return some, by
    return None


def roundest(number: float, spread: float) -> float:
    """Return the number of four digits near another, or that other."""
    short = float(f"{number:.3e}")
    return short if abs(short - number) <= spread * number else number


def refuse(seen: Measured, usual: Series) -> None:
    """Raise an error for frequencies that follow nothing that is known.

    If only a few pairs miss the likeliest base, these are wrong instead.
    """
    rates = np.abs(seen.frequencies)
    others = np.abs(rates / usual.frequencies - 1) > NEARLY
    if not seen.even or others.mean() < FEW:
        return
    length = float(np.median(seen.length))
    words = "Frequencies follow no single base and no known scaling:"
    words += f" {few(rates)} radians per position"
    if abs(length - 1) > STEADY:
        words += f"; lengths change by {plain(length, 4)}"
    raise OutOfReachError(
        f"{words}. Two axes, longrope and others are not reviewed without"
        " being told what is meant: give config=, base=, or frequencies= (and"
        " length=)."
    )


def few(rates: np.ndarray) -> str:
    """Write the first frequencies and the last."""
    words = [plain(rate, 4) for rate in rates]
    if len(words) > 4:
        words[3:-1] = ["..."]
    return ", ".join(words)
