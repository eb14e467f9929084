"""Functions of the user's own: map, filter, from_map_style, from_generator."""

import errno
import gc
import multiprocessing
import os
import pickle
import random
import signal
import time
import unittest
from unittest import mock

import numpy

import stoker as sk
from stoker.functions import serve
from support import TestCase, needs, threads_of_this_process


def twice(element):
    return {"twice": element["index"] * 2}


def draws(element):
    return {"index": element["index"], "python": random.random(), "numpy": numpy.random.rand(3)}


def numbers_of(pipeline, field="index", **options):
    return [value for batch in sk.Loader(pipeline, to="numpy", **options) for value in numpy.atleast_1d(batch[field]).tolist()]


def batches_of(pipeline, **options):
    return [{name: array.tolist() for name, array in batch.items()} for batch in sk.Loader(pipeline, to="numpy", **options)]


class Squares:
    """Some samples as tuples, as datasets of PyTorch have them."""

    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, number):
        return numpy.full((2, 3), number, numpy.float32), number * number


class ManySquares(Squares):
    def __getitems__(self, numbers):
        return [(numpy.full((2, 3), number, numpy.float32), -number) for number in numbers]


class Mapping(TestCase):
    def test_gives_what_the_function_returns_in_the_order_of_the_elements(self):
        pipeline = sk.range(1000) | sk.map(twice) | sk.batch(7)
        self.assertEqual(numbers_of(pipeline, "twice"), list(range(0, 2000, 2)))

    def test_is_the_same_in_workers_and_in_this_process(self):
        pipeline = sk.range(300) | sk.shuffle() | sk.map(draws) | sk.batch(16)
        here = batches_of(pipeline, threads=0, seed=5)
        self.assertEqual(here, batches_of(pipeline, threads=3, seed=5))
        self.assertEqual(here, batches_of(pipeline, threads=2, workers=1, seed=5))
        self.assertNotEqual(here, batches_of(pipeline, threads=2, seed=6))

    def test_draws_anew_in_each_epoch_and_follows_on_after_a_resume(self):
        pipeline = sk.range(64) | sk.map(draws) | sk.batch(8)
        loader = sk.Loader(pipeline, to="numpy", seed=3)
        epochs = [[batch["python"].tolist() for batch in loader] for _ in range(2)]
        self.assertNotEqual(epochs[0], epochs[1])
        first = sk.Loader(pipeline, to="numpy", seed=3)
        for _, _batch in zip(range(3), first):
            pass
        second = sk.Loader(pipeline, to="numpy")
        second.load_state_dict(first.state_dict())
        self.assertEqual([batch["python"].tolist() for batch in second], epochs[0][3:])

    def test_generators_of_the_user_stay_as_they_were(self):
        def generate():
            while True:
                yield {"x": random.random(), "y": numpy.random.rand()}

        random.seed(7)
        numpy.random.seed(7)
        expected = random.random(), random.random(), numpy.random.rand(), numpy.random.rand()
        random.seed(7)
        numpy.random.seed(7)
        one = random.random(), numpy.random.rand()
        mapped = batches_of(sk.range(5) | sk.map(draws), threads=0)
        generated = batches_of(sk.from_generator(generate) | sk.take(5), threads=0)
        self.assertEqual((one[0], random.random(), one[1], numpy.random.rand()), expected)
        self.assertEqual(len({each["python"] for each in mapped}), 5)
        self.assertEqual(len({each["x"] for each in generated}), 5)
        self.assertEqual(generated, batches_of(sk.from_generator(generate) | sk.take(5)))

    def test_a_function_may_read_a_pipeline_itself(self):
        def reads(element):
            inner = sk.range(int(element["index"]) + 1) | sk.map(twice)
            return {"sum": sum(numbers_of(inner, "twice", threads=0))}

        self.assertEqual(numbers_of(sk.range(4) | sk.map(reads) | sk.map(lambda element: element), "sum"), [0, 2, 6, 12])

    def test_runs_in_as_many_processes_as_asked_for(self):
        def process(element):
            time.sleep(0.001)
            return {"process": os.getpid()}

        seen = set(numbers_of(sk.range(200) | sk.map(process) | sk.batch(1), "process", threads=4, workers=3))
        self.assertNotIn(os.getpid(), seen)
        self.assertIn(len(seen), (1, 2, 3))
        self.assertEqual(set(numbers_of(sk.range(5) | sk.map(process), "process", threads=0)), {os.getpid()})

    def test_takes_arrays_of_any_type_through_and_back(self):
        def of_all_types(element):
            return {name: numpy.full((2, 1), 1).astype(name) for name in types}

        types = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]
        pipeline = sk.range(5) | sk.map(of_all_types) | sk.map(lambda element: {name: array + array for name, array in element.items()})
        batch = next(iter(sk.Loader(pipeline | sk.batch(5), to="numpy")))
        for name in types:
            self.assertEqual((batch[name].dtype.name, batch[name].shape), (name, (5, 2, 1)))
            self.assertTrue((batch[name] == (True if name == "bool" else 2)).all())

    def test_takes_what_users_return(self):
        def returns(element):
            return {"int": 1, "float": 1.5, "bool": True, "list": [1, 2], "text": "äb", "bytes": b"xyz", "big": numpy.arange(3, dtype=">i4"),
                    "columns": numpy.arange(6).reshape(2, 3).T, "nothing": numpy.zeros((0, 4), numpy.float32)}

        pipeline = sk.range(3) | sk.map(returns)
        self.assertEqual(pipeline.spec["text"], ("uint8", (-1,)))
        self.assertEqual(pipeline.spec["big"], ("int32", (3,)))
        for threads in (0, None):
            element = next(iter(sk.Loader(pipeline, to="numpy", threads=threads)))
            self.assertEqual(bytes(element["text"]).decode(), "äb")
            self.assertEqual(element["columns"].tolist(), [[0, 3], [1, 4], [2, 5]])
            self.assertEqual(element["big"].tolist(), [0, 1, 2])
            self.assertEqual(element["nothing"].shape, (0, 4))
            self.assertEqual([element[name].tolist() for name in ("int", "float", "bool", "list")], [1, 1.5, True, [1, 2]])

    def test_of_one_field_leaves_the_others(self):
        images, labels = self.pictures(20)
        pipeline = sk.idx(images=images, labels=labels) | sk.map(lambda image: image[:, :3].astype("float32"), field="image") | sk.batch(4)
        self.assertEqual(pipeline.spec, {"image": ("float32", (4, 1, 3, 5)), "label": ("uint8", (4,))})
        self.assertEqual(numbers_of(pipeline, "label"), [i % 10 for i in range(20)])

    def test_extents_that_differ_are_found_with_the_first_elements_or_said(self):
        def ragged(element):
            return {"tokens": numpy.arange(element["index"] + 1)}

        self.assertEqual((sk.range(9) | sk.map(ragged)).spec, {"tokens": ("int64", (-1,))})
        padded = sk.range(9) | sk.map(ragged, spec={"tokens": ("int64", (None,))}) | sk.padded_batch(3)
        self.assertEqual([len(batch["tokens"][0]) for batch in batches_of(padded)], [3, 6, 9])
        joined = sk.range(9) | sk.map(ragged, spec={"tokens": ("int64", (None,))}) | sk.batch(3, ragged=True)
        batches = list(batches_of(joined))
        self.assertEqual([list(batch["tokens_offsets"]) for batch in batches], [[0, 1, 3, 6], [0, 4, 9, 15], [0, 7, 15, 24]])
        self.assertEqual(list(batches[0]["tokens"]), [0, 0, 1, 0, 1, 2])

    def test_arguments_may_be_changed_and_kept(self):
        kept = []

        def keeps(element):
            kept.append(element["x"])
            element["x"] += 1
            return {"x": element["x"], "first": kept[0]}

        pipeline = sk.range(40) | sk.map(lambda e: {"x": numpy.full(3, e["index"])}) | sk.map(keeps) | sk.batch(1)
        batches = batches_of(pipeline, threads=1, workers=1)
        self.assertEqual([batch["x"][0][0] for batch in batches], list(range(1, 41)))
        self.assertEqual({batch["first"][0][0] for batch in batches}, {1})

    def test_arguments_that_are_kept_cost_no_descriptors(self):
        def keeps(element):
            kept.append(element["x"])
            return {"files": len(os.listdir("/proc/self/fd")), "kept": [int(each[0]) for each in kept[-3:]]}

        kept = []
        pipeline = sk.range(300) | sk.map(lambda e: {"x": numpy.full(3, e["index"])})
        pipeline = pipeline | sk.map(keeps, spec={"files": ("int64", ()), "kept": ("int64", (None,))})
        elements = batches_of(pipeline, threads=1, workers=1)
        self.assertLessEqual(elements[-1]["files"], elements[10]["files"] + 5)
        self.assertEqual(elements[-1]["kept"], [297, 298, 299])

    def test_of_one_field_gets_that_field_alone(self):
        images, labels = self.pictures(20)
        source = sk.idx(images=images, labels=labels)
        spec = {"image": ("float32", (1, 3, 5))}
        pipeline = source | sk.map(lambda image: image[:, :3].astype("float32"), field="image", spec=spec) | sk.batch(4)
        self.assertEqual(pipeline.spec, {"image": ("float32", (4, 1, 3, 5)), "label": ("uint8", (4,))})
        self.assertEqual(numbers_of(pipeline, "label"), [i % 10 for i in range(20)])
        with self.assertRaisesRegex(sk.ConfigError, "of the field 'image' alone"):
            (source | sk.map(twice, field="image", spec={**spec, "label": ("uint8", ())})).spec

    def test_results_can_be_cached_where_nothing_is_drawn(self):
        def counted(element):
            return {"x": element["index"], "call": next(calls)}

        calls = iter(range(10 ** 9))
        pipeline = sk.range(10) | sk.map(counted, random=False, spec={"x": ("int64", ()), "call": ("int64", ())}) | sk.cache() | sk.batch(10)
        loader = sk.Loader(pipeline, to="numpy", workers=1, threads=1)
        self.assertEqual(*(next(iter(loader))["call"].tolist() for _ in range(2)))
        with self.assertRaisesRegex(sk.ConfigError, "cache"):
            sk.Loader(sk.range(10) | sk.map(twice) | sk.cache())

    def test_works_on_ranks_of_their_own(self):
        pipeline = sk.range(40) | sk.map(twice) | sk.batch(5)
        shares = [numbers_of(pipeline, "twice", rank=rank, world=2) for rank in range(2)]
        self.assertEqual(sorted(shares[0] + shares[1]), list(range(0, 80, 2)))


