#include "stoker/data/registry.h"
#include "stoker/tools/inspection.h"
#include "stoker/tools/kind_help.h"

namespace stoker {

Result<Inspection> InspectOperators(const std::string& name) {
  return DescribeKinds(OperatorRegistry::Builtin().Describe(), name, "operator");
}

}  // namespace stoker
