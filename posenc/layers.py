"""Keras 3 layers that tell a model where each word stands.

They run on TensorFlow, JAX and PyTorch. Notebook 04 builds drafts of all
three layers; the fixed tables are those of `posenc.fast_table`.
"""

from typing import Any

import keras
import numpy as np
from keras import ops
from keras.backend import is_float_dtype, standardize_dtype

from posenc.fast_table import fast_position_encoding
from posenc_helpers import (
    MAX_POSITION,
    angular_frequencies,
    checked_int,
    checked_max_wavelength,
)

sine_table = fast_position_encoding
if keras.backend.backend() == "torch":
    import torch

    # PyTorch's compiler would compute NumPy code in float32.
    sine_table = torch.compiler.disable(fast_position_encoding)

Tensor = Any  # or an array: whatever Keras takes for a tensor
Shape = tuple[int | None, ...]

# These dtypes hold every whole number below this one.
WHOLE_BELOW = {"bool": 2, "bfloat16": 2**8, "float16": 2**11, "float32": 2**24}

registered = keras.saving.register_keras_serializable(package="posenc")


def _true_or_false(name: str, value: object) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, not {value!r}")
    return bool(value)


def _value(tensor: Tensor) -> np.ndarray | None:
    """What a tensor holds; None in a graph, where it holds nothing yet."""
    try:
        return ops.convert_to_numpy(tensor)
    except (NotImplementedError, RuntimeError, TypeError):
        return None  # every backend has an error of its own


def _sinusoids(shape: tuple[int, int], dtype: str | None = None) -> Tensor:
    """Initializer: float64 angles whatever the dtype, then one rounding."""
    return ops.convert_to_tensor(sine_table(*shape), dtype)