@needs("torch")
class Tensors(TestCase):
    def test_functions_get_and_give_tensors(self):
        import torch

        def add(element):
            assert isinstance(element["x"], torch.Tensor)
            return {"x": element["x"].to(torch.bfloat16) + 1}

        pipeline = sk.range(6) | sk.map(lambda e: {"x": numpy.full(2, e["index"], "float32")}) | sk.map(add, to="torch") | sk.batch(6)
        self.assertEqual(pipeline.spec, {"x": ("bfloat16", (6, 2))})
        for threads in (0, None):
            batch = next(iter(sk.Loader(pipeline, to="torch", threads=threads)))
            self.assertEqual(batch["x"][:, 0].tolist(), [1, 2, 3, 4, 5, 6])

    def test_draws_of_torch_belong_to_the_sample(self):
        import torch

        pipeline = sk.range(32) | sk.map(lambda e: {"x": torch.rand(2)}) | sk.batch(4)
        self.assertEqual(batches_of(pipeline, threads=0), batches_of(pipeline, threads=2))

    def test_datasets_of_torch_are_sources(self):
        import torch

        data = torch.utils.data.TensorDataset(torch.arange(12.0).reshape(6, 2), torch.arange(6))
        pipeline = sk.from_map_style(data, fields=("x", "y")) | sk.batch(3)
        self.assertEqual(numbers_of(pipeline, "y"), list(range(6)))


