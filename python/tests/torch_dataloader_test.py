"""sk.DataLoader: PyTorch's meaning, our transport, and a position that can be saved."""

import gc
import json
import multiprocessing
import os
import random
import select
import signal
import socket
import subprocess
import sys
import textwrap
import time
import types
import unittest
import warnings
from unittest import mock

from support import HANGS, TestCase, needs, threads_of_this_process

try:
    import numpy
    import torch
    from torch.utils.data import DataLoader as TorchLoader
    from torch.utils.data import Dataset, IterableDataset, get_worker_info

    import stoker as sk
    from stoker.dataloader import array_pickle
    from stoker.dataloader import loader as loader_module
    from stoker.dataloader.array_queue import ArrayQueue
    from stoker.dataloader.shared_blocks import Reader
except ImportError:
    Dataset = IterableDataset = object


class Rows(Dataset):
    """Sample i is (10,000 numbers i, i): large enough for shared memory with a few in a batch."""

    def __init__(self, count=24, kind="numpy"):
        self.count, self.kind = count, kind

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        row = numpy.full(10_000, index, numpy.float32)
        return (torch.from_numpy(row) if self.kind == "torch" else row), index


class Draws(Rows):
    """Each sample is what the three generators draw for it."""

    def __getitem__(self, index):
        return index, torch.rand(()).item(), random.random(), numpy.random.rand()


class Numbers(IterableDataset):
    def __iter__(self):
        worker = get_worker_info()
        first, step = (worker.id, worker.num_workers) if worker else (0, 1)
        return iter(range(first, 20, step))


class Everything(IterableDataset):
    """`count` samples in each process that reads it, whatever its length says."""

    def __init__(self, count, said):
        self.count, self.said = count, said

    def __len__(self):
        return self.said

    def __iter__(self):
        return iter(range(self.count))


class Told(Rows):
    """What `tell`, as worker_init_fn, has written into each worker's copy."""

    def __init__(self):
        super().__init__(12)
        self.told = ()

    def __getitem__(self, index):
        return index, *self.told


def tell(worker):
    found = get_worker_info()
    found.dataset.told += worker, found.id, found.num_workers, found.seed


class Short(Rows):
    """Says that it has more samples than there are."""

    def __getitem__(self, index):
        if index >= 7:
            raise IndexError(f"there is no {index}")
        return super().__getitem__(index)


class Slow(Rows):
    """Four numbers, each of which takes longer than a short timeout."""

    def __init__(self):
        super().__init__(4)

    def __getitem__(self, index):
        time.sleep(0.2)
        return index


class Failing(Rows):
    """Sample 5 does what the dataset was made with."""

    def __init__(self, act):
        super().__init__()
        self.act = act

    def __getitem__(self, index):
        return self.act() if index == 5 else super().__getitem__(index)


def plain(batches):
    """Batches as lists of numbers: the first of each row, and the labels."""
    return [(rows[:, 0].tolist(), rows[:, -1].tolist(), labels.tolist()) for rows, labels in batches]


def raise_error():
    raise ValueError("sample of no use")


def kill_self():
    os.kill(os.getpid(), signal.SIGKILL)


