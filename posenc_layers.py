"""Keras 3 layers, on TensorFlow, that tell a model where each word stands.

Notebook 04 builds drafts of all three. Fixed tables come from
`posenc_helpers.position_encoding`, which notebook 02 builds.
"""

from numbers import Integral
from typing import Any

import keras
import tensorflow as tf
from keras import ops

from posenc_helpers import angular_frequencies, position_encoding

Tensor = Any  # or an array: whatever Keras takes for a tensor
Shape = tuple[int | None, ...]

registered = keras.saving.register_keras_serializable(package="posenc")


def _positive_int(name: str, value: object) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be an integer, not {value!r}")
    if value < 1:
        raise ValueError(f"{name} must be at least 1, not {value}")
    return int(value)


def _sinusoids(shape: tuple[int, int], dtype: str | None = None) -> Tensor:
    """Initializer: float64 angles whatever the dtype, then one cast."""
    return ops.cast(position_encoding(*shape), dtype)


class _PositionLayer(keras.Layer):
    """Turns away input that Keras would misread or silently convert."""

    kind, rank = "int", 2
    wanted = "word ids, integers of shape [batch, seq_len]"

    def __call__(self, inputs: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        # Not in `call`: Keras stops at the numbers of a list before that.
        if advice := self._advice(inputs):
            raise ValueError(f"{self.name} takes {self.wanted}. {advice}")
        return super().__call__(inputs, *args, **kwargs)

    def _advice(self, inputs: Tensor) -> str:
        dtype = getattr(inputs, "dtype", type(inputs).__name__)
        dtype = getattr(dtype, "name", dtype)
        if dtype.startswith(("str", "bytes", "object")):
            wish = "keras.layers.TextVectorization makes ids of text"
            return f"This is {dtype}: {wish}."
        if not hasattr(inputs, "dtype"):
            return f"This is a {dtype}: use keras.ops.convert_to_tensor first."
        if getattr(inputs, "ragged", hasattr(inputs, "ragged_rank")):
            wish = "call .to_tensor(), and keras.Input without ragged=True"
            return f"This is ragged: {wish}."
        if self.kind not in dtype:
            wish = f"cast it, or keras.Input(dtype='{self.kind}32')"
            return f"This is {dtype}: {wish}."
        shape = tuple(inputs.shape)
        fits = len(shape) == self.rank
        return "" if fits else f"This has shape {shape}: add or drop an axis."


@registered
class PositionEmbeddingLayer(_PositionLayer):
    """Learned word embedding plus learned position embedding.

    Both tables start random and are trained. The row of a position that
    training never reaches stays random.

    Args:
        sequence_length: Rows of the position table: the longest input.
        vocab_size: Rows of the word table: the highest id plus 1.
        output_dim: Columns of both tables, the width of the output.
        mask_zero: Whether id 0 is padding. If so, a mask goes along, and
            later layers that heed masks leave the padding out.
        **kwargs: As for every `keras.Layer`: `name`, `dtype`, ...

    Call arguments:
        inputs: Integer tensor of shape `[batch, seq_len]`.

    Returns:
        Tensor of shape `[batch, seq_len, output_dim]`.

    Raises:
        ValueError: If the input is longer than the table, or no tensor of
            ids. `tf.errors.InvalidArgumentError` if the length is known
            only when a graph runs, or if an id is not in the table; under
            XLA (`jit_compile=True`) an id past the table silently reads
            its last row instead, and a negative one counts from its end,
            as far as row 0.

    Example:
    >>> layer = PositionEmbeddingLayer(5, vocab_size=10, output_dim=6)
    >>> layer(np.array([[5, 6, 7, 2, 0], [3, 4, 2, 0, 0]])).shape
    TensorShape([2, 5, 6])

    References:
        Gehring et al. 2017, "Convolutional sequence to sequence learning",
        section 3.1. Class after "The transformer positional encoding layer
        in Keras, part 2", Machine Learning Mastery.
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
        super().__init__(**kwargs)
        length = _positive_int("sequence_length", sequence_length)
        self.sequence_length = length
        self.vocab_size = _positive_int("vocab_size", vocab_size)
        self.output_dim = _positive_int("output_dim", output_dim)
        self.mask_zero = mask_zero
        self.supports_masking = True

    def build(self, input_shape: Shape) -> None:
        self.compute_output_shape(input_shape)
        self.word_table = self._add_table(
            "word_table", self.vocab_size, self.learned_words
        )
        self.position_table = self._add_table(
            "position_table", self.sequence_length, self.learned_positions
        )

    def _add_table(self, name: str, rows: int, learned: bool) -> Tensor:
        # A weight with `trainable=False` stays frozen. A layer would thaw
        # at `model.trainable = True`. No autocast: a mixed policy rounds
        # the sum, once, and not each table.
        return self.add_weight(
            shape=(rows, self.output_dim),
            initializer="uniform" if learned else _sinusoids,
            trainable=learned,
            autocast=False,
            name=name,
        )

    def call(self, inputs: Tensor) -> Tensor:
        self.compute_output_shape(inputs.shape)
        ids = self._checked(inputs)
        words = ops.take(self.word_table, ids, axis=0)
        size = (ops.shape(ids)[1], self.output_dim)
        positions = ops.slice(self.position_table, (0, 0), size)
        return ops.cast(words + positions, self.compute_dtype)

    def _checked(self, inputs: Tensor) -> Tensor:
        """The ids; an error if they do not fit, known only at run time."""
        ids = ops.cast(inputs, "int64")
        low, high = tf.reduce_min(ids), tf.reduce_max(ids)
        length = tf.shape(ids)[1]
        fits = (low >= 0) & (high < self.vocab_size)
        fits &= length <= self.sequence_length
        message = (
            f"ids must be below vocab_size={self.vocab_size}, not negative, at"
            f" most sequence_length={self.sequence_length} in a row; lowest,"
            " highest and number in a row are"
        )
        check = tf.debugging.Assert(fits, [message, low, high, length])
        with tf.control_dependencies([check]):
            return tf.identity(ids)

    def compute_mask(self, inputs: Tensor, mask: Tensor = None) -> Tensor:
        return ops.not_equal(inputs, 0) if self.mask_zero else mask

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        length = input_shape[1]
        if length is not None and length > self.sequence_length:
            raise ValueError(
                f"input of length {length} is longer than the position table:"
                f" sequence_length={self.sequence_length}"
            )
        return (*input_shape, self.output_dim)

    def get_config(self) -> dict[str, Any]:
        names = ("sequence_length", "vocab_size", "output_dim", "mask_zero")
        own = {name: getattr(self, name) for name in names}
        return super().get_config() | own


@registered
class PositionEmbeddingFixedWeights(PositionEmbeddingLayer):
    """Fixed position encoding plus a word table, fixed or learned.

    As published, both tables are the same frozen sinusoids. Then word `a`
    at position `b` looks like word `b` at position `a`. In practice one
    wants `learned_words=True`. Called like `PositionEmbeddingLayer`.

    Args:
        sequence_length: Rows of the position table: the longest input.
        vocab_size: Rows of the word table: the highest id plus 1.
        output_dim: Columns of both tables, the width of the output.
        mask_zero: Whether id 0 is padding, and a mask goes along.
        learned_words: False for the frozen word table as published, True
            for one that starts random and is trained.
        **kwargs: As for every `keras.Layer`: `name`, `dtype`, ...

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
        self.learned_words = learned_words

    def get_config(self) -> dict[str, Any]:
        return super().get_config() | {"learned_words": self.learned_words}


@registered
class SinePositionEncoding(_PositionLayer):
    """Position encoding alone, for embeddings of any length.

    It adds nothing: write `x + SinePositionEncoding()(x)`. It has no
    weights. Angles are float64, whatever the layer's dtype. A graph that
    is traced for one shape and start makes the result once.

    Args:
        max_wavelength: The paper's 10 000, in positions per radian.
        **kwargs: As for every `keras.Layer`: `name`, `dtype`, ...

    Call arguments:
        inputs: Float tensor of shape `[batch, seq_len, d_model]`, used for
            its shape alone. Only `d_model` must be known beforehand.
        start_index: Position of the first row, an integer or a tensor.

    Returns:
        Tensor of the shape of `inputs`.

    Example:
    >>> SinePositionEncoding()(np.zeros((1, 20, 200))).shape
    TensorShape([1, 20, 200])

    References:
        Vaswani et al. 2017, "Attention is all you need", section 3.5.
        Called like `keras_hub.layers.SinePositionEncoding`.
    """

    kind, rank = "float", 3
    wanted = "embeddings, floats of shape [batch, seq_len, d_model]"

    def __init__(self, max_wavelength: float = 10_000, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        angular_frequencies(1, max_wavelength)  # raises if it is unfit
        self.max_wavelength = float(max_wavelength)
        self.supports_masking = True

    def call(self, inputs: Tensor, start_index: int | Tensor = 0) -> Tensor:
        batch, *size = inputs.shape
        if size[0] is None or not isinstance(start_index, Integral):
            rows = self._rows_by_formula(inputs, start_index)
        else:
            shape = (1 if batch is None else batch, *size)
            rows = self._rows_from_table(shape, start_index)
        if rows.shape == inputs.shape:
            return rows
        return ops.broadcast_to(rows, ops.shape(inputs))

    def _rows_from_table(self, shape: Shape, start: int) -> Tensor:
        with tf.init_scope():  # a graph then reads them, and makes none
            rows = position_encoding(
                *shape[1:],
                max_wavelength=self.max_wavelength,
                start_index=start,
            )
            rows = ops.cast(rows, self.compute_dtype)
            return ops.broadcast_to(rows, shape)

    def _rows_by_formula(self, inputs: Tensor, start: Tensor) -> Tensor:
        length, d_model = ops.shape(inputs)[1], inputs.shape[2]
        frequencies = angular_frequencies(d_model, self.max_wavelength)
        positions = ops.cast(ops.arange(length), "float64")
        positions += ops.cast(start, "float64")
        angles = ops.outer(positions, frequencies)
        pairs = ops.stack([ops.sin(angles), ops.cos(angles)], axis=-1)
        rows = ops.reshape(pairs, (length, 2 * len(frequencies)))
        return ops.cast(rows[:, :d_model], self.compute_dtype)

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        return tuple(input_shape)

    def get_config(self) -> dict[str, Any]:
        return super().get_config() | {"max_wavelength": self.max_wavelength}