class Filtering(TestCase):
    def test_keeps_what_the_function_says(self):
        pipeline = sk.range(100) | sk.filter(lambda element: element["index"] % 7 == 3) | sk.batch(4)
        for threads in (0, None):
            self.assertEqual(numbers_of(pipeline, threads=threads), list(range(3, 100, 7)))
        self.assertEqual(numbers_of(sk.range(9) | sk.filter(lambda index: index > 6, field="index")), [7, 8])

    def test_conditions_on_a_number_are_as_before(self):
        self.assertEqual(numbers_of(sk.range(9) | sk.filter("index", min=7)), [7, 8])
        self.assertEqual(numbers_of(sk.range(9) | sk.filter(field="index", equals=[2, 4])), [2, 4])

    def test_asks_a_worker_about_several_elements_at_once(self):
        several = self.folder / "several"

        class Looks(serve._Worker):
            def _map(self, request):
                if request.rows > 1:
                    several.touch()
                super()._map(request)

        with mock.patch.object(serve, "_Worker", Looks):
            pipeline = sk.range(2000) | sk.filter(lambda element: element["index"] % 2 == 1) | sk.batch(50)
            for _ in range(100):  # how many go at once follows what they cost, which is much on a busy machine
                self.assertEqual(numbers_of(pipeline, threads=1, workers=1), list(range(1, 2000, 2)))
                if several.exists():
                    return
        self.fail("each element was a message of its own")

    def test_of_large_elements_and_of_some_that_fail(self):
        def odd(element):
            number = int(element["x"][0])
            if number == 25:
                raise ValueError("no answer")
            return number % 2

        pipeline = sk.range(40) | sk.map(lambda element: {"x": numpy.full(100_000, element["index"])})
        pipeline = pipeline | sk.filter(odd, on_error={"policy": "skip", "share": 1})
        for threads in (0, 2):
            kept = [int(element["x"][0]) for element in sk.Loader(pipeline, to="numpy", threads=threads)]
            self.assertEqual(kept, [number for number in range(1, 40, 2) if number != 25])

    def test_what_is_neither_true_nor_false_is_an_error_of_the_function(self):
        for threads in (0, 2):
            with self.assertRaisesRegex(sk.ConfigError, "element 0: it returned what is neither true nor false"):
                batches_of(sk.range(9) | sk.filter(lambda element: numpy.zeros(3)), threads=threads)

    def test_refuses_a_function_with_conditions(self):
        with self.assertRaisesRegex(sk.ConfigError, "min"):
            sk.filter(twice, min=3)


class MapStyle(TestCase):
    def test_gives_each_sample_once_in_any_order(self):
        pipeline = sk.from_map_style(Squares(50), fields=("image", "square")) | sk.shuffle() | sk.batch(5)
        self.assertEqual(pipeline.spec, {"image": ("float32", (5, 2, 3)), "square": ("int64", (5,))})
        self.assertEqual(len(pipeline), 10)
        self.assertEqual(sorted(numbers_of(pipeline, "square")), [i * i for i in range(50)])

    def test_asks_for_many_samples_at_once_where_the_dataset_can(self):
        pipeline = sk.from_map_style(ManySquares(50), fields=("image", "square"), random=False) | sk.batch(10)
        self.assertEqual(numbers_of(pipeline, "square", threads=1), [-i for i in range(50)])

    def test_says_so_where_samples_have_no_names(self):
        with self.assertRaisesRegex(sk.ConfigError, r"fields=\('image', 'label'\)"):
            sk.from_map_style(Squares(5)).spec

    def test_a_length_that_lies_is_an_error_that_names_the_sample(self):
        class Lies(Squares):
            def __getitem__(self, number):
                if number >= 7:
                    raise IndexError(f"there is no {number}")
                return super().__getitem__(number)

        pipeline = sk.from_map_style(Lies(10), fields=("image", "square")) | sk.batch(2)
        for threads in (0, None):
            with self.assertRaisesRegex(sk.DataError, r"from_map_style\(Lies\): element 7: IndexError: there is no 7"):
                batches_of(pipeline, threads=threads)

    def test_refuses_what_has_no_length(self):
        with self.assertRaisesRegex(TypeError, "from_generator"):
            sk.from_map_style(iter([1]))


