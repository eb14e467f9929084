// StepTimer: times training steps of the run's model, on separate models, with real batches.
// Changes torch's random state, but not the run's weights and data position.
#pragma once

#include <c10/core/Device.h>

#include <memory>
#include <optional>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/device/device_graph.h"
#include "stoker/train/plan/first_batch.h"
#include "stoker/train/plan/training_plan.h"
#include "stoker/train/step/learner.h"
#include "stoker/train/tune/tune_search.h"

namespace stoker {

// One thread at a time. Calls at::set_num_threads.
class StepTimer final : public ChoiceTimer {
 public:
  // Recipe and plan are borrowed.
  StepTimer(const Recipe& recipe, const TrainingPlan& plan, c10::Device device,
            DeviceGraphMaker new_graph = NewDeviceGraph)
      : recipe_(recipe), plan_(plan), device_(device), new_graph_(std::move(new_graph)) {}

  // Time counts from when the pipeline has loaded the data it keeps in memory, and an accelerator
  // the kernels of the first steps, because the run needs both too. Errors: those of the pipeline,
  // of Learner and of its steps.
  Result<StepTimes> Begin(const Choices& first, double most_seconds) override;
  Result<Compared> Compare(const Choices& best, const Choices& other, StepKind kind, double seconds,
                           double most_seconds) override;
  double LeastSeconds(StepKind kind, double step_ms) const override;
  double ElapsedSeconds() const override { return watch_.ElapsedSeconds(); }

 private:
  struct Made {
    MemoryFormat memory_format;
    Precision precision;
    bool graph;
    std::shared_ptr<Learner> learner;
    bool warm = false;
  };

  Result<Made*> MadeFor(const Choices& choices);
  Status UseGraph(const Choices& choices, Learner& learner) const;
  static int64_t StepsToWarmUp(const Made& made);
  int StepsTogether() const { return device_.is_cpu() ? 1 : 4; }
  Status Time(Learner& learner, const TensorBatch& batch, size_t samples, StepTimes& times) const;
  Result<double> WarmUp(Made& made, const TensorBatch& batch) const;
  Status CheckBatches(const Choices& first);
  Status CheckMemory(const Choices& choices, int64_t retries_before) const;
  // Returns kCancelled once the time for the current comparison has passed.
  Status CheckTime() const;
  // If the last warm-up step takes more than `too_slow_ms`, it is the only sample.
  Status Visit(const Choices& choices, StepTimes& times, std::optional<double> too_slow_ms = {});
  Status CompareComputing(const Choices& best, const Choices& other, double seconds,
                          Compared& compared);
  Status CompareWithData(const Choices& best, const Choices& other, double seconds,
                         Compared& compared);
  Status TimeWithData(const Choices& choices, StepTimes& times);

  const Recipe& recipe_;
  const TrainingPlan& plan_;
  const c10::Device device_;
  const DeviceGraphMaker new_graph_;
  Stopwatch watch_;
  std::optional<double> ends_;  // by watch_; nothing outside a comparison
  std::optional<FirstBatch> first_;
  // Of what would make an accelerator unusable.
  BatchChecks checks_;
  std::vector<Made> made_;   // two at most: the best so far and its rival
  double make_seconds_ = 0;  // for a model
  double open_seconds_ = 0;  // for a pass over the data, up to its first batch
};

}  // namespace stoker
