# /// script
# requires-python = "==3.11.*"
# dependencies = [
#   "diffusers==0.42.1",
#   "keras-hub==0.32.0",
#   "litgpt==0.5.13",
#   "llms-from-scratch==1.0.19",
#   "numpy>=2",
#   "positional-encodings==6.0.3",
#   "rotary-embedding-torch==0.9.1",
#   "timm==1.0.31",
#   "torch==2.13.0",
#   "torchao==0.14.1",
#   "torchtune==0.6.1",
#   "transformers==5.23.0",
#   "x-transformers==2.31.10",
# ]
#
# [tool.uv]
# # litgpt asks for an older one; what is reviewed here does not use it.
# override-dependencies = ["huggingface-hub>=1.4"]
# ///
"""Review rotary functions and tables of published libraries, as a table.

    uv run tools/review_libraries.py [--write]

It prints Markdown, and names the rows that differ from those of
`posenc_review/README.md`; with `--write` it puts its own rows there. It is no
test: what a library does otherwise than the paper may be meant so.
"""

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

os.environ["KERAS_BACKEND"] = "torch"
import torch

sys.path.insert(0, str(Path(__file__).parent.parent))

from posenc_review import review, review_rotary

torch.set_grad_enabled(False)
WIDTH = 64
LENGTH = 8192  # positions that are looked at
PAGE = (
    Path(__file__).parents[1] / "posenc_review/README.md"
)  # whose table this is


class Case(NamedTuple):
    """A function of a library."""

    library: str  # as on PyPI
    name: str
    build: Callable[[], Callable]
    kind: str = "rotary"  # or "table"
    options: Mapping = MappingProxyType({})


def llama_like(model: str, prefix: str, **settings) -> Callable:
    """Build a rotary function from a model of transformers."""

    def build() -> Callable:
        folder = f"transformers.models.{model}"
        code = import_module(f"{folder}.modeling_{model}")
        configs = import_module(f"{folder}.configuration_{model}")
        config = getattr(configs, f"{prefix}Config")(
            hidden_size=4 * WIDTH,
            num_attention_heads=4,
            head_dim=WIDTH,
            max_position_embeddings=LENGTH,
            **settings,
        )
        angles = getattr(code, f"{prefix}RotaryEmbedding")(config)
        turn = code.apply_rotary_pos_emb

        def rotate(x, positions):
            x = torch.tensor(x)[:, None]
            cos, sin = angles(x, torch.tensor(positions))
            return turn(x, x, cos, sin)[0][:, 0]

        return rotate

    return build


def gpt_j() -> Callable:
    """Build GPT-J's, whose cosines and sines come from one table."""
    code = import_module("transformers.models.gptj.modeling_gptj")
    table = code.create_sinusoidal_positions(LENGTH, WIDTH)

    def rotate(x, positions):
        sin, cos = table[torch.tensor(positions)].chunk(2, dim=-1)
        turned = code.apply_rotary_pos_emb(
            torch.tensor(x)[:, :, None], sin, cos
        )
        return turned[:, :, 0]

    return rotate


def torchtune_class(module: str, name: str) -> Callable:
    """Build a rotary function from a module of torchtune."""

    def build() -> Callable:
        layer = getattr(import_module(module), name)(WIDTH, max_seq_len=LENGTH)

        def rotate(x, positions):
            x = torch.tensor(x, dtype=torch.float32)[:, :, None]
            return layer(x, input_pos=torch.tensor(positions))[:, :, 0]

        return rotate

    return build


def rotary_embedding_torch(**settings) -> Callable:
    """Build lucidrains' rotary function."""

    def build() -> Callable:
        code = import_module("rotary_embedding_torch")
        layer = code.RotaryEmbedding(WIDTH, **settings)

        def rotate(x, positions):
            rows = zip(torch.tensor(x), torch.tensor(positions), strict=True)
            turned = [
                code.apply_rotary_emb(layer.forward(at, seq_len=None), row)
                for row, at in rows
            ]
            return torch.stack(turned)

        return rotate

    return build