class Generators(TestCase):
    def test_gives_what_is_yielded_each_epoch(self):
        def generate():
            for i in range(500):
                yield {"i": i, "x": numpy.full(3, i)}

        pipeline = sk.from_generator(generate) | sk.batch(32)
        loader = sk.Loader(pipeline, to="numpy")
        for _ in range(2):
            self.assertEqual([i for batch in loader for i in batch["i"].tolist()], list(range(500)))
        self.assertEqual(numbers_of(pipeline, "i", threads=0), list(range(500)))

    def test_gets_the_epoch_if_it_asks_for_it(self):
        def generate(epoch):
            yield {"epoch": epoch, "drawn": random.random()}

        loader = sk.Loader(sk.from_generator(generate), to="numpy")
        self.assertEqual([int(next(iter(loader))["epoch"]) for _ in range(3)], [0, 1, 2])

    def test_goes_on_where_it_stood(self):
        def generate():
            for i in range(100):
                yield i, float(i)

        pipeline = sk.from_generator(generate, fields=("i", "x")) | sk.batch(10)
        loader = sk.Loader(pipeline, to="numpy")
        for _, _batch in zip(range(4), loader):
            pass
        other = sk.Loader(pipeline, to="numpy")
        other.load_state_dict(loader.state_dict())
        self.assertEqual([i for batch in other for i in batch["i"].tolist()], list(range(40, 100)))

    def test_several_passes_at_once_have_generators_of_their_own(self):
        def generate():
            for i in range(20):
                yield {"i": i}

        loader = sk.Loader(sk.from_generator(generate), to="numpy")
        pairs = [(int(a["i"]), int(b["i"])) for a, b in zip(iter(loader), iter(loader))]
        self.assertEqual(pairs, [(i, i) for i in range(20)])

    def test_gives_what_came_before_an_exception(self):
        def generate():
            yield from ({"i": i} for i in range(5))
            raise KeyError("gone")

        for threads in (0, None):
            seen = []
            with self.assertRaisesRegex(sk.DataError, r"from_generator\(generate\): element 5: KeyError: 'gone'"):
                for element in sk.Loader(sk.from_generator(generate), to="numpy", threads=threads):
                    seen.append(int(element["i"]))
            self.assertEqual(seen, list(range(5)))

    def test_one_that_is_broken_off_is_closed(self):
        path = self.folder / "closed"

        def generate():
            try:
                for i in range(10 ** 9):
                    yield {"i": i}
            finally:
                path.write_text("yes")

        loader = sk.Loader(sk.from_generator(generate, spec={"i": ("int64", ())}), to="numpy")
        next(iter(loader))
        loader.close()
        deadline = time.monotonic() + 60
        while not path.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertTrue(path.exists())

    def test_a_pass_does_not_wait_for_the_generator_of_one_that_was_broken_off(self):
        path = self.folder / "begun"

        def generate(epoch):
            time.sleep(0.02)  # longer than a message gathers elements
            yield {"i": epoch}
            if epoch == 0:
                path.touch()
                time.sleep(600)

        loader = sk.Loader(sk.from_generator(generate, spec={"i": ("int64", ())}) | sk.prefetch(), to="numpy")
        next(iter(loader))
        while not path.exists():
            time.sleep(0.01)
        self.assertEqual([int(element["i"]) for element in loader], [1])
        for process in multiprocessing.active_children():  # one is in its function for ten minutes
            process.kill()
            process.join()

    def test_refuses_an_iterator_that_can_be_used_once(self):
        with self.assertRaisesRegex(TypeError, "only once"):
            sk.from_generator(iter([1]))


