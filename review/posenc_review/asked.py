"""What a rotary function is held to: a config, or the series it follows.

`read_config` reads the rotary settings of a Hugging Face model, in their old
or new spelling. The scalings are those of `modeling_rope_utils.py` in
transformers; YaRN is of Peng et al. 2023, "YaRN: Efficient context window
extension". Without a config, `guess` says which series the frequencies of all
pairs follow.
"""

import json
import math
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .changes import SLIPS
from .formula import geometric
from .measure import Measured, Pairs
from .report import LARGE, Finding, OutOfReachError, number, plain, shown

BASE = 10_000.0
USUAL_BASES = (BASE, 500_000.0, 1_000_000.0)
OLD_LEN = "original_max_position_embeddings"
# Settings that change which columns of a head turn, in ways not read here.
OTHER_WIDTHS = ("global_head_dim", "kv_channels", "attention_head_dim")
# Models whose code takes other columns or another order of pairs than their
# config says; seen in transformers 5.23.
OTHER_MODELS = (
    "embedding_gemma2",
    "eomt_dinov3",
    "ernie4_5_vl",
    "minimax_m3_vl",
    "musicflamingo",
)
# What is read of a config, and of a set of rotary settings in it.
READ = (
    "rope_theta rotary_emb_base partial_rotary_factor rotary_pct rotary_dim"
    " rope_parameters rope_scaling rope_local_base_freq rope_type type factor"
    " low_freq_factor high_freq_factor beta_fast beta_slow truncate mscale"
    f" mscale_all_dim attention_factor {OLD_LEN}"
).split()
MORE_THAN_ANGLES = ("attn_temperature_tuning", "no_rope_layers")
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
EXACT = 1e-6  # what float32 may lose of a frequency, relatively
ROUGH = 1e-4  # a base that misses another by less, relatively, is that one


