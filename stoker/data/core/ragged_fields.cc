#include "stoker/data/core/ragged_fields.h"

#include <algorithm>

namespace stoker {
namespace {

const Field* FieldOf(const Dataset& dataset, std::string_view name) {
  const std::vector<Field>& fields = dataset.spec().fields;
  const auto found = std::ranges::find(fields, name, &Field::name);
  return found == fields.end() ? nullptr : &*found;
}

// The offsets of a field at the stage nearest to the end that makes it ragged, if its shape is
// still what that stage gave it.
//   now  the field in the end
std::optional<std::string> FindFor(const Dataset& batches, const Field& now) {
  const auto* const ragged = dynamic_cast<const RaggedFields*>(&batches.node());
  if (ragged != nullptr) {
    const std::optional<std::string> offsets = ragged->OffsetsOf(now.name);
    if (offsets) return FieldOf(batches, now.name)->shape == now.shape ? offsets : std::nullopt;
  }
  for (const Dataset& input : batches.node().inputs()) {
    if (std::optional<std::string> offsets = FindFor(input, now)) return offsets;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> FindOffsets(const Dataset& batches, std::string_view field) {
  const Field* const now = FieldOf(batches, field);
  return now == nullptr ? std::nullopt : FindFor(batches, *now);
}

std::map<std::string, std::string> OffsetsByField(const Dataset& batches) {
  std::map<std::string, std::string> by_field;
  for (const Field& field : batches.spec().fields) {
    if (std::optional<std::string> offsets = FindOffsets(batches, field.name))
      by_field.emplace(field.name, *std::move(offsets));
  }
  return by_field;
}

std::set<std::string> FieldsWithoutRows(const Dataset& batches) {
  std::set<std::string> names;
  for (const auto& [field, offsets] : OffsetsByField(batches)) names.insert({field, offsets});
  return names;
}

}  // namespace stoker
