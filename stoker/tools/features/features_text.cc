#include "stoker/tools/features/features_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "stoker/base/short_text.h"
#include "stoker/tools/program/glyphs.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

std::string BarsOf(const std::vector<int64_t>& histogram) {
  const std::vector<double> counts(histogram.begin(), histogram.end());
  return Heights(counts, counts.size(), Glyphs::kUnicode);
}

std::string ShareText(int64_t part, int64_t all) {
  const double percent = 100 * static_cast<double>(part) / static_cast<double>(all);
  return percent > 0 && percent < 1 ? "<1 %" : fmt::format("{:.0f} %", percent);
}

std::string ValuesOf(const ColumnProfile& column) {
  if (column.kind == ColumnKind::kEmpty) return "";
  if (column.kind == ColumnKind::kNumbers) {
    return fmt::format("{:.6g} {} {:.6g}", column.least, BarsOf(column.histogram), column.greatest);
  }
  std::vector<std::string> shown;
  for (const ValueCount& value : column.common) {
    if (shown.size() == 3) break;
    shown.push_back(
        fmt::format("{} {}", ShortText(value.value, 14), ShareText(value.count, column.rows)));
  }
  return shown.empty() ? fmt::format("{:.0f} bytes each", column.mean_length)
                       : fmt::format("{}", fmt::join(shown, ", "));
}

constexpr size_t kShown = 60;  // columns

// The places of the columns, the most telling first and the target before all.
std::vector<size_t> OrderOf(const TableProfile& table) {
  std::vector<size_t> order(table.columns.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (!table.target) return order;
  const auto key = [&](size_t i) { return i == *table.target ? 2 : table.relations[i].explained; };
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return key(a) > key(b); });
  return order;
}

}  // namespace

std::string FeaturesText(const TableProfile& table, const std::vector<ColumnChoice>& choices) {
  std::vector<std::vector<std::string>> rows = {{"column", "missing", "different", "values"}};
  if (table.target) rows[0].push_back("tells");
  rows[0].push_back("serves as");
  for (const size_t i : OrderOf(table)) {
    if (rows.size() > kShown) break;
    const ColumnProfile& column = table.columns[i];
    std::vector<std::string> row = {
        ShortText(column.name, 24),
        column.missing == 0 ? "" : ShareText(column.missing, column.rows), column.DifferentText(),
        ValuesOf(column)};
    if (table.target) {
      row.push_back(i == *table.target ? "" : fmt::format("{:.2f}", table.relations[i].explained));
    }
    row.push_back(choices[i].why.empty()
                      ? std::string(NameOf(choices[i].use))
                      : fmt::format("{}: {}", NameOf(choices[i].use), choices[i].why));
    rows.push_back(std::move(row));
  }
  std::string text = fmt::format("{}, {}\n{}", CountText(table.rows, "row"),
                                 CountText(std::ssize(table.columns), "column"), TableText(rows));
  if (table.columns.size() > kShown) {
    text +=
        fmt::format("... {} more (--json has all)\n",
                    CountText(std::ssize(table.columns) - static_cast<int64_t>(kShown), "column"));
  }
  if (table.target) {
    text += fmt::format(
        "tells: the share of the target's {} that is gone once the column is known, by itself{}\n",
        table.target_is_number ? "variance" : "entropy",
        table.sampled < table.rows
            ? fmt::format(" (of {} rows)", WithThousands(static_cast<double>(table.sampled)))
            : "");
  }
  return text;
}

}  // namespace stoker
