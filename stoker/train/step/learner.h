// Learner: model, optimizer and objective on one device in one layout; processes batches.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/device/feeder.h"
#include "stoker/run/choices.h"
#include "stoker/run/optimizer.h"
#include "stoker/run/recipe.h"
#include "stoker/train/core/model.h"
#include "stoker/train/core/objective.h"
#include "stoker/train/step/grad_scaler.h"
#include "stoker/train/step/graphed_pass.h"
#include "stoker/train/step/sharded_optimizer.h"
#include "stoker/train/step/step_ranks.h"
#include "stoker/train/step/weight_average.h"

namespace stoker {

class LayerTrace;

struct Placement {
  c10::Device device = c10::kCPU;
  MemoryFormat memory_format = MemoryFormat::kContiguous;
  Precision precision = Precision::kFloat32;
};

at::MemoryFormat ToTorch(MemoryFormat format);

// Seeds torch's generators, builds the model and moves it to its device. Equal seeds give equal
// weights for any placement.
Result<std::shared_ptr<Model>> BuildModel(const ModelRegistry::Configured& configured,
                                          const ModelInput& input, uint64_t seed,
                                          const Placement& placement);

// Returns `failure` of a forward pass with the layer and the shapes at which it failed. Runs the
// model once more.
Status ExplainForward(const Status& failure, Model& model, const Inputs& inputs);

// The checks of a Learner in every step, beside a loss on the CPU that is not finite.
struct StepChecks {
  // Checks gradients, and weights after the step. A gradient that is not finite leaves weights,
  // optimizer, averages and buffers as before the step. Costs a pass over both, and waits for a
  // device.
  bool gradients = false;
  // Finds the layer whose output or gradient first was not finite. Implies gradients; slow
  // (layer_trace.h).
  bool layers = false;
};

// The outcome of a step.
enum class StepOutcome {
  kMoved,        // the weights have changed
  kScaled,       // they have not: in float16 the scaled gradients overflowed. Normal; the scale is
                 // lower now (grad_scaler.h)
  kBroken,       // they have not: a loss or gradient was not finite
  kBrokeWeights  // they have changed, and are no longer finite
};

// The ranks that make steps together.
struct JoinedRanks {
  Group* group = nullptr;  // null: one process alone. Outlives the Learner
  double divisor = 1;      // see StepRanks
};

// What all ranks together have of a step, beside gradients and loss.
struct StepTotals {
  int64_t samples = 0;
  int64_t failed = 0;   // ranks that cannot make the step
  int64_t stopped = 0;  // ranks that were asked to stop
};

// One thread at a time; computes on the threads set by at::set_num_threads.
class Learner {
 public:
  //   plan  of the run, for averages of weights; without a plan there are none
  //   ranks  the ranks that make its steps together: Backward sends the gradients of a step's last
  //          batch while it makes them, Join completes the sums, and Update follows the mean loss
  //          of all ranks' samples. A batch may have no samples. Losses are weighed by
  //          Objective::Weight, so each sample counts the same on whichever rank it is. Connect has
  //          to follow.
  // Errors: those of ParametersToTrain and of the optimizer.
  static Result<std::unique_ptr<Learner>> Create(const Recipe& recipe, const ModelInput& input,
                                                 const Placement& placement,
                                                 const SchedulePlan& plan = {},
                                                 const JoinedRanks& ranks = {});

  // Runs the forward and backward pass of one of the `batches` batches of a step; gradients
  // accumulate until Update. Errors: a class number out of range (which sample), a target that the
  // loss does not accept, shapes that do not match, no memory.
  Status Backward(const TensorBatch& batch, int64_t batches = 1);

  void Check(StepChecks checks) {
    checks.gradients |= checks.layers;
    checks_ = checks;
  }
  // Sets the names of samples in messages; by default their place.
  void NameRows(RowNames names) { row_names_ = std::move(names); }

  // Records the passes of steps of one batch and launches them as a whole (graphed_pass.h), unless
  // StepChecks::layers is set.
  void UseGraph(std::unique_ptr<DeviceGraph> graph);
  // Returns whether gradients are of rows (core/row_gradient.h), as many as a batch has: then its
  // passes cannot be recorded.
  bool has_row_gradients() const { return of_rows_; }
  // Returns whether model and loss make the same launches in every pass.
  bool LaunchesAlike() const {
    return model_->LaunchesAlike() && objective_.LaunchesAlike() && !of_rows_;
  }
  // Returns why an eligible batch was not launched as a whole; each reason once, then empty.
  std::string TakeGraphNote() { return graphed_ ? graphed_->TakeNote() : std::string(); }