@needs("torch")
class Meaning(TestCase):
    def both(self, dataset, seed=3, **options):
        """The batches of two epochs of PyTorch's loader and of ours, as `plain` gives them."""
        results = []
        for kind in (TorchLoader, sk.DataLoader):
            torch.manual_seed(seed)
            loader = kind(dataset, **options)
            results.append([plain(loader), plain(loader)])
        return results

    def test_batches_are_those_of_pytorch(self):
        for kind in ("numpy", "torch"):
            for options in ({}, {"shuffle": True}, {"drop_last": True}, {"persistent_workers": True, "shuffle": True},
                            {"prefetch_factor": 4}, {"generator": torch.Generator()}):
                with self.subTest(kind=kind, **options):
                    theirs, ours = self.both(Rows(22, kind), batch_size=4, num_workers=2, **options)
                    self.assertEqual(ours, theirs)

    def test_it_is_a_loader_of_pytorch(self):
        self.assertIsInstance(sk.DataLoader(Rows()), TorchLoader)

    def test_workers_started_in_each_way_give_the_same(self):
        wanted = plain(TorchLoader(Rows(8), batch_size=4))
        for method in ("fork", "spawn", "forkserver"):
            with self.subTest(method):
                loader = sk.DataLoader(Rows(8), batch_size=4, num_workers=1, multiprocessing_context=method)
                self.assertEqual(plain(loader), wanted)

    def test_a_loader_of_pytorch_with_our_context_has_our_queues(self):
        loader = TorchLoader(Rows(), batch_size=4, num_workers=1, multiprocessing_context=sk.worker_context())
        batches = iter(loader)
        self.assertIsInstance(batches._worker_result_queue, ArrayQueue)
        self.assertEqual(plain(batches), plain(TorchLoader(Rows(), batch_size=4)))

    def test_samples_of_other_shapes_are_the_error_of_pytorch(self):
        class Ragged(Rows):
            def __getitem__(self, index):
                return numpy.zeros(5_000 + index, numpy.float32)

        messages = []
        for kind in (TorchLoader, sk.DataLoader):
            with self.assertRaises(RuntimeError) as caught:
                list(kind(Ragged(), batch_size=4, num_workers=1))
            messages.append(str(caught.exception).splitlines()[-1])
        self.assertEqual(messages[0], messages[1])

    def test_an_exception_keeps_its_type_and_traceback(self):
        with self.assertRaisesRegex(ValueError, "(?s)worker process.*raise_error.*sample of no use"):
            list(sk.DataLoader(Failing(raise_error), batch_size=4, num_workers=2))

    def test_a_collate_function_that_fails_in_the_fifth_epoch_is_an_error_there_and_the_next_epoch_begins(self):
        calls = []

        def collate(samples):
            calls.append(len(samples))
            if len(calls) == 13:  # three batches an epoch
                raise ValueError("no batch")
            return [index for _, index in samples]

        for workers in (0, 1):
            with self.subTest(workers=workers):
                calls.clear()
                loader = sk.DataLoader(Rows(12), batch_size=4, num_workers=workers, collate_fn=collate, persistent_workers=workers > 0)
                for _ in range(4):
                    self.assertEqual(len(list(loader)), 3)
                with self.assertRaisesRegex(ValueError, "(?s)collate.*no batch" if workers else "no batch"):
                    list(loader)
                self.assertEqual(len(list(loader)), 3)

    def seconds_from_the_death_of_a_worker_to_its_error(self, **options):
        death = self.folder / "death"

        def die():
            death.write_text(str(time.monotonic()))
            kill_self()

        try:
            for _ in sk.DataLoader(Failing(die), batch_size=4, num_workers=2, multiprocessing_context="fork", **options):
                pass
        except RuntimeError as error:
            seconds = time.monotonic() - float(death.read_text())  # both sides read one clock, the system's
            self.assertIn("worker", str(error))
            return seconds
        self.fail("it was no error")

    def test_a_worker_that_is_killed_is_an_error_within_a_second(self):
        for options in ({}, {"persistent_workers": True}, {"timeout": 300}, {"pin_memory": True}):
            with self.subTest(**options), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of memory that cannot be pinned
                # The least of some tries, since the machine may be busy.
                self.assertLess(min(self.seconds_from_the_death_of_a_worker_to_its_error(**options) for _ in range(3)), 1)

    def test_a_worker_that_dies_while_nobody_waits_for_it_is_an_error_too(self):
        batches = iter(sk.DataLoader(Rows(400), batch_size=4, num_workers=1))
        next(batches)
        with self.assertRaisesRegex(RuntimeError, "worker"):
            batches._workers[0].kill()
            list(batches)


def held():
    """What a leak would add to: threads, descriptors, children and blocks of this process."""
    gc.collect()
    return threads_of_this_process(), len(os.listdir("/proc/self/fd")), len(multiprocessing.active_children()), len(Reader._leases)


def as_lists(value):
    """A batch as texts, numbers and lists, with the types of its tensors."""
    if isinstance(value, torch.Tensor):
        return [str(value.dtype), value.tolist()]
    return [as_lists(each) for each in value] if isinstance(value, (list, tuple)) else value


