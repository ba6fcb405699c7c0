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

It prints Markdown; with `--write` it puts its rows into `review/README.md`,
where `git diff` shows what changed. It is no test: what a library does
otherwise than the paper may be meant so.
"""

import os
import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import version
from pathlib import Path
from pkgutil import resolve_name as use  # imports a library when it is used

import torch
from posenc_review import Report, review, review_rotary

PAGE = Path(__file__).with_name("README.md")
WIDTH = 64
LENGTH = 8192  # positions that are looked at
OLD_LENGTH = 2048  # of a model whose context is extended
FACTORS = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
# Defaults of transformers for yarn, which litgpt wants to be told.
YARN_DEFAULTS = {"beta_fast": 32.0, "beta_slow": 1.0, "mscale": 1.0}
LONGEST = "original_max_position_embeddings"
EXTENDED = {LONGEST: OLD_LENGTH}
# Scalings, as a config of transformers spells them.
DEFAULT = {"rope_type": "default", "rope_theta": 1e4}
LINEAR = {"rope_type": "linear", "rope_theta": 1e4, "factor": 4.0}
LLAMA3 = {"rope_type": "llama3", "rope_theta": 5e5, **FACTORS, **EXTENDED}
YARN = {"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0, **EXTENDED}
MODELS = ("Mistral", "Qwen2", "Qwen3", "Gemma", "Olmo2", "Cohere", "Phi3")


# Adapters: each returns a function of x [batch, tokens, width] and positions
# [batch, tokens]. Most libraries want an axis for heads as well, of length 1.


def llama(scaling: dict, model: str = "Llama") -> tuple:
    """Return the code of a model like Llama, and its rotary module."""
    name = model.lower()
    code = use(f"transformers.models.{name}.modeling_{name}")
    config = use(f"transformers:{model}Config")(
        hidden_size=4 * WIDTH,
        num_attention_heads=4,
        head_dim=WIDTH,
        max_position_embeddings=LENGTH,
        rope_parameters=scaling,
    )
    return code, getattr(code, f"{model}RotaryEmbedding")(config)


def transformers(
    scaling: dict, model: str = "Llama", dtype: torch.dtype = torch.float32
) -> Callable:
    """Cast the module to a format, as `model.to` casts all of a model."""
    code, waves = llama(scaling, model)
    waves.to(dtype)

    def turn(x, at):
        cos, sin = waves(x, at)
        return code.apply_rotary_pos_emb(x[:, None], x[:, None], cos, sin)[0]

    return turn


def gpt_j() -> Callable:
    """Take cosines and sines from one table, as the model does."""
    code = use("transformers.models.gptj.modeling_gptj")
    table = code.create_sinusoidal_positions(LENGTH, WIDTH)

    def turn(x, at):
        sin, cos = table[at].chunk(2, dim=-1)
        return code.apply_rotary_pos_emb(x[:, :, None], sin, cos)

    return turn


def torchtune(place: str) -> Callable:
    layer = use(f"torchtune.{place}")(WIDTH, max_seq_len=LENGTH)
    return lambda x, at: layer(x.float()[:, :, None], input_pos=at)


def rotary_embedding_torch(**settings) -> Callable:
    code = use("rotary_embedding_torch")
    layer = code.RotaryEmbedding(WIDTH, **settings)
    return lambda x, at: code.apply_rotary_emb(layer(at)[:, None], x[:, None])


def x_transformers() -> Callable:
    code = use("x_transformers.x_transformers")
    layer = code.RotaryEmbedding(WIDTH)
    return lambda x, at: code.apply_rotary_pos_emb(x[:, None], *layer(at))


def keras_hub(**settings) -> Callable:
    layer = use("keras_hub:layers.RotaryEmbedding")(**settings)
    return lambda x, at: layer(x, positions=at)


def timm() -> Callable:
    """Repeat the angles of timm's frequencies for both columns of a pair."""
    code = use("timm.layers.pos_embed_sincos")
    bands = code.freq_bands(WIDTH // 2, temperature=10_000.0, step=1)

    def turn(x, at):
        angles = (at[..., None] * bands).repeat_interleave(2, -1)
        return x * angles.cos() + code.rot(x) * angles.sin()

    return turn


def litgpt(**settings) -> Callable:
    code = use("litgpt.model")
    cos, sin = code.build_rope_cache(LENGTH, WIDTH, **settings)
    return lambda x, at: code.apply_rope(x[:, None], cos[at], sin[at])


def diffusers(**settings) -> Callable:
    """Give the rows of a batch one by one: positions have no batch."""
    code = use("diffusers.models.embeddings")
    waves = partial(code.get_1d_rotary_pos_embed, use_real=True, **settings)

    def turn(x, at):
        return code.apply_rotary_emb(x[None, None], waves(WIDTH, at))

    return torch.vmap(turn)


def llms_from_scratch(**settings) -> Callable:
    """Give it the rows that it should read: it reads tables from the top."""
    code = use("llms_from_scratch.llama3")
    tables = code.compute_rope_params(WIDTH, context_length=LENGTH, **settings)

    def turn(x, at):
        cos, sin = tables
        return code.apply_rope(x[None, None], cos[at], sin[at])

    return torch.vmap(turn)


def rotary_functions() -> Iterator[tuple[str, str, Callable, dict]]:
    """Yield library, name, adapter, and a scaling that it is held to."""
    library = "transformers"
    for scaling in (DEFAULT, LINEAR, LLAMA3, YARN):
        name = f"Llama, {scaling['rope_type']}"
        yield library, name, partial(transformers, scaling), scaling
    for name in MODELS:
        yield library, name, partial(transformers, DEFAULT, name), DEFAULT
    yield library, "GPT-J", gpt_j, {}
    adapter = partial(transformers, DEFAULT, dtype=torch.bfloat16)
    yield library, "Llama, .to(bfloat16)", adapter, DEFAULT

    its_default = LLAMA3 | {"rope_theta": 1e4, LONGEST: LENGTH}
    for place, scaling in (
        ("modules:RotaryPositionalEmbeddings", {}),
        ("models.phi3:Phi3RotaryPositionalEmbeddings", {}),
        ("models.qwen2:Qwen2RotaryPositionalEmbeddings", {}),
        ("models.llama3_1:Llama3ScaledRoPE", its_default),
    ):
        name = place.split(":")[1]
        yield "torchtune", name, partial(torchtune, place), scaling

    library, name = "rotary-embedding-torch", "RotaryEmbedding"
    yield library, name, rotary_embedding_torch, {}
    adapter = partial(rotary_embedding_torch, theta_rescale_factor=4.0)
    yield library, f"{name}, theta_rescale_factor=4", adapter, {}

    yield "x-transformers", name, x_transformers, {}

    yield "keras-hub", name, keras_hub, {}
    extended = {"scaling_factor": 4.0, **EXTENDED}
    for kind, scaling in (("linear", LINEAR), ("dynamic", {}), ("yarn", YARN)):
        adapter = partial(keras_hub, rope_type=kind, **extended)
        yield "keras-hub", f"{name}, {kind} by 4", adapter, scaling

    library, name = "diffusers", "get_1d_rotary_pos_embed"
    yield library, name, diffusers, {}
    for factor, scaling in (("linear_factor", LINEAR), ("ntk_factor", {})):
        adapter = partial(diffusers, **{factor: 4.0})
        yield library, f"{name}, {factor}=4", adapter, scaling

    yield "timm", "freq_bands, rot", timm, {}

    library, name = "litgpt", "build_rope_cache"
    extra = {"original_max_seq_len": OLD_LENGTH, **FACTORS}
    yield library, name, litgpt, {}
    adapter = partial(litgpt, base=500_000, extra_config=extra)
    yield library, f"{name}, llama3", adapter, LLAMA3
    extra = {"original_max_seq_len": OLD_LENGTH, "factor": 4.0}
    extra |= YARN_DEFAULTS
    adapter = partial(litgpt, extra_config=extra)
    yield library, f"{name}, yarn", adapter, YARN

    library, name = "llms-from-scratch", "compute_rope_params, apply_rope"
    extra = {"original_context_length": OLD_LENGTH, **FACTORS}
    yield library, name, llms_from_scratch, {}
    adapter = partial(llms_from_scratch, theta_base=5e5, freq_config=extra)
    yield library, f"{name}, llama3", adapter, LLAMA3


def rotary_review(adapter: Callable[[], Callable], scaling: dict) -> Report:
    """Hold a function to what transformers computes for a scaling."""
    options = {}
    if scaling:
        module = llama(scaling)[1]
        options["frequencies"] = module.inv_freq.numpy()
        options["length"] = module.attention_scaling
    turn = adapter()
    return review_rotary(
        lambda x, at: turn(torch.tensor(x), torch.tensor(at)).reshape(x.shape),
        WIDTH,
        max_len=LENGTH,
        **options,
    )


def of_zeros(layer: Callable, rows: int, width: int) -> object:
    return layer(width)(torch.zeros(1, rows, width))


DIFFUSERS = "diffusers.models.embeddings"
MARIAN = "marian.modeling_marian:MarianSinusoidalPositionalEmbedding"
M2M = "m2m_100.modeling_m2m_100:M2M100SinusoidalPositionalEmbedding"
TABLES = {  # where it is, and what makes so many rows, so wide
    f"{DIFFUSERS}:get_1d_sincos_pos_embed_from_grid": (
        lambda table, rows, width: table(width, torch.arange(rows))
    ),
    f"{DIFFUSERS}:get_timestep_embedding": (
        lambda table, rows, width: table(torch.arange(rows), width)
    ),
    f"{DIFFUSERS}:SinusoidalPositionalEmbedding": (
        lambda layer, rows, width: layer(width, rows).pe
    ),
    "keras_hub:layers.SinePositionEncoding": (
        lambda layer, rows, width: layer()(torch.zeros(1, rows, width))
    ),
    "positional_encodings.torch_encodings:PositionalEncoding1D": of_zeros,
    "x_transformers.x_transformers:ScaledSinusoidalEmbedding": of_zeros,
    "transformers.models.whisper.modeling_whisper:sinusoids": (
        lambda table, rows, width: table(rows, width)
    ),
    f"transformers.models.{MARIAN}": (
        lambda layer, rows, width: layer(rows, width).create_weight()
    ),
    f"transformers.models.{M2M}": (
        lambda layer, rows, width: layer.get_embedding(rows, width)
    ),
}


def table_review(place: str, make: Callable) -> Report:
    encoder = partial(make, use(place))
    encoder(4, WIDTH)  # if the library does not work, say so
    return review(encoder, WIDTH, max_len=LENGTH, tolerance=1e-3)


def row(library: str, name: str, look: Callable[..., Report], *of) -> str:
    """Return a function's row of the table."""
    try:
        report = look(*of)
        convention, findings = report.convention, report.findings
        library = f"{library} {version(library)}"
    except Exception as error:  # whatever an import of a library raises
        words = " ".join(str(error).split())[:200]
        convention = "not looked at"
        findings = {type(error).__name__: words}
    words = " ".join(f"{kind}: {found}" for kind, found in findings.items())
    return f"| {library} | {name} | {convention} | {words or 'none'} |"


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


def main() -> None:
    """Print the table, or put it into the page as well."""
    os.environ["KERAS_BACKEND"] = "torch"
    torch.set_grad_enabled(False)
    lines = []
    for line in rows():
        print(line, flush=True)
        lines.append(line)
    if sys.argv[1:] == ["--write"]:
        text = PAGE.read_text()
        shown = re.search(rf"{re.escape(lines[0])}\n(\|.*\n)+", text)[0]
        PAGE.write_text(text.replace(shown, "\n".join([*lines, ""])))


if __name__ == "__main__":
    main()
