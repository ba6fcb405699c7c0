"""The command: review a function that is given as package.module:function.

The exit code is 0 if nothing is found, 1 if something is, and 2 for a usage
error or a function of a kind that is not reviewed.
"""

import argparse
import importlib
import inspect
import json
import os
import sys
from pathlib import Path
from pkgutil import resolve_name

from . import CONVENTIONS, LAYOUTS, review, review_rotary
from .measure import DIGITS

OPTIONS = {  # name: type, what it says
    "width": (int, "how many columns; by default 64"),
    "base": (float, "hold it to this base"),
    "max-len": (int, "how many positions or rows to look at"),
    "tolerance": (float, "how far a number may be off"),
    "layout": (str, f"rotary: hold it to one of: {'; '.join(LAYOUTS)}"),
    "config": (str, "rotary: hold it to a Hugging Face model's config.json"),
    "layers": (str, "rotary: whose settings, where a config has several"),
    "dtype": (str, f"rotary: the shortest format of: {', '.join(DIGITS)}"),
    "convention": (str, f"table: hold it to one of: {'; '.join(CONVENTIONS)}"),
    "start": (int, "table: the position of its first row"),
}


def main() -> int:
    """Run the command and return its exit code."""
    command = argparse.ArgumentParser("posenc-review", description=__doc__)
    command.add_argument("target", help="package.module:function")
    words = "the function is rotate(x, positions), not encoder(rows, width)"
    command.add_argument("--rotary", action="store_true", help=words)
    for name, (kind, words) in OPTIONS.items():
        command.add_argument(f"--{name}", type=kind, help=words)
    given = vars(command.parse_args())
    target, rotary = given.pop("target"), given.pop("rotary")
    given = {name: value for name, value in given.items() if value is not None}
    if "width" in given and not rotary:
        given["d_model"] = given.pop("width")
    sys.path.insert(0, os.getcwd())
    if ":" not in target:
        command.error(f"{target}: give package.module:function")
    try:
        function = resolve_name(target)
    except Exception as error:  # whatever the module raises
        command.error(f"{target}: {type(error).__name__}: {error}")
    try:
        if "config" in given:
            path, layers = given.pop("config"), given.pop("layers", "")
            given = model_settings(path, layers, given.get("width")) | given
        found = (review_rotary if rotary else review)(function, **given)
    except (OSError, TypeError, ValueError) as error:
        command.error(str(error))  # exits with 2
    print(found)
    return int(bool(found.findings))


def model_settings(
    path: str, layers: str = "", width: int | None = None
) -> dict[str, object]:
    """Return what a model's config.json asks of `review_rotary`.

    The model's own code in transformers computes it, in its rotary module.

    Args:
        path: The `config.json` of a Hugging Face model.
        layers: Whose frequencies, where layers have several kinds.
        width: Of a head; else the config says it.
    """
    try:
        import torch  # noqa: F401
        from transformers import CONFIG_MAPPING
    except ImportError as error:
        words = f"config={path}: the model's own code computes what is asked,"
        words += " so install transformers and torch, or give base= or"
        raise ValueError(f"{words} frequencies= instead") from error
    settings = json.loads(Path(path).read_text(encoding="utf-8"))
    name = settings.get("model_type")
    if name not in CONFIG_MAPPING:
        raise ValueError(f"config={path}: transformers knows no model {name}")
    whole = CONFIG_MAPPING[name].from_dict(settings)
    config = whole.get_text_config()
    place = type(config).__module__.replace("configuration_", "modeling_")
    module = None
    for of, kind in inspect.getmembers(importlib.import_module(place)):
        if of.endswith("RotaryEmbedding"):
            wanted = inspect.signature(kind).parameters.get("config")
            if wanted and wanted.annotation in (type(config), type(whole)):
                module = kind(config)
                break
    scaling = str(getattr(module, "rope_type", ""))
    if module is None or "dynamic" in scaling:
        words = f"config={path}: {name} has no fixed frequencies in a rotary"
        raise ValueError(f"{words} module; give base= or frequencies=")
    asked = {
        key.removesuffix("inv_freq").removesuffix("_"): value
        for key, value in module.named_buffers()
        if key.endswith("inv_freq") and "original" not in key
    }
    if layers not in asked:
        known = "; ".join(asked) if "" not in asked else "none: all are alike"
        raise ValueError(f"{layers=}: give one of {known}")
    if width is None:
        width = getattr(config, "head_dim", None)
        width = width or config.hidden_size // config.num_attention_heads
    most = config.max_position_embeddings
    if "longrope" in scaling:  # beyond, other frequencies follow
        most = config.rope_parameters["original_max_position_embeddings"]
    return {
        "width": max(width, 2 * len(asked[layers])),
        "frequencies": asked[layers].numpy(),
        "length": getattr(module, f"{layers}_attention_scaling".lstrip("_")),
        "max_len": max(64, most),
    }


if __name__ == "__main__":
    sys.exit(main())
