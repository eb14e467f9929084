#include "stoker/data/advice/no_batch.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "stoker/data/ops/batch.h"

namespace stoker {
namespace {

bool IsEmpty(const Dataset& dataset) { return dataset.cardinality() == Cardinality::Of(0); }

// "csv (a.csv and 2 more files)"
std::string SourceText(const DatasetNode& source) {
  const std::vector<std::string> files = source.files();
  if (files.empty()) return source.name();
  const size_t more = files.size() - 1;
  return fmt::format(
      "{} ({}{})", source.name(), files.front(),
      more == 0 ? "" : fmt::format(" and {} more file{}", more, more > 1 ? "s" : ""));
}

// REQUIRES: `stage` is empty and its input is not.
std::string WhyStageLeavesNothing(const DatasetNode& stage) {
  const Cardinality input = stage.input().cardinality();
  if (stage.name() == Batch::kName && input.known()) {
    return fmt::format(
        "its {} samples are fewer than one batch of {}, and drop_remainder leaves out batches that "
        "are not full; make the batch smaller",
        input.value(), stage.grouping().size);
  }
  return fmt::format("`{}` leaves out all of {} elements", stage.name(), input.ToString());
}

// REQUIRES: `dataset` is known to be empty.
std::string WhyEmpty(const Dataset& dataset) {
  const DatasetNode& stage = dataset.node();
  if (stage.inputs().empty())
    return fmt::format("its source {} holds no samples; check its files", SourceText(stage));
  if (stage.inputs().size() > 1)
    return fmt::format("`{}` gets nothing from its inputs; check their sources", stage.name());
  return IsEmpty(stage.input()) ? WhyEmpty(stage.input()) : WhyStageLeavesNothing(stage);
}

}  // namespace

Status NoBatch(const Dataset& batches, std::string_view name) {
  if (!IsEmpty(batches)) return NoBatch(name);
  return InvalidArgument("{} gives no batch: {}", name, WhyEmpty(batches));
}

Status NoBatch(std::string_view name) {
  return InvalidArgument(
      "{} gives no batch: its source is empty, or its stages leave out all there is (a filter, "
      "skip, on_error, or drop_remainder with a batch larger than the data); look with `stoker "
      "inspect RECIPE`",
      name);
}

}  // namespace stoker
