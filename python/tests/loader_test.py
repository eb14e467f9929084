"""A Loader gives the pipeline's batches, epoch after epoch, and they are the caller's."""

import gc
import json
import os
import pickle
import unittest
from unittest import mock

import stoker as sk
from stoker import ranks
from stoker.report import Explanation
from support import TestCase, needs, threads_of_this_process


def numbers(loader):
    """The field `index` of all batches of an epoch, as lists; needs no library."""
    return [memoryview(batch["index"]).tolist() for batch in loader]


def shuffled(count=200):
    return sk.range(count) | sk.shuffle() | sk.batch(7)


class Batches(TestCase):
    def test_come_without_any_library(self):
        loader = sk.Loader(sk.range(5) | sk.batch(2), to="dlpack")
        self.assertEqual(numbers(loader), [[0, 1], [2, 3], [4]])
        batch = next(iter(loader))
        self.assertEqual((batch["index"].shape, batch["index"].dtype, batch["index"].nbytes), ((2,), "int64", 16))

    def test_are_the_same_for_any_number_of_threads(self):
        wanted = numbers(sk.Loader(shuffled(), seed=3, threads=0, to="dlpack"))
        for threads in (1, 2, 5, None):
            self.assertEqual(numbers(sk.Loader(shuffled(), seed=3, threads=threads, to="dlpack")), wanted)

    def test_differ_by_seed_and_epoch_and_each_iteration_is_the_next_epoch(self):
        loader = sk.Loader(shuffled(), seed=3, to="dlpack")
        first, second = numbers(loader), numbers(loader)
        self.assertEqual(loader.epoch, 2)
        self.assertNotEqual(first, second)
        self.assertEqual(sorted(sum(first, [])), list(range(200)))
        self.assertNotEqual(first, numbers(sk.Loader(shuffled(), seed=4, to="dlpack")))
        loader.set_epoch(1)
        self.assertEqual(numbers(loader), second)

    def test_have_a_number(self):
        for count, batches in ((200, 29), (0, 0), (7, 1)):
            loader = sk.Loader(sk.range(count) | sk.batch(7), to="dlpack")
            self.assertEqual((len(loader), len(numbers(loader))), (batches, batches))

    def test_of_all_ranks_are_those_of_the_whole(self):
        whole = numbers(sk.Loader(shuffled(), seed=1, to="dlpack"))
        for when_dry in ("end", "stop", "empty"):
            parts = []
            for rank in range(3):
                loader = sk.Loader(shuffled(), seed=1, rank=rank, world=3, when_dry=when_dry, to="dlpack")
                parts.append(numbers(loader))
                self.assertEqual(len(loader), len(parts[-1]), when_dry)
            dealt = [part[i] for i in range(len(parts[0])) for part in parts if i < len(part)]
            self.assertEqual([batch for batch in dealt if batch], whole if when_dry != "stop" else whole[:27])

    def test_of_ranks_are_found_in_the_environment_of_the_launcher(self):
        program = "import stoker as sk; l = sk.Loader(sk.range(8), to='dlpack'); print(l.rank, l.world, len(l))"
        for variables, printed in (({}, "0 1 8"), ({"RANK": "1", "WORLD_SIZE": "4"}, "1 4 2"),
                                   ({"SLURM_PROCID": "3", "SLURM_STEP_NUM_TASKS": "4", "SLURM_NTASKS": "8"}, "3 4 2"),
                                   ({"SLURM_PROCID": "0", "SLURM_NTASKS": "4"}, "0 1 8")):
            environment = {"PATH": "/usr/bin:/bin", **variables}
            self.assertEqual(self.run_python(program, env=environment).strip(), printed)

    def test_in_any_order_are_all_there(self):
        for pipeline in (shuffled(), shuffled() | sk.prefetch(4)):
            loader = sk.Loader(pipeline, deterministic=False, to="dlpack")
            self.assertIn("deterministic: false", repr(loader))
            self.assertEqual(sorted(sum(numbers(loader), [])), list(range(200)))

    def test_come_within_a_budget_of_memory(self):
        loader = sk.Loader(sk.range(10 ** 6) | sk.batch(1000), memory="1MiB", threads=2, to="dlpack")
        self.assertEqual(sum(len(batch) for batch in numbers(loader)), 10 ** 6)
        self.assertLess(loader.profile().peak_memory_bytes, 2 << 20)

    def test_a_budget_that_is_no_size_is_refused_when_the_loader_is_made(self):
        for memory in ("much", "-1MiB", ""):
            with self.subTest(memory), self.assertRaises(sk.ConfigError):
                sk.Loader(sk.range(5) | sk.batch(2), memory=memory)

    def test_belong_to_the_caller_whatever_the_pipeline_keeps(self):
        cached = sk.range(40) | sk.batch(8) | sk.cache()
        for pipeline in (cached, sk.range(40) | sk.batch(8) | sk.prefetch(), sk.idx(images=self.pictures()[0]), shuffled()):
            loader = sk.Loader(pipeline, threads=2, seed=1, to="dlpack")
            before = [bytes(memoryview(array)) for batch in loader for array in batch.values()]
            loader.set_epoch(0)
            for batch in loader:
                for array in batch.values():
                    view = memoryview(array).cast("B")
                    view[:] = bytes(len(view))
            loader.set_epoch(0)
            self.assertEqual([bytes(memoryview(array)) for batch in loader for array in batch.values()], before)

    def test_outlive_the_loader(self):
        loader = sk.Loader(shuffled(), seed=1, to="dlpack")
        wanted = numbers(sk.Loader(shuffled(), seed=1, to="dlpack"))
        batches = list(loader)
        del loader
        gc.collect()
        self.assertEqual([memoryview(batch["index"]).tolist() for batch in batches], wanted)

    def test_of_several_loaders_come_at_the_same_time(self):
        loaders = [sk.Loader(shuffled(), seed=seed, threads=2, to="dlpack") for seed in range(4)]
        together = list(zip(*loaders))
        self.assertEqual(len(together), 29)
        for seed in range(4):
            alone = numbers(sk.Loader(shuffled(), seed=seed, to="dlpack"))
            self.assertEqual([memoryview(row[seed]["index"]).tolist() for row in together], alone)

    @needs("numpy")
    def test_are_arrays_of_numpy_that_can_be_written(self):
        import numpy

        images, labels = self.pictures()
        data = sk.idx(images=images, labels=labels) | sk.batch(48)
        [batch] = sk.Loader(data, to="numpy")
        wanted = (numpy.arange(48 * 30) % 251).astype(numpy.uint8).reshape(48, 1, 6, 5)
        numpy.testing.assert_array_equal(batch["image"], wanted)
        numpy.testing.assert_array_equal(batch["label"], numpy.arange(48) % 10)
        batch["image"] += 1

    @needs("numpy")
    def test_of_every_dtype_become_those_of_numpy(self):
        import numpy

        for dtype in ("uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"):
            [batch] = sk.Loader(sk.range(6) | sk.cast(dtype, field="index") | sk.batch(6), to="numpy")
            self.assertEqual(batch["index"].dtype, numpy.dtype(dtype))
            self.assertEqual(batch["index"].tolist(), list(range(6)))
            shared = numpy.from_dlpack(next(iter(sk.Loader(sk.range(6) | sk.cast(dtype, field="index"), to="dlpack")))["index"])
            self.assertEqual(shared.dtype, numpy.dtype(dtype))

    def test_bad_arguments_are_refused(self):
        data = sk.range(3)
        for options in ({"seed": -1}, {"seed": 2 ** 64}, {"threads": -1}, {"threads": 2 ** 40}, {"memory": "much"}, {"rank": 0},
                        {"rank": 2, "world": 2}, {"to": "tf"}, {"when_dry": "cry"}):
            with self.subTest(str(options)), self.assertRaises(sk.ConfigError):
                list(sk.Loader(data, **options))
        for options in ({"seed": 1.5}, {"threads": "2"}):
            with self.subTest(str(options)), self.assertRaises(TypeError):
                sk.Loader(data, **options)
        with self.assertRaises(TypeError):
            sk.Loader([1, 2, 3])


