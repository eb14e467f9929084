#include "stoker/data/core/feature_layout.h"

#include <algorithm>

#include "stoker/data/core/transform.h"

namespace stoker {

bool FeatureLayout::HasCategories() const {
  return !std::ranges::all_of(columns, &FeatureColumn::is_numbers);
}

int64_t FeatureLayout::NumNumbers() const {
  int64_t numbers = 0;
  for (const FeatureColumn& column : columns) numbers += column.is_numbers() ? column.slots : 0;
  return numbers;
}

int64_t FeatureLayout::NumSlots() const {
  int64_t slots = 0;
  for (const FeatureColumn& column : columns) slots += column.slots;
  return slots;
}

FeatureLayout FindFeatureLayout(const Dataset& dataset, std::string_view name) {
  const auto* const makes = dynamic_cast<const MakesFeatures*>(dataset.node().element_wise());
  if (makes != nullptr && makes->features_field() == name) return makes->layout();
  const std::vector<Field>& fields = dataset.spec().fields;
  const auto field = std::ranges::find(fields, name, &Field::name);
  if (field == fields.end() || field->dtype != DType::kFloat32) return {};
  for (const Dataset& input : dataset.node().inputs()) {
    FeatureLayout layout = FindFeatureLayout(input, name);
    if (!layout.empty()) return layout;
  }
  return {};
}

std::optional<int64_t> FindNumCategories(const Dataset& dataset, std::string_view field) {
  const auto* const numbers = dynamic_cast<const NumbersCategories*>(dataset.node().element_wise());
  if (numbers != nullptr && numbers->numbered_field() == field) return numbers->num_categories();
  for (const Dataset& input : dataset.node().inputs()) {
    if (const std::optional<int64_t> found = FindNumCategories(input, field)) return found;
  }
  return std::nullopt;
}

}  // namespace stoker
