// The models, losses, metrics, optimizers, schedules and callbacks that a recipe may name.
//
// A kind is one struct with its options as fields (train/models/convnet.h): recipe keys, checks,
// help and the C++ call come from it. cmake/StokerRegistry.cmake adds every header in
// run/schedules/ and in models/, losses/, metrics/, optimizers/ and callbacks/ of train/, which a
// program has if it links stoker_train. Known() has these and the kinds that were added
// (run/kinds.h); ToAddTo() lets them be added, before recipes are read. In C++ a kind needs no
// name: Configure(Convnet{.classes = 10}).
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/base/registry.h"
#include "stoker/data/core/dataset.h"
#include "stoker/data/core/feature_layout.h"
#include "stoker/data/core/spec.h"
#include "stoker/run/optimizer.h"
#include "stoker/run/schedule.h"

namespace stoker {

class Callback;
class Loss;
class Metric;
class Model;
enum class TargetKind;  // train/core/target.h

// A field that a model takes, under the name of the input.
struct InputField {
  std::string name;  // empty where a model takes one
  std::string field;
};

// The shape of one sample. Vectors of n features are n channels of 1 x 1.
struct ModelInput {
  int64_t channels = 0;
  int64_t height = 1;
  int64_t width = 1;
  bool tokens = false;  // a sequence of whole numbers, of any length; the others are not used
  // A sequence of any length, each step of which has `channels` numbers: of a ragged batch. Those
  // of one length are planes of 1 x length x numbers.
  bool steps = false;
  FeatureLayout features = {};  // what the channels are, where the pipeline says so
  std::string name = {};        // in train.input, of one of several inputs
  // Of a model of several inputs: each of them; all of the above is not used then.
  std::vector<ModelInput> parts = {};

