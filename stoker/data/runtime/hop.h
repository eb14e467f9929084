// A hop: consecutive stages of a stream that map elements one by one, or hand them on unchanged.
// They are run as one, so that an element goes through all of them on one thread and crosses one
// queue.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "stoker/data/core/runtime.h"
#include "stoker/data/pictures/picture_chain.h"
#include "stoker/data/runtime/snapshot_pace.h"

namespace stoker {

// Whether `node` maps elements of a stream one by one, or hands them on unchanged.
bool IsHopStage(const DatasetNode& node);

// `node` and the stages straight below it that belong to its hop, first applied first. Empty if
// `node` itself is no such stage, or is read by position.
std::vector<const DatasetNode*> StagesOfHop(const DatasetNode& node);

// Whether the hop delivers its elements as they finish: one of its stages says so, and the context
// allows it.
bool HopInAnyOrder(const OpenContext& context, const std::vector<const DatasetNode*>& stages);

// Puts one element through the stages, and counts it for each. Where one fails, or throws, and
// `tolerant` is set, the element becomes the one that stands for it; one that had failed before
// stays as it is.
Status ApplyHop(const std::vector<const DatasetNode*>& stages, const ReadContext& context,
                bool tolerant, Element& element);

// The stages of a hop as threads run them: one after the other, or, where they decode and change
// pictures, in one go.
struct HopPart {
  std::vector<const DatasetNode*> stages;  // first applied first
  std::optional<PictureChain> pictures;    // of all of them
};
std::vector<HopPart> PartsOfHop(std::span<const DatasetNode* const> stages);

// ApplyHop over all parts, with the same bytes. Time spent on pictures in one go is counted for the
// stage that decodes them.
Status ApplyHopParts(const std::vector<HopPart>& parts, const ReadContext& context, bool tolerant,
                     Element& element);

// ApplyHop for many at once, where all maps of the hop gain by that and shapes are known. Stacking
// copies the elements, and leaves them as they are.
bool HopWorksOnRows(const std::vector<const DatasetNode*>& stages);
Result<Rows> StackForHop(const std::vector<const DatasetNode*>& stages, const ReadContext& context,
                         std::span<const Element> elements);
Status ApplyHopToRows(const std::vector<const DatasetNode*>& stages, const ReadContext& context,
                      Rows& rows);

// What a hop reads from, and how often its state must be kept. Going back to a state and reading a
// number of elements again is exact only where they come in the same order again, so an input that
// gives them in any order is kept before every one; and below a hop that itself delivers in any
// order, the input must not.
struct HopInput {
  std::unique_ptr<Iterator> iterator;
  SnapshotPace pace;
};
Result<HopInput> OpenHopInput(const OpenContext& context, const Dataset& input, bool any_order);

}  // namespace stoker
