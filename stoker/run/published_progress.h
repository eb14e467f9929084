// PublishedProgress: progress.json of a run, by which a running training tells other programs how
// far it is and where its time goes. run_status.h writes it; `stoker inspect`, `plot` and `top`
// read it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/base/stage_work.h"
#include "stoker/base/status.h"
#include "stoker/data/runtime/starvation.h"

namespace stoker {

inline std::string ProgressPath(const std::filesystem::path& run) {
  return (run / "progress.json").string();
}

// A stage of the input pipeline. Sums since this process opened the pipeline, over its threads
// (base/profile.h).
struct PublishedStage {
  std::string name;
  StageWork work = StageWork::kArranges;
  int64_t elements = 0, bytes = 0;
  double busy_s = 0, starved_s = 0, blocked_s = 0;
};

// The stage that steps wait for; there is none unless they wait (kStarvedFrom).
struct PublishedLimit {
  std::string stage, why;
  StageWork work = StageWork::kArranges;
  bool on_servers = false, many_files = false, on_consumer = false, idle = false;
};

struct PublishedInput {
  int64_t threads = 0;                 // most at the same time
  std::vector<PublishedStage> stages;  // source first
  std::optional<PublishedLimit> limit;
};

// What this process has done so far. Two readings make rates.
struct PublishedWork {
  double seconds = 0;       // since it began with the run
  int64_t steps = 0;        // of this process
  int64_t samples = 0;      // in them
  double step_s = 0;        // in them, the waits for data included
  double waited_s = 0;      // the part of these that went into waiting for data
  double cpu_s = 0;         // CPU time of all threads
  int64_t evaluations = 0;  // the three below: beside steps
  double evaluation_s = 0;
  int64_t checkpoints = 0;
  double checkpoint_s = 0;  // in which training waited
  double logging_s = 0;
  double callback_s = 0;  // also in steps
};

// What the process does when it publishes. Between steps nothing is published, so a long step, like
// the wait for the first batch, shows as a file that grows old.
enum class RunActivity { kStarting, kSteps, kEvaluation, kCheckpoint };
std::string_view NameOf(RunActivity activity);  // "starting", "steps", "evaluation", "checkpoint"

struct PublishedProgress {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

  int64_t rank = 0;
  std::string host;
  int64_t pid = 0;
  std::string device;           // "cpu (AVX512)"
  bool accelerator = false;     // steps are computed on one
  int64_t cpus = 1;             // that the process may use
  int64_t compute_threads = 1;  // of steps
  RunActivity activity = RunActivity::kStarting;

  int64_t step = 0, total_steps = 0;
  double epoch = 0;  // with its fraction
  std::string noun = "sample";
  double train_seconds = 0;  // in steps of the run, over all its processes

  // Of the last seconds. Unknown before the first step, and where they are not finite.
  double loss = kUnknown, lr = kUnknown, samples_per_s = kUnknown, seconds_left = kUnknown,
         waited = kUnknown;
  std::optional<Starvation> starved;

  PublishedWork work;
  std::optional<PublishedInput> input;  // nothing before the first step

  // docs/top.md has the schema.
  Json ToJson() const;

  // What versions before this one did not write, or what has another type, keeps its default: a
  // reader shows what there is. Errors: kDataLoss if it is no object with a number "step";
  // kUnimplemented if its "schema" is a newer one.
  static Result<PublishedProgress> FromJson(const Json& json);
};

// Reads the file of a run. Errors: kNotFound if there is none yet; those of FromJson and of
// reading, kDataLoss also for what is no JSON: a machine that lost power may leave it empty.
Result<PublishedProgress> ReadPublishedProgress(const std::filesystem::path& run);

}  // namespace stoker
