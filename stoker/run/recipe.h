// A whole recipe: data, model, train.
//
//   data: {...}                       # data/recipe/recipe.h
//   model: {convnet: {classes: 10}}   # models/
//   train:                            # optional, like every key in it
//     epochs: 3
//     optimizer: {adamw: {weight_decay: 0.01}}
//     schedule: {one_cycle: {max_lr: 0.008}}
//     warmup: {epochs: 1}             # run_schedule.h, as lr_scaling
//     checkpoint: {keep: 2}
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/config.h"
#include "stoker/base/options.h"
#include "stoker/data/options/field_map.h"
#include "stoker/data/recipe/memory_options.h"
#include "stoker/data/recipe/recipe.h"
#include "stoker/run/registry.h"

namespace stoker {

// The plain keys of `train:`; Describe explains each.
struct TrainOptions {
  static constexpr std::string_view kName = "train";
  int64_t epochs = 3;
  int64_t seed = 1;
  std::string device = "auto";
  std::string tune = "auto";
  std::string memory_format = "auto";
  std::string precision = "float32";
  bool tf32 = true;
  std::string cudnn_benchmark = "off";
  std::string denormals = "auto";
  bool lint = true;
  std::optional<int64_t> threads;
  std::optional<int64_t> feed_threads;
  std::optional<int64_t> device_prefetch;
  std::string input = "image";  // of several inputs the field of the main one, which names samples
  // input: {NAME: FIELD, ...}, ordered by name; empty where it names one field.
  std::vector<InputField> inputs = {};
  std::string target = "label";  // of several targets the field of the first
  // target: {FIELD: {...}, FIELD: {...}}: the fields, ordered by name; empty where it names one.
  std::vector<std::string> targets = {};
  std::string sample_weight = "none";  // or the field of the samples' weights
  bool weighted_metrics = false;
  int64_t eval_every = 1;
  std::optional<int64_t> eval_every_steps;
  int64_t log_every = 50;
  std::optional<int64_t> max_steps;
  std::string schedule_every = "step";
  int64_t accumulate = 1;
  int64_t hogwild = 1;
  bool decay_vectors = true;
  double layer_rate = 1;
  std::vector<std::string> activation_checkpointing;
  std::string graph = "auto";
  std::string normalize_on = "auto";
  std::optional<int64_t> overfit_batches;
  bool sanity = true;
  std::string on_nonfinite = "stop";
  int64_t nonfinite_limit = 10;
  bool detect_anomaly = false;

  // Returns all fields that the model takes, at least one, in the order of its inputs.
  std::vector<InputField> AllInputs() const {
    return inputs.empty() ? std::vector<InputField>{{.name = "", .field = input}} : inputs;
  }
  // Returns the fields of all targets, at least one, in their order.
  std::vector<std::string> AllTargets() const {
    return targets.empty() ? std::vector<std::string>{target} : targets;
  }
  // Returns the field of the samples' weights; empty if there is none.
  std::string WeightField() const { return sample_weight == "none" ? "" : sample_weight; }
  // Returns the batches of a step, all but the last of an epoch. One of the two is 1.
  int64_t BatchesAStep() const { return accumulate * hogwild; }

  static void Describe(OptionTable<TrainOptions>& table);
};

// How the numbers of the target are transformed before the loss: target: {price: {...}}. The loss
// is that of (t - mean) / std, where t is the target or, with `log`, its natural logarithm;
// predictions and metrics are in the units of the target all the same
// (train/core/transformed_target_internal.h).
struct TargetOptions {
  bool log = false;
  bool learns = false;            // normalize: auto, so that the numbers below are learned
  std::vector<double> mean, std;  // one, or one for each number; empty: not normalized

