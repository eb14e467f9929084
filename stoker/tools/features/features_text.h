// A table's columns for the terminal, and as a picture.
#pragma once

#include <string>
#include <vector>

#include "stoker/tools/features/column_choice.h"
#include "stoker/tools/features/table_profile.h"

namespace stoker {

// One line a column, those that tell most of the target first: what is in it, drawn with block
// characters, what it tells, and how it serves.
std::string FeaturesText(const TableProfile& table, const std::vector<ColumnChoice>& choices);

// A whole SVG 1.1 document: each column's histogram, or its most frequent texts as bars.
std::string FeaturesSvg(const TableProfile& table, const std::vector<ColumnChoice>& choices);

}  // namespace stoker
