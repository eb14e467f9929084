"""TensorBoard shows what training writes for it."""
import json
import os
import shutil
import unittest

from other_software import InteropTest

READ_EVENTS = """
import json, struct, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.plugins.hparams import plugin_data_pb2
run = EventAccumulator("run", size_guidance={"scalars": 0, "histograms": 0, "images": 0, "tensors": 0})
run.Reload()
tags = run.Tags()
found = {"scalars": {tag: [[event.step, event.value] for event in run.Scalars(tag)] for tag in tags["scalars"]},
         "texts": {tag: run.Tensors(tag)[0].tensor_proto.string_val[0].decode() for tag in tags["tensors"]
                   if run.SummaryMetadata(tag).plugin_data.plugin_name == "text"},
         "images": {tag: [image.width, image.height, len(image.encoded_image_string)] for tag in tags["images"]
                    for image in run.Images(tag)},
         "histograms": {}, "hparams": {}}
for tag in tags["histograms"]:
    for event in run.Histograms(tag):
        h = event.histogram_value
        found["histograms"].setdefault(tag, []).append([event.step, h.num, sum(h.bucket), h.min, h.max])
for tag in ["experiment", "session_start_info", "session_end_info"]:
    if tag not in [name.split("/")[-1] for name in run.summary_metadata]: continue
    data = plugin_data_pb2.HParamsPluginData.FromString(run.SummaryMetadata("_hparams_/" + tag).plugin_data.content)
    if tag == "experiment": found["hparams"]["metrics"] = [info.name.tag for info in data.experiment.metric_infos]
    if tag == "session_start_info":
        found["hparams"]["values"] = {name: getattr(value, value.WhichOneof("kind"))
                                      for name, value in data.session_start_info.hparams.items()}
    if tag == "session_end_info": found["hparams"]["status"] = data.session_end_info.status
print(json.dumps(found))
"""


class TensorboardTest(InteropTest):
    def train(self, *arguments):
        self.run_stoker("train", "recipe.yaml", "--quiet", "--set", "train.log_every=4", "--set", "train.tensorboard.enabled=true",
                        "--run", "run", *arguments)

    def measured(self):
        """The figures of metrics.jsonl by tag."""
        figures = {}
        for line in map(json.loads, self.read("run/metrics.jsonl").splitlines()):
            for key, value in line.items():
                if key not in ("kind", "step", "epoch") and isinstance(value, (int, float)):
                    figures.setdefault(f"{line['kind']}/{key}", []).append([line["step"], value])
        return figures

    def assert_same(self, scalars):
        measured = self.measured()
        self.assertEqual(set(scalars), set(measured))
        for tag, events in measured.items():
            with self.subTest(tag=tag):
                self.assertEqual([step for step, _ in scalars[tag]], [step for step, _ in events])
                for (_, found), (_, value) in zip(scalars[tag], events):
                    self.assertAlmostEqual(found, value, delta=1e-6 * abs(value))

    def test_shows_the_figures_of_a_run_its_recipe_and_its_hyperparameters(self):
        self.train()
        found = self.run_other(READ_EVENTS)
        self.assert_same(found["scalars"])
        self.assertIn("max_lr: 0.01", found["texts"]["recipe"])
        self.assertEqual(found["hparams"]["metrics"], ["train/loss", "eval/accuracy", "eval/loss"])
        values = found["hparams"]["values"]
        self.assertEqual((values["train.schedule.one_cycle.max_lr"], values["train.device"]), (0.01, "cpu"))
        self.assertEqual(found["hparams"]["status"], 1)

    def test_shows_pictures_histograms_and_the_noise_scale(self):
        self.train("--set", "train.tensorboard.histograms=8", "--set", "train.metrics=[confusion]", "--set", "train.max_steps=16",
                   "--set", "train.callbacks=[{noise_scale: {every: 4}}]")
        found = self.run_other(READ_EVENTS)
        self.assertEqual(set(found["images"]), {"batch/input", "eval/confusion"})
        self.assertGreater(found["images"]["batch/input"][2], 100)
        weights = {tag for tag in found["histograms"] if tag.startswith("weights/")}
        self.assertGreater(len(weights), 1)
        self.assertEqual({tag.replace("weights", "gradients", 1) for tag in weights} | weights, set(found["histograms"]))
        for tag, events in found["histograms"].items():
            with self.subTest(tag=tag):
                self.assertEqual([step for step, *_ in events], [8, 16])
                for _, count, counted, low, high in events:
                    self.assertEqual(count, counted)
                    self.assertLess(low, high)
        self.assertIn("train/noise_scale", found["scalars"])
        self.assert_same(found["scalars"])

    def test_shows_every_step_once_where_a_run_was_killed_and_resumed(self):
        self.train()
        checkpoints = sorted(os.listdir(self.path("run/checkpoints")))
        # As if it had been killed with a figure of a later step written: the newest checkpoint is gone.
        shutil.rmtree(self.path(f"run/checkpoints/{checkpoints[-1]}"))
        for name in ["weights.safetensors", "summary.json"]:
            os.remove(self.path(f"run/{name}"))
        with open(self.path("run/" + min(name for name in os.listdir(self.path("run")) if name.startswith("events"))), "ab") as file:
            file.write(b"\x30\0\0")
        self.train("--resume")
        self.assertEqual(len([name for name in os.listdir(self.path("run")) if name.startswith("events")]), 2)
        self.assert_same(self.run_other(READ_EVENTS)["scalars"])


if __name__ == "__main__":
    unittest.main()
