// Consecutive maps that decode pictures and change them, done in one go.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/data/core/dataset.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/pictures/picture_plan.h"

namespace stoker {

// Whether the node maps elements by a transform that can tell what it does (picture_plan.h).
bool IsPictureMap(const DatasetNode& node);

// Maps that decode one picture or several of a sample (an image and its mask), move their pixels by
// one draw or by several, and finish their values. Immutable; thread-safe.
class PictureChain {
 public:
  // The longest end of `maps` (consecutive, first applied first) that decodes every field it
  // changes and leaves each with one known shape. Nothing if there is none. The nodes must
  // outlive the chain.
  static std::optional<PictureChain> AtEndOf(std::span<const DatasetNode* const> maps);
  // The first one among consecutive stages of any kind.
  static std::optional<PictureChain> FirstIn(std::span<const DatasetNode* const> stages);

  const std::vector<const DatasetNode*>& maps() const { return maps_; }
  std::vector<size_t> fields() const;                        // which it changes
  const Spec& spec() const { return maps_.back()->spec(); }  // of the elements behind it

  // Writes the pictures that the maps would make of `element` into `slots`, one for each of
  // fields(), of its shape and dtype. Working memory comes from `scratch`, so it is charged to
  // whoever does this. `streamed`: written past the caches, where slots are parts of something
  // large (PixelSlot::streamed). False, with no meaning in the slots, where this cannot be done in
  // one go (two resizes, a resize of a picture with a border), or fails: the maps then say how.
  bool MakeInto(const Element& element, std::span<std::byte* const> slots, bool streamed,
                const ReadContext& context, Scratch& scratch) const;

  // Puts the element through the maps in one go, in arrays from `scratch`; false, with `element`
  // as it was, where MakeInto is.
  bool Apply(Element& element, const ReadContext& context, Scratch& scratch) const;

  // Makes the maps count an element that has gone through them in one go.
  void CountElement(const ReadContext& context) const;

  // "decode, random_resized_crop, normalize"
  std::string ToString() const;

 private:
  // One field.
  struct Part {
    size_t field = 0;
    const PictureDecoder* decoder = nullptr;
    std::vector<const PictureFinishing*> finishing;
  };
  struct Move {
    const DatasetNode* map = nullptr;
    const PictureGeometry* geometry = nullptr;
    std::vector<size_t> parts;
  };
  struct Picture;  // what is to be done to one

  PictureChain() = default;
  // False if the map cannot follow those added before.
  bool Add(const DatasetNode& map);
  bool AddGeometry(const DatasetNode& map, const PictureGeometry& geometry);
  bool AddFinishing(const PictureFinishing& finishing);
  std::optional<size_t> PartOf(size_t field) const;
  bool ShapesAreKnown() const;

  std::optional<Picture> Probe(const Part& part, const Element& element) const;
  bool PlanMoves(const SampleKey& key, const ReadContext& context,
                 std::vector<Picture>& pictures) const;
  bool FitsItsField(const Part& part, const Picture& picture) const;

  std::vector<const DatasetNode*> maps_;
  std::vector<Part> parts_;
  std::vector<Move> moves_;
};

}  // namespace stoker
