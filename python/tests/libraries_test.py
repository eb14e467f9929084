"""Batches as arrays of PyTorch and JAX, where they are installed."""

import contextlib
import threading
import unittest
import unittest.mock

import stoker as sk
from support import TestCase, needs, threads_of_this_process


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


@needs("torch")
class Devices(TestCase):
    """On "meta", a device without memory that every PyTorch has, and on a GPU where there is one."""

    PIPELINE = sk.range(100) | sk.shuffle() | sk.batch(10) | sk.prefetch()

    def test_batches_are_on_the_device(self):
        import torch

        seen = [batch["index"] for batch in sk.Loader(self.PIPELINE, device="meta")]
        self.assertEqual([(each.device, each.shape) for each in seen], [(torch.device("meta"), (10,))] * 10)

    def test_the_values_are_those_of_the_pass_and_each_iter_is_an_epoch(self):
        ahead, plain = sk.Loader(self.PIPELINE, seed=2, device="cpu"), sk.Loader(self.PIPELINE, seed=2, to="torch")
        for _ in range(3):
            self.assertEqual([batch["index"].tolist() for batch in ahead], [batch["index"].tolist() for batch in plain])
        batches = iter(ahead)
        list(batches)
        self.assertRaises(StopIteration, next, batches)
        self.assertEqual(ahead.epoch, 4)
        self.assertIn("shuffle", str(ahead.profile()))

    def test_the_position_is_after_the_batch_that_was_given_however_far_the_copies_are(self):
        import time

        plain = [batch["index"].tolist() for batch in sk.Loader(self.PIPELINE, seed=2, to="torch")]
        for given in range(11):
            loader = sk.Loader(self.PIPELINE, seed=2, device="cpu")
            batches = iter(loader)
            for _ in range(given):
                next(batches)
            time.sleep(0.01)
            other = sk.Loader(self.PIPELINE, device="cpu")
            other.load_state_dict(loader.state_dict())
            self.assertEqual([batch["index"].tolist() for batch in other][: 10 - given], plain[given:])

    def test_errors_come_where_they_happened_and_again(self):
        def fails(element):
            if element["index"] == 35:
                raise ValueError("bad")
            return element

        batches = iter(sk.Loader(sk.range(100) | sk.map(fails) | sk.batch(10), device="cpu"))
        self.assertEqual([next(batches)["index"][0].item() for _ in range(3)], [0, 10, 20])
        for _ in range(2):
            with self.assertRaisesRegex(sk.DataError, "element 35"):
                next(batches)

    def test_a_pass_that_is_broken_off_leaves_no_thread(self):
        list(sk.Loader(self.PIPELINE, device="cpu"))  # PyTorch may begin a thread of its own
        before = threads_of_this_process()
        for _ in range(5):
            for _batch in sk.Loader(self.PIPELINE, device="cpu"):
                break
        del _batch
        self.assertLessEqual(threads_of_this_process(), before)
        loader = sk.Loader(self.PIPELINE, device="cpu")
        batches = iter(loader)
        next(batches)
        loader.close()
        with self.assertRaisesRegex(sk.ConfigError, "closed"):
            next(batches)

    def test_a_wait_ends_when_another_thread_closes_the_loader(self):
        loader = sk.Loader(sk.range(10 ** 15) | sk.filter(field="index", min=1e16) | sk.batch(2), device="cpu")
        batches = iter(loader)
        closes = threading.Timer(0.3, loader.close)
        closes.start()
        with self.assertRaisesRegex(sk.ConfigError, "closed"):
            next(batches)
        closes.join()

    def test_the_interpreter_ends_in_the_middle_of_a_pass(self):
        self.run_python("""
            import stoker as sk
            batches = iter(sk.Loader(sk.range(10 ** 12) | sk.batch(10), device="cpu"))
            next(batches)
        """)

    def test_devices_that_are_not_there_are_refused(self):
        import torch

        for device, expected in (("nothing", "nothing"), (3.5, "3.5")) + ((("cuda", "no CUDA"),) if not torch.cuda.is_available() else ()):
            with self.assertRaisesRegex(sk.ConfigError, expected):
                iter(sk.Loader(self.PIPELINE, device=device))
        with self.assertRaisesRegex(sk.ConfigError, "NumPy"):
            sk.Loader(self.PIPELINE, to="numpy", device="cpu")

    def test_copies_to_a_gpu_arrive_whole(self):
        import torch

        if not torch.cuda.is_available():
            self.skipTest("no CUDA device")
        pipeline = sk.range(1 << 22) | sk.batch(1 << 16)
        total = sum(batch["index"].sum().item() for batch in sk.Loader(pipeline, device="cuda"))
        self.assertEqual(total, (1 << 22) * ((1 << 22) - 1) // 2)


class Streams:
    """What device.py uses of torch.cuda, on the CPU: notes what is waited for. Copies are done when they are asked for."""

    def __init__(self):
        self.events = []
        streams = self

        class Event:
            def __init__(self, blocking):
                self.blocking, self.recorded, self.waited = blocking, False, False

            def record(self, stream):
                self.recorded = stream == "own"
                streams.events.append(self)

            def synchronize(self):
                self.waited = self.recorded

        self.Event = Event

    def Stream(self, device):  # noqa: N802 - as PyTorch calls it
        return "own"

    def device(self, device):
        return contextlib.nullcontext()

    stream = device

    def current_stream(self, device):
        return self

    def wait_event(self, event):
        event.awaited_by_consumer = True


@needs("torch")
class PinnedMemory(TestCase):
    """The way of a batch to a GPU, with a stream that is none."""

    def mover(self):
        import torch

        from stoker.device import _ByStream

        self.asked, self.memory = [], []

        def allocate(size):
            self.asked.append(size)
            self.memory.append(torch.empty(size, dtype=torch.uint8))
            return self.memory[-1]

        return _ByStream(torch.device("cpu"), Streams(), allocate)

    @staticmethod
    def arrived(move, batch):
        """What a consumer gets; tensors of the CPU do not know streams."""
        import torch

        with unittest.mock.patch.object(torch.Tensor, "record_stream", lambda tensor, stream: None):
            return move(batch)()

    def test_gives_the_values_of_tensors_of_any_type_and_shape(self):
        import torch

        move = self.mover()
        for dtype in (torch.uint8, torch.bool, torch.int64, torch.float16, torch.bfloat16, torch.float32, torch.float64):
            for shape in ((), (0, 3), (7,), (3, 50_000), (2, 3, 4)):
                values = (torch.arange(max(1, torch.Size(shape).numel())) % 2).to(dtype)[:torch.Size(shape).numel()].view(shape)
                got = self.arrived(move, {"a": values, "b": values.t() if values.ndim == 2 else values})
                with self.subTest(dtype=dtype, shape=shape):
                    self.assertEqual((got["a"].dtype, got["a"].shape), (dtype, values.shape))
                    self.assertTrue(torch.equal(got["a"], values))
                    self.assertTrue(torch.equal(got["b"], values.t() if values.ndim == 2 else values))

    def test_is_asked_for_once_and_used_again(self):
        import torch

        move = self.mover()
        batches = [{"x": torch.full((100 - step, 1000), step), "label": torch.full((100 - step,), step)} for step in range(50)]
        got = [self.arrived(move, batch) for batch in batches]
        self.assertEqual(len(self.asked), 4)  # two batches of two fields: later ones fit in
        for step, batch in enumerate(got):  # no batch lies in memory that was used again
            self.assertTrue((batch["x"] == step).all() and (batch["label"] == step).all())
        self.arrived(move, {"x": torch.zeros(300, 1000), "label": torch.zeros(7)})
        self.assertEqual(len(self.asked), 5)

    def test_is_written_again_only_after_the_device_has_read_it(self):
        import torch

        move = self.mover()
        events = move._cuda.events
        for step in range(6):
            waited = [event.waited for event in events]
            self.assertEqual(waited, [True] * max(0, step - 2) + [False] * min(2, step))
            self.arrived(move, {"x": torch.full((10,), step)})
        self.assertTrue(all(event.blocking for event in events))  # a wait takes no CPU
        self.assertTrue(all(event.awaited_by_consumer for event in events))

    def test_an_error_of_the_device_reaches_the_caller(self):
        from stoker import device

        class Gone(device._Plainly):
            @contextlib.contextmanager
            def on_this_thread(self):
                raise RuntimeError("the device is gone")
                yield

        with unittest.mock.patch.object(device, "_mover", Gone):
            batches = iter(sk.Loader(Devices.PIPELINE, device="cpu"))
            for _ in range(2):
                with self.assertRaisesRegex(RuntimeError, "the device is gone"):
                    next(batches)


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
