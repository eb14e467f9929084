#include <algorithm>
#include <iterator>

#include "stoker/tools/kind_help.h"
#include "stoker/tools/trainer/commands.h"
#include "stoker/train/registry.h"

namespace stoker {

Result<Inspection> InspectModels(const std::string& name) {
  std::vector<KindDescription> kinds = ModelRegistry::Builtin().Describe();
  std::ranges::move(OptimizerRegistry::Builtin().Describe(), std::back_inserter(kinds));
  std::ranges::move(ScheduleRegistry::Builtin().Describe(), std::back_inserter(kinds));
  return DescribeKinds(kinds, name, "model, optimizer or schedule");
}

}  // namespace stoker
