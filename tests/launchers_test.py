"""Launchers that clusters have: ranks that they start make the weights of those that `stoker launch` starts."""
import os
import shutil
import subprocess
import unittest

from distributed_test import DistributedBase
from other_software import TORCH_PYTHON, has
from program import STOKER
from remote_test import free_port

TRAIN = ["train", "recipe.yaml", "--quiet", "--set", "train.epochs=1", "--set", "train.tune=off"]
# Two ranks on a machine with one CPU, and as root, as continuous integration often is.
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}


class LaunchersTest(DistributedBase):
    def setUp(self):
        super().setUp()
        self.launch(*TRAIN, "--run", "launched")

    def assert_trains_like_launch(self, *command, environment=()):
        done = subprocess.run(command, cwd=self.folder, env={**os.environ, **dict(environment)}, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(self.weights_of("run"), self.weights_of("launched"))

    def test_open_mpi_starts_ranks_of_one_run(self):
        if shutil.which("mpirun.openmpi") is None:
            self.skipTest("Open MPI is not there; ./dev setup --interop installs it")
        self.assert_trains_like_launch("mpirun.openmpi", "-n", "2", STOKER, *TRAIN, "--run", "run", environment=MPI)

    def test_mpich_starts_ranks_of_one_run(self):
        if shutil.which("mpirun.mpich") is None:
            self.skipTest("MPICH is not there; ./dev setup --interop installs it")
        self.assert_trains_like_launch("mpirun.mpich", "-n", "2", STOKER, *TRAIN, "--run", "run")

    def test_mpich_starts_ranks_by_a_script(self):
        if shutil.which("mpirun.mpich") is None:
            self.skipTest("MPICH is not there; ./dev setup --interop installs it")
        self.write("start.sh", '"$@" && true\n')  # a process between the launcher and the rank
        self.assert_trains_like_launch("mpirun.mpich", "-n", "2", "sh", "start.sh", STOKER, *TRAIN, "--run", "run")

    @unittest.skipUnless(has("torch", TORCH_PYTHON), "PyTorch is not there; ./dev setup --peers installs it")
    def test_torchrun_starts_ranks_of_one_run(self):
        self.assert_trains_like_launch(
            TORCH_PYTHON, "-m", "torch.distributed.run", "--nnodes", "1", "--nproc-per-node", "2", "--rdzv-backend", "c10d",
            "--rdzv-endpoint", f"127.0.0.1:{free_port()}", "--no-python", "--", STOKER, *TRAIN, "--run-dir", "run")

    def test_a_kubernetes_job_starts_ranks_of_one_run(self):
        """What the pods of an indexed job find in their environment."""
        place = {"WORLD_SIZE": "2", "MASTER_ADDR": "localhost", "MASTER_PORT": str(free_port())}
        pods = [self.start(*TRAIN, "--run", "run", environment={"JOB_COMPLETION_INDEX": str(index), **place}) for index in range(2)]
        for pod in pods:
            _, err = pod.communicate()
            self.assertEqual(pod.returncode, 0, err)
        self.assertEqual(self.weights_of("run"), self.weights_of("launched"))


if __name__ == "__main__":
    unittest.main()
