// What the stacks of a Python program say: parts beside the steps, and an input that the first
// thread makes itself.
#include <fmt/format.h>

#include <algorithm>

#include "stoker/doctor/process_finding_internal.h"

namespace stoker {
namespace {

// Shares of the time from which something beside the steps is a loss. Evaluations belong to most
// trainings.
constexpr double kLeastStartup = 0.3, kLeastStartupOfAll = 0.2;
constexpr double kLeastEvaluation = 0.25, kLeastCheckpoint = 0.1, kLeastLogging = 0.1;
constexpr double kLeastInput = 0.15, kLeastCompilation = 0.15;
constexpr int64_t kManyCompilations = 3;
// Steps that change their part between moments nearly as often as at random are short.
constexpr double kShortSteps = 0.6;
constexpr int64_t kSmallBatch = 16;
// What of such a step does not grow with its batch: of tests/doctor/foreign/tiny_batch.py 2.4 ms of
// the 2.43 ms of one sample, and of the 4.1 ms of 64.
constexpr double kOverhead = 0.95;

Finding Found(Verdict verdict, double lost, const Blame& blame, std::string why) {
  return {
      .verdict = verdict, .stage = blame.place, .lost = lost, .total = 1, .why = why + At(blame)};
}

std::string LoaderAt(const ProcessProfile& profile) {
  return profile.loader.place.empty() ? "" : profile.loader.place + ": ";
}

void AddStartup(const ProcessProfile& profile, const PythonView& view,
                std::vector<Finding>& findings) {
  const double least = profile.ended ? kLeastStartupOfAll : kLeastStartup;
  if (!view.trains || view.startup_share < least) return;
  Finding finding =
      Found(Verdict::kStartup, view.startup_share, view.startup,
            fmt::format("{} of the time that was watched passed before the first step",
                        Percent(view.startup_share)));
  Prescribe(finding,
            "prepare once what precedes the first step, keep it in a file, and map that "
            "(np.load(..., mmap_mode='r'))",
            0.7, "the first step waits for it each time the program starts");
  findings.push_back(std::move(finding));
}

void AddBesideSteps(const ProcessProfile& profile, const PythonView& view,
                    std::vector<Finding>& findings) {
  const double steps = ShareOfSteps(profile);
  const PartTimes& evaluation = view.of(PythonPart::kEvaluation);
  if (evaluation.share >= kLeastEvaluation) {
    Finding finding =
        Found(Verdict::kEvaluation, steps * evaluation.share, evaluation.blame,
              fmt::format("evaluations take {} of the time", Percent(evaluation.share)));
    Prescribe(finding,
              "evaluate ten times as rarely, with a large batch and torch.inference_mode()", 0.9,
              "an evaluation trains nothing");
    findings.push_back(std::move(finding));
  }
  const PartTimes& checkpoint = view.of(PythonPart::kCheckpoint);
  if (checkpoint.share >= kLeastCheckpoint) {
    Finding finding =
        Found(Verdict::kCheckpoint, steps * checkpoint.share, checkpoint.blame,
              fmt::format("checkpoints take {} of the time", Percent(checkpoint.share)));
    Prescribe(finding, "save ten times as rarely, or a copy of the weights in a thread", 0.9,
              "training stands while a checkpoint is written");
    findings.push_back(std::move(finding));
  }
  const PartTimes& logging = view.of(PythonPart::kLogging);
  if (logging.share >= kLeastLogging) {
    Finding finding = Found(Verdict::kLogging, steps * logging.share, logging.blame,
                            fmt::format("logging takes {} of the time", Percent(logging.share)));
    Prescribe(finding,
              "log every 50 steps, and keep sums as tensors until then (no .item() between)", 0.98,
              "each line stops the steps");
    findings.push_back(std::move(finding));
  }
}

// Functions that are compiled for other shapes or values all the time.
void AddCompilations(const ProcessProfile& profile, const PythonView& view,
                     std::vector<Finding>& findings) {
  if (view.compile_share < kLeastCompilation || view.compilations < kManyCompilations) return;
  Finding finding =
      Found(Verdict::kCompute, ShareOfSteps(profile) * view.compile_share, view.compiled,
            fmt::format("a function is compiled again and again, {} of the time",
                        Percent(view.compile_share)));
  Prescribe(finding, WordsForOneShape(profile.framework), 0.95,
            "it is compiled anew for each shape, and for each value of a Python number");
  findings.push_back(std::move(finding));
}

// The first thread makes the batches itself, one after the other.
void AddInput(const ProcessProfile& profile, const PythonView& view,
              std::vector<Finding>& findings) {
  const PartTimes& input = view.of(PythonPart::kInput);
  const double in_main = input.share - view.waits_for_workers;
  const ProcessTimes& main = *profile.main();
  if (in_main < kLeastInput || in_main < view.waits_for_workers) return;
  if (main.first.disk >= 0.3 * in_main) return;  // FindInWaits names the disk
  const bool none = profile.workers().empty();
  Finding finding = Found(
      none ? Verdict::kThreads : Verdict::kAugmentation, in_main, input.blame,
      fmt::format("the first thread makes the batches itself, {} of the time, and computes nothing "
                  "meanwhile",
                  Percent(in_main)));
  if (none) {
    const double workers = static_cast<double>(std::max<int64_t>(2, profile.cpus));
    const double rest = std::max(1 - in_main, in_main / workers);
    Prescribe(finding,
              LoaderAt(profile) + WordsForWorkers(profile.framework, static_cast<int64_t>(workers)),
              std::min(1.0, (1 - rest) / in_main), "batches are then made while others are used");
  }
  findings.push_back(std::move(finding));
}

void AddSmallBatches(const ProcessProfile& profile, const PythonView& view,
                     std::vector<Finding>& findings) {
  // What the first thread does itself: where it waits for workers, those are to blame.
  const double busy = view.of(PythonPart::kInput).share + view.of(PythonPart::kCompute).share -
                      view.waits_for_workers;
  const std::optional<int64_t>& batch = profile.loader.batch_size;
  if (!view.trains || busy < 0.6 || view.switches < kShortSteps) return;
  if (!batch || *batch > kSmallBatch) return;
  Finding finding =
      Found(Verdict::kSmallRecords, kOverhead * busy, {.place = profile.loader.place},
            fmt::format(
                "steps of batches of {} take a few milliseconds, so the work around each dominates",
                *batch));
  constexpr int64_t kTimes = 8;
  Prescribe(finding, fmt::format("{}batch_size={}", LoaderAt(profile), kTimes * *batch),
            1 - 1.0 / kTimes,
            "calls of Python, the loader and the optimizer cost as much for a small batch",
            "the batch size changes what is learned; adapt the learning rate to it");
  findings.push_back(std::move(finding));
}

}  // namespace

std::vector<Finding> FindInStacks(const ProcessProfile& profile) {
  std::vector<Finding> findings;
  if (!profile.python || profile.python->samples < 20 || profile.main() == nullptr) return findings;
  const PythonView& view = *profile.python;
  AddStartup(profile, view, findings);
  AddBesideSteps(profile, view, findings);
  AddSmallBatches(profile, view, findings);
  AddCompilations(profile, view, findings);
  AddInput(profile, view, findings);
  return findings;
}

}  // namespace stoker
