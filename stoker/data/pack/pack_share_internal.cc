#include "stoker/data/pack/pack_share_internal.h"

#include <utility>

#include "stoker/data/core/class_names.h"
#include "stoker/data/ops/skip.h"
#include "stoker/data/ops/take.h"
#include "stoker/data/options/registry.h"

namespace stoker::internal {
namespace {

Status CheckElements(const Dataset& dataset, const PackOptions& options) {
  const Cardinality cardinality = dataset.cardinality();
  if (cardinality.infinite()) {
    return InvalidArgument(
        "the pipeline has no end; leave `repeat` out (--stages), or limit it with `take`");
  }
  STOKER_RETURN_IF_ERROR(options.format->check(dataset.spec()));
  if (!options.format->holds_classes) STOKER_RETURN_IF_ERROR(CheckClassNames(options.classes));
  if (options.files == 1) return OkStatus();
  if (!cardinality.known()) {
    return InvalidArgument(
        "how many elements the pipeline has is not known beforehand, so they cannot be divided "
        "among {} files; pack into one",
        options.files);
  }
  if (options.files > cardinality.value()) {
    return InvalidArgument("{} elements cannot be divided among {} files; ask for fewer",
                           cardinality.value(), options.files);
  }
  return OkStatus();
}

// Each part has a file at least.
Status CheckPart(const PackOptions& options) {
  if (!options.part || options.part->of <= options.files) return OkStatus();
  return InvalidArgument(
      "--part {}: {} cannot be shared out among {} parts, since a part makes whole files; give "
      "--shards {} or more, or make fewer parts",
      options.part->ToString(),
      options.files == 1 ? "one file" : fmt::format("{} files", options.files), options.part->of,
      options.part->of);
}

}  // namespace

Status CheckPackRequest(const Dataset& dataset, const PackOptions& options) {
  STOKER_RETURN_IF_ERROR(CheckElements(dataset, options));
  return CheckPart(options);
}

PackShare PackShareOf(const Dataset& dataset, const PackOptions& options) {
  PackShare share{.files = {.first = 0, .last = options.files}, .elements = {}};
  if (options.part) share.files = FilesOfPart(*options.part, options.files);
  if (!dataset.cardinality().known()) return share;
  const int64_t all = share.all_elements = dataset.cardinality().value();
  share.elements.first = ElementsOfFile(share.files.first, options.files, all).first;
  share.elements.last = ElementsOfFile(share.files.last - 1, options.files, all).last;
  return share;
}

Result<Dataset> ElementsOfShare(const Dataset& dataset, const PackOptions& options,
                                const PackShare& share) {
  Result<Dataset> elements = dataset;
  if (share.files.first > 0) elements = std::move(elements) | Skip{.count = share.elements.first};
  if (share.files.last < options.files)
    elements = std::move(elements) | Take{.count = share.elements.size()};
  return elements;
}

}  // namespace stoker::internal
