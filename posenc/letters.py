"""Small transformers that read letters, for notebooks 08 and 09.

A text is a row of random letters with one marker, and the question is which
letter stands a given number of places before the marker. `Readers` is the
model. A scheme of positions changes one of its methods: `vectors`, if it
adds something to the symbols, or `scores`, if it works inside attention.
Several readers are trained side by side, so that you see at once whether a
result depends on luck.
"""

from collections.abc import Sequence

import keras
import numpy as np
from keras import ops

from posenc_helpers import angular_frequencies

LETTERS = 8  # a to h are the symbols 0 to 7
MARKER = 8  # the ninth symbol


def make_texts(
    count: int,
    seq_len: int,
    back: int,
    rng: np.random.Generator,
    *,
    marker_last: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """Make random texts, and find the letter `back` places before the marker.

    Args:
        count: Number of texts.
        seq_len: Number of symbols in a text, the marker included.
        back: Distance from the marker to the letter that is asked for.
        rng: Source of the letters and of the marker's place.
        marker_last: Whether the marker is the last symbol. Otherwise it
            stands anywhere from position `back` on.

    Returns:
        Texts of shape `[count, seq_len]` and answers of shape `[count]`.
    """
    texts = rng.integers(0, LETTERS, size=(count, seq_len))
    place = rng.integers(back, seq_len, size=count)
    if marker_last:
        place[:] = seq_len - 1
    rows = np.arange(count)
    texts[rows, place] = MARKER
    return texts, texts[rows, place - back]


class Readers(keras.Model):
    """Readers of letters, side by side; these have no positions.

    A reader is one transformer block: causal attention, then two dense
    layers. Only the marker has to answer, so only the marker has a query. Each
    reader has weights of its own, on the first axis of every weight.

    Args:
        readers: Number of readers.
        heads: Number of attention heads of each reader.
        head_width: Number of columns of a query or a key, in each head.
        d_model: Width of the vectors between the layers.
        seed: Seed of the first weights, and of the texts in `train`.
    """

    def __init__(
        self,
        readers: int,
        *,
        heads: int = 8,
        head_width: int = 16,
        d_model: int = 64,
        seed: int = 0,
    ):
        super().__init__()
        self.readers, self.d_model, self.seed = readers, d_model, seed
        self.heads, self.head_width = heads, head_width
        self.random = keras.random.SeedGenerator(seed)
        columns = heads * head_width
        self.letters = self.matrix(LETTERS + 1, d_model, spread=0.5)
        self.query = self.matrix(d_model, columns)
        self.key = self.matrix(d_model, columns)
        self.value = self.matrix(d_model, columns)
        self.mix = self.matrix(columns, d_model)
        self.hidden = self.matrix(d_model, 2 * d_model)
        self.answer = self.matrix(2 * d_model, LETTERS)

    def matrix(self, rows, columns, *, spread=None):
        """Add a weight `[reader, rows, columns]`, random by default."""
        spread = rows**-0.5 if spread is None else spread
        normal = keras.initializers.RandomNormal(0, spread, self.random)
        return self.add_weight((self.readers, rows, columns), normal)

    def vectors(self, texts):
        """Turn symbols into vectors `[batch, reader, position, d_model]`."""
        return multiply(ops.one_hot(texts, LETTERS + 1), self.letters)

    def scores(self, query, keys, offsets):
        """Score each key, before the softmax.

        Args:
            query: The marker's query, `[batch, reader, 1, head, column]`.
            keys: All keys, `[batch, reader, position, head, column]`.
            offsets: How many positions each key stands before the marker,
                `[batch, reader, position]`. Keys after the marker have
                negative offsets; they are masked later.

        Returns:
            Scores of shape `[batch, reader, position, head]`.
        """
        return ops.sum(query * keys, axis=-1) / self.head_width**0.5

    def attend(self, texts, **changes):
        """Find out where the marker looks.

        Args:
            texts: Symbols `[batch, reader, position]`.
            **changes: Further arguments for `scores`, if it takes any.

        Returns:
            The marker's vector `[batch, reader, d_model]`, all vectors,
            normalized, `[batch, reader, position, d_model]`, and the
            attention weights `[batch, reader, position, head]`.
        """
        vectors = self.vectors(texts)
        # 1 where the marker stands: [batch, reader, position].
        is_marker = ops.cast(ops.equal(texts, MARKER), "float32")
        # A sum over positions p, of which only the marker's counts.
        marker = ops.einsum("brp,brpi->bri", is_marker, vectors)
        vectors = normalize(vectors)
        query = self.cut(multiply(normalize(marker), self.query))
        query = ops.expand_dims(query, 2)  # the same for all positions
        keys = self.cut(multiply(vectors, self.key))

        positions = np.arange(texts.shape[2], dtype="float32")
        place = ops.sum(is_marker * positions, axis=2, keepdims=True)
        offsets = place - positions
        scores = self.scores(query, keys, offsets, **changes)
        is_hidden = ops.expand_dims(offsets < 0, -1)  # after the marker
        weights = ops.softmax(ops.where(is_hidden, -1e9, scores), axis=2)
        return marker, vectors, weights

    def call(self, texts, **changes):
        """Rate each letter as the answer: `[batch, reader, letter]`."""
        marker, vectors, weights = self.attend(texts, **changes)
        # The mean of the values is the value of the mean, and less work.
        # The letters are axes: batch, reader, position, head, i for a column
        # of `d_model`, and w for one of `head_width`.
        means = ops.einsum("brph,brpi->brhi", weights, vectors)
        mixed = ops.einsum("brhi,rihw->brhw", means, self.cut(self.value))
        mixed = ops.reshape(mixed, (*ops.shape(mixed)[:2], -1))  # heads joined
        x = marker + multiply(mixed, self.mix)
        hidden = ops.relu(multiply(normalize(x), self.hidden))
        return multiply(hidden, self.answer)

    def cut(self, x):
        """Cut the last axis into heads."""
        sizes = (self.heads, self.head_width)
        return ops.reshape(x, (*ops.shape(x)[:-1], *sizes))


class RotaryReaders(Readers):
    """Readers with RoPE, each with a base of its own.

    Args:
        bases: The base of RoPE in each reader, such as 10 000.
        **settings: Further arguments of `Readers`.
    """

    def __init__(self, bases: Sequence[float], **settings):
        super().__init__(len(bases), **settings)
        self.frequencies = np.array(  # [reader, pair]
            [angular_frequencies(self.head_width, base) for base in bases]
        )

    def scores(self, query, keys, offsets, *, frequencies=None, stop=None):
        """Score each key after RoPE, in the half layout.

        Turning the key back by its offset gives the score that turning the
        query and the key to their positions would give.

        Args:
            query: As in `Readers`, and so are `keys` and `offsets`.
            keys: All keys.
            offsets: How many positions they stand before the marker.
            frequencies: Used in place of the readers' own,
                `[reader, pair]`.
            stop: Largest offset that each pair still turns by, `[pair]`.
                Infinity lets a pair turn on.
        """
        if frequencies is None:
            frequencies = self.frequencies
        turned_by = ops.expand_dims(offsets, -1)
        if stop is not None:
            turned_by = ops.minimum(turned_by, np.float32(stop))
        angles = turned_by * np.float32(frequencies)[:, None]
        angles = ops.expand_dims(angles, 3)  # the same in all heads
        cos, sin = ops.cos(angles), ops.sin(angles)
        a, b = ops.split(keys, 2, axis=-1)
        keys = ops.concatenate([a * cos + b * sin, b * cos - a * sin], -1)
        return super().scores(query, keys, offsets)


def multiply(x, matrices):
    """Multiply by each reader's own matrix, `[reader, rows, columns]`.

    The vectors `x` are `[batch, reader, rows]`, or `[batch, reader, position,
    rows]`; in the result, `columns` is in place of `rows`.
    """
    # With "..." in place of p, training takes half as long again.
    p = "p" if len(x.shape) == 4 else ""
    return ops.einsum(f"br{p}i,rij->br{p}j", x, matrices)


def normalize(x):
    """Layer normalization without weights: mean 0, variance 1."""
    mean, variance = ops.moments(x, axes=-1, keepdims=True)
    return (x - mean) * ops.rsqrt(variance + 1e-3)


def train(
    readers: Readers,
    backs: Sequence[int],
    *,
    seq_len: int = 20,
    steps: int = 300,
) -> Readers:
    """Train readers on texts that they have never seen; return the same.

    Args:
        readers: The model. Its `seed` decides which texts it gets.
        backs: The distance that each reader is asked for.
        seq_len: Length of the texts.
        steps: Number of training steps, of 32 texts each.
    """
    rng = np.random.default_rng(readers.seed)
    texts, answers = _texts_for_all(backs, 32 * steps, seq_len, rng)
    rate = keras.optimizers.schedules.CosineDecay(6e-3, steps)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = keras.optimizers.Adam(rate)
    optimizer.build(readers.trainable_variables)  # or Keras traces twice
    readers.compile(optimizer, loss)
    readers.fit(texts, answers, 32, shuffle=False, verbose=0)
    return readers


def accuracy(
    readers: Readers,
    backs: Sequence[int],
    seq_len: int,
    *,
    count: int = 100,
    **changes,
) -> np.ndarray:
    """The share of right answers of each reader, `[reader]`.

    All models get the same texts, which end in the marker.

    Args:
        readers: The model.
        backs: The distance that each reader is asked for.
        seq_len: Length of the texts.
        count: Number of texts for each reader.
        **changes: Further arguments of `readers.scores`.
    """
    rng = np.random.default_rng(seq_len)
    texts, answers = _texts_for_all(
        backs, count, seq_len, rng, marker_last=True
    )
    # Parts that fit into a processor's cache are done in half the time.
    parts = np.array_split(texts, texts.size // 25_000 + 1)
    rated = np.concatenate([readers(part, **changes) for part in parts])
    return np.mean(rated.argmax(axis=-1) == answers, axis=0)


def _texts_for_all(backs, count, seq_len, rng, **options):
    """Texts `[count, reader, position]`, answers `[count, reader]`."""
    sets = [make_texts(count, seq_len, back, rng, **options) for back in backs]
    texts, answers = zip(*sets, strict=True)
    return np.stack(texts, axis=1), np.stack(answers, axis=1)