def x_transformers() -> Callable:
    """Build that of x-transformers."""
    code = import_module("x_transformers.x_transformers")
    layer = code.RotaryEmbedding(WIDTH)

    def rotate(x, positions):
        angles, scale = layer(torch.tensor(positions))
        x = torch.tensor(x)[:, None]
        return code.apply_rotary_pos_emb(x, angles, scale)[:, 0]

    return rotate


def diffusers_rotary(**settings) -> Callable:
    """Build that of diffusers, for one dimension."""

    def build() -> Callable:
        code = import_module("diffusers.models.embeddings")

        def rotate(x, positions):
            rows = []
            for row, at in zip(torch.tensor(x), positions, strict=True):
                table = code.get_1d_rotary_pos_embed(
                    WIDTH, torch.tensor(at), use_real=True, **settings
                )
                rows.append(code.apply_rotary_emb(row[None, None], table))
            return torch.cat(rows)[:, 0]

        return rotate

    return build


def timm_rotary() -> Callable:
    """Build that of timm, with angles of its own frequencies."""
    code = import_module("timm.layers.pos_embed_sincos")
    bands = code.freq_bands(WIDTH // 2, temperature=10_000.0, step=1)

    def rotate(x, positions):
        angles = torch.tensor(positions)[..., None] * bands
        angles = angles.repeat_interleave(2, -1)
        x = torch.tensor(x)
        return x * angles.cos() + code.rot(x) * angles.sin()

    return rotate


def litgpt_rotary(**settings) -> Callable:
    """Build that of litgpt."""

    def build() -> Callable:
        code = import_module("litgpt.model")
        cos, sin = code.build_rope_cache(LENGTH, WIDTH, **settings)

        def rotate(x, positions):
            x, at = torch.tensor(x)[:, None], torch.tensor(positions)
            return code.apply_rope(x, cos[at], sin[at])[:, 0]

        return rotate

    return build


def from_scratch(**settings) -> Callable:
    """Build that of LLMs-from-scratch, which reads tables from the top."""

    def build() -> Callable:
        code = import_module("llms_from_scratch.llama3")
        cos, sin = code.compute_rope_params(
            WIDTH, context_length=LENGTH, **settings
        )

        def rotate(x, positions):
            rows = zip(torch.tensor(x), positions, strict=True)
            turned = [
                code.apply_rope(row[None, None], cos[at], sin[at])
                for row, at in rows
            ]
            return torch.cat(turned)[:, 0]

        return rotate

    return build


def keras_hub(**settings) -> Callable:
    """Build the layer of KerasHub."""

    def build() -> Callable:
        layer = import_module("keras_hub").layers.RotaryEmbedding(**settings)
        return lambda x, positions: layer(x, positions=positions)

    return build


def table_of(module: str, make: Callable) -> Callable:
    """Build an encoder from what a module holds."""
    return lambda: lambda rows, width: make(import_module(module), rows, width)


LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 500_000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 2048,
}
YARN = {
    "rope_type": "yarn",
    "rope_theta": 10_000.0,
    "factor": 4.0,
    "original_max_position_embeddings": 2048,
}
LINEAR = {"rope_type": "linear", "rope_theta": 10_000.0, "factor": 4.0}
BASE = {"rope_type": "default", "rope_theta": 10_000.0}


def held(scaling: dict) -> dict:
    """Hold a function to a config with this scaling."""
    config = {"head_dim": WIDTH, "max_position_embeddings": LENGTH}
    return {"config": config | {"rope_parameters": scaling}}