  int64_t num_values() const { return channels * height * width; }
  // Returns how many numbers a step has, where this can be read as a sequence of steps of numbers:
  // `steps`, a plane of [length, numbers], or a row of one number a step that is none of features.
  std::optional<int64_t> NumbersAStep() const;
  bool operator==(const ModelInput&) const = default;
  // "1 x 28 x 28": channels, height, width; or "tokens", or "12 numbers a step". Of several inputs
  // "image: 1 x 28 x 28, words: tokens".
  std::string ToString() const;
};

// Returns the shape of a sample of a batched field: [n, features], [n, height, width] or [n,
// channels, height, width], with `channels_last` [n, height, width, channels], fully known except
// n; whole numbers (IsTokens) are [n, length] and may have any length. Errors: kInvalidArgument,
// which names the field, its shape and what to do.
Result<ModelInput> ModelInputOf(const Field& field, bool channels_last = false);

// Returns the same for the field of that name in `batches`, with what the pipeline says of it:
// where channels are, and which features a row has.
Result<ModelInput> ModelInputOf(const Dataset& batches, std::string_view field);

// Returns the sample for a model of all these inputs, with parts if they have names.
Result<ModelInput> ModelInputOf(const Dataset& batches, const std::vector<InputField>& inputs);

template <typename T>
concept ModelOptions = requires(const T& options, const ModelInput& input) {
  { options.Build(input) } -> std::same_as<Result<std::shared_ptr<Model>>>;
};
template <typename T>
concept CallbackOptions = requires(const T& options) {
  { options.Build() } -> std::same_as<Result<std::shared_ptr<Callback>>>;
};
template <typename T>
concept LossOptions = requires(const T& options) {
  { options.Build() } -> std::same_as<Result<std::shared_ptr<const Loss>>>;
};
// Which way a metric gets better; kNeither: it is no single figure. `mode: auto` of early stopping
// and of the best checkpoint follows it.
enum class Better { kHigher, kLower, kNeither };
template <typename T>
concept MetricOptions = requires(const T& options, TargetKind kind) {
  { options.Build(kind) } -> std::same_as<Result<std::shared_ptr<Metric>>>;
  { T::Measures(kind) } -> std::same_as<bool>;  // whether it has a meaning for such targets
  { T::kBetter } -> std::convertible_to<Better>;
};
template <typename T>
concept OptimizerOptions = requires(const T& options, const TrainedParameters& parameters) {
  { options.Build(parameters) } -> std::same_as<Result<std::unique_ptr<Optimizer>>>;
};
template <typename T>
concept ScheduleOptions = requires(const T& options, const SchedulePlan& plan) {
  { options.Build(plan) } -> std::same_as<Result<std::unique_ptr<Schedule>>>;
};

// What a model's struct says it takes. With `static constexpr bool kTakesTokens = true` sequences
// of whole numbers; others take numbers. With kTakesSteps sequences of numbers
// (ModelInput::NumbersAStep), of one length or ragged: such a model overrides Model::ForwardAll and
// looks at Inputs::offsets, since no number marks the end of a sequence. With kTakesFeatures rows
// of features among which are categories, whose numbers say nothing by their size. With
// kTakesInputs it takes samples with parts, each of which may be any of these, and no others.
struct ModelTakes {
  bool tokens = false;
  bool steps = false;
  bool features = false;
  bool inputs = false;
};
// Errors: kInvalidArgument, with what to do, if `input` is something else.
Status CheckTakes(std::string_view model, ModelTakes takes, const ModelInput& input);

class ModelRegistry : public Registry<std::shared_ptr<Model>, const ModelInput&> {
 public:
  explicit ModelRegistry(StatusOfThrown status_of_thrown = nullptr)
      : Registry("model", status_of_thrown) {}
  template <ModelOptions T>
  void Add() {
    constexpr bool kTokens = requires { requires T::kTakesTokens; };
    constexpr bool kSteps = requires { requires T::kTakesSteps; };
    constexpr bool kFeatures = requires { requires T::kTakesFeatures; };
    constexpr bool kInputs = requires { requires T::kTakesInputs; };
    AddKind<T>(
        "model", [](const T& options, const ModelInput& in) -> Result<std::shared_ptr<Model>> {
          STOKER_RETURN_IF_ERROR(CheckTakes(T::kName, {kTokens, kSteps, kFeatures, kInputs}, in));
          return options.Build(in);
        });
  }
  static const ModelRegistry& Known() { return ToAddTo(); }
  static ModelRegistry& ToAddTo();
};

class CallbackRegistry : public Registry<std::shared_ptr<Callback>> {
 public:
  explicit CallbackRegistry(StatusOfThrown status_of_thrown = nullptr)
      : Registry("callback", status_of_thrown) {}
  template <CallbackOptions T>
  void Add() {
    AddKind<T>("callback", [](const T& options) { return options.Build(); });
  }
  static const CallbackRegistry& Known() { return ToAddTo(); }
  static CallbackRegistry& ToAddTo();
};

class LossRegistry : public Registry<std::shared_ptr<const Loss>> {
 public:
  explicit LossRegistry(StatusOfThrown status_of_thrown = nullptr)
      : Registry("loss", status_of_thrown) {}
  template <LossOptions T>
  void Add() {
    AddKind<T>("loss", [](const T& options) { return options.Build(); });
  }
  static const LossRegistry& Known() { return ToAddTo(); }
  static LossRegistry& ToAddTo();
};

// A figure that something may be decided by, by its name in evaluations.
struct MeasuredFigure {
  std::string name;
  Better better = Better::kHigher;
};

class MetricRegistry : public Registry<std::shared_ptr<Metric>, TargetKind> {
  using Base = Registry<std::shared_ptr<Metric>, TargetKind>;

 public:
  // One entry of train.metrics. Its name is that of its value in evaluations ("top3" for
  // {top: {k: 3}}), and its node the bare name where that says all.
  struct Configured : Base::Configured {
    Better better = Better::kHigher;
    bool (*measures)(TargetKind) = nullptr;  // whether it has a meaning for such targets
  };

  explicit MetricRegistry(StatusOfThrown status_of_thrown = nullptr)
      : Registry("metric", status_of_thrown) {}
  template <MetricOptions T>
  void Add() {
    AddKind<T>("metric", [](const T& options, TargetKind kind) { return options.Build(kind); });
    facts_.push_back({std::string(T::kName), T::kBetter, T::Measures});
  }

  // As Registry::Parse, where also `topK` (such as top5) is a name: that of `top` with this k.
  Result<Configured> Parse(const ConfigNode& node) const;

