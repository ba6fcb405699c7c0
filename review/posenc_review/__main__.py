"""The command: review a function that is given as package.module:function.

The exit code is 0 if nothing is found, 1 if something is, and 2 for a usage
error or a function of a kind that is not reviewed.
"""

import argparse
import importlib
import json
import os
import sys
from pathlib import Path
from pkgutil import resolve_name

from . import CONVENTIONS, LAYOUTS, review, review_rotary

OPTIONS = [
    ("base", float, "what it is held to; a table by default to 10000"),
    ("layout", str, f"(rotary) {'; '.join(LAYOUTS)}"),
    ("length", float, "(rotary) by which factor vectors are stretched"),
    ("config", str, "(rotary) hold it to a model's config.json"),
    ("layers", str, "whose settings, if a model has layers of two kinds"),
    ("convention", str, f"(table) {'; '.join(CONVENTIONS)}"),
    ("start", int, "(table) the position of the first row"),
    ("width", int, "columns; by default 64"),
    ("max-len", int, "positions or rows; by default 131072 and 70000"),
    ("tolerance", float, "the error forgiven; by default 1e-4 and 1e-6"),
]


def main() -> int:
    """Run the command and return its exit code."""
    command = argparse.ArgumentParser("posenc-review", description=__doc__)
    command.add_argument("target", help="package.module:function")
    words = "the function is rotate(x, positions), not encoder(rows, width)"
    command.add_argument("--rotary", action="store_true", help=words)
    for name, kind, words in OPTIONS:
        command.add_argument(f"--{name}", type=kind, help=words)
    given = vars(command.parse_args())
    target, rotary = given.pop("target"), given.pop("rotary")
    given = {name: value for name, value in given.items() if value is not None}
    if not rotary and "width" in given:
        given["d_model"] = given.pop("width")
    others, kind = ("layout", "length", "config", "layers"), "rotary functions"
    if rotary:
        others, kind = ("convention", "start"), "tables"
    for name in given.keys() & others:
        command.error(f"--{name} is for {kind}")
    sys.path.insert(0, os.getcwd())
    try:
        function = resolve_name(target)
    except (Exception, SystemExit) as error:  # whatever the module raises
        command.error(f"{target}: {type(error).__name__}: {error}")
    layers = given.pop("layers", "")
    if layers and "config" not in given:
        command.error("--layers needs --config")
    if "config" in given:
        path = given.pop("config")
        try:
            given = model_settings(path, layers, given.get("width")) | given
        except Exception as error:  # whatever transformers raises
            command.error(f"--config {path}: {type(error).__name__}: {error}")
    try:
        report = (review_rotary if rotary else review)(function, **given)
    except ValueError as error:
        command.error(str(error))  # exits with 2
    print(report)
    return int(bool(report.findings))


def rotary_module(path: str) -> tuple:
    """Return a config of transformers, and the rotary module of its model."""
    from transformers import CONFIG_MAPPING  # --config alone needs it

    settings = json.loads(Path(path).read_text(encoding="utf-8"))
    name = settings.get("model_type")
    if name not in CONFIG_MAPPING:
        raise ValueError(f"transformers knows no model {name}")
    config = CONFIG_MAPPING[name].from_json_file(path).get_text_config()
    place = type(config).__module__.replace("configuration_", "modeling_")
    model, module = importlib.import_module(place), None
    name_of_config = type(config).__name__.removesuffix("Config")
    for kind in (name_of_config, name_of_config.removesuffix("Text")):
        if hasattr(model, f"{kind}RotaryEmbedding"):
            module = getattr(model, f"{kind}RotaryEmbedding")(config)
            break
    if module is None or "dynamic" in str(getattr(module, "rope_type", "")):
        words = f"{name} has no fixed frequencies in a rotary module"
        raise ValueError(f"{words}; give --base")
    return config, module


def model_settings(
    path: str, layers: str, width: int | None
) -> dict[str, object]:
    """Return what a model's config.json asks of `review_rotary`.

    The model's own code in transformers computes it, in its rotary module.
    """
    config, module = rotary_module(path)
    asked = {
        key.removesuffix("inv_freq").removesuffix("_"): value.numpy()
        for key, value in module.named_buffers()
        if key.endswith("inv_freq") and "original" not in key
    }
    if layers not in asked:
        known = "; ".join(asked) if "" not in asked else "none: all are alike"
        raise ValueError(f"{layers=}: give one of {known}")
    heads = config.num_attention_heads
    head = getattr(config, "head_dim", None) or config.hidden_size // heads
    most = config.max_position_embeddings
    scaling = str(getattr(module, "rope_type", ""))
    if "longrope" in scaling:  # beyond, other frequencies follow
        most = config.rope_parameters["original_max_position_embeddings"]
    attention = f"{layers}_attention_scaling".lstrip("_")
    return {
        "width": max(width or head, 2 * len(asked[layers])),
        "frequencies": asked[layers],
        "length": getattr(module, attention),
        "max_len": max(64, most),
    }


if __name__ == "__main__":
    sys.exit(main())