  // See StepRanks. Every rank calls it once, before the first step. REQUIRES: ranks.
  Status Connect() { return ranks_->Connect(); }
  // Says which step of the run comes next, from 1, for draws and messages, and how many of its
  // batches others put through before this one's first. By default the one after the last Update,
  // and none.
  void BeginStep(int64_t step, int64_t batches_before = 0) {
    step_ = step;
    batches_before_ = batches_before;
  }
  // Returns whether the last Backward has failed only because another rank had left the step.
  bool left() const { return left_; }

  // Call it after the batches of a step, on every rank, and also where Backward failed or was not
  // called. Afterwards gradients, loss and whether the step is broken are those of all ranks.
  // Errors: those of Group. REQUIRES: ranks.
  Result<StepTotals> Join(const StepTotals& mine);

  // Unscales and clips the gradients, updates the weights and averages them: step number `step` of
  // the run, from 1. In float16 a step whose scaled gradients overflow is skipped (grad_scaler.h).
  // The gradient is that of the mean loss of all samples since the last Update, for batches of any
  // sizes. Returns this loss: a float scalar on the device, without waiting. On the CPU a loss that
  // is not finite stops the step before any weight changes.
  Result<at::Tensor> Update(const ScheduleValue& now, int64_t step);

  // Return the outcome of the last Update; and, if something was broken, what was not finite, and
  // where.
  StepOutcome outcome() const { return outcome_; }
  const std::string& why() const { return why_; }

  // Return whether each rank makes steps of its own, and whether AverageRanks is due after the last
  // one (distributed.local_steps).
  bool local() const { return ranks_ && ranks_->local() != nullptr; }
  bool average_due() const { return local() && ranks_->local()->due(); }
  // Gives every rank the mean of what the ranks hold: weights, buffers, averages and the
  // optimizer's state. Every rank calls it after the same steps; call it before the weights are
  // evaluated or stored. Where ranks hold the same it does nothing. If gradients are checked and
  // the mean is not finite, the outcome is kBrokeWeights. Errors: those of Group.
  Status AverageRanks();

  // Calls both, for a step of one batch.
  Result<at::Tensor> Step(const TensorBatch& batch, const ScheduleValue& now, int64_t step = 1);

  // Returns the squared norm of the gradient of the mean loss of `batch` alone, in the run's
  // precision. Restores gradients, buffers and random state. Waits for the device. Costs a step
  // without its update. Errors: those of Backward.
  Result<double> SquaredGradientOf(const TensorBatch& batch);

  // Errors: kFailedPrecondition if a parameter or buffer holds a NaN or an infinity (which). Reads
  // all of them; call it before a checkpoint.
  Status CheckFinite() const;

  // From here on this learner and `other`, which was made alike, have the same weights, buffers and
  // optimizer's state, in the same memory, but each its own numbers of steps (StepCounts). Then
  // both may make steps at once (hogwild.h).
  void ShareStateOf(const Learner& other);
  // Returns how many steps the optimizer has made with each parameter: int64 scalars in CPU memory,
  // which may be set.
  std::vector<at::Tensor> StepCounts() const;
  // Averages the weights after step `step` that others have made with them.
  void AverageAfter(int64_t step) { average_.Observe(step); }

  Model& model() { return *model_; }
  // Returns the names of the inputs, where there are several.
  const std::vector<std::string>& input_names() const { return input_names_; }
  Precision precision() const { return precision_; }
  // Returns the scaler of the loss; null except in float16.
  GradScaler* scaler() { return scaler_ ? &*scaler_ : nullptr; }
  const Objective& objective() const { return objective_; }

  // While the result lives, the model has the weights to evaluate and to store: their average, if
  // any. Make no step meanwhile.
  WeightAverage::Use UseAverage() { return average_.UseInModel(); }

