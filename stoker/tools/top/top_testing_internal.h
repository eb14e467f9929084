// Histories of made-up runs and programs. Only tests include it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "stoker/tools/top/top_history.h"

namespace stoker {

// A machine of two CPUs and a disk, `seconds` after it began: one CPU computes all the time, the
// other half of it, and the disk reads 10 MB/s.
inline MachineCounters MadeUpMachine(int64_t seconds) {
  MachineCounters machine;
  machine.cpus = {{.id = 0, .busy = 100 * seconds, .idle = 0},
                  {.id = 1, .busy = 50 * seconds, .idle = 50 * seconds}};
  machine.memory = {.total_bytes = int64_t{16'000'000'000},
                    .available_bytes = int64_t{6'000'000'000},
                    .swap_total_bytes = int64_t{2'000'000'000},
                    .swap_free_bytes = int64_t{2'000'000'000}};
  machine.disks = {{.name = "nvme0n1",
                    .read_bytes = 10'000'000 * seconds,
                    .written_bytes = 2'000'000 * seconds,
                    .busy_ms = 230 * seconds}};
  machine.networks = {
      {.name = "eth0", .received_bytes = 1'000'000 * seconds, .sent_bytes = 2'000 * seconds}};
  return machine;
}

inline GpuSample MadeUpGpu() {
  return {.name = "Fake GPU 0",
          .used = 0.97,
          .power_w = 612,
          .power_limit_w = 700,
          .memory_bytes = int64_t{80'000'000'000},
          .memory_used_bytes = int64_t{20'000'000'000},
          .temperature_c = 91,
          .clock_mhz = 1485,
          .most_clock_mhz = 1980,
          .slowed_by = {"heat"}};
}

// What a run that waits 60% of its time for `decode` publishes `seconds` after it began.
inline PublishedProgress MadeUpProgress(int64_t seconds) {
  const auto s = static_cast<double>(seconds);
  PublishedProgress progress;
  progress.host = "here";
  progress.pid = 4711;
  progress.device = "cpu";
  progress.cpus = 2;
  progress.activity = RunActivity::kSteps;
  progress.step = 10 * seconds;
  progress.total_steps = 6000;
  progress.epoch = s / 60;
  progress.noun = "image";
  progress.loss = 2.3 / (1 + s / 20);
  progress.lr = 0.001;
  progress.samples_per_s = 300 + 10 * static_cast<double>(seconds % 4);
  progress.seconds_left = 540;
  progress.waited = 0.6;
  progress.starved = Starvation{.waited = 0.6,
                                .stage = "decode",
                                .why = "2 threads spent 96% of the time in it",
                                .advice = "leave train.feed_threads out"};
  progress.work = {.seconds = s,
                   .steps = 10 * seconds,
                   .samples = 320 * seconds,
                   .step_s = 0.9 * s,
                   .waited_s = 0.6 * s,
                   .cpu_s = 2 * s,
                   .evaluations = seconds / 10,
                   .evaluation_s = 0.05 * s,
                   .logging_s = 0.02 * s};
  const auto stage = [&](std::string name, StageWork work, double busy, double starved,
                         double blocked) {
    return PublishedStage{.name = std::move(name),
                          .work = work,
                          .elements = 320 * seconds,
                          .bytes = 48'000'000 * seconds,
                          .busy_s = busy * s,
                          .starved_s = starved * s,
                          .blocked_s = blocked * s};
  };
  progress.input =
      PublishedInput{.threads = 2,
                     .stages = {stage("folder", StageWork::kReads, 0.05, 0, 0),
                                stage("shuffle", StageWork::kArranges, 0.001, 0, 0),
                                stage("decode", StageWork::kDecodes, 1.9, 0.01, 0),
                                stage("normalize", StageWork::kChanges, 0.02, 0, 0),
                                stage("batch", StageWork::kArranges, 0.01, 0.4, 0.1)},
                     .limit = PublishedLimit{.stage = "decode",
                                             .why = "2 threads spent 96% of the time in it",
                                             .work = StageWork::kDecodes}};
  return progress;
}

// A run that has been watched from second `begin` to second `end`, once a second.
inline TopHistory MadeUpRun(int64_t begin = 0, int64_t end = 20) {
  TopHistory history;
  history.is_run = true;
  history.target = "runs/photos-20240131-235959";
  history.host = "here";
  history.state = TopState::kRunning;
  history.state_text = "training, pid 4711";
  for (int64_t second = begin; second <= end; ++second) {
    TopSample& sample = history.samples.emplace_back();
    sample.at_s = static_cast<double>(second);
    sample.machine = MadeUpMachine(second);
    sample.gpus = {MadeUpGpu()};
    sample.progress = MadeUpProgress(second);
    if (second > 0)
      history.losses.push_back(
          {.step = static_cast<double>(10 * second), .loss = sample.progress->loss});
  }
  return history;
}

// A Python program with a worker, that has been watched for some seconds.
inline TopHistory MadeUpProcesses() {
  TopHistory history;
  history.target = "process 4711";
  history.command = "python train.py --epochs 3";
  history.host = "here";
  history.state = TopState::kRunning;
  history.state_text = "running";
  for (int64_t second = 0; second <= 1; ++second) {
    TopSample& sample = history.samples.emplace_back();
    sample.at_s = static_cast<double>(second);
    sample.machine = MadeUpMachine(second);
  }
  history.processes = {{.pid = 4712,
                        .role = ProcessRole::kWorker,
                        .command = "python train.py --epochs 3",
                        .seconds = 10,
                        .threads = 1,
                        .cpus = 0.98,
                        .memory_bytes = 300'000'000},
                       {.pid = 4711,
                        .role = ProcessRole::kMain,
                        .command = "python train.py --epochs 3",
                        .seconds = 10,
                        .first = {.cpu = 0.25, .poll = 0.75},
                        .threads = 12,
                        .cpus = 0.3,
                        .disk_bytes_per_s = 5e6,
                        .memory_bytes = 1'200'000'000}};
  Diagnosis verdict;
  verdict.verdict = Verdict::kAugmentation;
  verdict.lost_share = 0.75;
  verdict.roof = 4;
  verdict.why = "the first thread waits 75% of the time for 1 worker, which computes";
  history.verdict = verdict;
  history.advice = "num_workers=2";
  return history;
}

}  // namespace stoker