class Ranks(TestCase):
    """What a launcher's environment says, by the rules of stoker/cluster/membership.cc."""

    def found(self, **variables):
        with mock.patch.dict(os.environ, variables, clear=True):
            return ranks.find()

    def test_are_those_of_each_launcher(self):
        for variables in (
            {"RANK": "1", "WORLD_SIZE": "4"},
            {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "4"},
            {"PMI_RANK": "1", "PMI_SIZE": "4"},
            {"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "4", "SLURM_NTASKS": "8"},
            {"JOB_COMPLETION_INDEX": "1", "WORLD_SIZE": "4"},
            {"RANK": "1", "JOB_COMPLETION_INDEX": "3", "WORLD_SIZE": "4"},
        ):
            with self.subTest(str(variables)):
                self.assertEqual(self.found(**variables), (1, 4))

    def test_are_one_in_the_shell_of_an_allocation_and_where_a_launcher_says_so(self):
        for variables in (
            {},
            {"SLURM_JOB_ID": "1", "SLURM_PROCID": "0", "SLURM_NTASKS": "4"},
            {"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "1", "SLURM_NTASKS": "4"},
            {"RANK": "0", "WORLD_SIZE": "1"},
            {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "1"},
            {"RANK": "3"},
            {"RANK": "3", "WORLD_SIZE": ""},
            {"JOB_COMPLETION_INDEX": "3"},
        ):
            with self.subTest(str(variables)):
                self.assertEqual(self.found(**variables), (0, 1))

    def test_of_a_launcher_that_says_one_are_those_of_the_next(self):
        self.assertEqual(self.found(RANK="0", WORLD_SIZE="1", SLURM_PROCID="2", SLURM_STEP_NUM_TASKS="3"), (2, 3))

    def test_of_mpirun_are_not_those_of_the_step_that_started_its_helpers(self):
        self.assertEqual(self.found(OMPI_COMM_WORLD_RANK="5", OMPI_COMM_WORLD_SIZE="8", SLURM_PROCID="1", SLURM_STEP_NUM_TASKS="2"), (5, 8))

    def test_of_a_step_that_says_all_twice_are_slurms(self):
        self.assertEqual(self.found(PMI_RANK="1", PMI_SIZE="2", SLURM_PROCID="0", SLURM_STEP_NUM_TASKS="2"), (0, 2))

    def test_that_do_not_go_together_are_refused_and_both_variables_named(self):
        for rank, world in (("RANK", "WORLD_SIZE"), ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("PMI_RANK", "PMI_SIZE"),
                            ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS")):
            for text in ("9", "4", "-1", "1.5", "first"):
                with self.subTest(f"{rank}={text}"), self.assertRaisesRegex(sk.ConfigError, f"{rank}='{text}'.* {world}=4 .* 0 to 3"):
                    self.found(**{rank: text, world: "4"})
            for missing in ({}, {rank: ""}):
                with self.subTest(f"no {rank}"), self.assertRaisesRegex(sk.ConfigError, f"{world}=4 and no {rank}; set it to 0..3"):
                    self.found(**{**missing, world: "4"})

    def test_of_no_number_are_refused(self):
        for text in ("many", "0", "-4", "4.0", "1048577", "9" * 5000):
            with self.subTest(text[:10]), self.assertRaisesRegex(sk.ConfigError, f"WORLD_SIZE='{text}', which is no whole number"):
                self.found(RANK="0", WORLD_SIZE=text)

    def test_that_are_refused_end_a_loader_that_asks_for_them(self):
        loader = sk.Loader(sk.range(8), to="dlpack")
        refused = self.assertRaisesRegex(sk.ConfigError, "RANK='9'.*WORLD_SIZE=4")
        with mock.patch.dict(os.environ, {"RANK": "9", "WORLD_SIZE": "4"}), refused:
            iter(loader)


class Checkpoints(TestCase):
    def after(self, pipeline, batches, threads, **options):
        """A loader that stands after so many batches of epoch 2, and what follows there and in epoch 3."""
        loader = sk.Loader(pipeline, seed=5, threads=threads, to="dlpack", **options)
        loader.set_epoch(2)
        iterator = iter(loader)
        for _ in range(batches):
            next(iterator)
        state = json.loads(json.dumps(loader.state_dict()))
        rest = numbers(iterator)
        return state, rest, numbers(loader)

    def test_after_set_epoch_have_nothing_of_the_pass_that_was_left(self):
        loader = sk.Loader(shuffled(), seed=5, to="dlpack")
        for _ in loader:
            break
        loader.set_epoch(4)
        self.assertEqual(loader.epoch, 4)
        state = loader.state_dict()
        self.assertEqual((state["epoch"], state["position"]), (4, None))
        self.assertIn("shuffle", str(loader.profile()))  # of what was read
        following = sk.Loader(shuffled(), to="dlpack")
        following.load_state_dict(state)
        self.assertEqual(numbers(following), numbers(loader))

    def test_continue_in_the_middle_of_an_epoch_with_another_number_of_threads(self):
        pipelines = (shuffled(), shuffled() | sk.prefetch(), sk.range(200) | sk.shuffle(buffer=30) | sk.batch(7),
                     sk.range(200) | sk.filter(field="index", min=20) | sk.batch(7))
        for pipeline in pipelines:
            for batches in (0, 1, 13, 25):
                state, rest, following = self.after(pipeline, batches, threads=2)
                for threads in (0, 3):
                    loader = sk.Loader(pipeline, seed=99, threads=threads, to="dlpack")
                    loader.load_state_dict(state)
                    self.assertEqual(loader.epoch, 2)
                    self.assertEqual(loader.state_dict(), state, "before the first batch it stands where it was loaded")
                    self.assertEqual(numbers(loader), rest)
                    self.assertEqual(numbers(loader), following)

    def test_at_the_end_of_an_epoch_continue_with_the_next(self):
        loader = sk.Loader(shuffled(), seed=5, to="dlpack")
        numbers(loader)
        state = loader.state_dict()
        self.assertEqual((state["epoch"], state["position"]), (1, None))
        other = sk.Loader(shuffled(), to="dlpack")
        other.load_state_dict(state)
        self.assertEqual(numbers(other), numbers(loader))

    def test_can_be_taken_after_a_break(self):
        loader = sk.Loader(shuffled(), seed=5, to="dlpack")
        seen = []
        for batch in loader:
            seen.append(memoryview(batch["index"]).tolist())
            if len(seen) == 4:
                break
        other = sk.Loader(shuffled(), to="dlpack")
        other.load_state_dict(loader.state_dict())
        self.assertEqual(seen + numbers(other), numbers(sk.Loader(shuffled(), seed=5, to="dlpack")))

    def test_continue_with_another_number_of_ranks(self):
        whole = numbers(sk.Loader(shuffled(), seed=5, to="dlpack"))
        loader = sk.Loader(shuffled(), seed=5, rank=1, world=2, to="dlpack")
        iterator = iter(loader)
        for _ in range(3):
            next(iterator)
        state = loader.state_dict()
        parts = []
        for rank in range(3):
            other = sk.Loader(shuffled(), rank=rank, world=3, when_dry="end", to="dlpack")
            other.load_state_dict(state)
            parts.append(numbers(other))
        dealt = [part[i] for i in range(len(parts[0])) for part in parts if i < len(part)]
        self.assertEqual(dealt, whole[6:])

    def test_travel_with_a_pickled_loader(self):
        loader = sk.Loader(shuffled(), seed=5, threads=2, to="dlpack")
        iterator = iter(loader)
        next(iterator)
        other = pickle.loads(pickle.dumps(loader))
        self.assertEqual(numbers(other), numbers(iterator))

    def test_that_are_none_are_refused(self):
        loader = sk.Loader(shuffled(), to="dlpack")
        good = loader.state_dict()
        for state in ({}, {**good, "schema": 2}, {**good, "seed": "x"}, {**good, "epoch": -1}, 3,
                      {key: value for key, value in good.items() if key != "position"}):
            with self.subTest(str(state)), self.assertRaises((sk.ConfigError, TypeError)):
                loader.load_state_dict(state)
        loader.load_state_dict({**good, "position": {"what": 1}})
        with self.assertRaises(sk.Error):
            iter(loader)

    def test_a_state_of_another_pipeline_is_loaded_with_a_warning(self):
        first = sk.Loader(shuffled(), to="dlpack")
        next(iter(first))
        state = json.loads(json.dumps(first.state_dict()))
        with self.assertLogs("stoker", "WARNING") as logged:
            sk.Loader(shuffled(300), to="dlpack").load_state_dict(state)
        self.assertIn("another pipeline", logged.output[0])
        with self.assertNoLogs("stoker", "WARNING"):
            sk.Loader(shuffled(), to="dlpack", threads=0).load_state_dict(state)
            state.pop("pipeline")  # as versions before wrote it
            sk.Loader(shuffled(300), to="dlpack").load_state_dict(state)


class Ends(TestCase):
    def test_1000_epochs_broken_off_leave_no_thread_and_no_memory(self):
        loader = sk.Loader(sk.range(10 ** 6) | sk.shuffle() | sk.batch(100) | sk.prefetch(), threads=2, to="dlpack")

        def break_off():
            for _ in loader:
                break

        def resident():
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * 4096

        before_all = threads_of_this_process()
        for _ in range(100):
            break_off()
        before = resident()
        for _ in range(900):
            break_off()
        grown = resident() - before
        loader.close()
        gc.collect()
        self.assertEqual(threads_of_this_process(), before_all)
        self.assertLess(grown, 16 << 20)

    def test_a_closed_pass_gives_no_more_and_the_loader_begins_another(self):
        loader = sk.Loader(shuffled(), threads=2, to="dlpack")
        iterator = iter(loader)
        next(iterator)
        loader.close()
        with self.assertRaisesRegex(sk.ConfigError, "closed"):
            next(iterator)
        self.assertEqual(len(numbers(loader)), 29)

    def test_an_error_is_raised_again(self):
        (self.folder / "a").mkdir()
        (self.folder / "a" / "a.jpg").write_bytes(b"no picture")
        iterator = iter(sk.Loader(sk.folder(self.folder) | sk.decode(), to="dlpack"))
        for _ in range(2):
            with self.assertRaises(sk.DataError) as caught:
                next(iterator)
            self.assertIn("a.jpg", str(caught.exception))


class Reports(TestCase):
    def loader(self):
        loader = sk.Loader(shuffled() | sk.prefetch(), threads=2, to="dlpack")
        numbers(loader)
        return loader

    def test_a_pipeline_that_nobody_waits_for_limits_nothing(self):
        for waited, expected, other in ((0.01, "keeps up", "limits the pipeline"), (0.5, "limits the pipeline", "keeps up")):
            said = repr(Explanation({"written": "", "decisions": [], "decisions_left_out": 0,
                                     "limit": {"stage": "decode", "why": "busy", "idle": False},
                                     "profile": {"wall_s": 1.0, "consumer_waited_s": waited}}))
            self.assertIn(expected, said)
            self.assertNotIn(other, said)

    def test_a_profile_prints_a_table_and_shows_one_in_a_notebook(self):
        profile = self.loader().profile()
        self.assertEqual([stage.name for stage in profile.stages], ["range", "shuffle", "batch", "prefetch"])
        self.assertEqual(profile.stages[2].elements, 29)
        self.assertIn("shuffle", repr(profile))
        self.assertIn("<td>shuffle</td>", profile._repr_html_())

    def test_an_explanation_tells_the_choices_and_the_limit(self):
        explanation = self.loader().explain()
        self.assertIn("threads", {decision["what"] for decision in explanation.decisions})
        self.assertIn("limit: ", repr(explanation))
        self.assertIn("range", explanation.written)

    def test_nothing_read_is_nothing_to_tell(self):
        with self.assertRaisesRegex(sk.ConfigError, "iterate"):
            sk.Loader(shuffled()).profile()

    def test_a_contact_sheet_is_a_picture_of_the_batch(self):
        images, labels = self.pictures()
        data = sk.idx(images=images, labels=labels)
        [batch] = sk.Loader(data | sk.batch(48), to="dlpack")
        sheet = sk.show(batch, most=20, classes=["zero", "one"])
        self.assertEqual(sheet.labels[:4], ["zero", "one", 2, 3])
        self.assertEqual(len(sheet.labels), 20)
        sheet.save(self.folder / "sheet.png")
        (self.folder / "list.txt").write_text("sheet.png 0\n")
        shown = next(iter(sk.Loader(sk.list(self.folder / "list.txt") | sk.decode(), to="dlpack")))
        self.assertEqual(sheet._repr_png_(), (self.folder / "sheet.png").read_bytes())
        [picture] = [array for array in shown.values() if len(array.shape) == 3]
        self.assertGreater(picture.shape[-1], 5 * sheet.columns)
        normalized = next(iter(sk.Loader(data | sk.normalize(mean=0.5, std=0.25) | sk.batch(20), to="dlpack")))
        self.assertEqual(sk.show(normalized, mean=0.5, std=0.25).png, sheet.png)
        with self.assertRaises(sk.ConfigError):
            sk.show({"label": batch["label"]})
        with self.assertRaises(sk.ConfigError):
            sk.show(batch, field="mask")


if __name__ == "__main__":
    unittest.main()
