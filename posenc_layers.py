"""Keras 3 layers, on TensorFlow, that tell a model where each word stands.

Notebook 04 builds drafts of all three. Fixed tables come from
`posenc_helpers.position_encoding`, which notebook 02 builds.
"""

from operator import index
from typing import Any

import keras
import numpy as np
from keras import ops

if keras.backend.backend() != "tensorflow":
    raise ImportError(
        "posenc_layers needs Keras on TensorFlow, not on"
        f" {keras.backend.backend()}: set the environment variable"
        " KERAS_BACKEND to tensorflow before Keras is imported."
    )

import tensorflow as tf

from posenc_helpers import angular_frequencies, position_encoding

Tensor = Any  # or an array: whatever Keras takes for a tensor
Shape = tuple[int | None, ...]

# A float of these types holds every whole number up to here.
WHOLE_UP_TO = {"bfloat16": 2**8, "float16": 2**11, "float32": 2**24}

registered = keras.saving.register_keras_serializable(package="posenc")


def _positive_int(name: str, value: object) -> int:
    """The value as an integer of Python's; an error if it is none."""
    try:
        number = index(value)  # takes NumPy's integers too
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        raise TypeError(f"{name} must be an integer, not {value!r}")
    if number < 1:
        raise ValueError(f"{name} must be at least 1, not {number}")
    return number


def _true_or_false(name: str, value: object) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, not {value!r}")
    return bool(value)


def _dtype_name(inputs: object) -> str:
    """The name of a tensor's or array's dtype; of another object, its type."""
    dtype = getattr(inputs, "dtype", type(inputs).__name__)
    return getattr(dtype, "name", dtype)


def _sinusoids(shape: tuple[int, int], dtype: str | None = None) -> Tensor:
    """Initializer: float64 angles whatever the dtype, then one cast."""
    return ops.cast(position_encoding(*shape), dtype)


