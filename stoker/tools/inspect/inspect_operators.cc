#include "stoker/data/options/registry.h"
#include "stoker/data/recipe/recipe.h"
#include "stoker/tools/inspect/inspect_file.h"
#include "stoker/tools/inspect/kind_help.h"

namespace stoker {

Result<Inspection> InspectOperators(const std::string& name) {
  std::vector<KindDescription> kinds = OperatorRegistry::Known().Describe();
  kinds.push_back(DescribeDataSection());
  return DescribeKinds(kinds, name, "operator or section");
}

}  // namespace stoker
