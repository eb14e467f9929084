# cured: a JAX loop that makes each batch itself, in Python, before the step that takes it
# verdict: threads augmentation
# needs: jax

import rate
import jax
import jax.numpy as jnp
import numpy as np

SIDE, BATCH = 64, 64


def first_weights():
    keys = jax.random.split(jax.random.PRNGKey(0), 2)
    return [jax.random.normal(keys[0], (SIDE * SIDE, 2048)) * 0.01, jax.random.normal(keys[1], (2048, 10)) * 0.05]


def loss_of(weights, x, y):
    logits = jnp.maximum(x @ weights[0], 0) @ weights[1]
    return -jnp.mean(jax.nn.log_softmax(logits)[jnp.arange(len(y)), y])


@jax.jit
def step(weights, x, y):
    loss, slopes = jax.value_and_grad(loss_of)(weights, x, y)
    return [w - 0.01 * slope for w, slope in zip(weights, slopes)], loss


def make_batch(index):
    pictures = np.random.default_rng(index).random((BATCH, SIDE, SIDE), dtype=np.float32)
    pictures[:, :, 1:-1] = (pictures[:, :, :-2] + pictures[:, :, 1:-1] + pictures[:, :, 2:]) / 3
    return pictures.reshape(BATCH, -1), np.arange(index, index + BATCH) % 10


def main():
    weights, index = first_weights(), 0
    while True:
        weights, _ = step(weights, *make_batch(index))
        index += BATCH
        if not rate.more(BATCH):
            jax.block_until_ready(weights)
            return


main()
