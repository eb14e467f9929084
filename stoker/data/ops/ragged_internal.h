// Joins the values of elements whose lengths differ, for `batch` with `ragged`.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/data/core/element.h"

namespace stoker {

// A plan for batches in which each field whose first extent differs between elements is ragged
// (core/ragged_fields.h), and the others are stacked. Immutable.
class RaggedPlan {
 public:
  // For elements of `input`; `extent` is the first extent of the stacked fields, -1 if it varies.
  // Nothing if no field is ragged. Errors: one differs in another extent than the first; there
  // already is a field of the name of the offsets.
  static Result<std::optional<RaggedPlan>> Make(const Spec& input, int64_t extent);

  // The fields of `input`, and at the end the offsets.
  const Spec& output() const { return output_; }
  // "words and tags"
  std::string FieldsText() const;
  // See RaggedFields.
  std::optional<std::string> OffsetsOf(std::string_view field) const;

  // Returns one batch of `elements`, which may be none. Errors: an element that does not fit the
  // Spec, by its index, field and shape.
  Result<Element> Join(std::span<const Element> elements, const SampleKey& key,
                       Scratch& scratch) const;

 private:
  struct Column {
    std::string name;
    DType dtype;
    Shape of_element;  // its first extent is -1 if it is ragged
    bool ragged = false;
  };
  static Status Check(const Column& column, const Element& element, size_t field);

  std::vector<Column> columns_;  // one for each field of the input
  Spec output_;
};

}  // namespace stoker