  bool transforms() const { return log || learns || !mean.empty(); }
};

LossRegistry::Configured DefaultLoss();            // cross_entropy
OptimizerRegistry::Configured DefaultOptimizer();  // adamw
ScheduleRegistry::Configured DefaultSchedule();    // one_cycle

// One of several targets. The model's outputs are dealt out to them in their order.
struct TargetRecipe {
  std::string field;
  int64_t outputs = 1;  // of the model
  double weight = 1;    // of its loss
  LossRegistry::Configured loss = DefaultLoss();
  bool balanced = false;  // as TrainRecipe::balanced
  std::vector<MetricRegistry::Configured> metrics = {};
  TargetOptions transform = {};
  std::vector<std::string> classes = {};  // names of classes or labels, for predictions
};

// The warm-up of the schedule; run_schedule.h has the formulas.
struct WarmupOptions {
  static constexpr std::string_view kName = "warmup";
  double epochs = 0;
  std::optional<double> from;
  std::string shape = "linear";

  static void Describe(OptionTable<WarmupOptions>& table);
};

struct LrScalingOptions {
  static constexpr std::string_view kName = "lr_scaling";
  std::string rule = "none";
  int64_t base_batch = 256;

  static void Describe(OptionTable<LrScalingOptions>& table);
};

struct CheckpointOptions {
  static constexpr std::string_view kName = "checkpoint";
  std::optional<int64_t> every_steps;
  std::optional<double> every_minutes;
  int64_t keep = 2;
  std::string best;
  std::string best_mode = "auto";
  bool async = true;
  bool parts = false;

  static void Describe(OptionTable<CheckpointOptions>& table);
};

// What is written for TensorBoard (tensorboard_log.h, tensorboard_tensors.h).
struct TensorboardOptions {
  static constexpr std::string_view kName = "tensorboard";
  bool enabled = false;
  std::optional<int64_t> histograms;
  bool pictures = true;

  static void Describe(OptionTable<TensorboardOptions>& table);
};

// The most batches of an epoch and of an evaluation.
struct LimitBatchesOptions {
  static constexpr std::string_view kName = "limit_batches";
  std::optional<int64_t> train;
  std::optional<int64_t> eval;

  static void Describe(OptionTable<LimitBatchesOptions>& table);
};

// When to end a run that no longer improves (early_stopping.h).
struct EarlyStoppingOptions {
  static constexpr std::string_view kName = "early_stopping";
  std::string metric = "loss";
  std::string mode = "auto";
  std::optional<int64_t> patience;
  double min_delta = 0;
  std::optional<double> goal;
  std::optional<double> baseline;
  int64_t after_epochs = 0;

  // Returns whether evaluations may end a run.
  bool stops() const { return patience.has_value() || goal.has_value(); }
  static void Describe(OptionTable<EarlyStoppingOptions>& table);
};

// Clipping of gradients before the optimizer's step (clipping.h).
struct ClipOptions {
  static constexpr std::string_view kName = "clip";
  std::optional<double> norm;
  std::optional<double> value;
  std::optional<double> adaptive;

  static void Describe(OptionTable<ClipOptions>& table);
};

// The averaging of the weights that are evaluated and written (weight_average.h).
struct AverageOptions {
  static constexpr std::string_view kName = "average";
  std::string kind = "none";
  double decay = 0.9999;
  double gamma = 1;
  double power = 2.0 / 3;
  std::optional<double> start;
  std::optional<int64_t> every;

  static void Describe(OptionTable<AverageOptions>& table);
};

// Vectors of words for one table of a model (train/plan/initial_vectors.h).
struct VectorsOptions {
  static constexpr std::string_view kName = "vectors";
  std::string name;  // of the field of tokens, or of the feature
  std::string file;  // a path, absolute once the recipe is parsed

  static void Describe(OptionTable<VectorsOptions>& table);
};

// The source of the initial weights (initial_weights.h).
struct InitFromOptions {
  static constexpr std::string_view kName = "init_from";
  std::string weights;  // a path, absolute once the recipe is parsed; empty: the model's own
  bool partial = false;
  std::string prefix;
  std::vector<std::string> rename;
  std::vector<std::string> skip;
  FieldMap<VectorsOptions> vectors;

  // Whether anything is read.
  bool any() const { return !weights.empty() || !vectors.empty(); }

