"""The package as a guest in a process: import, signals, fork, exit, logging."""

import os
import signal
import subprocess
import sys
import time
import unittest

import stoker as sk
from support import HANGS, TestCase, needs

# A pipeline whose first element never comes.
NEVER = "sk.range(10 ** 15) | sk.filter(field='index', min=1e16)"


class Import(TestCase):
    def test_brings_in_neither_numpy_nor_torch(self):
        loaded = self.run_python("import stoker, sys; print([m for m in ('numpy', 'torch', 'jax') if m in sys.modules])")
        self.assertEqual(loaded.strip(), "[]")

    def test_of_a_second_one_out_of_another_folder_is_refused(self):
        printed = self.run_python("""
            import shutil, sys
            import stoker
            shutil.copytree(stoker.__path__[0], "other/stoker", symlinks=True)
            for name in [name for name in sys.modules if name.partition(".")[0] == "stoker"]:
                del sys.modules[name]
            sys.path.insert(0, "other")
            try:
                import stoker
            except ImportError as error:
                print(error)
        """)
        self.assertRegex(printed, "has imported stoker from .*site-packages/stoker, and cannot import another from .*other/stoker")

    def test_once_more_is_refused_where_another_version_was_installed_since(self):
        printed = self.run_python("""
            import importlib, os, sys
            import stoker
            importlib.reload(stoker)
            print(sum(1 for _ in stoker.Loader(stoker.range(5), to="dlpack")))
            os.mkdir("stoker-99.5.dist-info")
            with open("stoker-99.5.dist-info/METADATA", "w") as file:
                file.write("Metadata-Version: 2.1\\nName: stoker\\nVersion: 99.5\\n")
            sys.path.insert(0, ".")
            try:
                importlib.reload(stoker)
            except ImportError as error:
                print(error)
        """)
        self.assertRegex(printed, f"^5\nstoker 99.5 is installed, and this process has begun with {sk.__version__}")

    def test_says_what_needs_a_library_that_is_not_there_and_what_does_without(self):
        printed = self.run_python("""
            import sys
            sys.modules.update(torch=None, ray=None)
            import stoker as sk
            for name in ("DataLoader", "worker_context", "ray"):
                try:
                    getattr(sk, name)
                except ImportError as error:
                    print(name, error)
        """)
        self.assertRegex(printed, r"DataLoader stoker\.DataLoader needs PyTorch.*pip install torch.*stoker\.from_map_style\(dataset")
        self.assertRegex(printed, r"worker_context stoker\.worker_context needs PyTorch")
        self.assertRegex(printed, r"ray stoker\.ray needs Ray.*pip install")

    def test_types_are_there_for_checkers(self):
        folder = os.path.dirname(sk.__file__)
        self.assertTrue({"py.typed", "_core.pyi", "operators.py"} <= set(os.listdir(folder)))


class Signals(TestCase):
    def interrupted(self, program):
        """Seconds from SIGINT until the program, which prints the time, has caught KeyboardInterrupt."""
        # A process that a shell started in the background ignores SIGINT, and so do its children.
        program = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n" + program
        with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            self.assertEqual(process.stdout.readline(), "ready\n")
            time.sleep(0.5)
            sent = time.monotonic()
            process.send_signal(signal.SIGINT)
            out, errors = process.communicate(timeout=HANGS)
        self.assertEqual(process.returncode, 0, errors)
        return float(out) - sent

    def test_ctrl_c_ends_a_wait_for_a_batch_at_once(self):
        program = f"""
import stoker as sk, time
loader = sk.Loader({NEVER}, threads=1, to="dlpack")
print("ready", flush=True)
try:
    next(iter(loader))
except KeyboardInterrupt:
    print(time.monotonic())
"""
        # The least of some tries, since the machine may be busy. Both sides read one clock, the system's.
        self.assertLess(min(self.interrupted(program) for _ in range(5)), 0.1)

    def test_a_handler_that_returns_lets_the_wait_go_on(self):
        self.run_python("""
            import os, signal, threading, time
            import stoker as sk
            calls = []
            signal.signal(signal.SIGUSR1, lambda number, frame: calls.append(number))
            threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGUSR1)).start()
            # The first element that passes is far away.
            loader = sk.Loader(sk.range(10 ** 9) | sk.filter(field="index", min=3e6), threads=1, to="dlpack")
            first = memoryview(next(iter(loader))["index"]).tolist()
            assert first == 3_000_000, first
            while not calls: time.sleep(0.01)
            assert calls == [signal.SIGUSR1], calls
        """)

    def test_a_handler_in_a_wait_is_told_that_the_position_is_not_known_yet(self):
        printed = self.run_python("""
            import os, signal, threading
            import stoker as sk
            loader = sk.Loader(sk.range(10 ** 9) | sk.filter(field="index", min=3e6), threads=1, to="dlpack")
            asked = threading.Event()
            def ask(number, frame):
                asked.set()
                for call in (loader.state_dict, loader.profile, lambda: next(batches)):
                    try:
                        call()
                        print("no error")
                    except sk.ConfigError as error:
                        print(error)
            signal.signal(signal.SIGUSR1, ask)
            threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGUSR1)).start()
            batches = iter(loader)
            print(memoryview(next(batches)["index"]).tolist())
            asked.wait()
            print(loader.state_dict()["epoch"])
        """).splitlines()
        self.assertEqual(len(printed), 5)
        for line in printed[:3]:
            self.assertRegex(line, "this thread is waiting for a batch of the same pass")
        self.assertEqual(printed[3:], ["3000000", "0"])

    def test_a_handler_that_closes_the_loader_ends_the_wait(self):
        self.run_python(f"""
            import os, signal, threading
            import stoker as sk
            loader = sk.Loader({NEVER}, threads=1, to="dlpack")
            signal.signal(signal.SIGUSR1, lambda number, frame: loader.close())
            threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGUSR1)).start()
            try:
                next(iter(loader))
            except sk.ConfigError as error:
                assert "closed" in str(error), error
            else:
                raise AssertionError
        """)


