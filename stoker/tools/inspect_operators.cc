#include "stoker/data/recipe.h"
#include "stoker/data/registry.h"
#include "stoker/tools/inspection.h"
#include "stoker/tools/kind_help.h"

namespace stoker {

Result<Inspection> InspectOperators(const std::string& name) {
  std::vector<KindDescription> kinds = OperatorRegistry::Builtin().Describe();
  kinds.push_back(DescribeDataSection());
  return DescribeKinds(kinds, name, "operator or section");
}

}  // namespace stoker
