// Stacks elements of different shapes, for padded_batch and bucket_by_length.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/data/core/element.h"
#include "stoker/data/core/fill_value.h"

namespace stoker {

// The common options of the two operators; padded_batch.h explains them.
struct PaddingOptions {
  std::string_view who;
  std::vector<std::string> fields;
  std::vector<double> padding;
  std::vector<std::string> shape;
  bool lengths = false;
  bool mask = false;
};

// A plan for stacking batches. Immutable.
class PaddingPlan {
 public:
  // For elements of `input`; `extent` is the first extent of the batches, -1 if it varies.
  static Result<PaddingPlan> Make(const PaddingOptions& options, const Spec& input, int64_t extent);

  const Spec& output() const { return output_; }
  // Returns all settings that affect the result: "pads tokens weights with 0 to 512, lengths".
  const std::string& ToString() const { return text_; }
  // Returns the padding value of a field, nothing if it is not padded.
  std::optional<double> PaddingOf(std::string_view field) const;

  // Returns one batch of `elements`, at least one. If `length` is given, fields that are padded to
  // the longest get this extent in their first varying dimension. Errors: an element that does not
  // fit, by its index, field and shape.
  Result<Element> Pad(std::span<const Element> elements, std::optional<int64_t> length,
                      const SampleKey& key, Scratch& scratch) const;

 private:
  struct Column {
    std::string name;
    bool padded = false;
    double value = 0;             // of the padding
    FillValue padding;            // the same in the field's dtype
    Shape target;                 // for a padded field: fixed extents; -1: the longest
    std::vector<size_t> varying;  // the dimensions in which elements may be smaller
  };

  Status PlanColumns(const PaddingOptions& options, const Spec& input);
  Status PlanOutput(const PaddingOptions& options, const Spec& input, int64_t extent);
  Result<Shape> ShapeOf(const Column& column, size_t field, std::span<const Element> elements,
                        std::optional<int64_t> length) const;
  static Array Lengths(const Column& column, size_t field, std::span<const Element> elements,
                       Scratch& scratch);
  static Array Mask(const Column& column, size_t field, std::span<const Element> elements,
                    const Shape& shape, Scratch& scratch);

  std::string who_, text_;
  bool lengths_ = false, mask_ = false;
  std::vector<Column> columns_;  // one for each field
  Spec output_;
};

}  // namespace stoker
