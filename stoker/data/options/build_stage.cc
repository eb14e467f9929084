#include "stoker/data/options/build_stage.h"

#include <fmt/format.h>

#include "stoker/base/problems.h"
#include "stoker/data/options/stages_before.h"

namespace stoker {

Result<Dataset> BuildStage(const OperatorRegistry::Configured& stage,
                           const ConfigLocation& location, std::span<const ConfigNode> before,
                           const std::optional<Dataset>& input) {
  const StagesBefore scope(before);
  const Result<Dataset> built = CheckDepth(stage.build(input));
  if (built.ok()) return built;
  return WithPrefix(fmt::format("{}: ", location.ToString()), built.status());
}

}  // namespace stoker
