// A hop: consecutive stages of a stream that map elements one by one, or pass them on unchanged.
// They run as one, so that an element goes through all of them on one thread and through one queue.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "stoker/data/core/runtime.h"
#include "stoker/data/pictures/picture_chain.h"
#include "stoker/data/runtime/snapshot_pace.h"

namespace stoker {

// Returns whether `node` maps elements of a stream one by one, or passes them on unchanged.
bool IsHopStage(const DatasetNode& node);

// Returns `node` and the directly preceding stages of its hop, first applied first. Empty if `node`
// itself is not such a stage, or is read by position.
std::vector<const DatasetNode*> StagesOfHop(const DatasetNode& node);

// Returns whether the hop delivers its elements as they finish: one of its stages asks for it, and
// the context allows it.
bool HopInAnyOrder(const OpenContext& context, const std::vector<const DatasetNode*>& stages);

// Applies the stages to one element, and counts it for each. If one fails, or throws, and
// `tolerant` is set, the element becomes a failed element; one that has failed already stays so.
Status ApplyHop(const std::vector<const DatasetNode*>& stages, const ReadContext& context,
                bool tolerant, Element& element);

// The stages of a hop as threads run them: one after the other, or as one if they decode and change
// pictures.
struct HopPart {
  std::vector<const DatasetNode*> stages;  // first applied first
  std::optional<PictureChain> pictures;    // of all of them
};
std::vector<HopPart> PartsOfHop(std::span<const DatasetNode* const> stages);

// ApplyHop over all parts, with the same bytes. The time of pictures processed as one is counted
// for the stage that decodes them.
Status ApplyHopParts(const std::vector<HopPart>& parts, const ReadContext& context, bool tolerant,
                     Element& element);

// ApplyHop for many at once, if all maps of the hop benefit and shapes are known. Stacking copies
// the elements and does not change them.
bool HopWorksOnRows(const std::vector<const DatasetNode*>& stages);
Result<Rows> StackForHop(const std::vector<const DatasetNode*>& stages, const ReadContext& context,
                         std::span<const Element> elements);
Status ApplyHopToRows(const std::vector<const DatasetNode*>& stages, const ReadContext& context,
                      Rows& rows);

// The input of a hop, and how often its state must be saved. Restoring a state and reading a number
// of elements again is exact only if they come in the same order again. So the state of an input in
// any order is saved before every element; and a hop that itself delivers in any order needs an
// input in order.
struct HopInput {
  std::unique_ptr<Iterator> iterator;
  SnapshotPace pace;
};
Result<HopInput> OpenHopInput(const OpenContext& context, const Dataset& input, bool any_order);

}  // namespace stoker