class Errors(TestCase):
    def test_an_exception_names_the_sample_and_keeps_its_traceback(self):
        def fails(element):
            if element["index"] == 17:
                raise ValueError("bad value")
            return element

        pipeline = sk.range(100) | sk.map(fails) | sk.batch(10)
        for threads in (0, None):
            with self.assertRaises(sk.DataError) as caught:
                batches_of(pipeline, threads=threads)
            text = str(caught.exception)
            self.assertIn("map(fails): element 17: ValueError: bad value", text)
            self.assertIn("functions_test.py", text)
            self.assertIn("in fails", text)

    def test_samples_that_fail_can_be_left_out(self):
        def fails(element):
            if element["index"] % 10 == 3:
                raise ValueError
            return element

        log = self.folder / "lost.jsonl"
        pipeline = sk.range(50) | sk.map(fails, on_error={"policy": "skip", "share": 1, "log": str(log)}) | sk.batch(5)
        self.assertEqual(numbers_of(pipeline), [i for i in range(50) if i % 10 != 3])
        self.assertEqual(len(log.read_text().splitlines()), 5)

    def test_results_of_another_type_shape_or_name_say_what_was_expected(self):
        def other(change):
            return lambda element: change(element["index"]) if element["index"] == 30 else {"x": numpy.zeros(3)}

        for change, expected in (
            (lambda i: {"x": numpy.zeros(3, "float32")}, r"field 'x' is float32\[3\], and not float64\[3\]"),
            (lambda i: {"x": numpy.zeros(4)}, r"field 'x' is float64\[4\], and not float64\[3\].*spec="),
            (lambda i: {"y": numpy.zeros(3)}, "it returned the fields y, and not x"),
            (lambda i: {"x": numpy.zeros(3, "complex64")}, "field 'x' is of complex64"),
            (lambda i: {"x": object()}, "field 'x' is of object"),
            (lambda i: {"x": {"y": 1}}, "field 'x' is a dict"),
            (lambda i: {"x": [[1], [1, 2]]}, "field 'x' makes no array"),
            (lambda i: None, "it returned a NoneType"),
        ):
            pipeline = sk.range(50) | sk.map(other(change)) | sk.batch(5)
            for threads in (0, None):
                with self.subTest(expected, threads=threads), self.assertRaisesRegex(sk.ConfigError, "element 30: " + expected):
                    batches_of(pipeline, threads=threads)

    def test_objects_and_exceptions_that_fail_themselves_are_errors_of_the_sample(self):
        class Broken(Exception):
            def __str__(self):
                raise RuntimeError("no")

        class Array:
            def __array__(self, *unused, **unused_too):
                raise RuntimeError("no array")

        def fails(element):
            if element["index"] == 7:
                raise Broken
            return element

        def named(name, value=1):
            return lambda element: {name if element["index"] == 7 else "x": value if element["index"] == 7 else 1}

        def long(element):
            if element["index"] == 7:
                raise ValueError("ä" * 100000)
            return element

        for function, error, expected in (
            (fails, sk.DataError, "element 7: Broken"), (long, sk.DataError, "element 7: ValueError: ä"),
            (named("x", Array()), sk.ConfigError, "makes no array: RuntimeError: no array"), (named(3), sk.ConfigError, "a field called 3"),
            (named(""), sk.ConfigError, "a field called ''"),
        ):
            for threads in (0, None):
                with self.subTest(expected, threads=threads), self.assertRaisesRegex(error, expected):
                    batches_of(sk.range(20) | sk.map(function) | sk.batch(5), threads=threads)

    def test_no_memory_ends_the_pass_and_is_never_skipped(self):
        def fails(element):
            if element["index"] == 7:
                raise MemoryError("none left")
            return element

        pipeline = sk.range(20) | sk.map(fails, on_error="skip") | sk.batch(5)
        for threads in (0, None):
            with self.assertRaisesRegex(sk.ResourceError, "none left"):
                batches_of(pipeline, threads=threads)

    def test_memory_of_a_worker_that_cannot_be_opened_is_an_error_and_no_wrong_number(self):
        self.run_python("""
            import os, resource, time
            import numpy
            import stoker as sk

            def waits_for(folder):
                while not os.path.exists(folder):
                    time.sleep(0.001)

            kept = []  # in the worker, which needs other memory for each request
            def keep(element):
                index = int(element["row"][0])
                kept.append(element["row"])
                if index == 10:  # the engine opens and closes nothing until the answer
                    os.mkdir("at_work")
                    waits_for("full")
                return {"index": index + 1}

            pipeline = (sk.range(20_000) | sk.map(lambda element: {"row": numpy.full(9, element["index"])}, spec={"row": ("int64", (9,))})
                        | sk.map(keep, spec={"index": ("int64", ())}) | sk.batch(10))
            batches = iter(sk.Loader(pipeline, to="numpy", threads=1, workers=1))
            assert next(batches)["index"].tolist() == list(range(1, 11))
            waits_for("at_work")
            resource.setrlimit(resource.RLIMIT_NOFILE, (300, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
            taken = []
            try:
                while True:
                    taken.append(os.open("/dev/null", os.O_RDONLY))
            except OSError:
                pass
            os.mkdir("full")
            wrong = []
            try:
                for number, batch in enumerate(batches, 1):
                    if batch["index"].tolist() != list(range(10 * number + 1, 10 * number + 11)):
                        wrong.append(batch)
            except sk.ResourceError as error:
                message = str(error)
            for each in taken:
                os.close(each)
            assert not wrong, wrong
            assert "as many files open as it may" in message, message
        """)

    def test_elements_of_many_fields_go_through(self):
        def generate():
            for i in range(100):
                yield {f"field_{k}": i for k in range(300)}

        pipeline = sk.from_generator(generate) | sk.map(lambda element: element) | sk.batch(10)
        self.assertEqual(numbers_of(pipeline, "field_299"), list(range(100)))

    def test_trouble_of_the_system_ends_the_pass_and_a_missing_file_is_the_sample_s(self):
        def fails(error):
            def function(element):
                if element["index"] == 7:
                    raise error
                return element

            return sk.range(20) | sk.map(function, on_error={"policy": "skip", "share": 1}) | sk.batch(5)

        for threads in (0, None):
            for error in (ConnectionResetError("gone"), TimeoutError("gone"), PermissionError("gone"), OSError(errno.EMFILE, "gone")):
                with self.subTest(error), self.assertRaisesRegex(sk.ResourceError, "gone"):
                    batches_of(fails(error), threads=threads)
            self.assertEqual(len(numbers_of(fails(FileNotFoundError("gone")), threads=threads)), 19)

    def test_a_filter_that_fails_names_the_function_and_the_sample(self):
        def divides(element):
            return 1 // (int(element["index"]) - 4)

        for threads in (0, None):
            with self.assertRaisesRegex(sk.DataError, r"filter\(divides\): element 4: ZeroDivisionError"):
                batches_of(sk.range(9) | sk.filter(divides), threads=threads)

    def test_a_generator_that_cannot_begin_ends(self):
        def fails():
            raise ValueError("no begin")

        pipeline = sk.from_generator(fails, spec={"x": ("int64", ())}, on_error={"policy": "skip", "share": 1})
        for threads in (0, None):
            self.assertEqual(batches_of(pipeline, threads=threads), [])

    def test_finding_out_what_a_function_returns_writes_no_log(self):
        log = self.folder / "lost.jsonl"

        def fails(element):
            if element["index"] == 1:
                raise ValueError
            return element

        pipeline = sk.range(5) | sk.map(fails, on_error={"policy": "skip", "share": 1, "log": str(log)}) | sk.map(twice)
        self.assertEqual(pipeline.spec, {"twice": ("int64", ())})
        self.assertFalse(log.exists())
        batches_of(pipeline)
        self.assertEqual(len(log.read_text().splitlines()), 1)

    def test_a_stage_that_reads_while_the_pipeline_is_made_says_so(self):
        with self.assertRaisesRegex(sk.ConfigError, "put the function after that stage"):
            batches_of(sk.range(9) | sk.map(twice) | sk.unique(by=["twice"]))

    def seconds_from_the_death_of_a_worker_to_its_error(self):
        death = self.folder / "death"

        def dies(element):
            if element["index"] == 17:
                death.write_text(str(time.monotonic()))
                os.kill(os.getpid(), signal.SIGKILL)
            return element

        loader = sk.Loader(sk.range(100) | sk.map(dies) | sk.batch(10), to="numpy")
        with self.assertRaisesRegex(sk.ResourceError, r"map\(dies\).*signal 9"):
            list(loader)
        seconds = time.monotonic() - float(death.read_text())  # both sides read one clock, the system's
        # The next pass has workers of its own.
        self.assertEqual(next(iter(loader))["index"].tolist(), list(range(10)))
        return seconds

    def test_a_worker_that_is_killed_is_an_error_within_a_second(self):
        # The least of some tries, since the machine may be busy.
        self.assertLess(min(self.seconds_from_the_death_of_a_worker_to_its_error() for _ in range(3)), 1)

    def test_a_worker_that_exits_is_an_error(self):
        pipeline = sk.range(100) | sk.map(lambda element: os._exit(3), spec={"x": ("int64", ())})
        with self.assertRaisesRegex(sk.ResourceError, "status 3"):
            list(sk.Loader(pipeline, to="numpy"))

    def test_a_function_of_unknown_name_is_refused(self):
        for text, expected in (("os:sep", "is a str, and no function"), ("nowhere_at_all:f", "cannot be imported"), ("os:nothing", "has no nothing"), ("f#999999", "another process")):
            with self.assertRaisesRegex(sk.ConfigError, expected):
                sk.from_yaml(f"[{{range: 5}}, {{python_map: '{text}'}}]").spec

    def test_a_field_that_is_not_there_is_named(self):
        with self.assertRaisesRegex(sk.ConfigError, "there is no field 'nothing'"):
            (sk.range(5) | sk.map(twice, field="nothing")).spec

    def test_no_element_to_learn_from_asks_for_a_spec(self):
        with self.assertRaisesRegex(sk.ConfigError, "spec="):
            (sk.range(0) | sk.map(twice)).spec