class _PositionLayer(keras.Layer):
    """Says in words what is wrong with input that Keras would misread."""

    wanted: str  # what the inputs should be
    dtypes: tuple[str, ...]  # parts of the names of the dtypes that they have
    rank: int  # how many axes they have
    to_have: str  # the dtype to convert others to

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        # Keras would cast float inputs to the dtype of the results: ids would
        # lose digits, and embeddings are wanted for their shape alone.
        self.autocast = False

    def __call__(self, inputs: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        # Not in `call`: Keras stops at the numbers of a list before that.
        advice = self._advice(inputs)
        if advice:
            raise ValueError(f"{self.name} takes {self.wanted}. {advice}")
        return super().__call__(inputs, *args, **kwargs)

    def _advice(self, inputs: Tensor) -> str:
        """What to do with inputs that do not fit; nothing if they do."""
        dtype = _dtype_name(inputs)
        if dtype.startswith(("str", "bytes", "object")):
            wish = "keras.layers.TextVectorization makes ids of text"
            return f"This is {dtype}: {wish}."
        if not hasattr(inputs, "dtype"):
            wish = "give an array, or what keras.ops.convert_to_tensor makes"
            return f"This is of type {dtype}: {wish}."
        # Keras's ragged tensors have `ragged`, TensorFlow's `ragged_rank`.
        if getattr(inputs, "ragged", hasattr(inputs, "ragged_rank")):
            wish = "call .to_tensor(), and keras.Input without ragged=True"
            return f"This is ragged: {wish}."
        if not any(part in dtype for part in self.dtypes):
            return f"This is {dtype}: cast it to {self.to_have}."
        shape = tuple(inputs.shape)
        if len(shape) != self.rank:
            return f"This has shape {shape}: add or drop an axis."
        return ""


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
        inputs: Integer tensor of shape `[batch, seq_len]`. Whole numbers
            in a float tensor will do, since a `keras.Sequential` without
            `keras.Input` makes floats of the ids before its first layer.

    Returns:
        Tensor of shape `[batch, seq_len, output_dim]`.

    Raises:
        TypeError: If a size is not an integer, or `mask_zero` not a bool.
        ValueError: If a size is below 1, or the input is longer than the
            table, holds an id that is not in the table, or is no tensor of
            ids. It is `tf.errors.InvalidArgumentError` where length or ids
            are known only when a graph runs. Under XLA
            (`jit_compile=True`) an id past the table silently reads its
            last row instead, and a negative one counts from its end, as far
            as row 0.

    Example:
    >>> layer = PositionEmbeddingLayer(5, vocab_size=10, output_dim=6)
    >>> layer(np.array([[5, 6, 7, 2, 0], [3, 4, 2, 0, 0]])).shape
    TensorShape([2, 5, 6])

    References:
        Gehring et al. 2017, "Convolutional sequence to sequence learning".
        Class after "The transformer positional encoding layer in Keras,
        part 2", Machine Learning Mastery.
    """

    wanted = "word ids, integers of shape [batch, seq_len]"
    dtypes = ("int", "float")
    rank = 2
    to_have = "int32"

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
        self.mask_zero = _true_or_false("mask_zero", mask_zero)
        # `PositionEmbeddingFixedWeights` sets these two otherwise.
        self.learned_words = True
        self.learned_positions = True

    def build(self, input_shape: Shape) -> None:
        self._refuse_longer(input_shape[1])
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
        self._refuse_longer(inputs.shape[1])
        ids = self._checked_ids(inputs)
        words = ops.take(self.word_table, ids, axis=0)
        size = (ops.shape(ids)[1], self.output_dim)
        positions = ops.slice(self.position_table, (0, 0), size)
        return ops.cast(words + positions, self.compute_dtype)

    def _advice(self, inputs: Tensor) -> str:
        dtype = _dtype_name(inputs)
        if self.vocab_size > WHOLE_UP_TO.get(dtype, self.vocab_size):
            return (
                f"This is {dtype}, too coarse for vocab_size="
                f"{self.vocab_size}: begin with keras.Input(dtype='int32')."
            )
        return super()._advice(inputs)

    def _refuse_longer(self, length: int | None) -> None:
        """An error if the length of the input is known, and too large."""
        if length is not None and length > self.sequence_length:
            raise ValueError(
                f"input of length {length} is longer than the position table:"
                f" sequence_length={self.sequence_length}"
            )

    def _checked_ids(self, inputs: Tensor) -> Tensor:
        """The ids as integers; an error if they are not in the table."""
        wanted = (
            "ids must be whole numbers, not negative and below"
            f" vocab_size={self.vocab_size}"
        )
        if not tf.executing_eagerly():
            return self._checked_by_the_graph(inputs, wanted)
        ids = ops.convert_to_numpy(inputs)
        fits = (ids >= 0) & (ids < self.vocab_size) & (ids % 1 == 0)
        if not fits.all():
            raise ValueError(f"{wanted}; this is {ids[~fits][0]}")
        return ops.cast(inputs, "int64")

    def _checked_by_the_graph(self, inputs: Tensor, wanted: str) -> Tensor:
        """The same, of what is known when the graph runs; length too."""
        ids = ops.cast(inputs, "int64")
        length = tf.shape(ids)[1]
        inside = (ids >= 0) & (ids < self.vocab_size)
        whole = ops.cast(ids, inputs.dtype) == inputs
        fits = tf.reduce_all(inside & whole) & (length <= self.sequence_length)
        told = [
            f"{wanted}, at most sequence_length={self.sequence_length} in a"
            " row; lowest, highest and number in a row are",
            tf.reduce_min(inputs),
            tf.reduce_max(inputs),
            length,
        ]
        check = tf.debugging.Assert(fits, told)
        with tf.control_dependencies([check]):  # it waits for the check
            return tf.identity(ids)

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
        self.learned_positions = False

    def get_config(self) -> dict[str, Any]:
        return super().get_config() | {"learned_words": self.learned_words}


@registered
class SinePositionEncoding(_PositionLayer):
    """Position encoding alone, for embeddings of any length.

    It adds nothing: `keras.layers.Add()([x, SinePositionEncoding()(x)])`
    does, and passes on the mask that embeddings of padded text have. With
    `x + SinePositionEncoding()(x)` the mask is lost and no one is told: an
    operator gives a new tensor, and only layers pass masks on.

    It has no weights. Angles are float64, whatever the layer's dtype. A
    graph that is traced for one shape and start makes the result once, and
    holds it.

    Args:
        max_wavelength: The paper's 10 000, in positions per radian.
        **kwargs: As for every `keras.Layer`: `name`, `dtype`, ...

    Call arguments:
        inputs: Float tensor of shape `[batch, seq_len, d_model]`, used for
            its shape alone. Only `d_model` must be known beforehand.
        start_index: Position of the first row: an integer, or a tensor or
            variable that holds one. Where it is known only when a graph
            runs, a negative one is not refused.

    Returns:
        Tensor of the shape of `inputs`.

    Raises:
        ValueError: If `max_wavelength` is not a finite number of at least
            1, `inputs` are no such tensor, `start_index` is negative, or
            rows lead past 2**38 (not in a graph that learns length or start
            only as it runs).
        TypeError: If `start_index` is not one integer.

    Example:
    >>> SinePositionEncoding()(np.zeros((1, 20, 200))).shape
    TensorShape([1, 20, 200])

    References:
        Vaswani et al. 2017, "Attention is all you need", section 3.5.
        `max_wavelength` and `start_index` are as in
        `keras_hub.layers.SinePositionEncoding`.
    """

    wanted = "embeddings, floats of shape [batch, seq_len, d_model]"
    dtypes = ("float",)
    rank = 3
    to_have = "float32"

    def __init__(self, max_wavelength: float = 10_000, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        angular_frequencies(1, max_wavelength)  # raises if it is unfit
        self.max_wavelength = float(max_wavelength)

    def call(self, inputs: Tensor, start_index: int | Tensor = 0) -> Tensor:
        length = inputs.shape[1]
        start = self._start(start_index)
        if length is not None and isinstance(start, int):
            rows = self._rows_from_table(inputs, start)
        else:
            rows = self._rows_by_formula(inputs, start)
        if rows.shape == inputs.shape:
            return rows
        return ops.broadcast_to(rows, ops.shape(inputs))

    def _start(self, start_index: int | Tensor) -> int | Tensor:
        """The first position: an integer, or a tensor if it is not known."""
        unfit = f"start_index must be one integer, not {start_index!r}"
        if start_index is None:
            raise TypeError(unfit)
        start = tf.convert_to_tensor(start_index)
        if not start.dtype.is_integer or start.shape.rank != 0:
            raise TypeError(unfit)
        value = tf.get_static_value(start)
        if value is None:
            return start
        if value < 0:
            raise ValueError(f"start_index must be at least 0, not {value}")
        return int(value)

    def _rows_from_table(self, inputs: Tensor, start: int) -> Tensor:
        """For a known length and start: NumPy makes the rows."""
        batch, length, d_model = inputs.shape
        rows = position_encoding(
            length,
            d_model,
            max_wavelength=self.max_wavelength,
            start_index=start,
        )
        with tf.init_scope():  # once for a graph, and not each time it runs
            rows = ops.cast(rows, self.compute_dtype)
            # A batch of unknown size gets one row, which `call` repeats.
            return ops.broadcast_to(rows, (batch or 1, length, d_model))

    def _rows_by_formula(self, inputs: Tensor, start: int | Tensor) -> Tensor:
        """For what only a running graph knows (see notebook 04)."""
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
