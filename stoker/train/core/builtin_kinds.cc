// The kinds of run/registry.h that call torch, whose exceptions become errors here.
#include "stoker/device/torch_error.h"
#include "stoker/run/registry.h"

namespace stoker {
namespace {

template <typename R>
R Filled(void (*fill)(R&)) {
  R registry(StatusOfException);
  fill(registry);
  return registry;
}

}  // namespace

ModelRegistry& ModelRegistry::ToAddTo() {
  static ModelRegistry registry = Filled(RegisterBuiltinModels);
  return registry;
}

CallbackRegistry& CallbackRegistry::ToAddTo() {
  static CallbackRegistry registry = Filled(RegisterBuiltinCallbacks);
  return registry;
}

LossRegistry& LossRegistry::ToAddTo() {
  static LossRegistry registry = Filled(RegisterBuiltinLosses);
  return registry;
}

MetricRegistry& MetricRegistry::ToAddTo() {
  static MetricRegistry registry = Filled(RegisterBuiltinMetrics);
  return registry;
}

OptimizerRegistry& OptimizerRegistry::ToAddTo() {
  static OptimizerRegistry registry = Filled(RegisterBuiltinOptimizers);
  return registry;
}

}  // namespace stoker