LITGPT_LLAMA3 = {
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_seq_len": 2048,
}
LITGPT_YARN = {
    "factor": 4.0,
    "beta_fast": 32.0,
    "beta_slow": 1.0,
    "original_max_seq_len": 2048,
}
HF, EMBEDDINGS = "transformers", "diffusers.models.embeddings"
MODELS = (  # of transformers: name, module, prefix of classes, scaling
    ("Llama, default", "llama", "Llama", BASE),
    ("Llama, linear", "llama", "Llama", LINEAR),
    ("Llama, llama3", "llama", "Llama", LLAMA3),
    ("Llama, yarn", "llama", "Llama", YARN),
    ("Mistral", "mistral", "Mistral", BASE),
    ("Qwen2", "qwen2", "Qwen2", BASE),
    ("Qwen3", "qwen3", "Qwen3", BASE),
    ("Gemma", "gemma", "Gemma", BASE),
    ("OLMo 2", "olmo2", "Olmo2", BASE),
    ("Cohere", "cohere", "Cohere", BASE),
    ("Phi-3", "phi3", "Phi3", BASE),
)
TUNED = (  # of torchtune: module and class
    ("modules", "RotaryPositionalEmbeddings"),
    ("models.phi3._position_embeddings", "Phi3RotaryPositionalEmbeddings"),
    ("models.qwen2._positional_embeddings", "Qwen2RotaryPositionalEmbeddings"),
    ("models.llama3_1._position_embeddings", "Llama3ScaledRoPE"),
)
RAW_LLAMA3 = {
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_context_length": 2048,
}
TABLES = (  # library, function, module, and how to make so many rows
    (
        "diffusers",
        "get_1d_sincos_pos_embed_from_grid",
        EMBEDDINGS,
        lambda code, n, d: code.get_1d_sincos_pos_embed_from_grid(
            d, torch.arange(n), output_type="pt"
        ),
    ),
    (
        "diffusers",
        "get_timestep_embedding",
        EMBEDDINGS,
        lambda code, n, d: code.get_timestep_embedding(torch.arange(n), d),
    ),
    (
        "diffusers",
        "SinusoidalPositionalEmbedding",
        EMBEDDINGS,
        lambda code, n, d: code.SinusoidalPositionalEmbedding(d, n).pe,
    ),
    (
        "keras-hub",
        "SinePositionEncoding",
        "keras_hub",
        lambda code, n, d: code.layers.SinePositionEncoding()(
            torch.zeros(1, n, d)
        ),
    ),
    (
        "positional-encodings",
        "PositionalEncoding1D",
        "positional_encodings.torch_encodings",
        lambda code, n, d: code.PositionalEncoding1D(d)(torch.zeros(1, n, d)),
    ),
    (
        "x-transformers",
        "ScaledSinusoidalEmbedding",
        "x_transformers.x_transformers",
        lambda code, n, d: code.ScaledSinusoidalEmbedding(d)(
            torch.zeros(1, n, d)
        ),
    ),
    (
        HF,
        "Whisper, sinusoids",
        "transformers.models.whisper.modeling_whisper",
        lambda code, n, d: code.sinusoids(n, d),
    ),
    (
        HF,
        "MarianSinusoidalPositionalEmbedding",
        "transformers.models.marian.modeling_marian",
        lambda code, n, d: code.MarianSinusoidalPositionalEmbedding(
            n, d
        ).create_weight(),
    ),
    (
        HF,
        "M2M100SinusoidalPositionalEmbedding",
        "transformers.models.m2m_100.modeling_m2m_100",
        lambda code, n, d: (
            code.M2M100SinusoidalPositionalEmbedding.get_embedding(n, d)
        ),
    ),
)


