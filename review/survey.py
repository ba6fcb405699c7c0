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
#   "torch==2.14.1",
#   "torchao==0.14.1",
#   "torchtune==0.6.1",
#   "torchvision==0.29.1",
#   "transformers==5.23.0",
#   "x-transformers==2.31.10",
# ]
#
# [tool.uv]
# # litgpt asks for an older one; what is reviewed here does not use it.
# override-dependencies = ["huggingface-hub>=1.4"]
# ///
"""Review rotary functions and tables of published libraries, as a table.

    uv run review/survey.py [--write]

It prints Markdown, and names the rows that differ from those of
`review/README.md`; with `--write` it puts its own rows there. It is no
test: what a library does otherwise than the paper may be meant so.
"""

import os
import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import version
from pathlib import Path
from pkgutil import resolve_name as use

from posenc_review import Report, review, review_rotary

PAGE = Path(__file__).with_name("README.md")
WIDTH = 64
LENGTH = 8192  # positions that are looked at
OLD_LENGTH = 2048  # of a model whose context is extended
FACTORS = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
MOST = "max_position_embeddings"
EXTENDED = {f"original_{MOST}": OLD_LENGTH}
# Scalings, as a config of transformers spells them.
DEFAULT = {"rope_type": "default", "rope_theta": 10_000.0}
LINEAR = {"rope_type": "linear", "rope_theta": 10_000.0, "factor": 4.0}
LLAMA3 = {"rope_type": "llama3", "rope_theta": 5e5, **FACTORS, **EXTENDED}
YARN = {"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0, **EXTENDED}


def tensors(turn: Callable) -> Callable:
    """Give a function tensors instead of arrays."""
    tensor = use("torch:tensor")
    return lambda x, positions: turn(tensor(x), tensor(positions))


def row_by_row(turn: Callable) -> Callable:
    """Give a function the rows of a batch one by one."""
    stack = use("torch:stack")
    return tensors(lambda x, at: stack([*map(turn, x, at)]))


def transformers(
    model: str, prefix: str, scaling: dict, dtype: str = "float32"
) -> Callable:
    """Take cosines, sines and rotation from the code of a model.

    The module is cast to a format, as all of a model is by `model.to`.
    """
    code, waves = llama(model, prefix, scaling)
    waves = waves.to(use(f"torch:{dtype}"))

    def turn(x, at):
        x = x[:, None]  # an axis for heads
        return code.apply_rotary_pos_emb(x, x, *waves(x, at))[0][:, 0]

    return tensors(turn)


def llama(model: str, prefix: str, scaling: dict) -> tuple:
    """Return the code of a model like Llama, and its rotary module."""
    code = use(f"transformers.models.{model}.modeling_{model}")
    config = use(
        f"transformers.models.{model}.configuration_{model}:{prefix}Config"
    )(
        hidden_size=4 * WIDTH,
        num_attention_heads=4,
        head_dim=WIDTH,
        max_position_embeddings=LENGTH,
        rope_parameters=scaling,
    )
    return code, getattr(code, f"{prefix}RotaryEmbedding")(config)


def gpt_j() -> Callable:
    """Take cosines and sines from one table, as the model does."""
    code = use("transformers.models.gptj.modeling_gptj")
    table = code.create_sinusoidal_positions(LENGTH, WIDTH)

    def turn(x, at):
        sin, cos = table[at].chunk(2, dim=-1)
        return code.apply_rotary_pos_emb(x[:, :, None], sin, cos)[:, :, 0]

    return tensors(turn)


def torchtune(module: str, name: str) -> Callable:
    layer = use(f"torchtune.{module}:{name}")(WIDTH, max_seq_len=LENGTH)

    def turn(x, at):
        return layer(x.float()[:, :, None], input_pos=at)[:, :, 0]

    return tensors(turn)


def rotary_embedding_torch(**settings: float) -> Callable:
    code = use("rotary_embedding_torch")
    layer = code.RotaryEmbedding(WIDTH, **settings)
    return row_by_row(
        lambda x, at: code.apply_rotary_emb(layer(at, seq_len=None), x)
    )


def x_transformers() -> Callable:
    code = use("x_transformers.x_transformers")
    layer = code.RotaryEmbedding(WIDTH)
    return tensors(
        lambda x, at: code.apply_rotary_pos_emb(x[:, None], *layer(at))[:, 0]
    )


def diffusers(**settings: float) -> Callable:
    code = use("diffusers.models.embeddings")
    waves = partial(code.get_1d_rotary_pos_embed, WIDTH, use_real=True)
    return row_by_row(
        lambda x, at: code.apply_rotary_emb(
            x[None, None], waves(at, **settings)
        )[0, 0]
    )


def keras_hub(**settings: object) -> Callable:
    layer = use("keras_hub:layers.RotaryEmbedding")(**settings)
    return lambda x, positions: layer(x, positions=positions)


def timm() -> Callable:
    """Repeat the angles of timm's frequencies for both columns of a pair."""
    code = use("timm.layers.pos_embed_sincos")
    bands = code.freq_bands(WIDTH // 2, temperature=10_000.0, step=1)

    def turn(x, at):
        angles = (at[..., None] * bands).repeat_interleave(2, -1)
        return x * angles.cos() + code.rot(x) * angles.sin()

    return tensors(turn)


def litgpt(**settings: object) -> Callable:
    code = use("litgpt.model")
    cos, sin = code.build_rope_cache(LENGTH, WIDTH, **settings)
    return tensors(
        lambda x, at: code.apply_rope(x[:, None], cos[at], sin[at])[:, 0]
    )


def llms_from_scratch(**settings: object) -> Callable:
    """Give it the rows that it should read: it reads tables from the top."""
    code = use("llms_from_scratch.llama3")
    cos, sin = code.compute_rope_params(
        WIDTH, context_length=LENGTH, **settings
    )
    return row_by_row(
        lambda x, at: code.apply_rope(x[None, None], cos[at], sin[at])[0, 0]
    )


def rotary_functions() -> Iterator[tuple[str, str, Callable, dict]]:
    """Yield library, name, adapter, and a scaling that it is held to."""
    for name, model, prefix, scaling in (
        ("Llama, default", "llama", "Llama", DEFAULT),
        ("Llama, linear", "llama", "Llama", LINEAR),
        ("Llama, llama3", "llama", "Llama", LLAMA3),
        ("Llama, yarn", "llama", "Llama", YARN),
        ("Mistral", "mistral", "Mistral", DEFAULT),
        ("Qwen2", "qwen2", "Qwen2", DEFAULT),
        ("Qwen3", "qwen3", "Qwen3", DEFAULT),
        ("Gemma", "gemma", "Gemma", DEFAULT),
        ("OLMo 2", "olmo2", "Olmo2", DEFAULT),
        ("Cohere", "cohere", "Cohere", DEFAULT),
        ("Phi-3", "phi3", "Phi3", DEFAULT),
    ):
        adapter = partial(transformers, model, prefix, scaling)
        yield "transformers", name, adapter, scaling
    yield "transformers", "GPT-J", gpt_j, {}
    adapter = partial(transformers, "llama", "Llama", DEFAULT, "bfloat16")
    yield "transformers", "Llama, .to(bfloat16)", adapter, DEFAULT

    scaled = LLAMA3 | {"rope_theta": 1e4, f"original_{MOST}": 8192}
    for module, name, scaling in (
        ("modules", "RotaryPositionalEmbeddings", {}),
        ("models.phi3", "Phi3RotaryPositionalEmbeddings", {}),
        ("models.qwen2", "Qwen2RotaryPositionalEmbeddings", {}),
        ("models.llama3_1", "Llama3ScaledRoPE", scaled),
    ):
        yield "torchtune", name, partial(torchtune, module, name), scaling

    library, name = "rotary-embedding-torch", "RotaryEmbedding"
    yield library, name, rotary_embedding_torch, {}
    adapter = partial(rotary_embedding_torch, theta_rescale_factor=4.0)
    yield library, f"{name}, theta_rescale_factor=4", adapter, {}

    yield "x-transformers", name, x_transformers, {}

    yield "keras-hub", name, keras_hub, {}
    by_4 = partial(keras_hub, scaling_factor=4.0)
    for kind, scaling in (("linear", LINEAR), ("dynamic", {})):
        adapter = partial(by_4, rope_type=kind)
        yield "keras-hub", f"{name}, {kind} by 4", adapter, scaling
    adapter = partial(by_4, rope_type="yarn", **EXTENDED)
    yield "keras-hub", f"{name}, yarn", adapter, YARN

    name = "get_1d_rotary_pos_embed"
    yield "diffusers", name, diffusers, {}
    for factor, scaling in (("linear_factor", LINEAR), ("ntk_factor", {})):
        adapter = partial(diffusers, **{factor: 4.0})
        yield "diffusers", f"{name}, {factor}=4", adapter, scaling

    yield "timm", "freq_bands, rot", timm, {}

    name, extended = "build_rope_cache", {"original_max_seq_len": OLD_LENGTH}
    yield "litgpt", name, litgpt, {}
    extra = {**FACTORS, **extended}
    adapter = partial(litgpt, base=500_000, extra_config=extra)
    yield "litgpt", f"{name}, llama3", adapter, LLAMA3
    extra = {"factor": 4.0, "beta_fast": 32.0, "beta_slow": 1.0, **extended}
    adapter = partial(litgpt, extra_config=extra)
    yield "litgpt", f"{name}, yarn", adapter, YARN

    library, name = "llms-from-scratch", "compute_rope_params, apply_rope"
    yield library, name, llms_from_scratch, {}
    extra = {**FACTORS, "original_context_length": OLD_LENGTH}
    adapter = partial(llms_from_scratch, theta_base=5e5, freq_config=extra)
    yield library, f"{name}, llama3", adapter, LLAMA3


def of_positions(table: Callable, rows: int, width: int, **options) -> object:
    return table(width, use("torch:arange")(rows), **options)


def of_zeros(layer: Callable, rows: int, width: int) -> object:
    return layer(use("torch:zeros")(1, rows, width))


def of_width(layer: Callable, rows: int, width: int) -> object:
    return of_zeros(layer(width), rows, width)


TIMES = "diffusers.models.embeddings:get_timestep_embedding"
SINE = "diffusers.models.embeddings:SinusoidalPositionalEmbedding"
MARIAN = "marian.modeling_marian:MarianSinusoidalPositionalEmbedding"
M2M = "m2m_100.modeling_m2m_100:M2M100SinusoidalPositionalEmbedding"
TABLES = {  # where it is, and what makes so many rows, so wide
    "diffusers.models.embeddings:get_1d_sincos_pos_embed_from_grid": partial(
        of_positions, output_type="pt"
    ),
    TIMES: lambda table, n, d: table(use("torch:arange")(n), d),
    SINE: lambda layer, n, d: layer(d, n).pe,
    "keras_hub:layers.SinePositionEncoding": (
        lambda layer, n, d: of_zeros(layer(), n, d)
    ),
    "positional_encodings.torch_encodings:PositionalEncoding1D": of_width,
    "x_transformers.x_transformers:ScaledSinusoidalEmbedding": of_width,
    "transformers.models.whisper.modeling_whisper:sinusoids": (
        lambda table, n, d: table(n, d)
    ),
    f"transformers.models.{MARIAN}": lambda layer, n, d: layer(
        n, d
    ).create_weight(),
    f"transformers.models.{M2M}": lambda layer, n, d: layer.get_embedding(
        n, d
    ),
}


def rotary_review(adapter: Callable[[], Callable], scaling: dict) -> Report:
    """Hold a function to what transformers computes for a scaling."""
    options = {}
    if scaling:
        module = llama("llama", "Llama", scaling)[1]
        options["frequencies"] = module.inv_freq.numpy()
        options["length"] = module.attention_scaling
    return review_rotary(adapter(), WIDTH, max_len=LENGTH, **options)


def table_review(place: str, make: Callable) -> Report:
    encoder = partial(make, use(place))
    encoder(4, WIDTH)  # if the library does not work, say so
    return review(encoder, WIDTH, max_len=LENGTH, tolerance=1e-3)


def row(library: str, name: str, look: Callable[..., Report], *of) -> str:
    """Return a function's row of the table."""
    try:
        found = look(*of)
        convention, library = found.convention, f"{library} {version(library)}"
        words = [f"{kind}: {said}" for kind, said in found.findings.items()]
    except Exception as error:  # whatever an import of a library raises
        said = " ".join(str(error).split())[:200]
        convention, words = (
            "not looked at",
            [f"{type(error).__name__}: {said}"],
        )
    findings = " ".join(words) or "none"
    return f"| {library} | {name} | {convention} | {findings} |"


def rows() -> Iterator[str]:
    """Yield the lines of the table."""
    yield "| library | function | convention seen | findings |"
    yield "|---|---|---|---|"
    for library, name, *of in rotary_functions():
        yield row(library, name, rotary_review, *of)
    for place, make in TABLES.items():
        package, *_, module, name = place.replace(":", ".").split(".")
        library = package.replace("_", "-")
        yield row(library, f"{module}.{name}", table_review, place, make)


def main() -> int:
    """Print the table, and return 1 if it is not that of the page."""
    write = sys.argv[1:] == ["--write"]
    os.environ["KERAS_BACKEND"] = "torch"
    use("torch:set_grad_enabled")(False)
    lines = []
    for line in rows():
        print(line, flush=True)
        lines.append(line)
    text = PAGE.read_text()
    shown = re.search(rf"{re.escape(lines[0])}\n(\|.*\n)+", text)[0]
    if write:
        PAGE.write_text(text.replace(shown, "\n".join([*lines, ""])))
        return 0
    differing = sorted({*lines} ^ {*shown.splitlines()})
    print(*differing, sep="\n", file=sys.stderr)
    return int(bool(differing))


if __name__ == "__main__":
    raise SystemExit(main())
