#include "stoker/data/transforms/draw_options_internal.h"

namespace stoker {

Result<DrawRange> PlanRange(std::string_view who, std::string_view option,
                            const std::vector<double>& values) {
  if (values.size() == 2 && values[0] <= values[1]) return DrawRange{values[0], values[1]};
  return InvalidArgument("{}: {} is [{}]; give two numbers, the smaller first", who, option,
                         fmt::join(values, ", "));
}

Result<DrawRange> PlanSymmetricRange(std::string_view who, std::string_view option,
                                     const std::vector<double>& values) {
  if (values.size() != 1) return PlanRange(who, option, values);
  if (values[0] >= 0) return DrawRange{-values[0], values[0]};
  return InvalidArgument(
      "{}: {} is {}; one number means from -number to number, so it must be >= 0", who, option,
      values[0]);
}

Result<WindowRanges> PlanWindow(std::string_view who, const std::vector<double>& area,
                                const std::vector<double>& ratio) {
  WindowRanges ranges;
  STOKER_ASSIGN_OR_RETURN(ranges.area, PlanRange(who, "scale", area));
  STOKER_ASSIGN_OR_RETURN(ranges.ratio, PlanRange(who, "ratio", ratio));
  return ranges;
}

}  // namespace stoker
