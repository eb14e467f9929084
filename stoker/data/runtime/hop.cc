#include "stoker/data/runtime/hop.h"

#include <algorithm>

#include "stoker/data/core/apply_transform.h"
#include "stoker/data/core/failure.h"
#include "stoker/data/core/stage_time.h"

namespace stoker {
namespace {

// Whether `dataset`, opened so that it may, can give its elements in any order.
bool HoldsAnyOrder(const Dataset& dataset) {
  return dataset.node().any_order() || std::ranges::any_of(dataset.node().inputs(), HoldsAnyOrder);
}

// What is thrown, the stages meet too, one by one.
bool DoneInOneGo(const PictureChain& pictures, const ReadContext& context, Element& element) {
  const DatasetNode& decoder = *pictures.maps().front();
  const ScopedStageTime time(context.stats(decoder));
  Scratch scratch = context.scratch(decoder);
  try {
    if (!pictures.Apply(element, context, scratch)) return false;
  } catch (const std::exception&) {
    return false;
  }
  pictures.CountElement(context);
  return true;
}

}  // namespace

bool IsHopStage(const DatasetNode& node) {
  return !node.random_access() && (node.element_wise() != nullptr || node.read_ahead() != 0);
}

std::vector<const DatasetNode*> StagesOfHop(const DatasetNode& node) {
  std::vector<const DatasetNode*> stages;
  for (const DatasetNode* next = &node; IsHopStage(*next); next = &next->input().node()) {
    stages.insert(stages.begin(), next);
  }
  return stages;
}

bool HopInAnyOrder(const OpenContext& context, const std::vector<const DatasetNode*>& stages) {
  return context.any_order() && !HoldsAnyOrder(stages.front()->input()) &&
         std::ranges::any_of(stages, [](const DatasetNode* stage) { return stage->any_order(); });
}

Status ApplyHop(const std::vector<const DatasetNode*>& stages, const ReadContext& context,
                bool tolerant, Element& element) {
  for (const DatasetNode* stage : stages) {
    if (element.failure) return OkStatus();
    if (stage->element_wise() == nullptr) {
      context.stats(*stage).AddElements(1, element.num_bytes());
      continue;
    }
    const SampleKey key = element.key;
    const auto apply = [&] { return ApplyElementWise(*stage, context, element); };
    const Status status =
        tolerant ? CatchExceptions(apply, "mapping element {}", key.index) : apply();
    if (status.ok()) continue;
    if (!tolerant || !IsAboutOneElement(status)) return status;
    if (context.stopped()) return AskedToStop(stage->name());  // whatever it made of being stopped
    element = FailedElement(status, {stage->name(), key});
  }
  return OkStatus();
}

std::vector<HopPart> PartsOfHop(std::span<const DatasetNode* const> stages) {
  std::vector<HopPart> parts;
  while (!stages.empty()) {
    std::optional<PictureChain> pictures = PictureChain::FirstIn(stages);
    const size_t before =
        pictures ? static_cast<size_t>(std::ranges::find(stages, pictures->maps().front()) -
                                       stages.begin())
                 : stages.size();
    const auto take = [&](size_t n) {
      const auto taken = stages.first(n);
      stages = stages.subspan(n);
      return std::vector<const DatasetNode*>(taken.begin(), taken.end());
    };
    if (before > 0) parts.push_back({.stages = take(before), .pictures = std::nullopt});
    if (!pictures) break;
    const size_t together = pictures->maps().size();
    parts.push_back({.stages = take(together), .pictures = std::move(pictures)});
  }
  return parts;
}

Status ApplyHopParts(const std::vector<HopPart>& parts, const ReadContext& context, bool tolerant,
                     Element& element) {
  for (const HopPart& part : parts) {
    if (element.failure) return OkStatus();
    if (part.pictures && DoneInOneGo(*part.pictures, context, element)) continue;
    STOKER_RETURN_IF_ERROR(ApplyHop(part.stages, context, tolerant, element));
  }
  return OkStatus();
}

bool HopWorksOnRows(const std::vector<const DatasetNode*>& stages) {
  return stages.front()->input().spec().ElementBytes() &&
         std::ranges::all_of(stages, [](const DatasetNode* stage) {
           return stage->spec().ElementBytes() &&
                  (stage->element_wise() == nullptr || stage->element_wise()->works_on_columns());
         });
}

Result<Rows> StackForHop(const std::vector<const DatasetNode*>& stages, const ReadContext& context,
                         std::span<const Element> elements) {
  Scratch scratch = context.scratch(*stages.front());
  return StackElements(stages.front()->input().spec(), elements, scratch);
}

Status ApplyHopToRows(const std::vector<const DatasetNode*>& stages, const ReadContext& context,
                      Rows& rows) {
  std::vector<int64_t> bytes;
  for (const DatasetNode* stage : stages) {
    if (stage->element_wise() != nullptr) {
      const ScopedStageTime time(context.stats(*stage));
      Scratch scratch = context.scratch(*stage);
      STOKER_RETURN_IF_ERROR(stage->element_wise()->ApplyRows(rows, context.rngs(*stage), scratch));
    }
    bytes.push_back(rows.num_bytes());
  }
  // Where one fails, they are counted one by one.
  for (size_t i = 0; i < stages.size(); ++i) {
    context.stats(*stages[i]).AddElements(rows.size(), bytes[i]);
  }
  return OkStatus();
}

Result<HopInput> OpenHopInput(const OpenContext& context, const Dataset& input, bool any_order) {
  const bool input_in_any_order = !any_order && context.any_order() && HoldsAnyOrder(input);
  HopInput opened{nullptr,
                  input_in_any_order ? SnapshotPace::BeforeEach() : SnapshotPace::Sparing()};
  STOKER_ASSIGN_OR_RETURN(opened.iterator, context.OpenInputAlike(input, input_in_any_order));
  return opened;
}

}  // namespace stoker
