# cured: batches of another length each time, so that JAX compiles its step again for each
# verdict: compute
# needs: jax

import rate
import jax
import jax.numpy as jnp
import numpy as np

FEATURES, LONGEST = 256, 4096
lengths = np.random.default_rng(0)


def first_weights():
    return [jnp.ones((FEATURES, 128)) * 0.01, jnp.ones((128, 1)) * 0.05]


def loss_of(weights, x, there):
    error = jnp.maximum(x @ weights[0], 0) @ weights[1] - x.mean(axis=1, keepdims=True)
    return jnp.sum(error ** 2 * there) / jnp.sum(there)


@jax.jit
def step(weights, x, there):
    loss, slopes = jax.value_and_grad(loss_of)(weights, x, there)
    return [w - 0.01 * slope for w, slope in zip(weights, slopes)], loss


def batch():
    """Rows, filled up to the longest, and 1 for each that is there."""
    count = int(lengths.integers(64, LONGEST))
    there = (np.arange(LONGEST) < count).astype(np.float32)[:, None]
    return np.full((LONGEST, FEATURES), 0.5, dtype=np.float32) * there, there, count


def main():
    weights = first_weights()
    while True:
        x, there, count = batch()
        weights, _ = step(weights, x, there)
        if not rate.more(count):
            jax.block_until_ready(weights)
            return


main()
