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

const ModelRegistry& ModelRegistry::Builtin() {
  static const ModelRegistry registry = Filled(RegisterBuiltinModels);
  return registry;
}

const CallbackRegistry& CallbackRegistry::Builtin() {
  static const CallbackRegistry registry = Filled(RegisterBuiltinCallbacks);
  return registry;
}

const LossRegistry& LossRegistry::Builtin() {
  static const LossRegistry registry = Filled(RegisterBuiltinLosses);
  return registry;
}

const OptimizerRegistry& OptimizerRegistry::Builtin() {
  static const OptimizerRegistry registry = Filled(RegisterBuiltinOptimizers);
  return registry;
}

}  // namespace stoker