class Forks(TestCase):
    def test_a_child_gets_an_error_for_the_parents_pass_and_can_begin_its_own(self):
        self.run_python("""
            import os, sys
            import stoker as sk
            def numbers(batches):
                return [memoryview(batch["index"]).tolist() for batch in batches]
            data = sk.range(500) | sk.cache() | sk.shuffle() | sk.batch(10) | sk.prefetch()
            wanted = numbers(sk.Loader(data, seed=1, to="dlpack"))
            loader = sk.Loader(data, seed=1, threads=3, to="dlpack")
            for ways in range(40):
                loader.set_epoch(0)
                iterator = iter(loader)
                first = next(iterator)
                child = os.fork()
                if child == 0:
                    try:
                        next(iterator)
                        os._exit(1)
                    except sk.ConfigError as error:
                        assert "fork" in str(error), error
                    loader.set_epoch(0)
                    assert numbers(loader) == wanted
                    del iterator
                    # Some end as programs do, with all that is destroyed then.
                    sys.exit(0) if ways % 2 else os._exit(0)
                _, status = os.waitpid(child, 0)
                assert status == 0, status
                assert numbers([first, *iterator]) == wanted
        """)

    def test_a_child_that_is_made_while_other_threads_read_does_not_wait_for_them(self):
        self.run_python("""
            import os, threading
            import stoker as sk
            data = sk.range(2000) | sk.shuffle() | sk.batch(10) | sk.prefetch()
            done = threading.Event()
            def read():
                while not done.is_set():
                    for batch in sk.Loader(data, threads=2, to="dlpack"):
                        pass
            readers = [threading.Thread(target=read) for _ in range(2)]
            for reader in readers: reader.start()
            for _ in range(40):
                child = os.fork()
                if child == 0:
                    os._exit(0 if len(list(sk.Loader(data, threads=2, to="dlpack"))) == 200 else 1)
                assert os.waitpid(child, 0)[1] == 0
            done.set()
            for reader in readers: reader.join()
        """)

    @needs("torch")
    def test_works_in_the_workers_of_a_dataloader(self):
        self.run_python("""
            import torch, stoker as sk
            from torch.utils.data import DataLoader, IterableDataset, get_worker_info
            data = sk.range(40) | sk.batch(4) | sk.prefetch()
            class Share(IterableDataset):
                def __iter__(self):
                    worker = get_worker_info()
                    return iter(sk.Loader(data, rank=worker.id, world=worker.num_workers))
            assert len(list(sk.Loader(data))) == 10
            batches = [batch["index"] for batch in DataLoader(Share(), batch_size=None, num_workers=2)]
            assert sorted(torch.cat(batches).tolist()) == list(range(40)), batches
        """)


class Exit(TestCase):
    def test_threads_are_joined_when_the_interpreter_ends(self):
        self.run_python(f"""
            import threading, time
            import stoker as sk
            loader = sk.Loader(sk.range(10 ** 9) | sk.shuffle(buffer=1000) | sk.batch(10), threads=3, to="dlpack")
            iterators = [iter(loader) for _ in range(3)]
            for iterator in iterators: next(iterator)
            # One waits in a thread of Python that nobody joins.
            waiting = iter(sk.Loader({NEVER}, threads=1, to="dlpack"))
            threading.Thread(target=lambda: next(waiting), daemon=True).start()
            time.sleep(0.3)
        """)


class Messages(TestCase):
    def test_of_the_engine_go_to_the_logger(self):
        printed = self.run_python("""
            import logging, sys
            logging.basicConfig(stream=sys.stdout, format="%(name)s %(levelname)s %(message)s", level=logging.INFO)
            import os, stoker as sk
            os.mkdir("a"); open("a/a.jpg", "wb").write(b"no picture")
            print(list(sk.Loader(sk.folder(".") | sk.decode(on_error={"policy": "skip"}), to="dlpack")))
        """)
        self.assertIn("stoker WARNING", printed)
        self.assertIn("a.jpg", printed)

    def test_of_losses_are_not_said_again_when_an_error_has_said_them(self):
        printed = self.run_python("""
            import gc, logging, sys
            logging.basicConfig(stream=sys.stdout, format="LOG %(message)s")
            import stoker as sk
            def fails(element):
                if element["index"] % 10 == 3:
                    raise ValueError("bad")
                return element
            for before in (sk.range(400), sk.range(400) | sk.shuffle(buffer=10)):  # by position, and in order
                for threads in (0, 2):
                    loader = sk.Loader(before | sk.map(fails, on_error="skip") | sk.batch(5), to="numpy", threads=threads)
                    try:
                        list(loader)
                    except sk.DataError as error:
                        print("ERROR", "but only" in str(error))
                    loader.close()
                    del loader
                    gc.collect()
                    next(iter(sk.Loader(sk.range(3), to="numpy")))  # which tells what waits
        """)
        self.assertEqual(printed.count("ERROR True"), 4, printed)
        self.assertNotIn("LOG", printed)


if __name__ == "__main__":
    unittest.main()
