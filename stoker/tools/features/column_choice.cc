#include "stoker/tools/features/column_choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

constexpr int64_t kMostWords = 1000;  // of a column that serves as a category
constexpr double kSuspicious = 0.98;  // ExplainedShare
constexpr double kFarOut = 20;        // deviations from the mean
constexpr size_t kLongestName = 200;  // a key of a recipe

bool NamesRows(const std::string& name) {
  const auto ends = [&](std::string_view end) { return name.ends_with(end); };
  return name == "id" || ends("_id") || ends("Id") || ends("ID");
}

// What one cell has that makes texts of a column of numbers; empty: there is none.
std::string OddText(const ColumnProfile& column) {
  if (!column.odd) return "";
  return fmt::format("numbers, but for '{}' in row {}", column.odd->cell,
                     WithThousands(static_cast<double>(column.odd->row)));
}

std::string Both(const std::string& one, std::string_view other) {
  return one.empty() || other.empty() ? fmt::format("{}{}", one, other)
                                      : fmt::format("{}; {}", one, other);
}

ColumnChoice ChooseText(const ColumnProfile& column) {
  const std::string odd = OddText(column);
  const auto left_out = [&](std::string_view why) {
    return ColumnChoice{ColumnUse::kLeftOut, Both(odd, why)};
  };
  if (!column.is_utf8) return left_out("has texts that are no UTF-8; convert the file (iconv)");
  if (column.has_line_ends) return left_out("has texts with line breaks");
  if (column.AllDiffer()) return left_out("no value is there twice");
  if (column.different > kMostWords || column.more)
    return left_out(fmt::format("over {} different texts", WithThousands(kMostWords)));
  if (column.different * 2 > column.rows - column.missing)
    return left_out("most texts are there once");
  return {ColumnUse::kCategory,
          Both(odd, column.different > kMostOneHot
                        ? fmt::format("a vector of {} values for each text", kEmbeddingWidth)
                        : "")};
}

ColumnChoice ChooseNumber(const ColumnProfile& column) {
  if (column.counts_up && column.rows >= kFewRows) return {ColumnUse::kLeftOut, "numbers the rows"};
  if (column.whole && column.AllDiffer() && NamesRows(column.name))
    return {ColumnUse::kLeftOut, "by its name it says which row it is"};
  if (!column.FitsFloat32()) return {ColumnUse::kLeftOut, "has numbers that float32 does not hold"};
  ColumnChoice made{ColumnUse::kNumber, ""};
  const double farthest =
      std::max(column.greatest - column.mean, column.mean - column.least) / column.deviation;
  if (farthest > kFarOut) {
    made = {ColumnUse::kPlace,
            fmt::format("the farthest is {:.0f} deviations from the mean", farthest)};
  }
  if (column.missing > 0) {
    made.why = Both(made.why, fmt::format("missing ones become the median, {}", column.median));
  }
  return made;
}

ColumnChoice Choose(const TableProfile& table, size_t i) {
  const ColumnProfile& column = table.columns[i];
  if (table.target == i) {
    return {
        ColumnUse::kTarget,
        Both(OddText(column),
             column.missing == 0 ? ""
                                 : fmt::format("missing in {}", CountText(column.missing, "row")))};
  }
  if (column.name.size() > kLongestName)
    return {ColumnUse::kLeftOut, fmt::format("its name takes over {} bytes", kLongestName)};
  if (column.kind == ColumnKind::kEmpty) return {ColumnUse::kLeftOut, "every cell is missing"};
  if (column.IsConstant() && (column.missing == 0 || column.kind == ColumnKind::kNumbers))
    return {ColumnUse::kLeftOut, "one value in all rows"};
  if (table.target && table.relations[i].disguised)
    return {ColumnUse::kLeftOut, "is the target in another form"};
  ColumnChoice made =
      column.kind == ColumnKind::kNumbers ? ChooseNumber(column) : ChooseText(column);
  if (made.use != ColumnUse::kLeftOut && table.target &&
      table.relations[i].explained >= kSuspicious) {
    made.why = Both(made.why, "tells the target nearly by itself: is it known beforehand?");
  }
  return made;
}

}  // namespace

std::string_view NameOf(ColumnUse use) {
  switch (use) {
    case ColumnUse::kTarget: return "target";
    case ColumnUse::kNumber: return "number";
    case ColumnUse::kPlace: return "place";
    case ColumnUse::kCategory: return "category";
    case ColumnUse::kLeftOut: return "left out";
  }
  return "";
}

std::vector<ColumnChoice> ChooseColumns(const TableProfile& table) {
  std::vector<ColumnChoice> choices;
  for (size_t i = 0; i < table.columns.size(); ++i) choices.push_back(Choose(table, i));
  return choices;
}

}  // namespace stoker