  // Returns parameters, buffers, optimizer state and averages, for a checkpoint. Shares memory:
  // copy them or write them out before the next step. Where GatherState is needed, that of this
  // rank.
  NamedTensors State() const;
  Result<std::vector<NamedArray>> Save() const { return ToNamedArrays(State()); }
  // Returns whether the ranks hold different states: parts of the optimizer's
  // (distributed.shard_optimizer), or those of steps of their own.
  bool states_differ() const { return sharded() || local(); }
  // Returns State of all ranks together, on rank 0; every rank calls it. Errors: those of Group.
  Result<NamedTensors> GatherState();
  // Returns this rank's part of that, without gathering: what it alone holds, and its share of what
  // all hold alike. The parts of all ranks are State of all, each tensor once. Every rank calls it.
  // Errors: those of Group. REQUIRES: ranks.
  Result<NamedTensors> PartOfState();

  // Restores the arrays of State, gathered; `source`: what messages call the arrays' origin. Where
  // the state is shared out, TakeStateOfFirst has to follow.
  Status Restore(std::span<const NamedArray> arrays, std::string_view source);
  // Gives every rank the state of rank 0, or its part of it. Every rank calls it. Errors: those of
  // Group. REQUIRES: ranks.
  Status TakeStateOfFirst();

 private:
  Learner(std::shared_ptr<Model> model, Objective objective, std::unique_ptr<Optimizer> optimizer,
          const TrainRecipe& recipe, const Placement& placement, const SchedulePlan& plan);
  bool sharded() const { return sharded_ != nullptr; }
  NamedTensors StateWith(NamedTensors of_optimizer) const;
  std::set<std::string> OfFirstRank() const;
  Status RestoreOptimizer(std::span<const NamedArray> arrays, std::string_view source);
  TrainingScores Forward(const Inputs& inputs);
  StepOutcome Judge();
  StepOutcome JudgeOverflow();
  void Move(const ScheduleValue& now, int64_t step);
  void JudgeWeights();
  DeviceGraph::Tensors WholePass(const TensorBatch& batch);
  bool BackwardByGraph(const TensorBatch& batch);
  void BackwardFrom(const at::Tensor& loss);
  void BackwardLoss(const TensorBatch& batch, int64_t batches, at::Tensor& scores,
                    const LayerTrace* trace);
  std::string WhyBroken(const TensorBatch& batch, const at::Tensor& scores,
                        const LayerTrace* trace);
  std::string WhyGradients();
  Status LeftBy(const Status& lost);
  Status ExplainFailure(const Status& failure, const TensorBatch& batch, const at::Tensor& scores);
  uint64_t FixedBytes() const;
  void AddLoss(const at::Tensor& loss, double weight);
  Status TellWhyBroken();
  void WeighGradients();
  void ClearGradients();

  const std::shared_ptr<Model> model_;
  const Objective objective_;
  std::vector<std::string> input_names_;  // of several
  const std::unique_ptr<Optimizer> optimizer_;
  ShardedOptimizer* const sharded_;           // the same; null: it has the state of all parameters
  std::optional<NamedTensors> to_be_spread_;  // its state of all parameters, restored
  bool of_rows_ = false;                      // some gradients are (core/row_gradient.h)
  const ClipOptions clip_;
  const uint64_t seed_;
  const Precision precision_;
  std::optional<GradScaler> scaler_;
  WeightAverage average_;
  std::vector<at::Tensor> parameters_;
  std::optional<GraphedPass> graphed_;
  std::unique_ptr<StepRanks> ranks_;  // null: alone
  StepChecks checks_;
  RowNames row_names_ = PlacesInBatch;
  StepOutcome outcome_ = StepOutcome::kMoved;
  std::string why_;

  // Of the current step.
  int64_t parts_ = 0;           // batches so far
  int64_t step_ = 1;            // its number
  int64_t batches_before_ = 0;  // of it, which others put through
  bool left_ = false;           // by another rank
  at::Tensor loss_;             // mean so far
  double weight_ = 0;           // its divisor (Objective::Weight)
  double expected_ = 0;         // the divisor of the gradients
  double weight_of_all_ = 0;    // of all ranks' samples, where the gradients are this rank's
  bool broken_ = false;         // a loss was not finite
  std::string layer_;           // whose gradient first was not finite, if layers are checked
  std::vector<at::Tensor> buffers_before_;  // if gradients are checked
};

}  // namespace stoker