class Interleaved(TestCase):
    """Functions in the pipeline that `interleave` reads each file by."""

    def setUp(self):
        super().setUp()
        for number in range(7):
            (self.folder / f"{number}.txt").write_text("".join(f"{number} {line}\n" for line in range(number + 1)))
        self.wanted = sorted((number, line) for number in range(7) for line in range(number + 1))

    def read(self, *stages, **options):
        inner = sk.lines(...)
        for stage in stages:
            inner = inner | stage
        files = str(self.folder / "*.txt")
        return [(int(element["file"]), int(element["line"]))
                for element in sk.Loader(sk.interleave(files=files, pipeline=inner), to="numpy", **options)]

    @staticmethod
    def split(element):
        file, line = bytes(element["text"]).split()
        return {"file": int(file), "line": int(line)}

    def test_are_called_for_each_file_in_workers_and_in_this_process(self):
        here = self.read(sk.map(self.split), threads=0)
        self.assertEqual(sorted(here), self.wanted)
        self.assertEqual(self.read(sk.map(self.split), threads=2), here)

    def test_may_be_several_of_which_each_keeps_its_place(self):
        stages = (sk.filter(lambda element: not bytes(element["text"]).startswith(b"3")), sk.map(self.split),
                  sk.map(lambda element: {**element, "line": element["line"] * 2}), sk.filter(lambda line: line != 4, field="line"))
        wanted = sorted((file, 2 * line) for file, line in self.wanted if file != 3 and line != 2)
        for threads in (0, 2):
            self.assertEqual(sorted(self.read(*stages, threads=threads)), wanted)

    def test_follow_on_after_a_resume(self):
        pipeline = sk.interleave(files=str(self.folder / "*.txt"), pipeline=sk.lines(...) | sk.map(self.split)) | sk.batch(4)
        whole = batches_of(pipeline)
        loader = sk.Loader(pipeline, to="numpy")
        for _, _batch in zip(range(3), loader):
            pass
        other = sk.Loader(pipeline, to="numpy", threads=0)
        other.load_state_dict(loader.state_dict())
        self.assertEqual([batch["line"].tolist() for batch in other], [batch["line"] for batch in whole[3:]])

    def test_within_an_interleave_within_another_and_after_a_stage_that_reads_them(self):
        (self.folder / "more").mkdir()
        for number in range(3):
            (self.folder / "more" / f"{number}.csv").write_text("x\n" + "".join(f"{number + line}\n" for line in range(4)))

        def twice(element):
            return {"x": element["x"] * 2}

        inner = sk.csv(...) | sk.map(twice)
        several = sk.interleave(inputs=[sk.interleave(files=str(self.folder / "more" / "*.csv"), pipeline=inner) for _ in range(2)])
        pipeline = several | sk.map(lambda element: {"x": element["x"] + 1})
        wanted = sorted(2 * [2.0 * (number + line) + 1 for number in range(3) for line in range(4)])
        for threads in (0, 2):
            self.assertEqual(sorted(float(element["x"].item()) for element in sk.Loader(pipeline, to="numpy", threads=threads)), wanted)

    def test_an_exception_names_the_function_and_its_traceback(self):
        def fails(element):
            if bytes(element["text"]) == b"5 2":
                raise ValueError("bad line")
            return self.split(element)

        for threads in (0, 2):
            with self.assertRaisesRegex(sk.DataError, r"(?s)map\(fails\): element .*ValueError: bad line.*in fails"):
                self.read(sk.map(fails), threads=threads)

    def test_a_file_with_other_fields_is_refused(self):
        (self.folder / "tables").mkdir()
        (self.folder / "tables" / "a.csv").write_text("x,y\n1,2\n")
        (self.folder / "tables" / "b.csv").write_text("x,z\n1,2\n")
        pipeline = sk.interleave(files=str(self.folder / "tables" / "*.csv"), pipeline=sk.csv(...) | sk.map(lambda element: {"x": 1}))
        for threads in (0, 2):
            with self.assertRaisesRegex(sk.ConfigError, r"map\(.*\): its elements are .* here, and those of the first file"):
                list(sk.Loader(pipeline, to="numpy", threads=threads))


