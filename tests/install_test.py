"""`cmake --install`: what it puts somewhere works there."""
import os
import pathlib
import subprocess
import unittest

from program import STOKER, ProgramTest

BUILD = pathlib.Path(STOKER).resolve().parent.parent


class InstallTest(ProgramTest):
    def test_the_installed_programs_work_without_the_build(self):
        done = subprocess.run(["cmake", "--install", BUILD, "--prefix", self.path("prefix")], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        os.rename(self.path("prefix"), self.path("elsewhere"))
        installed = {"executable": self.path("elsewhere/bin/stoker")}
        self.assertRegex(self.run_stoker("--version", **installed)[0], r"\Astoker \d")
        self.assertIn("Usage: stoker train", self.run_stoker("train", "--help", **installed)[0])
        for name in ["man/man1/stoker.1", "man/man1/stoker-train.1", "bash-completion/completions/stoker",
                     "zsh/site-functions/_stoker", "fish/vendor_completions.d/stoker.fish"]:
            self.assertTrue(self.read(f"elsewhere/share/{name}"), name)
        if (BUILD / "bin/stoker-train").exists():
            models = self.run_json("inspect", "--models", **installed)  # answered by stoker-train
            self.assertIn("convnet", [model["name"] for model in models])


if __name__ == "__main__":
    unittest.main()
