#include "stoker/data/core/apply_transform.h"

#include <string>

#include "stoker/data/core/failure.h"
#include "stoker/data/core/sample_names.h"
#include "stoker/data/core/stage_time.h"
#include "stoker/data/core/user_transform.h"

namespace stoker {
namespace {

// An error of `node` about one sample of its input. The message begins with what the source calls
// the sample, where it has a name and the message lacks it.
Status OfSample(const DatasetNode& node, const SampleKey& key, const Status& error) {
  const bool by_user = dynamic_cast<const UserTransform*>(node.element_wise()) != nullptr;
  const StatusCode code = by_user ? error.code() : CodeForSample(error);
  const std::string name = NameInMessage(node.input(), key, error.message());
  if (error.message().find(name) != std::string::npos) return {code, error.message()};
  return {code, fmt::format("{}: {}", name, error.message())};
}

}  // namespace

Status ApplyTransform(const DatasetNode& node, const ReadContext& context, Element& element) {
  const SampleKey key = element.key;
  Rng rng = context.rngs(node).For(key);
  Scratch scratch = context.scratch(node);
  const Status status =
      CatchExceptions([&] { return node.element_wise()->Apply(element, rng, scratch); },
                      "{}: element {}", node.name(), key.index);
  return status.ok() || context.stopped() ? status : OfSample(node, key, status);
}

Status ApplyElementWise(const DatasetNode& node, const ReadContext& context, Element& element) {
  StageStats& stats = context.stats(node);
  const ScopedStageTime time(stats);
  const Status status = ApplyTransform(node, context, element);
  if (status.ok()) {
    stats.AddElements(1, element.num_bytes());
  } else {
    stats.AddError();
  }
  return status;
}

}  // namespace stoker
