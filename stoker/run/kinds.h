// Kinds of one's own: models, losses, metrics, optimizers, schedules, callbacks and operators that
// recipes may name as they name Stoker's.
//
// A kind is one struct with its options as fields, as Stoker's own are (train/losses/focal.h,
// data/transforms/cast.h). What its Build takes and returns says of which sort it is. It is added
// by the main function of a program (tools/trainer/trainer_main.h) or by a plug-in (run/plugin.h):
//
//   kinds.Add<SmallNet>();
//   kinds.Add<Hinge>();
#pragma once

#include <string_view>

#include "stoker/base/problems.h"
#include "stoker/data/options/kind_name.h"
#include "stoker/data/options/registry.h"
#include "stoker/run/registry.h"

namespace stoker {

namespace internal {
// Where kinds of a sort are, and what messages call one.
template <typename R>
struct Sort {
  R& registry;
  std::string_view noun;
};

template <typename T>
auto SortOf() {
  if constexpr (ModelOptions<T>) {
    return Sort<ModelRegistry>{ModelRegistry::ToAddTo(), "model"};
  } else if constexpr (LossOptions<T>) {
    return Sort<LossRegistry>{LossRegistry::ToAddTo(), "loss"};
  } else if constexpr (MetricOptions<T>) {
    return Sort<MetricRegistry>{MetricRegistry::ToAddTo(), "metric"};
  } else if constexpr (OptimizerOptions<T>) {
    return Sort<OptimizerRegistry>{OptimizerRegistry::ToAddTo(), "optimizer"};
  } else if constexpr (ScheduleOptions<T>) {
    return Sort<ScheduleRegistry>{ScheduleRegistry::ToAddTo(), "schedule"};
  } else if constexpr (CallbackOptions<T>) {
    return Sort<CallbackRegistry>{CallbackRegistry::ToAddTo(), "callback"};
  } else {
    static_assert(SourceOptions<T> || OperatorOptions<T>,
                  "no sort of kind has such a Build; run/registry.h and data/options/registry.h "
                  "list what each sort has, beside kName, kHelp and Describe");
    return Sort<OperatorRegistry>{OperatorRegistry::ToAddTo(), "operator"};
  }
}
}  // namespace internal

// Adds kinds to the registries of this process, for its whole life. To be used before recipes are
// read, by one thread.
class Kinds {
 public:
  // Adds T, unless its sort has a kind of this name already, or recipes could not use the name:
  // then status() says so.
  template <typename T>
  void Add() {
    const auto [registry, noun] = internal::SortOf<T>();
    const Status free = CheckKindName(noun, T::kName, registry.Names());
    if (free.ok()) return registry.template Add<T>();
    problems_.Add(free);
  }

  // What could not be added. Errors: kInvalidArgument, a message for each.
  Status status() const { return problems_.ToStatus(); }

 private:
  Problems problems_;
};

}  // namespace stoker