class Wire(TestCase):
    """What the engine makes of workers whose messages are broken, as by a function that writes where it should not."""

    def results_with(self, damage):
        """The numbers that a pipeline gives, or the error, where `damage` has changed each answer of its worker."""
        class Broken(serve._Worker):
            def _answer(self, request):
                return damage(super()._answer(request))

        with mock.patch.object(serve, "_Worker", Broken):
            pipeline = sk.range(40) | sk.map(twice, spec={"twice": ("int64", ())}) | sk.batch(8)
            return numbers_of(pipeline, "twice", threads=1, workers=1)

    def test_damaged_answers_are_errors_or_give_what_they_say(self):
        seed = int(os.environ.get("STOKER_SEED", "1"))
        for trial in range(200):
            rng = random.Random(f"{seed} {trial}")

            def damage(answer, rng=rng):
                data = bytearray(answer)
                kind = rng.randrange(4)
                if kind == 0:
                    for _ in range(rng.randrange(1, 4)):
                        data[rng.randrange(len(data))] = rng.randrange(256)
                elif kind == 1:
                    del data[rng.randrange(len(data)):]
                elif kind == 2:
                    data += rng.randbytes(rng.randrange(1, 2000))
                else:  # a number of 8 bytes that is large or negative
                    at = rng.randrange(max(1, len(data) - 8))
                    data[at:at + 8] = rng.choice([2 ** 63 - 1, 2 ** 62, 2 ** 64 - 1, 2 ** 31]).to_bytes(8, "little")
                return bytes(data)

            with self.subTest(seed=seed, trial=trial):
                try:
                    self.assertEqual(len(self.results_with(damage)), 40)
                except sk.Error as error:
                    self.assertIn("map(twice)", str(error))

    def test_an_answer_that_is_missing_is_waited_for_until_the_worker_ends(self):
        def damage(answer):
            os._exit(7)

        with self.assertRaisesRegex(sk.ResourceError, "status 7"):
            self.results_with(damage)