class _PositionLayer(keras.Layer):
    """What the three layers share: floats only, masks, ids as they come."""

    def __init__(self, ndim: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        dtype = self.compute_dtype
        if not is_float_dtype(dtype):
            raise ValueError(f"dtype must be a float, not {dtype}")
        self.input_spec = keras.InputSpec(ndim=ndim)
        self.supports_masking = True
        # Keras would cast float inputs to the dtype of the results, and ids
        # would lose digits.
        self.autocast = False


@registered
class PositionEmbeddingLayer(_PositionLayer):
    """Learned word embedding plus learned position embedding.

    Both tables start random and are trained. The row of a position that
    training never reaches stays random.

    Args:
        sequence_length: Rows of the position table: the longest input.
        vocab_size: Rows of the word table: the highest id plus 1.
        output_dim: Columns of both tables, the width of the output.
        mask_zero: Whether id 0 is padding. If so, the layer makes a mask,
            and later layers that use masks leave the padding out.
        **kwargs: As for every `keras.Layer`: `name`, `dtype`, ...

    Call arguments:
        inputs: Integer tensor of shape `[batch, seq_len]`. Whole numbers
            in a float tensor will do, since a `keras.Sequential` without
            `keras.Input` makes floats of the ids before its first layer.

    Returns:
        Tensor of shape `[batch, seq_len, output_dim]`.

    Raises:
        TypeError: If a size is not an integer, or `mask_zero` not a bool.
        ValueError: If a size is below 1, or the inputs are longer than
            `sequence_length`, hold an id that is not in the table, or are
            no tensor of ids.

    Note:
        An id that is not in the table raises a `ValueError` with the id in
        calls and on PyTorch. In `fit` and `predict`, TensorFlow raises
        `InvalidArgumentError`, and JAX goes on with vectors of NaN.
        TensorFlow raises none on a GPU, nor under XLA (`jit_compile=True`,
        which Keras may choose there): such an id then reads the last row,
        or zeros.

    References:
        Gehring et al. 2017, "Convolutional sequence to sequence learning".
        Class after "The transformer positional encoding layer in Keras,
        part 2", Machine Learning Mastery.
    """

    learned_words = learned_positions = True

    def __init__(
        self,
        sequence_length: int,
        vocab_size: int,
        output_dim: int,
        mask_zero: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(ndim=2, **kwargs)
        self.sequence_length = checked_int("sequence_length", sequence_length)
        self.vocab_size = checked_int("vocab_size", vocab_size)
        self.output_dim = checked_int("output_dim", output_dim)
        self.mask_zero = _true_or_false("mask_zero", mask_zero)

    def build(self, input_shape: Shape) -> None:
        words, positions = self.vocab_size, self.sequence_length
        self.word_table = self._table("word", words, self.learned_words)
        self.position_table = self._table(
            "position", positions, self.learned_positions
        )

    def _table(self, name: str, rows: int, learned: bool) -> Tensor:
        # A weight with `trainable=False` stays frozen. A layer would thaw
        # at `model.trainable = True`. No autocast: a mixed policy rounds
        # the sum, once, and not each table.
        return self.add_weight(
            shape=(rows, self.output_dim),
            initializer="uniform" if learned else _sinusoids,
            trainable=learned,
            autocast=False,
            name=f"{name}_table",
        )

    def call(self, inputs: Tensor) -> Tensor:
        self._refuse_longer(inputs.shape[1])
        ids = self._checked_ids(inputs)
        words = ops.take(self.word_table, ids, axis=0)
        positions = ops.convert_to_tensor(self.position_table)
        size = (ops.shape(ids)[1], self.output_dim)
        rows = words + ops.slice(positions, (0, 0), size)
        return ops.cast(rows, self.compute_dtype)

    def _refuse_longer(self, length: int | None) -> None:
        """An error if the length of the input is known, and too large."""
        if length is not None and length > self.sequence_length:
            raise ValueError(
                f"input of length {length} is longer than the position table:"
                f" sequence_length={self.sequence_length}"
            )

    def _checked_ids(self, inputs: Tensor) -> Tensor:
        """The ids as integers; an error if one is not in the table."""
        dtype, size = standardize_dtype(inputs.dtype), self.vocab_size
        if size > WHOLE_BELOW.get(dtype, size):
            raise ValueError(
                f"ids came as {dtype}, too coarse for vocab_size={size}:"
                " begin with keras.Input(dtype='int32')"
            )
        ids = ops.cast(inputs, "int32")
        fits = (ids >= 0) & (ids < size) & ops.equal(ids, inputs)
        known = _value(fits)
        if known is not None and not known.all():
            wrong = ops.convert_to_numpy(inputs)[~known][0]
            raise ValueError(
                "ids must be whole numbers, not negative and below"
                f" vocab_size={size}; this is {wrong}"
            )
        # In a graph, an id past the end is TensorFlow's error or JAX's NaN.
        # Negative ones, which would be counted from the end, are sent there.
        return ops.where(fits, ids, size)

    def compute_mask(self, inputs: Tensor, mask: Tensor = None) -> Tensor:
        return ops.not_equal(inputs, 0) if self.mask_zero else mask

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        self._refuse_longer(input_shape[1])
        return (*input_shape, self.output_dim)

    def get_config(self) -> dict[str, Any]:
        return super().get_config() | {
            "sequence_length": self.sequence_length,
            "vocab_size": self.vocab_size,
            "output_dim": self.output_dim,
            "mask_zero": self.mask_zero,
        }


@registered
class PositionEmbeddingFixedWeights(PositionEmbeddingLayer):
    """Fixed position encoding plus a word table, fixed or learned.

    As published, both tables are the same frozen sinusoids. Word `a` at
    position `b` then gets the same vector as word `b` at position `a`. In
    practice, use `learned_words=True`. All else is as in
    `PositionEmbeddingLayer`.

    Args:
        learned_words: False for the frozen word table as published, True
            for one that starts random and is trained.

    References:
        Vaswani et al. 2017, "Attention is all you need", section 3.5.
        Class after the tutorial that `PositionEmbeddingLayer` names.
    """

    learned_positions = False

    def __init__(
        self,
        sequence_length: int,
        vocab_size: int,
        output_dim: int,
        mask_zero: bool = False,
        *,
        learned_words: bool = False,
        **kwargs: Any,
    ) -> None:
        sizes = (sequence_length, vocab_size, output_dim)
        super().__init__(*sizes, mask_zero, **kwargs)
        self.learned_words = _true_or_false("learned_words", learned_words)

    def get_config(self) -> dict[str, Any]:
        return super().get_config() | {"learned_words": self.learned_words}


@registered
class SinePositionEncoding(_PositionLayer):
    """Position encoding alone, for embeddings of any length.

    The layer returns the encoding and does not add it to its input. Add it
    by `keras.layers.Add()([x, SinePositionEncoding()(x)])`, which passes on
    the mask of padded text. The sum `x + SinePositionEncoding()(x)` loses
    the mask without a warning, because only layers pass masks on.

    The layer has no weights. Angles are float64 whatever its dtype, except
    where JAX compiles for a `start_index` that it learns only as it runs:
    those are float32, off by 1e-4 at position 2000, and by less than 1e-2 at
    100 000. A graph that is traced for one shape and start holds its result.

    Args:
        max_wavelength: The paper's 10 000, in positions per radian.
        **kwargs: As for every `keras.Layer`: `name`, `dtype`, ...

    Call arguments:
        inputs: Float tensor of shape `[batch, seq_len, d_model]`, used for
            its shape alone. Only `d_model` must be known beforehand.
        start_index: Position of the first row: an integer, or a tensor or
            variable that holds one. Where it is known only when a graph
            runs, it is not checked.

    Returns:
        Tensor of the shape of `inputs`.

    Raises:
        TypeError: If `start_index` is not one integer.
        ValueError: If `max_wavelength` is not a finite number of at least
            1, `inputs` are no such tensor, `start_index` is negative, or
            the rows lead past position 2**38.

    References:
        Vaswani et al. 2017, "Attention is all you need", section 3.5.
        `max_wavelength` and `start_index` are as in
        `keras_hub.layers.SinePositionEncoding`.
    """

    def __init__(self, max_wavelength: float = 10_000, **kwargs: Any) -> None:
        super().__init__(ndim=3, **kwargs)
        self.max_wavelength = checked_max_wavelength(max_wavelength)

    def call(self, inputs: Tensor, start_index: int | Tensor = 0) -> Tensor:
        start = self._start(start_index)
        if inputs.shape[1] is None or not isinstance(start, int):
            rows = self._rows_by_formula(inputs, start)
        else:  # NumPy makes the rows, in a graph once
            rows = sine_table(
                inputs.shape[1],
                inputs.shape[2],
                max_wavelength=self.max_wavelength,
                start_index=start,
            )
        rows = ops.convert_to_tensor(rows, self.compute_dtype)
        return ops.broadcast_to(rows, ops.shape(inputs))

    def _start(self, start_index: int | Tensor) -> int | Tensor:
        """The first position: an integer, or a tensor if it is not known."""
        start = start_index
        if hasattr(start, "dtype") and len(start.shape) == 0:
            value = _value(start)
            if value is not None:
                start = value.item()
            elif "int" in standardize_dtype(start.dtype):
                return start
        return checked_int("start_index", start, 0, MAX_POSITION)

    def _rows_by_formula(self, inputs: Tensor, start: int | Tensor) -> Tensor:
        """For what only a running graph knows (see notebook 04)."""
        length, d_model = ops.shape(inputs)[1], inputs.shape[2]
        frequencies = angular_frequencies(d_model, self.max_wavelength)
        frequencies = ops.convert_to_tensor(frequencies)
        dtype = frequencies.dtype  # float64, but float32 on JAX
        positions = ops.cast(ops.arange(length), dtype)
        positions += ops.cast(start, dtype)
        angles = ops.outer(positions, frequencies)
        pairs = ops.stack([ops.sin(angles), ops.cos(angles)], axis=-1)
        rows = ops.reshape(pairs, (length, 2 * frequencies.shape[0]))
        return rows[:, :d_model]

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        return tuple(input_shape)

    def get_config(self) -> dict[str, Any]:
        return super().get_config() | {"max_wavelength": self.max_wavelength}
