// The models, losses, optimizers, schedules and callbacks that a recipe may name.
//
// A kind is one struct with its options as fields (train/models/convnet.h): recipe keys, checks,
// help and the C++ call come from it. cmake/StokerRegistry.cmake adds every header in
// run/schedules/ and in models/, losses/, optimizers/ and callbacks/ of train/, which a program has
// if it links stoker_train. In C++ a kind needs no name: Configure(Convnet{.classes = 10}).
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stoker/base/registry.h"
#include "stoker/data/core/spec.h"
#include "stoker/run/optimizer.h"
#include "stoker/run/schedule.h"

namespace stoker {

class Callback;
class Loss;
class Model;

// The shape of one sample. Vectors of n features are n channels of 1 x 1.
struct ModelInput {
  int64_t channels = 0;
  int64_t height = 1;
  int64_t width = 1;

  int64_t num_values() const { return channels * height * width; }
  bool operator==(const ModelInput&) const = default;
  std::string ToString() const;  // "1 x 28 x 28": channels, height, width
};

// Returns the shape of a sample of a batched field: [n, features], [n, height, width] or [n,
// channels, height, width], with `channels_last` [n, height, width, channels], fully known except
// n. Errors: kInvalidArgument, which names the field and its shape.
Result<ModelInput> ModelInputOf(const Field& field, bool channels_last = false);

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
template <typename T>
concept OptimizerOptions = requires(const T& options, const TrainedParameters& parameters) {
  { options.Build(parameters) } -> std::same_as<Result<std::unique_ptr<Optimizer>>>;
};
template <typename T>
concept ScheduleOptions = requires(const T& options, const SchedulePlan& plan) {
  { options.Build(plan) } -> std::same_as<Result<std::unique_ptr<Schedule>>>;
};

class ModelRegistry : public Registry<std::shared_ptr<Model>, const ModelInput&> {
 public:
  explicit ModelRegistry(StatusOfThrown status_of_thrown = nullptr)
      : Registry("model", status_of_thrown) {}
  template <ModelOptions T>
  void Add() {
    AddKind<T>("model", [](const T& options, const ModelInput& in) { return options.Build(in); });
  }
  static const ModelRegistry& Builtin();
};

class CallbackRegistry : public Registry<std::shared_ptr<Callback>> {
 public:
  explicit CallbackRegistry(StatusOfThrown status_of_thrown = nullptr)
      : Registry("callback", status_of_thrown) {}
  template <CallbackOptions T>
  void Add() {
    AddKind<T>("callback", [](const T& options) { return options.Build(); });
  }
  static const CallbackRegistry& Builtin();
};

class LossRegistry : public Registry<std::shared_ptr<const Loss>> {
 public:
  explicit LossRegistry(StatusOfThrown status_of_thrown = nullptr)
      : Registry("loss", status_of_thrown) {}
  template <LossOptions T>
  void Add() {
    AddKind<T>("loss", [](const T& options) { return options.Build(); });
  }
  static const LossRegistry& Builtin();
};

class OptimizerRegistry : public Registry<std::unique_ptr<Optimizer>, const TrainedParameters&> {
 public:
  explicit OptimizerRegistry(StatusOfThrown status_of_thrown = nullptr)
      : Registry("optimizer", status_of_thrown) {}
  template <OptimizerOptions T>
  void Add() {
    AddKind<T>("optimizer",
               [](const T& options, const TrainedParameters& on) { return options.Build(on); });
  }
  static const OptimizerRegistry& Builtin();
};

class ScheduleRegistry : public Registry<std::unique_ptr<Schedule>, const SchedulePlan&> {
 public:
  ScheduleRegistry() : Registry("schedule") {}
  template <ScheduleOptions T>
  void Add() {
    AddKind<T>("schedule",
               [](const T& options, const SchedulePlan& plan) { return options.Build(plan); });
  }
  static const ScheduleRegistry& Builtin();
};

// Generated: add the kinds in these folders.
void RegisterBuiltinModels(ModelRegistry& registry);
void RegisterBuiltinCallbacks(CallbackRegistry& registry);
void RegisterBuiltinLosses(LossRegistry& registry);
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
template <OptimizerOptions T>
OptimizerRegistry::Configured Configure(const T& options) {
  return internal::ConfigureKind<OptimizerRegistry::Configured>(options);
}
template <ScheduleOptions T>
ScheduleRegistry::Configured Configure(const T& options) {
  return internal::ConfigureKind<ScheduleRegistry::Configured>(options);
}

}  // namespace stoker