class RotarySettings(NamedTuple):
    """What a config asks of a rotary function."""

    width: int  # of a head
    columns: int  # how many of them turn
    scaling: str  # one of `SCALINGS`
    frequencies: np.ndarray  # of each pair that turns
    length: float  # by which vectors are stretched: YaRN's attention factor
    max_len: int | None
    given: dict  # the settings that were read, to change one of them
    others: dict[str, dict]  # those of other layers, by their names
    notes: tuple[str, ...] = ()

    @property
    def base(self) -> float:
        """Return the base of the exponents."""
        return positive(self.given, "rope_theta", default=BASE)

    @property
    def convention(self) -> str:
        """Name base and scaling."""
        words = f"base {plain(self.base)}"
        if self.scaling != "default":
            factor = positive(self.given, "factor", default=1.0)
            words += f", {self.scaling} by {plain(factor)}"
        return words

    def __str__(self) -> str:
        """Say which angles the config asks for."""
        rates = [plain(rate, 4) for rate in self.frequencies]
        if len(rates) > 4:
            rates[3:-1] = ["..."]
        words = [self.convention]
        if self.columns < self.width:
            words.append(f"{self.columns} of {self.width} columns")
        if self.length != 1:
            words.append(f"lengths by {plain(self.length)}")
        words.append(f"radians per position {', '.join(rates)}")
        return ", ".join(words)

    @property
    def layout(self) -> str:
        """Name how pairs are laid out, if they are no neighbors."""
        if self.columns == self.width:
            return "half"
        whole_head = self.scaling == "proportional"
        return "half of the head" if whole_head else "half of the part"

    def but(self, **changes) -> "RotarySettings":
        """Return what would be asked for with some settings changed."""
        given = self.given | changes
        return of_set(given, self.width, self.columns, self.max_len)


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
        try:
            text = Path(config).read_text(encoding="utf-8")
            config = json.loads(text)
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"{config}: no JSON: {error}") from None
    if not isinstance(config, dict):
        raise ValueError(f"the config is no JSON object: {shown(config)}")
    kind = str(config.get("model_type", ""))
    if isinstance(config.get("text_config"), dict):  # it reads pictures, too
        config = config | config["text_config"]
    if kind.startswith(OTHER_MODELS):
        words = (
            "turns other columns, or in another order, than its config says"
        )
        raise ValueError(f"{kind!r} {words}: give frequencies instead")
    sets = rotary_sets(config)
    settings = chosen_set(sets, layers)
    notes = []
    unread = not_read(config, settings)
    if unread:
        notes.append(f"settings of the config not looked at: {unread}.")
    if settings.get("mscale_all_dim"):
        notes.append(
            "'mscale_all_dim' may also scale the softmax, as DeepSeek's does;"
            " a rotary function does not show that."
        )
    own = head_width(config, settings, width)
    if width not in (None, own):
        notes.append(f"the config's heads have {own} columns, not {width}.")
    width = width or own
    part = width * positive(settings, "partial_rotary_factor", default=1)
    columns = int(positive(config, "rotary_dim", default=part))
    if not 2 <= columns <= width:
        raise ValueError(f"{columns} of {width} columns should turn")
    max_len = int(positive(config, "max_position_embeddings", default=0))
    read = of_set(settings, width, columns // 2 * 2, max_len or None)
    others = {k: v for k, v in sets.items() if v is not settings}
    return read._replace(notes=tuple(notes), others=others)


def of_set(
    settings: dict, width: int, columns: int, max_len: int | None
) -> RotarySettings:
    """Return what one set of rotary settings asks for."""
    scaling = settings.get("rope_type") or settings.get("type") or "default"
    if scaling == "mrope":  # as transformers reads it, for Qwen2-VL
        scaling = "default"
    if not isinstance(scaling, str) or scaling not in SCALINGS:
        raise ValueError(
            f"unknown scaling {shown(scaling)}; known are"
            f" {', '.join(SCALINGS)}. For others, give frequencies and length"
        )
    base = positive(settings, "rope_theta", default=BASE)
    if base <= 1:
        raise ValueError(f"rope_theta={base}: give a number above 1")
    settings = dict(settings)
    if scaling in ("llama3", "yarn") and settings.get(OLD_LEN) is None:
        settings[OLD_LEN] = max_len  # or else it is missing
    if scaling == "yarn" and settings.get("factor") is None and max_len:
        settings["factor"] = max_len / positive(settings, OLD_LEN)
    steps = width / 2 if scaling == "proportional" else columns / 2
    usual = geometric(base, columns // 2, steps)
    length = yarn_length(settings) if scaling == "yarn" else 1.0
    return RotarySettings(
        width,
        columns,
        scaling,
        SCALINGS[scaling](usual, settings),
        length,
        max_len,
        given=settings,
        others={},
    )


def positive(
    settings: dict, *names: str, default: float | None = None
) -> float:
    """Return the first number that is given, or raise an error that names it.

    A number has to be above 0.
    """
    for name in names:
        value = settings.get(name)
        if value is not None:
            if not 1 / LARGE < number(value) < LARGE:
                words = "give a number above 0, below 1e30"
                raise ValueError(f"{name}={shown(value)}: {words}")
            return float(value)
    if default is None:
        raise ValueError(f"{names[0]!r} is missing in the config")
    return default


def first_given(settings: dict, *names: str) -> object:
    """Return the value of the first name that has one."""
    values = [settings.get(name) for name in names]
    return next((value for value in values if value is not None), None)


def rotary_sets(config: dict) -> dict[str, dict]:
    """Return a model's sets of rotary settings by their layers' names."""
    bases = ("global_rope_theta", "rope_theta", "rotary_emb_base")
    parts = ("partial_rotary_factor", "rotary_pct")
    usual = {
        "rope_theta": first_given(config, *bases),
        "partial_rotary_factor": first_given(config, *parts),
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
    local = first_given(config, "rope_local_base_freq", "local_rope_theta")
    if local is None:
        return {"": usual | own}
    near = usual | {"rope_theta": local}
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


def head_width(config: dict, settings: dict, width: int | None) -> int:
    """Return how many columns a head has, or its rotary part (DeepSeek)."""
    part = first_given(settings, "partial_rotary_factor")
    if config.get("qk_rope_head_dim") and part not in (None, 1):
        raise ValueError(
            "'qk_rope_head_dim' and a partial rotary factor: which columns"
            " turn is not read; give frequencies instead of a config"
        )
    other = [name for name in OTHER_WIDTHS if config.get(name)]
    if settings.get("rope_type") == "proportional" and not other:
        other = [f"{OTHER_WIDTHS[0]} (by default, 512)"]
    if other and width is None:
        raise ValueError(f"{other[0]} may be the heads' width: give a width")
    if other:
        return width
    names = "qk_rope_head_dim", "head_dim"
    own = positive(config, *names, default=0)
    hidden = positive(config, "hidden_size", "n_embd", default=0)
    heads = positive(config, "num_attention_heads", "n_head", default=0)
    if not own and heads and not hidden % heads:
        own = hidden / heads
    if own % 1:
        raise ValueError(f"head_dim={own}: give a whole number")
    if not own and width is None:
        words = "no head_dim, nor heads that divide its columns"
        raise ValueError(f"the config gives {words}: give a width")
    return int(own) or width


# What becomes of the usual frequencies.


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
    "linear": lambda usual, settings: usual / positive(settings, "factor"),
    "llama3": llama3,
    "yarn": yarn,
    "proportional": lambda usual, settings: (
        usual / positive(settings, "factor", default=1)
    ),
}


def mistaken(config: RotarySettings) -> Iterator[tuple[Finding, np.ndarray]]:
    """Yield what else a config might be taken for, and the frequencies."""

    def without_trouble(**changes) -> np.ndarray | None:
        try:
            return config.but(**changes).frequencies
        except ValueError:  # a setting of that scaling is missing
            return None

    given = config.given | {"rope_type": config.scaling}
    for name, settings in config.others.items():
        other = without_trouble(**settings)
        if other is not None:
            words = f"The frequencies are those of the other layers, {name}."
            yield Finding("scaling", words), other
    if config.columns < config.width and config.layout != "half of the head":
        count = len(config.frequencies)
        words = (
            "Exponents count the columns of the head, not those of its part."
        )
        other = geometric(config.base, count, config.width / 2)
        yield Finding("scaling", words), other
    if config.scaling == "yarn":
        words = "Neither beta_fast nor beta_slow is read: both have defaults."
        other = without_trouble(beta_fast=None, beta_slow=None)
        yield Finding("scaling", words), other
    for scaling in SCALINGS:
        other = without_trouble(rope_type=scaling)
        if other is not None and scaling != config.scaling:
            words = f"The frequencies are those of rope_type {scaling}, where"
            words += f" the config asks for {config.scaling}."
            yield Finding("scaling", words), other
    for name, values in OTHER_VALUES.items():
        for value in values:
            asked = given.get(name)
            other = without_trouble(**{name: value})
            if other is None or value == asked:
                continue
            if asked is None:
                asked = "its default"
            words = f"The frequencies are those of {name} {value}, where the"
            words += f" config asks for {asked}."
            yield Finding("scaling", words), other
    for base in (BASE, config.base):
        other = without_trouble(rope_type="default", rope_theta=base)
        words = "No scaling is read, nor rope_theta: the frequencies are those"
        if other is not None:
            yield Finding("scaling", f"{words} of base {plain(base)}."), other
    usual = geometric(config.base, len(config.frequencies))
    factors = usual / config.frequencies
    words = "Frequencies are multiplied by the factor, not divided by it."
    yield Finding("scaling", words), usual * factors
    words = "Frequencies are divided by the factor twice."
    yield Finding("scaling", words), usual / factors**2
    words = "Fast pairs are divided by the factor, and slow ones are kept."
    backwards = usual * (1 + 1 / factors.max()) - config.frequencies
    yield Finding("scaling", words), backwards


def slips(
    base: float, pairs: int, seen: Measured
) -> Iterator[tuple[Finding, np.ndarray]]:
    """Yield which other base might be used, and the frequencies."""
    others = {
        other: f": {plain(BASE)} is the usual default" if other == BASE else ""
        for other in USUAL_BASES
    }
    for cause, slip in SLIPS.items() if pairs > 1 else ():
        others[float(slip(base, 2 * pairs))] = f": it suggests {cause}"
    series = fitted(seen, pairs)
    if series is not None and ", linear" not in series.words:
        others.setdefault(series.base, "")
    for other, hint in others.items():
        if abs(other / base - 1) > ROUGH:
            words = f"The base is {plain(other)}, where {plain(base)} is asked"
            finding = Finding("base", f"{words} for{hint}.")
            yield finding, geometric(other, pairs)


# Without a config: which series the frequencies follow.


class Series(NamedTuple):
    """What the frequencies of all pairs follow."""

    frequencies: np.ndarray
    words: str = ""  # for the convention
    base: float = np.nan
    doubt: np.ndarray | float = 0.0  # of frequencies that are as measured
    notes: tuple[str, ...] = ()


def named_series(base: float, pairs: int, steps: int) -> Series:
    """Return the series of a base; pair `steps` would have 1 / base."""
    words = f"base {plain(base)}"
    if steps != pairs:
        words = f"exponents of the head, {words}"
    return Series(geometric(base, pairs, steps), words, base)


def misses(
    seen: Measured, due: np.ndarray, loose: float = EXACT
) -> np.ndarray:
    """Tell which pairs have other frequencies than those of a series.

    Whole turns are not seen, and pairs that stand still are left out.
    """
    off = np.abs(np.angle(np.exp(1j * (seen.frequencies - due))))
    return (off > seen.spread + loose * np.abs(due)) & (seen.frequencies != 0)


def guess(seen: Measured, pairs: Pairs) -> list[Series]:
    """Return the series that the frequencies of all pairs may follow.

    Args:
        seen: How pairs turn; counterclockwise, all in all.
        pairs: Which columns these are.

    Returns:
        One that they follow; or else those of the usual bases, the likeliest
        first, so that `explain` may say how they miss it.
    """
    count = len(seen.frequencies)
    if count == 1:
        return [Series(np.ones(1))]
    steps = {count, pairs.width // 2 if pairs.rest.size else count}
    usual = [named_series(b, count, n) for b in USUAL_BASES for n in steps]
    usual.sort(key=lambda series: misses(seen, series.frequencies).sum())
    if not seen.even or not misses(seen, usual[0].frequencies).any():
        return usual
    for series in [fitted(seen, count), by_parts(seen, usual)]:
        if series is not None:
            return [series, *usual]
    return usual


def fitted(seen: Measured, steps: int) -> Series | None:
    """Return the series of the base that all pairs follow, if one does.

    Degrees for radians, and angles that are multiplied or divided by 2 pi,
    are slips and no divided positions: `explain` names them.
    """
    rates, count = seen.frequencies, len(seen.frequencies)
    if count < 2 or rates.min() <= 0:
        return None
    weights = rates / (seen.spread + EXACT * rates)
    slope, start = np.polyfit(np.arange(count), np.log(rates), 1, w=weights)
    factor = float(np.exp(-start))  # that divides all frequencies
    slips = (180 / np.pi, 2 * np.pi)
    is_slip = any(abs(factor / slip - 1) < 1e-3 for slip in slips)
    if slope > -1e-3 or factor < 1 - EXACT or is_slip:
        return None
    exact = float(np.exp(-slope * steps))
    for base, by in product(
        (roundest(exact, 1e-5), exact), (roundest(factor, 1e-4), factor)
    ):
        series = named_series(base, count, steps)
        due = series.frequencies / by
        if not misses(seen, due, 4 * EXACT).any():
            notes = [
                f"base {plain(base)} suggests {cause} of {plain(usual)}."
                for cause, slip in SLIPS.items()
                for usual in USUAL_BASES
                if abs(base / slip(usual, 2 * count) - 1) <= 2e-5
            ]
            words = series.words + (
                f", linear by {plain(by)}" if by != 1 else ""
            )
            return Series(due, words, base, seen.spread / 4, tuple(notes))
    return None


def roundest(number: float, spread: float) -> float:
    """Return a number of at most four digits near another, or that other."""
    for digits in range(4):
        short = float(f"{number:.{digits}e}")
        if abs(short - number) <= spread * abs(number):
            return short
    return number


def by_parts(seen: Measured, usual: list[Series]) -> Series | None:
    """Return a series that fast pairs follow, and slow ones divided by more.

    The frequencies of all others are as they were measured.
    """
    for series in usual:
        with np.errstate(divide="ignore"):
            ratios = series.frequencies / seen.frequencies
        exact = 1e-4 + seen.spread / np.abs(seen.frequencies)
        rises = np.all(
            np.diff(ratios) >= -(exact[1:] + exact[:-1]) * ratios[1:]
        )
        ends = abs(ratios[0] - 1) <= exact[0], abs(ratios[-1] / ratios[-2] - 1)
        if ends[0] and rises and ends[1] <= exact[-1] + exact[-2]:
            follow = ~misses(seen, series.frequencies)
            rates = np.where(follow, series.frequencies, seen.frequencies)
            words = f"{series.words}, by parts (up to {plain(ratios[-1], 3)})"
            doubt = np.where(follow, 0, seen.spread)
            return Series(rates, words, series.base, doubt)
    return None


def refuse(seen: Measured) -> None:
    """Raise an error for frequencies of kinds that are not reviewed."""
    rates, half = np.abs(seen.frequencies), len(seen.frequencies) // 2
    if rates.min() <= 0 or half < 2 or not seen.even:
        return
    ask = "not reviewed: give frequencies= (and length=) to hold it to them"
    if np.allclose(rates[:half], rates[-half:], rtol=1e-4):
        raise OutOfReachError(
            f"The frequencies of the second half of pairs repeat those of the"
            f" first, as with two axes. This is {ask}."
        )
    length = float(np.median(seen.length))
    alike = np.ptp(seen.length) < 1e-3 < abs(length - 1)
    if alike and np.all(np.diff(rates) < 0):
        raise OutOfReachError(
            "The frequencies follow no single base, and lengths change by"
            f" {plain(length, 4)}, as with longrope. This is {ask}."
        )
