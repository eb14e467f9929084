// How each column of a table serves a model, or why it does not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/tools/features/table_profile.h"

namespace stoker {

// Up to so many words of a category have an input each; more of them have a vector each.
inline constexpr int64_t kMostOneHot = 100;
inline constexpr int64_t kEmbeddingWidth = 16;

enum class ColumnUse {
  kTarget,
  kNumber,
  kPlace,  // the number's place among the others, in 64 parts of equal counts
  kCategory,
  kLeftOut,
};

// "target", "number", "place", "category", "left out"
std::string_view NameOf(ColumnUse use);

struct ColumnChoice {
  ColumnUse use = ColumnUse::kLeftOut;
  std::string why;  // why it is left out, or what to look at; may be empty
};

// Returns a choice for each column.
std::vector<ColumnChoice> ChooseColumns(const TableProfile& table);

}  // namespace stoker
