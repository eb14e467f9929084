#include "stoker/tools/doctor/input_probe.h"

#include <sys/resource.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/ledger.h"
#include "stoker/base/profile.h"
#include "stoker/data/advice/limiting_stage.h"
#include "stoker/data/advice/stage_works.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/recipe/memory_options.h"
#include "stoker/tools/commands/pipeline_bench.h"
#include "stoker/tools/doctor/recipe_facts.h"
#include "stoker/tools/doctor/thread_states.h"

namespace stoker {
namespace {

// Beyond these intervals only the rate counts.
constexpr size_t kMostIntervals = 1 << 20;

double CpuSeconds() {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// What a pass had done when counting began is not counted.
std::vector<StageTimes> StagesBetween(const Profile& before, const Profile& after,
                                      const Dataset& dataset) {
  const StageWorks works(dataset);
  std::vector<StageTimes> stages;
  for (size_t i = 0; i < after.stages.size(); ++i) {
    const StageProfile& now = after.stages[i];
    const bool known = i < before.stages.size() && before.stages[i].name == now.name;
    const StageProfile then = known ? before.stages[i] : StageProfile();
    stages.push_back({.name = now.name,
                      .work = works.Of(now.name),
                      .elements = now.elements - then.elements,
                      .bytes = now.bytes - then.bytes,
                      .busy_s = now.busy_s - then.busy_s,
                      .starved_s = now.starved_s - then.starved_s,
                      .blocked_s = now.blocked_s - then.blocked_s,
                      .peak_memory_bytes = now.peak_memory_bytes});
  }
  return stages;
}

void NoteLimit(const LimitingStage& limit, const StageWorks& works, InputProfile& out) {
  out.limiting_stage = limit.name;
  out.why = limit.why;
  out.limiting_work =
      limit.work == LimitingStage::Work::kReads ? StageWork::kReads : works.Of(limit.name);
  out.on_servers = limit.on_servers;
  out.many_files = limit.many_files;
  out.on_consumer = limit.run_by == LimitingStage::RunBy::kConsumer;
  out.idle = limit.idle;
}

double SlowestShare(std::vector<double>& intervals) {
  double all = 0;
  for (const double each : intervals) all += each;
  const size_t slowest = std::max<size_t>(1, intervals.size() / 20);
  std::ranges::partial_sort(intervals, intervals.begin() + static_cast<std::ptrdiff_t>(slowest),
                            std::greater());
  double theirs = 0;
  for (size_t i = 0; i < slowest; ++i) theirs += intervals[i];
  return all > 0 ? theirs / all : 0;
}

// How threads spent the time in which stages count as busy. Threads that wait for work wait for
// locks too, so a lock is what is left of that time.
void NoteStates(const ThreadStates& states, InputProfile& out) {
  double busy = 0;
  for (const StageTimes& stage : out.stages) busy += stage.busy_s;
  if (busy <= 0 || out.seconds <= 0 || states.samples < 10) return;
  const double threads = busy / out.seconds;  // busy at a moment, on average
  out.disk_share = std::clamp(states.disk / threads, 0.0, 1.0);
  const double left = threads - states.runnable - states.disk - states.sleep;
  out.lock_share = std::clamp(std::min(left, states.lock) / threads, 0.0, 1.0);
  if (out.on_servers) out.lock_share = 0;  // answers come through a thread of their own
}

class Meter {
 public:
  Meter(const Dataset& dataset, const InputProbe& probe) : dataset_(dataset), probe_(probe) {}

  Status Run(InputProfile& out, bool& warm) {
    const Stopwatch until_first;
    STOKER_ASSIGN_OR_RETURN(const Dataset repeated, Result<Dataset>(dataset_) | Repeat{});
    STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<Iterator> batches,
                            repeated.Open(probe_.runtime, {.losses = LossLogging::kNone}));
    Stopwatch warm_up;
    for (int64_t i = 0; i < probe_.warm_up; ++i) {
      STOKER_ASSIGN_OR_RETURN(const auto batch, batches->Next());
      if (!batch) return FailedPrecondition("the pipeline gives no batch");
      if (i == 0) out.first_batch_s = until_first.ElapsedSeconds();
      if (warm_up.ElapsedSeconds() > probe_.most_warm_up_s) {
        warm = i + 1 == probe_.warm_up;
        break;
      }
    }
    const Profile before = batches->GetProfile();
    const double cpu = CpuSeconds();
    const Stopwatch watch;
    const Status status = Count(repeated, *batches, watch, out);
    out.seconds = watch.ElapsedSeconds();
    out.cpu_s = CpuSeconds() - cpu;
    const Profile after = batches->GetProfile();
    out.stages = StagesBetween(before, after, repeated);
    out.threads = after.threads;
    if (out.batches > 0) {
      out.samples_per_s = static_cast<double>(out.samples) / out.seconds;
      out.slowest_share = SlowestShare(intervals_);
      NoteLimit(LimitFinder(dataset_, probe_.runtime.threads > 0).Find(*batches),
                StageWorks(repeated), out);
    }
    return status;
  }

 private:
  Status Count(const Dataset& repeated, Iterator& batches, const Stopwatch& watch,
               InputProfile& out) {
    double last = watch.ElapsedSeconds();
    while (last < probe_.seconds || out.batches == 0) {
      STOKER_ASSIGN_OR_RETURN(const std::optional<Element> batch, batches.Next());
      if (!batch) return OkStatus();
      out.samples += SamplesIn(repeated, *batch);
      ++out.batches;
      if (probe_.observer) probe_.observer(out.samples, out.batches, batches);
      const double now = watch.ElapsedSeconds();
      if (intervals_.size() < kMostIntervals) intervals_.push_back(now - last);
      last = now;
    }
    return OkStatus();
  }

  const Dataset dataset_;
  const InputProbe& probe_;
  std::vector<double> intervals_;  // seconds between batches
};

}  // namespace

Status MeasureInput(const Dataset& dataset, const InputProbe& probe, InputProfile& out,
                    bool* measured_warm, double* others) {
  ThreadSampler sampler;
  STOKER_RETURN_IF_ERROR(sampler.Start());
  bool warm = true;
  const Status status = Meter(dataset, probe).Run(out, warm);
  const ThreadStates states = sampler.Stop();
  NoteStates(states, out);
  if (measured_warm != nullptr) *measured_warm = warm;
  if (others != nullptr) *others = states.others;
  return status.code() == StatusCode::kCancelled ? OkStatus() : status;
}

Result<Runtime> RuntimeOf(const ConfigNode& recipe, const std::atomic<bool>* stop) {
  Runtime runtime =
      Runtime::Threaded(static_cast<int>(IntegerAt(recipe, "train.feed_threads").value_or(0)));
  runtime.stop = stop;
  runtime.memory_budget = DefaultMemoryBudget();
  const ConfigNode* const train = recipe.Find("train");
  if (train == nullptr) return runtime;
  STOKER_ASSIGN_OR_RETURN(const MemoryOptions memory, MemoryOf(*train));
  STOKER_ASSIGN_OR_RETURN(const int64_t bytes, memory.Bytes());
  if (bytes > 0) runtime.memory_budget = bytes;
  return runtime;
}

}  // namespace stoker