@needs("torch")
class Arguments(TestCase):
    """Each argument beside PyTorch's own loader, on the same seeds."""

    def outcome(self, kind, make, dataset, epochs):
        """Batches, the error that ends them, if any, and warnings, all as lists and texts."""
        torch.manual_seed(3)
        batches, ends = [], []
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                loader = kind(dataset, **make())
                for _ in range(epochs):
                    for batch in loader:
                        batches.append(as_lists(batch))
            except Exception as error:
                ends.append((type(error).__name__, str(error).splitlines()[-1]))
        gc.collect()  # an iterator that an error has kept would end in the next worker too
        return batches, ends, sorted(str(each.message) for each in warned)

    def check(self, dataset, make, epochs=2, workers=(0, 2)):
        """Both loaders do the same, which is returned; `make` returns the options, whose generators are used once."""
        for count in workers:
            with self.subTest(dataset=type(dataset).__name__, workers=count, **make()):
                theirs, ours = (self.outcome(kind, lambda: {"num_workers": count, **make()}, dataset, epochs)
                                for kind in (TorchLoader, sk.DataLoader))
                self.assertEqual(ours, theirs)
        return ours

    def test_a_sampler_says_what_is_read(self):
        data = torch.utils.data
        for make in (
            lambda: [5, 1, 1, 8],
            lambda: data.SubsetRandomSampler([2, 4, 6, 8]),
            lambda: data.RandomSampler(Rows(), replacement=True, num_samples=9),
            lambda: data.WeightedRandomSampler([1.0] * 12 + [3.0] * 12, 10, generator=torch.Generator().manual_seed(5)),
            lambda: data.DistributedSampler(Rows(), num_replicas=3, rank=1, seed=2),
        ):
            batches, _, _ = self.check(Rows(), lambda make=make: {"sampler": make(), "batch_size": 3})
            self.assertTrue(batches)

    def test_a_batch_sampler_says_which_samples_are_together(self):
        data = torch.utils.data
        for make in (lambda: [[3], [1, 2, 2], [0]], lambda: data.BatchSampler(data.RandomSampler(Rows()), 5, drop_last=True)):
            batches, _, _ = self.check(Rows(), lambda make=make: {"batch_sampler": make()})
            self.assertTrue(batches)

    def test_no_batch_size_gives_samples_as_tensors(self):
        for dataset in (Rows(5), Rows(5, "torch"), Numbers()):
            batches, _, _ = self.check(dataset, lambda: {"batch_size": None})
            self.assertTrue(batches)
        self.check(Draws(9), lambda: {"batch_size": None, "shuffle": True}, workers=(2,))

    def test_no_batch_size_with_a_sampler_of_lists_hands_these_to_the_dataset(self):
        dataset = torch.utils.data.TensorDataset(torch.arange(20_000).reshape(10, 2_000))
        batches, _, _ = self.check(dataset, lambda: {"batch_size": None, "sampler": [[1, 2], [5], [9, 0]]})
        self.assertEqual(len(batches), 6)

    def test_a_function_for_new_workers_is_called_in_each_once_and_finds_its_worker(self):
        for more in ({}, {"persistent_workers": True}):
            batches, _, _ = self.check(Told(), lambda more=more: {"worker_init_fn": tell, "batch_size": 3, **more}, workers=(1, 2))
            self.assertEqual({len(batch) for batch in batches}, {5}, "a second call would tell more")
            self.assertEqual({worker for batch in batches for worker in batch[1][1]}, {0, 1})

    def test_a_function_for_new_workers_that_fails_is_the_error_of_pytorch(self):
        def fail(worker):
            raise KeyError(worker)

        _, ends, _ = self.check(Rows(8), lambda: {"worker_init_fn": fail, "multiprocessing_context": "fork"}, workers=(1,))
        self.assertEqual(ends[0][0], "KeyError")

    def test_nobody_is_a_worker_without_workers(self):
        self.assertEqual(list(sk.DataLoader(Numbers(), batch_size=None)), list(range(20)))
        self.assertIsNone(get_worker_info())

    def test_memory_is_pinned_where_there_is_an_accelerator(self):
        batches, ends, warned = self.check(Rows(8), lambda: {"pin_memory": True, "batch_size": 3})
        self.assertEqual((len(batches), ends), (6, []))
        there = torch.accelerator.is_available()
        self.assertEqual(any("no accelerator is found" in each for each in warned), not there)
        for workers in (0, 1) if there else ():
            for rows, labels in sk.DataLoader(Rows(8), batch_size=3, pin_memory=True, num_workers=workers):
                self.assertTrue(rows.is_pinned() and labels.is_pinned())

    def test_a_batch_that_takes_longer_than_the_timeout_is_an_error(self):
        _, ends, _ = self.check(Slow(), lambda: {"timeout": 0.1, "batch_size": 4}, workers=(1,))
        self.assertEqual(ends, [("RuntimeError", "DataLoader timed out after 0.1 seconds")])
        batches, ends, _ = self.check(Slow(), lambda: {"timeout": 300, "batch_size": 2}, workers=(1,))
        self.assertEqual((len(batches), ends), (4, []))

    def test_a_look_that_ends_early_is_no_timeout(self):
        waiting = object.__new__(loader_module._InWorkers)
        waiting._shutdown = True  # there is nothing to end
        looks = mock.patch.object(loader_module.of_torch._MultiProcessingDataLoaderIter, "_try_get_data",
                                  side_effect=[(False, None), (False, None), (True, "batch")])
        clock = mock.patch.object(loader_module, "time", types.SimpleNamespace(monotonic=lambda: 0.0))
        with looks, clock:
            self.assertEqual(waiting._try_get_data(0.3), (True, "batch"))

    def test_a_late_batch_holds_up_no_other_where_any_order_will_do(self):
        path = self.folder / "go"

        class Waits(Rows):
            def __getitem__(self, index):
                until = time.monotonic() + 60
                while index == 0 and not path.exists() and time.monotonic() < until:
                    time.sleep(0.001)
                return index

        for kind in (TorchLoader, sk.DataLoader):
            with self.subTest(kind.__module__):
                path.unlink(missing_ok=True)
                batches = iter(kind(Waits(6), num_workers=2, in_order=False, multiprocessing_context="fork"))
                first = next(batches).tolist()
                path.touch()
                self.assertNotEqual(first, [0])
                self.assertEqual(sorted(first + [each.item() for each in batches]), list(range(6)))

    def test_batches_in_any_order_are_those_of_pytorch(self):
        for workers in (0, 1, 2):
            found = [sorted(plain(kind(Rows(22), batch_size=4, num_workers=workers, in_order=False)))
                     for kind in (TorchLoader, sk.DataLoader)]
            self.assertEqual(*found)

    def test_batches_in_any_order_have_a_position_between_epochs_only(self):
        loader = sk.DataLoader(Rows(), batch_size=4, num_workers=2, in_order=False)
        loader.state_dict()
        batches = iter(loader)
        next(batches)
        with self.assertRaisesRegex(sk.ConfigError, "in_order"):
            loader.state_dict()
        list(batches)
        self.assertEqual(loader.state_dict()["given"], 0)
        one = sk.DataLoader(Rows(), batch_size=4, num_workers=1, in_order=False)  # its batches have only one order
        batches = iter(one)
        next(batches)
        self.assertEqual(one.state_dict()["given"], 1)

    def test_iterable_datasets_are_split_as_they_split_themselves(self):
        for options in ({"batch_size": 3}, {"batch_size": 3, "drop_last": True}, {"batch_size": None}):
            self.check(Numbers(), lambda options=options: options, workers=(0, 1, 3))
        self.check(Numbers(), lambda: {"batch_size": 3, "persistent_workers": True}, workers=(3,))
        self.check(Everything(5, 5), lambda: {"batch_size": 2}, workers=(0, 2))

    def test_an_index_that_is_not_there_is_the_error_of_the_dataset(self):
        for options in ({"batch_size": 3}, {"batch_size": 3, "persistent_workers": True}):
            workers = (1,) if len(options) > 1 else (0, 1)
            batches, ends, _ = self.check(Short(10), lambda options=options: options, workers=workers)
            self.assertEqual((len(batches), ends), (2, [("IndexError", "IndexError: there is no 7")]))

    def test_an_iterable_dataset_that_gives_more_than_it_says_is_warned_of(self):
        dataset = Everything(9, 4)
        for workers in (0, 1):
            with self.subTest(workers=workers):
                found = []
                for kind in (TorchLoader, sk.DataLoader):
                    with warnings.catch_warnings(record=True) as warned:
                        warnings.simplefilter("always")
                        loader = kind(dataset, batch_size=1, num_workers=workers)
                        found.append((len(loader), as_lists(list(loader)), [str(each.message) for each in warned]))
                self.assertEqual(found[1], found[0])
                self.assertIn("was reported to be 4", found[1][2][0])

    def test_a_dataset_that_cannot_be_pickled_is_the_error_of_pytorch_where_workers_are_spawned(self):
        dataset = Rows(8)
        dataset.function = lambda: None
        before = len(multiprocessing.active_children())
        for method in ("spawn", "forkserver"):
            batches, ends, warned = self.check(dataset, lambda method=method: {"multiprocessing_context": method}, workers=(1,))
            self.assertEqual(batches, [])
            self.assertRegex(ends[0][1], "pickle")
        self.assertLessEqual(len(multiprocessing.active_children()), before)
        _, ends, _ = self.check(dataset, lambda: {"multiprocessing_context": "fork"}, workers=(1,))
        self.assertEqual(ends, [])

    def test_arguments_that_are_wrong_are_refused_as_by_pytorch(self):
        for options in (
            {"timeout": -1}, {"timeout": 1}, {"num_workers": -1}, {"prefetch_factor": 2}, {"persistent_workers": True},
            {"shuffle": True, "sampler": [1]}, {"batch_sampler": [[1]], "batch_size": 2}, {"batch_size": None, "drop_last": True},
            {"batch_size": 0}, {"multiprocessing_context": "fork"}, {"num_workers": 1, "multiprocessing_context": "thread"},
            {"num_workers": 1, "multiprocessing_context": 3}, {"num_workers": 1, "prefetch_factor": -1},
        ):
            _, ends, _ = self.check(Rows(3), lambda options=options: {"num_workers": 0, **options}, workers=(0,))
            self.assertTrue(ends, options)

    def test_a_loader_fixes_no_start_method_before_its_workers_start(self):
        printed = self.run_python("""
            import multiprocessing
            import stoker as sk
            loader = sk.DataLoader(range(4), num_workers=1)
            multiprocessing.set_start_method("spawn")  # refused where one is fixed
            print(loader.multiprocessing_context.get_start_method())
        """)
        self.assertEqual(printed, "spawn\n")