class Processes(TestCase):
    def test_pipelines_with_functions_that_can_be_imported_are_pickled_as_text(self):
        pipeline = sk.range(5) | sk.map(twice)
        self.assertIn(f"{__name__}:twice", str(pipeline))
        self.assertEqual(pickle.loads(pickle.dumps(pipeline)), pipeline)
        with self.assertRaisesRegex(sk.ConfigError, "cannot be pickled"):
            pickle.dumps(sk.range(5) | sk.map(lambda element: element))

    def test_a_lambda_lives_as_long_as_its_pipeline(self):
        class Large:
            pass

        def made():
            large = Large()
            living.append(weakref.ref(large))
            return sk.zip([sk.range(5) | sk.map(lambda element: {"x": large is None})]) | sk.batch(5)

        import weakref

        living = []
        pipeline = made()
        gc.collect()
        self.assertEqual(numbers_of(pipeline, "x"), [False] * 5)
        self.assertIsNotNone(living[0]())
        del pipeline
        gc.collect()
        self.assertIsNone(living[0]())

    def test_a_name_means_one_function_in_all_processes(self):
        names = {self.run_python("import stoker as sk; print(sk.range(5) | sk.map(lambda element: element))") for _ in range(2)}
        self.assertEqual(len(names), 2)

    def test_fewer_workers_are_fewer(self):
        def process(element):
            time.sleep(0.001)
            return {"process": os.getpid()}

        pipeline = sk.range(100) | sk.map(process) | sk.batch(1)
        numbers_of(pipeline, "process", threads=4, workers=3)
        self.assertEqual(len(set(numbers_of(pipeline, "process", threads=4, workers=1))), 1)

    def test_a_pass_does_not_wait_for_what_another_left_at_work(self):
        def slow_once(element):
            if element["index"] == 3 and not path.exists():
                path.touch()
                time.sleep(600)
            return element

        path = self.folder / "begun"
        pipeline = sk.range(8) | sk.map(slow_once, spec={"index": ("int64", ())}) | sk.prefetch()
        loader = sk.Loader(pipeline, to="numpy", workers=2, threads=1)
        batches = iter(loader)
        next(batches)
        while not path.exists():
            time.sleep(0.01)
        batches.close()
        self.assertEqual(sum(1 for _ in loader), 8)

    def test_messages_of_a_generator_hold_many_elements(self):
        from stoker.functions import bound, serve

        class Gives(bound.Generator):
            def __init__(self):
                pass

            def write_next(self, iterator, room):
                room.add(1, (20000,))
                return True

        worker = serve._Worker(None, [])
        worker._generator = Gives()
        for _ in range(3):
            worker._room.clear()
            self.assertGreater(worker._continue()[1], 1)

    def test_passes_broken_off_leave_no_process_thread_or_descriptor(self):
        def slow(element):
            time.sleep(0.001)
            return element

        def once():
            for _ in zip(range(2), sk.Loader(sk.range(1000) | sk.map(slow, spec={"index": ("int64", ())}) | sk.batch(2), to="numpy")):
                pass

        once()
        gc.collect()
        threads, files = threads_of_this_process(), len(os.listdir("/proc/self/fd"))
        for _ in range(10):
            once()
        gc.collect()
        self.assertLessEqual(threads_of_this_process(), threads)
        deadline = time.monotonic() + 60
        while multiprocessing.active_children() and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertEqual(multiprocessing.active_children(), [])
        self.assertLessEqual(len(os.listdir("/proc/self/fd")), files + 2)

    def test_50_passes_of_one_pipeline_leave_no_process_thread_or_descriptor(self):
        def same(element):
            return element

        loader = sk.Loader(sk.range(200) | sk.map(same, spec={"index": ("int64", ())}) | sk.batch(2), to="numpy", threads=2, workers=2)

        def some_passes(count):
            """Whole ones, and ones that are broken off, by turns."""
            for number in range(count):
                batches = iter(loader)
                for _, _batch in zip(range(101 if number % 2 else 3), batches):
                    pass
                batches.close()

        def held():
            gc.collect()
            return threads_of_this_process(), len(multiprocessing.active_children()), len(os.listdir("/proc/self/fd"))

        some_passes(4)
        threads, children, files = held()
        most = threads, children, files + 2  # a worker may have been idle so far, and its memory is opened with its first answer
        some_passes(50)
        deadline = time.monotonic() + 60
        while any(now > then for now, then in zip(held(), most)) and time.monotonic() < deadline:
            time.sleep(0.01)
        for now, then in zip(held(), most):
            self.assertLessEqual(now, then)

    def test_the_interpreter_ends_in_the_middle_of_a_pass(self):
        self.run_python("""
            import stoker as sk, time
            def slow(element):
                time.sleep(0.01)
                return element
            loader = sk.Loader(sk.range(10 ** 9) | sk.map(slow, spec={"index": ("int64", ())}) | sk.batch(2), to="numpy")
            batches = iter(loader)
            next(batches)
        """)

    def test_the_interpreter_ends_although_a_worker_does_not_want_to(self):
        self.run_python("""
            import signal, time
            import stoker as sk
            def stuck(element):
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                while element["index"] > 0:
                    time.sleep(1)
                return element
            batches = iter(sk.Loader(sk.range(10) | sk.map(stuck, spec={"index": ("int64", ())}), to="numpy", workers=1, threads=1))
            next(batches)
        """)

    def test_a_child_of_fork_leaves_the_workers_of_its_parent_alone(self):
        out = self.run_python("""
            import os, sys
            import stoker as sk
            def plain(element):
                return element
            batches = iter(sk.Loader(sk.range(20) | sk.map(plain) | sk.batch(2), to="numpy"))
            next(batches)
            child = os.fork()
            if child == 0:
                sys.exit(0)
            status = os.waitpid(child, 0)[1]
            print(status, sum(len(batch["index"]) for batch in batches))
        """)
        self.assertEqual(out, "0 18\n")

    def test_a_worker_that_is_stuck_ends_with_its_pipeline(self):
        def stuck(element):
            while element["index"] > 0:
                time.sleep(1)
            return {"process": os.getpid()}

        batches = iter(sk.Loader(sk.range(10) | sk.map(stuck, spec={"process": ("int64", ())}), to="numpy", workers=1, threads=1))
        worker = int(next(batches)["process"])
        time.sleep(0.2)
        batches.close()
        del batches
        gc.collect()
        deadline = time.monotonic() + 60
        while worker in {each.pid for each in multiprocessing.active_children()} and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertFalse(os.path.exists(f"/proc/{worker}"))

    def worker_of_a_killed_parent(self, then):
        """The process of a worker whose parent was killed after the first element, once the parent is gone. `then`: what the worker's
        function does with the second element."""
        read, write = os.pipe()
        with os.fdopen(read) as pids:
            program = f"""
                import os, signal, time
                import stoker as sk
                def tells(element):
                    if element["index"] > 0:
                        {then}
                    return {{"process": os.getpid()}}
                batches = iter(sk.Loader(sk.range(2) | sk.map(tells, spec={{"process": ("int64", ())}}), to="numpy", workers=1, threads=1))
                os.write({write}, str(next(batches)["process"]).encode())
                time.sleep(0.2)
                os.kill(os.getpid(), signal.SIGKILL)
            """
            with self.assertRaises(AssertionError):
                self.run_python(program, pass_fds=[write])
            os.close(write)
            return int(os.read(pids.fileno(), 20))

    def test_workers_end_when_their_parent_is_killed(self):
        for then in ("pass", "time.sleep(3600)", "while True: pass"):
            with self.subTest(then=then):
                worker = self.worker_of_a_killed_parent(then)
                deadline = time.monotonic() + 60
                while os.path.exists(f"/proc/{worker}") and time.monotonic() < deadline:
                    time.sleep(0.05)
                self.assertFalse(os.path.exists(f"/proc/{worker}"))

    def test_they_can_be_spawned(self):
        (self.folder / "own.py").write_text("def twice(element):\n    return {'twice': element['index'] * 2}\n")
        out = self.run_python("""
            import multiprocessing
            import own
            import stoker as sk
            if __name__ == "__main__":
                multiprocessing.set_start_method("spawn")
                loader = sk.Loader(sk.range(10) | sk.map(own.twice) | sk.batch(5), to="numpy", workers=1)
                print([batch["twice"].tolist() for batch in loader])
                try:
                    next(iter(sk.Loader(sk.range(10) | sk.map(lambda element: element), to="numpy")))
                except sk.ConfigError as error:
                    print("at the top of a module" in str(error))
        """)
        self.assertEqual(out.split("\n")[:2], ["[[0, 2, 4, 6, 8], [10, 12, 14, 16, 18]]", "True"])

    def test_ctrl_c_ends_a_function_in_this_process_and_a_wait_for_one_elsewhere(self):
        for threads in (0, 1):
            out = self.run_python(f"""
                import os, signal, threading, time
                import stoker as sk
                signal.signal(signal.SIGINT, signal.default_int_handler)
                def slow(element):
                    time.sleep(600)
                loader = sk.Loader(sk.range(10) | sk.map(slow, spec={{"index": ("int64", ())}}), to="numpy", threads={threads}, workers=1)
                threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
                try:
                    next(iter(loader))
                except KeyboardInterrupt:
                    print("interrupted")
            """)
            self.assertEqual(out, "interrupted\n")

    @needs("torch")
    def test_in_a_worker_of_a_data_loader_functions_are_called_there(self):
        out = self.run_python("""
            import torch, stoker as sk
            class Streams(torch.utils.data.IterableDataset):
                def __init__(self, threads):
                    self.threads = threads
                def __iter__(self):
                    pipeline = sk.range(4) | sk.map(lambda element: {"x": element["index"] + 1})
                    return iter(sk.Loader(pipeline, threads=self.threads))
            print([int(sample["x"]) for sample in torch.utils.data.DataLoader(Streams(0), batch_size=None, num_workers=1)])
            try:
                next(iter(torch.utils.data.DataLoader(Streams(None), batch_size=None, num_workers=1)))
            except Exception as error:
                print("threads=0" in str(error))
        """)
        self.assertEqual(out, "[1, 2, 3, 4]\nTrue\n")


if __name__ == "__main__":
    unittest.main()