  // Returns what Parse does, for options set in C++.
  template <MetricOptions T>
  static Configured Of(const T& options);

  // The metrics that have a meaning for such targets, for messages: "mse, mae".
  std::string NamesFor(TargetKind kind) const;

  // What `metrics` measure, for Monitor.
  static std::vector<MeasuredFigure> FiguresOf(const std::vector<Configured>& metrics);

  static const MetricRegistry& Known() { return ToAddTo(); }
  static MetricRegistry& ToAddTo();

 private:
  struct Facts {
    std::string name;
    Better better;
    bool (*measures)(TargetKind);
  };
  static Configured Named(Base::Configured kind, Better better, bool (*measures)(TargetKind));

  std::vector<Facts> facts_;
};

// The K of "topK"; nothing where `name` is none.
std::optional<int64_t> TopOfMetric(std::string_view name);

class OptimizerRegistry : public Registry<std::unique_ptr<Optimizer>, const TrainedParameters&> {
 public:
  explicit OptimizerRegistry(StatusOfThrown status_of_thrown = nullptr)
      : Registry("optimizer", status_of_thrown) {}
  template <OptimizerOptions T>
  void Add() {
    AddKind<T>("optimizer",
               [](const T& options, const TrainedParameters& on) { return options.Build(on); });
  }
  static const OptimizerRegistry& Known() { return ToAddTo(); }
  static OptimizerRegistry& ToAddTo();
};

class ScheduleRegistry : public Registry<std::unique_ptr<Schedule>, const SchedulePlan&> {
 public:
  ScheduleRegistry() : Registry("schedule") {}
  template <ScheduleOptions T>
  void Add() {
    AddKind<T>("schedule",
               [](const T& options, const SchedulePlan& plan) { return options.Build(plan); });
  }
  static const ScheduleRegistry& Known() { return ToAddTo(); }
  static ScheduleRegistry& ToAddTo();
};

// Generated: add the kinds in these folders.
void RegisterBuiltinModels(ModelRegistry& registry);
void RegisterBuiltinCallbacks(CallbackRegistry& registry);
void RegisterBuiltinLosses(LossRegistry& registry);
void RegisterBuiltinMetrics(MetricRegistry& registry);
void RegisterBuiltinOptimizers(OptimizerRegistry& registry);
void RegisterBuiltinSchedules(ScheduleRegistry& registry);

namespace internal {
// Returns a Configured like Registry::Parse, from options set in C++, which are checked when it is
// built.
template <typename Configured, typename T>
Configured ConfigureKind(const T& options) {
  return {.name = std::string(T::kName),
          .node = ConfigNode::Map(
              {{std::string(T::kName), {}, FormatOptions(OptionsOf<T>(), &options)}}),
          .location = {},
          .build = [options](const auto&... from) -> decltype(options.Build(from...)) {
            STOKER_RETURN_IF_ERROR(CheckOptionsOf(options));
            return options.Build(from...);
          }};
}
}  // namespace internal

template <ModelOptions T>
ModelRegistry::Configured Configure(const T& options) {
  return internal::ConfigureKind<ModelRegistry::Configured>(options);
}
template <CallbackOptions T>
CallbackRegistry::Configured Configure(const T& options) {
  return internal::ConfigureKind<CallbackRegistry::Configured>(options);
}
template <LossOptions T>
LossRegistry::Configured Configure(const T& options) {
  return internal::ConfigureKind<LossRegistry::Configured>(options);
}
template <MetricOptions T>
MetricRegistry::Configured MetricRegistry::Of(const T& options) {
  return Named(internal::ConfigureKind<Base::Configured>(options), T::kBetter, T::Measures);
}
template <MetricOptions T>
MetricRegistry::Configured Configure(const T& options) {
  return MetricRegistry::Of(options);
}
template <OptimizerOptions T>
OptimizerRegistry::Configured Configure(const T& options) {
  return internal::ConfigureKind<OptimizerRegistry::Configured>(options);
}
template <ScheduleOptions T>
ScheduleRegistry::Configured Configure(const T& options) {
  return internal::ConfigureKind<ScheduleRegistry::Configured>(options);
}

}  // namespace stoker