@needs("torch")
class Transport(TestCase):
    def test_batches_that_are_kept_do_not_change(self):
        kept = list(sk.DataLoader(Rows(400), batch_size=4, num_workers=2))
        self.assertEqual(plain(kept), plain(TorchLoader(Rows(400), batch_size=4)))

    def test_a_view_of_a_batch_keeps_its_memory(self):
        views = [rows[1:, 5:].numpy() for rows, _ in sk.DataLoader(Rows(400), batch_size=4, num_workers=1)]
        self.assertEqual([view[0, 0] for view in views], [4 * i + 1 for i in range(100)])

    def test_memory_is_used_again(self):
        loader = sk.DataLoader(Rows(400), batch_size=4, num_workers=1)
        addresses = set()
        for rows, _ in loader:
            addresses.add(rows.data_ptr())
            del rows
        self.assertLess(len(addresses), 30)

    def test_what_cannot_lie_in_shared_memory_arrives_too(self):
        values = [
            {"text": "x" * 100_000, "many": list(range(50_000))},
            torch.eye(300).to_sparse(),
            torch.ones(100, 200).t(),
            torch.ones(40_000, dtype=torch.bfloat16),
            torch.empty(0, 7),
            numpy.ones((200, 300), order="F"),
            [torch.full((5_000,), i) for i in range(400)],
        ]
        queue = ArrayQueue()
        for value in values:
            queue.put(value)
            got = queue.get(timeout=60)
            self.assertEqual(repr(got), repr(value))

    def test_more_than_the_socket_takes_is_sent_while_the_writer_goes_on(self):
        queue = ArrayQueue()
        for number in range(2_000):
            queue.put((number, "x" * 10_000))
        self.assertEqual([queue.get(timeout=60)[0] for _ in range(2_000)], list(range(2_000)))

    def test_a_second_process_that_reads_is_told_that_a_queue_has_one_reader(self):
        queue = ArrayQueue()
        for number in range(2):
            queue.put(torch.full((10_000,), number))
        self.assertEqual(queue.get(timeout=60)[0].item(), 0)  # from now on this process knows the memory
        context = multiprocessing.get_context("fork")
        told = context.Queue()

        def read():
            try:
                told.put(queue.get(timeout=60)[0].item())
            except Exception as error:
                told.put(f"{type(error).__name__}: {error}")

        process = context.Process(target=read)
        process.start()
        self.assertRegex(told.get(timeout=60), "RuntimeError: .* an ArrayQueue has one reader. Make a queue for each process")
        process.join()

    def test_too_many_open_files_are_named(self):
        printed = self.run_python("""
            import os, resource
            import torch
            import stoker as sk

            class Rows:
                def __len__(self):
                    return 8
                def __getitem__(self, index):
                    return torch.full((10_000,), index)

            batches = iter(sk.DataLoader(Rows(), batch_size=4, num_workers=1, multiprocessing_context="fork"))
            resource.setrlimit(resource.RLIMIT_NOFILE, (200, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
            try:
                while True:
                    os.open("/dev/null", os.O_RDONLY)
            except OSError:
                pass
            try:
                next(batches)
            except OSError as error:
                print(error)
            os._exit(0)  # nothing can be opened any more
        """)
        self.assertRegex(printed, "Errno 24. the memory of a worker cannot be opened, .*ulimit -n")

    def assert_no_more_is_held_than(self, before):
        for now, then in zip(held(), before):  # less may be held, where another test had left something
            self.assertLessEqual(now, then)

    def test_200_epochs_broken_off_leave_no_process_thread_descriptor_or_block(self):
        loader = sk.DataLoader(Rows(40), batch_size=2, num_workers=1)

        def break_off():
            for _ in loader:
                break

        for _ in range(3):
            break_off()
        before = held()
        for _ in range(200):
            break_off()
        self.assert_no_more_is_held_than(before)

    def test_epochs_of_workers_that_stay_leave_no_process_thread_descriptor_or_block(self):
        loader = sk.DataLoader(Rows(12), batch_size=2, num_workers=1, persistent_workers=True)

        for _ in range(3):
            self.assertEqual(sum(1 for _ in loader), 6)
        before = held()
        for _ in range(200):
            self.assertEqual(sum(1 for _ in loader), 6)
        self.assert_no_more_is_held_than(before)

    def test_batches_that_are_kept_cost_no_descriptors(self):
        self.run_python("""
            import resource
            import torch
            import stoker as sk

            class Rows:
                def __len__(self):
                    return 2000
                def __getitem__(self, index):
                    return torch.full((5_000,), index)

            resource.setrlimit(resource.RLIMIT_NOFILE, (128, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
            kept = list(sk.DataLoader(Rows(), batch_size=2, num_workers=1, multiprocessing_context="fork"))
            assert [batch[1, 0].item() for batch in kept] == list(range(1, 2000, 2))
        """)

    def test_a_worker_whose_trainer_is_killed_ends_with_messages_that_nobody_reads(self):
        program = """
            import multiprocessing, os, sys, time
            from stoker.dataloader.array_queue import ArrayQueue

            def work(queue):
                for _ in range(2_000):
                    queue.put("x" * 10_000)
                print(os.getpid(), flush=True)

            queue = ArrayQueue()
            multiprocessing.get_context("fork").Process(target=work, args=(queue,)).start()
            time.sleep(600)
        """
        with subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, text=True) as trainer:
            worker = os.pidfd_open(int(trainer.stdout.readline()))
            trainer.kill()
            self.assertTrue(select.select([worker], [], [], HANGS)[0])
            os.close(worker)

    def test_a_process_that_need_not_wait_exits_with_messages_unsent(self):
        printed = self.run_python("""
            from stoker.dataloader.array_queue import ArrayQueue
            queue = ArrayQueue()
            queue.cancel_join_thread()
            for _ in range(2_000):
                queue.put("x" * 10_000)
            print("put")
        """)
        self.assertEqual(printed, "put\n")

    def test_blocks_come_back_also_after_their_queue_is_gone(self):
        before = len(Reader._leases)
        kept = []
        for _ in range(20):
            queue = ArrayQueue()
            queue.put(torch.ones(10_000))
            kept.append(queue.get(timeout=60))
            del queue
        self.assertEqual(len(Reader._leases), before + 20)
        kept.clear()
        self.assertEqual(len(Reader._leases), before)

    def test_tensors_made_for_sending_are_not_copied(self):
        tensor = array_pickle.new_tensor((100, 100), torch.float32)
        tensor.fill_(3)
        _, blocks = array_pickle.dumps({"rows": tensor})
        self.assertEqual([block.length for block in blocks], [tensor.nbytes])
        self.assertTrue(blocks[0].has_user)

    def test_a_default_timeout_of_sockets_does_not_end_the_wait_for_a_batch(self):
        before = socket.getdefaulttimeout()
        socket.setdefaulttimeout(0.05)
        try:
            batches = [batch.tolist() for batch in sk.DataLoader(Slow(), batch_size=2, num_workers=1)]
        finally:
            socket.setdefaulttimeout(before)
        self.assertEqual(batches, [[0, 1], [2, 3]])

    def test_a_batch_that_a_forked_child_drops_stays_the_parents(self):
        loader = iter(sk.DataLoader(Rows(), batch_size=2, num_workers=1, prefetch_factor=1))
        batch = next(loader)
        child = os.fork()
        if child == 0:
            del batch
            os._exit(0)
        os.waitpid(child, 0)
        later = [next(loader) for _ in range(4)]  # the worker would take the block again
        self.assertEqual(batch[0][:, 0].tolist(), [0, 1])
        self.assertEqual([each[0][0, 0].item() for each in later], [2, 4, 6, 8])


