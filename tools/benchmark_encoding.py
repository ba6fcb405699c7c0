"""Compare the time and memory of `position_encoding` with alternatives.

The results are ratios, measured in one run: the ways of building the table
take turns, and the shortest time of each counts. All tables are float32 and
interleaved, except that tensor2tensor's formula concatenates sines and
cosines, as its code does.
"""

import os
import time
import tracemalloc

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "1"

import numpy as np
import tensorflow as tf
from keras import ops
from series.commands import parser

from posenc_helpers import position_encoding

ROWS_OF_LOOP = 256  # the loop is timed on this many rows, and scaled


def helper(seq_len, d_model):
    return position_encoding(seq_len, d_model, dtype=np.float32)


def fill_only(seq_len, d_model):
    return np.full((seq_len, d_model), 0.5, np.float32)


def numpy_sin_cos(seq_len, d_model):
    frequencies = 10_000.0 ** (-np.arange(0, d_model, 2) / d_model)
    angles = np.arange(seq_len)[:, np.newaxis] * frequencies
    table = np.empty((seq_len, d_model), np.float32)
    table[:, 0::2] = np.sin(angles)
    table[:, 1::2] = np.cos(angles)
    return table


def exp_log(seq_len, d_model):
    steps = np.arange(0, d_model, 2)
    frequencies = np.exp(steps * -(np.log(10_000.0) / d_model))
    angles = np.arange(seq_len)[:, np.newaxis] * frequencies
    table = np.zeros((seq_len, d_model))
    table[:, 0::2] = np.sin(angles)
    table[:, 1::2] = np.cos(angles)
    return table.astype(np.float32)


def tensorflow_tutorial(seq_len, d_model):
    columns = np.arange(d_model)[np.newaxis]
    rates = 1 / np.power(10_000, 2 * (columns // 2) / np.float32(d_model))
    angles = np.arange(seq_len)[:, np.newaxis] * rates
    angles[:, 0::2] = np.sin(angles[:, 0::2])
    angles[:, 1::2] = np.cos(angles[:, 1::2])
    return tf.cast(angles[np.newaxis], tf.float32)


def keras_hub(seq_len, d_model):
    columns = ops.arange(d_model)
    power = ops.cast(2 * (columns // 2), "float32") / d_model
    frequencies = ops.power(ops.cast(1 / 10_000, "float32"), power)
    positions = ops.cast(ops.arange(seq_len), "float32")
    angles = positions[:, None] * frequencies[None, :]
    is_cosine = ops.cast(columns % 2, "float32")
    table = ops.sin(angles) * (1 - is_cosine) + ops.cos(angles) * is_cosine
    return ops.broadcast_to(table, (1, seq_len, d_model))  # a batch of one


def tensor2tensor(seq_len, d_model):
    pairs = tf.range(d_model // 2, dtype=tf.float32)
    step = tf.math.log(10_000.0) / (d_model // 2 - 1)
    positions = tf.range(seq_len, dtype=tf.float32)
    angles = positions[:, None] * tf.exp(-step * pairs)[None, :]
    return tf.concat([tf.sin(angles), tf.cos(angles)], axis=1)


def loop(seq_len, d_model):
    table = np.zeros((seq_len, d_model), np.float32)
    for position in range(seq_len):
        for i in range(d_model // 2):
            angle = position / 10_000 ** (2 * i / d_model)
            table[position, 2 * i] = np.sin(angle)
            table[position, 2 * i + 1] = np.cos(angle)
    return table


def seconds(build, seq_len, d_model):
    start = time.perf_counter()
    build(seq_len, d_model)
    return time.perf_counter() - start


def shortest_times(builds, seq_len, d_model, rounds):
    times = dict.fromkeys(builds, np.inf)
    for _ in range(rounds):
        for build in builds:
            now = seconds(build, seq_len, d_model)
            times[build] = min(times[build], now)
    return times


def large_table(seq_len=32_768, d_model=1_024):
    builds = [fill_only, helper, numpy_sin_cos, exp_log]
    builds += [tensorflow_tutorial, keras_hub, tensor2tensor]
    times = shortest_times(builds, seq_len, d_model, rounds=15)
    scale = seq_len / ROWS_OF_LOOP
    times[loop] = seconds(loop, ROWS_OF_LOOP, d_model) * scale
    print(f"{seq_len} x {d_model}, float32")
    print(f"{'':22}{'times numpy.full':>18}{'times the helper':>18}")
    for build, taken in sorted(times.items(), key=lambda item: item[1]):
        floor, ours = taken / times[fill_only], taken / times[helper]
        print(f"{build.__name__:22}{floor:18.1f}{ours:18.1f}")


def memory(seq_len=32_768, d_model=1_024):
    tracemalloc.start()
    result = helper(seq_len, d_model)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    extra = (peak - result.nbytes) / result.nbytes
    print(f"\nextra memory at its peak: {extra:.1%} of the result")


def small_table(seq_len=100, d_model=512):
    builds = [helper, numpy_sin_cos]
    times = shortest_times(builds, seq_len, d_model, rounds=300)
    ratio = times[numpy_sin_cos] / times[helper]
    print(f"\n{seq_len} x {d_model}: numpy_sin_cos takes {ratio:.1f} times")
    print("as long as the helper")


if __name__ == "__main__":
    parser(__doc__).parse_args()
    large_table()
    memory()
    small_table()
