"""Batches as arrays of PyTorch and JAX, where they are installed."""

import unittest

import stoker as sk
from support import TestCase, needs


@needs("torch")
class Torch(TestCase):
    def test_tensors_are_given_where_torch_is_imported(self):
        import torch

        images, labels = self.pictures()
        [batch] = sk.Loader(sk.idx(images=images, labels=labels) | sk.batch(48))
        self.assertTrue(torch.equal(batch["image"].flatten(), (torch.arange(48 * 30) % 251).to(torch.uint8)))
        self.assertTrue(torch.equal(batch["label"], torch.arange(48) % 10))
        batch["image"].add_(1)

    def test_tensors_of_every_dtype_share_the_memory(self):
        import torch

        for dtype in ("uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"):
            pipeline = sk.range(6) | sk.cast(dtype, field="index") | sk.batch(6)
            [batch] = sk.Loader(pipeline, to="torch")
            self.assertEqual(batch["index"].dtype, getattr(torch, dtype))
            self.assertEqual(batch["index"].tolist(), list(range(6)))
            [shared] = sk.Loader(pipeline, to="dlpack")
            torch.from_dlpack(shared["index"])[0] = 5
            self.assertEqual(torch.from_dlpack(shared["index"])[0].item(), 5)

    def test_tensors_live_on_without_the_batch(self):
        import torch

        tensors = [batch["index"] for batch in sk.Loader(sk.range(1000) | sk.batch(10) | sk.prefetch(), to="torch")]
        self.assertEqual(torch.cat(tensors).tolist(), list(range(1000)))

    def test_rank_and_world_are_those_of_the_process_group(self):
        printed = self.run_python("""
            import os, torch.distributed as dist, torch.multiprocessing as mp, stoker as sk
            def work(rank, store):
                dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
                loader = sk.Loader(sk.range(10) | sk.batch(2))
                seen = [batch["index"].tolist() for batch in loader]
                assert (loader.rank, loader.world, len(loader)) == (rank, 2, 2), loader.rank
                assert seen == [[2 * rank, 2 * rank + 1], [4 + 2 * rank, 5 + 2 * rank]], seen
                dist.destroy_process_group()
            context = mp.get_context("fork")
            workers = [context.Process(target=work, args=(rank, os.path.abspath("store"))) for rank in range(2)]
            for worker in workers: worker.start()
            for worker in workers: worker.join()
            print([worker.exitcode for worker in workers])
        """)
        self.assertEqual(printed.strip(), "[0, 0]")


@needs("jax")
class Jax(TestCase):
    def test_arrays_of_jax_hold_the_values(self):
        import jax

        [batch] = sk.Loader(sk.range(6) | sk.batch(6), to="jax")
        self.assertIsInstance(batch["index"], jax.Array)
        self.assertEqual(batch["index"].tolist(), list(range(6)))
        [batch] = sk.Loader(sk.range(6) | sk.cast("bfloat16", field="index") | sk.batch(6), to="jax")
        self.assertEqual((str(batch["index"].dtype), batch["index"].tolist()), ("bfloat16", [0, 1, 2, 3, 4, 5]))


if __name__ == "__main__":
    unittest.main()