@needs("torch")
class Resume(TestCase):
    def continued(self, make, broken_off_after, epochs_before=0):
        """What an unbroken loader gives after that many batches of an epoch, and what one that loads its state gives."""
        torch.manual_seed(7)
        loader = make()
        for _ in range(epochs_before):
            for _ in loader:
                pass
        batches = iter(loader)
        for _ in range(broken_off_after):
            next(batches)
        state = json.loads(json.dumps(loader.state_dict()))
        rest = [[each.tolist() for each in batch] if isinstance(batch, list) else batch.tolist() for batch in batches]
        torch.manual_seed(99)
        other = make()
        other.load_state_dict(state)
        again = [[each.tolist() for each in batch] if isinstance(batch, list) else batch.tolist() for batch in other]
        self.assertTrue(rest)
        self.assertEqual(again, rest)

    def test_the_rest_of_an_epoch_follows(self):
        for workers in (0, 2):
            for more in ({}, {"generator": True}, {"persistent_workers": True}):
                if more.get("persistent_workers") and workers == 0:
                    continue
                for epochs in (0, 1):
                    with self.subTest(workers=workers, epochs=epochs, **more):
                        def make():
                            options = {**more, "generator": torch.Generator().manual_seed(5) if "generator" in more else None}
                            return sk.DataLoader(Rows(20), batch_size=3, shuffle=True, num_workers=workers, **options)

                        self.continued(make, 3, epochs)

    def test_draws_of_batches_follow_too_where_batches_are_seeded(self):
        for workers in (0, 2):
            for more in ({}, {"persistent_workers": True}):
                if more and workers == 0:
                    continue
                with self.subTest(workers=workers, **more):
                    self.continued(lambda: sk.DataLoader(Draws(20), batch_size=3, shuffle=True, num_workers=workers,
                                                         seeds="batch", **more), 4, 1)

    def test_seeded_batches_draw_the_same_with_any_number_of_workers(self):
        drawn = []
        for workers in (0, 1, 3):
            torch.manual_seed(7)
            random.seed(8)
            loader = sk.DataLoader(Draws(20), batch_size=3, shuffle=True, num_workers=workers, seeds="batch")
            # Two epochs, and what the trainer draws after them.
            drawn.append([[[each.tolist() for each in batch] for _ in range(2) for batch in loader], torch.rand(3).tolist(),
                          random.random()])
        self.assertEqual(drawn[0], drawn[1])
        self.assertEqual(drawn[0], drawn[2])

    def test_iterable_datasets_are_read_again_to_the_place(self):
        for workers in (0, 2):
            with self.subTest(workers=workers):
                self.continued(lambda: sk.DataLoader(Numbers(), batch_size=3, num_workers=workers), 2)

    def test_a_batch_that_fails_is_tried_again_there_and_is_passed_over_by_who_went_on(self):
        for workers in (0, 2):
            with self.subTest(workers=workers):
                loader = sk.DataLoader(Failing(raise_error), batch_size=4, num_workers=workers)
                batches = iter(loader)
                next(batches)
                with self.assertRaisesRegex(ValueError, "of no use"):
                    next(batches)
                there = loader.state_dict()
                self.assertEqual(next(batches)[1].tolist(), [8, 9, 10, 11])
                later = loader.state_dict()
                again = sk.DataLoader(Rows(), batch_size=4, num_workers=workers)
                for state, following in ((there, 4), (later, 12)):
                    state["loader"]["dataset"] = "Rows of 24 samples"  # which has the sample now
                    again.load_state_dict(state)
                    self.assertEqual([batch[1][0].item() for batch in again], list(range(following, 24, 4)))

    def test_a_state_that_an_iterator_cannot_use_is_not_forgotten(self):
        state = sk.DataLoader(Rows(), batch_size=4, shuffle=True).state_dict()
        loader = sk.DataLoader(Rows(), batch_size=4, shuffle=True, generator=torch.Generator())
        loader.load_state_dict(state)
        for _ in range(2):
            with self.assertRaisesRegex(sk.ConfigError, "0 generators of its own"):
                iter(loader)

    def test_a_state_of_something_else_is_refused(self):
        loader = sk.DataLoader(Rows())
        good = loader.state_dict()
        generators = good["generators"]
        for bad in ({}, {"schema": 1}, {**good, "schema": 9}, {**good, "schema": True}, {**good, "given": -1}, {**good, "given": True},
                    {**good, "generators": {}}, None, {**good, "loader": "x"}, {**good, "generators": {**generators, "torch": "AAAA"}},
                    {**good, "generators": {**generators, "python": [3, [1, 2], None]}},
                    {**good, "generators": {**generators, "own": ["AAAA"]}}):
            with self.subTest(bad=bad), self.assertRaises(sk.ConfigError):
                loader.load_state_dict(bad)
        loader.load_state_dict(good)
        self.assertEqual(loader.state_dict(), good)

    def test_a_state_of_a_loader_that_reads_something_else_is_refused_and_told_what_differs(self):
        class Others(Rows):
            pass

        plain_options = {"batch_size": 3, "shuffle": True}
        state = json.loads(json.dumps(sk.DataLoader(Rows(20), **plain_options).state_dict()))
        for dataset, options, differs in (
            (Rows(21), plain_options, "dataset was Rows of 20 samples and is Rows of 21 samples"),
            (Others(20), plain_options, "dataset was Rows of 20 samples and is .*Others of 20 samples"),
            (Rows(20), {**plain_options, "batch_size": 4}, "batch_size was 3 and is 4"),
            (Rows(20), {"batch_size": 3}, "sampler was RandomSampler of 20 samples and is SequentialSampler of 20 samples"),
            (Rows(20), {**plain_options, "drop_last": True}, "drop_last was False and is True"),
            (Rows(20), {"batch_sampler": [[0, 1], [2]]}, "batch_sampler was not given and is list of 2 batches"),
            (Numbers(), {"batch_size": 3}, "dataset was Rows of 20 samples and is Numbers; sampler was .* and is not given"),
        ):
            with self.subTest(differs), self.assertRaisesRegex(sk.ConfigError, f"{differs}.*begin the epoch anew"):
                sk.DataLoader(dataset, **options).load_state_dict(state)
        loader = sk.DataLoader(Rows(20), num_workers=2, **plain_options)  # workers change nothing of what is read
        loader.load_state_dict(state)
        state.pop("loader")  # as versions before wrote it
        sk.DataLoader(Rows(21), **plain_options).load_state_dict(state)

    def test_a_state_of_an_iterable_dataset_asks_for_the_same_number_of_workers(self):
        state = sk.DataLoader(Numbers(), batch_size=3, num_workers=2).state_dict()
        with self.assertRaisesRegex(sk.ConfigError, "num_workers was 2 and is 1"):
            sk.DataLoader(Numbers(), batch_size=3, num_workers=1).load_state_dict(state)


if __name__ == "__main__":
    unittest.main()