  static void Describe(OptionTable<InitFromOptions>& table);
};
template <>
const std::vector<Option>& OptionsOf<InitFromOptions>();

// One entry of the list `groups` (parameters.h).
struct GroupOptions {
  static constexpr std::string_view kName = "groups";
  std::string match;
  double lr = 1;
  double weight_decay = 1;

  static void Describe(OptionTable<GroupOptions>& table);
};

// How the processes of a run that trains on several talk to each other (docs/distributed.md).
struct DistributedOptions {
  static constexpr std::string_view kName = "distributed";
  std::string backend = "auto";
  std::string batch = "global";
  double timeout = 600;
  double bucket_mb = 8;
  std::string gradient_type = "float32";
  std::string sync_batch_norm = "auto";
  bool shard_optimizer = false;
  int64_t local_steps = 1;

  static void Describe(OptionTable<DistributedOptions>& table);
};

// Returns the name of a figure of one of several targets, in evaluations: "price.rmse".
std::string FigureOfTarget(std::string_view target, std::string_view figure);

// The section `train`.
struct TrainRecipe {
  TrainOptions options;
  TargetOptions target;
  // Of options.targets, in their order. With several, `target`, `metrics`, `loss` and `balanced` of
  // this struct are not used.
  std::vector<TargetRecipe> targets = {};
  CheckpointOptions checkpoint;
  LimitBatchesOptions limit_batches;
  EarlyStoppingOptions early_stopping;
  std::vector<CallbackRegistry::Configured> callbacks;  // called in this order
  std::vector<MetricRegistry::Configured> metrics;      // each once
  WarmupOptions warmup;
  LrScalingOptions lr_scaling;
  std::vector<GroupOptions> groups;
  ClipOptions clip;
  AverageOptions average;
  TensorboardOptions tensorboard;
  InitFromOptions init_from;
  DistributedOptions distributed;
  MemoryOptions memory;  // of the process; ParseRecipe and Trainer call WishFor
  LossRegistry::Configured loss = DefaultLoss();
  bool balanced = false;  // loss: {cross_entropy: {weights: balanced}}, which are learned
  OptimizerRegistry::Configured optimizer = DefaultOptimizer();
  ScheduleRegistry::Configured schedule = DefaultSchedule();
  ConfigNode written;  // as read, for messages; nothing if the recipe was made in C++

  // Returns what evaluations measure beside the loss and the accuracy of one target, for Monitor.
  // Of several targets "price.loss", "price.rmse", and "taste.accuracy".
  std::vector<MeasuredFigure> Figures() const;

  // Returns the section with every key, defaults included.
  ConfigNode Filled() const;

  // Returns "train.groups (recipe.yaml:9:11)" for the key `groups`, for messages.
  std::string NameOf(std::string_view key) const;
};

// The input of a Trainer, read from a file or made in C++:
//   Recipe{.data = {.train = train, .eval = eval}, .model = Configure(Convnet{}), .train = {}}
struct Recipe {
  DataRecipe data;
  ModelRegistry::Configured model;
  TrainRecipe train;

  // Returns the complete recipe, every key filled in: --print-recipe shows it, a run directory
  // stores it, and a resumed run is compared with it.
  ConfigNode Filled() const;
};

// Strict: an unknown section or key, a value of the wrong type or outside its range, and a missing
// section are kInvalidArgument with file, line and column, and the nearest known name or an
// example.
//   folder  the start of a relative data.root in the recipe: the recipe's own folder
// Reads the headers of the data files (data/recipe/recipe.h).
Result<Recipe> ParseRecipe(const ConfigNode& root, const std::filesystem::path& folder);

// Returns the parts of ParseRecipe that need no data files.
Result<ModelRegistry::Configured> ParseModelSection(const ConfigNode& recipe);
Result<TrainRecipe> ParseTrainSection(const ConfigNode& recipe);

// Reads the file, applies assignments such as "train.epochs=1" (SetByPath), and parses.
//   ranks  the processes that train together, for those with `distributed.batch: per_rank`
Result<Recipe> LoadRecipe(const std::filesystem::path& file,
                          const std::vector<std::string>& assignments = {}, int64_t ranks = 1);

}  // namespace stoker