def cases() -> Iterator[Case]:
    """Yield every function that is reviewed."""
    for name, model, prefix, scaling in MODELS:
        build = llama_like(model, prefix, rope_parameters=scaling)
        yield Case(HF, name, build, "rotary", held(scaling))
    yield Case(HF, "GPT-J", gpt_j)
    for module, name in TUNED:
        build = torchtune_class(f"torchtune.{module}", name)
        yield Case("torchtune", name, build)
    name = "RotaryEmbedding"
    yield Case("rotary-embedding-torch", name, rotary_embedding_torch())
    yield Case(
        "rotary-embedding-torch",
        f"{name}, theta_rescale_factor=4",
        rotary_embedding_torch(theta_rescale_factor=4.0),
    )
    yield Case("x-transformers", name, x_transformers)
    name = "get_1d_rotary_pos_embed"
    yield Case("diffusers", name, diffusers_rotary())
    for factor in ("linear_factor", "ntk_factor"):
        build = diffusers_rotary(**{factor: 4.0})
        yield Case("diffusers", f"{name}, {factor}=4", build)
    yield Case("keras-hub", "RotaryEmbedding", keras_hub())
    for kind in ("linear", "dynamic"):
        build = keras_hub(rope_type=kind, scaling_factor=4.0)
        yield Case("keras-hub", f"RotaryEmbedding, {kind} by 4", build)
    build = keras_hub(
        rope_type="yarn",
        scaling_factor=4.0,
        original_max_position_embeddings=2048,
    )
    name = "RotaryEmbedding, yarn"
    yield Case("keras-hub", name, build, "rotary", held(YARN))
    yield Case("timm", "freq_bands, rot", timm_rotary)
    yield Case("litgpt", "build_rope_cache", litgpt_rotary())
    yield Case(
        "litgpt",
        "build_rope_cache, llama3",
        litgpt_rotary(base=500_000, extra_config=LITGPT_LLAMA3),
        "rotary",
        held(LLAMA3),
    )
    yield Case(
        "litgpt",
        "build_rope_cache, yarn",
        litgpt_rotary(extra_config=LITGPT_YARN),
        "rotary",
        held(YARN),
    )
    name = "compute_rope_params, apply_rope"
    yield Case("llms-from-scratch", name, from_scratch())
    yield Case(
        "llms-from-scratch",
        f"{name}, llama3",
        from_scratch(theta_base=500_000, freq_config=RAW_LLAMA3),
        "rotary",
        held(LLAMA3),
    )
    for library, name, module, make in TABLES:
        yield Case(library, name, table_of(module, make), "table")


def reviewed(case: Case) -> tuple[str, str]:
    """Return the convention that is seen, and the findings in words."""
    function = case.build()
    if case.kind == "rotary":
        found = review_rotary(function, WIDTH, max_len=LENGTH, **case.options)
    else:
        function(4, WIDTH)  # if the library does not load, say so
        found = review(function, WIDTH, max_len=LENGTH, tolerance=1e-3)
    words = [f"{name}: {said}" for name, said in found.findings.items()]
    if len(words) > 2:  # checks of a table; the last one says why
        *_, last = found.findings.values()
        words = [f"{', '.join(found.findings)}: {last.split('. ')[0]}."]
    words += [note for note in found.notes if note.startswith("base ")]
    return found.convention, " ".join(words) or "none"


def row(case: Case) -> str:
    """Return a function's row of the table."""
    try:
        convention, findings = reviewed(case)
        library = f"{case.library} {version(case.library)}"
    except Exception as error:  # whatever an import of a library raises
        said = " ".join(str(error).split())[:200]
        library, convention = case.library, "not looked at"
        findings = f"{type(error).__name__}: {said}"
    return f"| {library} | {case.name} | {convention} | {findings} |"


def main() -> int:
    """Print the table, and return 1 if it is not that of the page."""
    lines = ["| library | function | convention seen | findings |"]
    lines += ["|---|---|---|---|", *map(row, cases())]
    print("\n".join(lines))
    text = PAGE.read_text()
    shown = re.search(rf"{re.escape(lines[0])}\n(\|.*\n)+", text)[0]
    new = "\n".join(lines) + "\n"
    if "--write" in sys.argv[1:]:
        PAGE.write_text(text.replace(shown, new))
        return 0
    differing = sorted({*lines} ^ {*shown.splitlines()})
    print(*differing, sep="\n", file=sys.stderr)
    return int(bool(differing))


if __name__ == "__main__":
    raise SystemExit(main())
