// Runs consecutive maps that decode and change pictures as one.
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

// Returns whether the node is a map whose transform can describe its work (picture_plan.h).
bool IsPictureMap(const DatasetNode& node);

// Maps that decode one picture or several of a sample (an image and its mask), move their pixels by
// one draw or by several, and finish their values. Immutable; thread-safe.
class PictureChain {
 public:
  // Returns consecutive maps among `stages` (of any kind, first applied first) that decode every
  // field they change and give each one known shape: of the first run of picture maps that has
  // such, those that end latest, and of these the most. Nothing if there are none. The nodes must
  // outlive the chain.
  static std::optional<PictureChain> FirstIn(std::span<const DatasetNode* const> stages);

  const std::vector<const DatasetNode*>& maps() const { return maps_; }
  std::vector<size_t> fields() const;                        // the changed fields
  const Spec& spec() const { return maps_.back()->spec(); }  // of the resulting elements

  // Writes the pictures that the maps would make of `element` into `slots`, one for each of
  // fields(), of its shape and dtype. Working memory comes from `scratch`, whose stage is charged.
  // `streamed`: bypass the caches because slots are parts of a large array (PixelSlot::streamed).
  // Returns false, with unspecified slots, if the maps cannot be run as one (two resizes, a resize
  // of a picture with a border), or fail: run the maps to get the error.
  bool MakeInto(const Element& element, std::span<std::byte* const> slots, bool streamed,
                const ReadContext& context, Scratch& scratch) const;

  // Applies the maps to the element as one, with arrays from `scratch`; returns false, with
  // `element` unchanged, if MakeInto does.
  bool Apply(Element& element, const ReadContext& context, Scratch& scratch) const;

  // Makes the maps count an element to which they were applied as one.
  void CountElement(const ReadContext& context) const;

  // Returns "decode, random_resized_crop, normalize"
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
  struct Picture;  // the work on one picture

  PictureChain() = default;
  // Returns the longest such chain that begins with the first of `maps`.
  static std::optional<PictureChain> LongestFrom(std::span<const DatasetNode* const> maps);
  // Adds a map. Returns false if it cannot follow those added before.
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
