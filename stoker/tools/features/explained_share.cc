#include "stoker/tools/features/explained_share.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "stoker/base/statistics.h"
#include "stoker/tools/features/column_profile.h"

namespace stoker {
namespace {

constexpr size_t kParts = 20;

double NumberOr(std::string_view cell, double other) { return NumberInCell(cell).value_or(other); }

// The group of each row: its word, or the part of the sorted numbers that it is in.
std::vector<size_t> GroupsOf(const SampledColumn& column) {
  std::vector<size_t> groups;
  groups.reserve(column.cells.size());
  if (!column.numbers) {
    std::unordered_map<std::string_view, size_t> numbers;
    for (const std::string& cell : column.cells)
      groups.push_back(numbers.try_emplace(cell, numbers.size()).first->second);
    return groups;
  }
  std::vector<double> sorted;
  for (const std::string& cell : column.cells) {
    if (const auto number = NumberInCell(cell)) sorted.push_back(*number);
  }
  std::ranges::sort(sorted);
  std::vector<double> bounds;
  for (size_t part = 1; part < kParts && !sorted.empty(); ++part) {
    const double bound = sorted[sorted.size() * part / kParts];
    if (bounds.empty() ? bound > sorted.front() : bound > bounds.back()) bounds.push_back(bound);
  }
  for (const std::string& cell : column.cells) {
    const auto number = NumberInCell(cell);
    // Missing numbers are a group of their own.
    groups.push_back(
        number ? static_cast<size_t>(std::ranges::upper_bound(bounds, *number) - bounds.begin())
               : bounds.size() + 1);
  }
  return groups;
}

double VarianceExplained(const std::vector<size_t>& groups, const SampledColumn& target) {
  RunningStats all;
  std::map<size_t, RunningStats> each;
  for (size_t row = 0; row < groups.size(); ++row) {
    const auto number = NumberInCell(target.cells[row]);
    if (!number) continue;
    all.Add(*number);
    each[groups[row]].Add(*number);
  }
  const double rows = static_cast<double>(all.count());
  const double within_degrees = rows - static_cast<double>(each.size());
  if (!(all.variance() > 0) || within_degrees < 1) return 0;
  double within = 0;
  for (const auto& [group, stats] : each)
    within += stats.variance() * static_cast<double>(stats.count() - 1);
  return 1 - within / within_degrees / all.variance();
}

// By the logarithm of how probable each row's class is, judged by the other rows of its group and
// one more that is shared out as all classes are: a row that is alone in its group tells nothing.
double EntropyExplained(const std::vector<size_t>& groups, const SampledColumn& target) {
  std::map<std::string_view, double> classes;
  std::map<size_t, double> sizes;
  std::map<std::pair<size_t, std::string_view>, double> both;
  double rows = 0;
  for (size_t row = 0; row < groups.size(); ++row) {
    ++rows;
    ++classes[target.cells[row]];
    ++sizes[groups[row]];
    ++both[{groups[row], target.cells[row]}];
  }
  if (classes.size() < 2) return 0;
  double before = 0, after = 0;
  for (const auto& [key, count] : both) {
    const double share = classes[key.second] / rows;
    before += count * std::log(share);
    after += count * std::log((count - 1 + share) / sizes[key.first]);
  }
  return 1 - after / before;
}

// Whether each value of the one goes with one value of the other, and both repeat.
bool AreRenamed(const SampledColumn& column, const SampledColumn& target) {
  std::unordered_map<std::string_view, std::string_view> there, back;
  for (size_t row = 0; row < column.cells.size(); ++row) {
    const std::string_view a = column.cells[row], b = target.cells[row];
    if (there.try_emplace(a, b).first->second != b || back.try_emplace(b, a).first->second != a)
      return false;
  }
  return there.size() > 1 && there.size() * 2 <= column.cells.size() &&
         std::ssize(column.cells) >= kFewRows;
}

bool IsLinear(const SampledColumn& column, const SampledColumn& target) {
  if (!column.numbers || !target.numbers) return false;
  RunningStats a, b;
  std::vector<std::pair<double, double>> rows;
  for (size_t row = 0; row < column.cells.size(); ++row) {
    const double x = NumberOr(column.cells[row], NAN), y = NumberOr(target.cells[row], NAN);
    if (std::isnan(x) || std::isnan(y)) continue;
    rows.emplace_back(x, y);
    a.Add(x);
    b.Add(y);
  }
  if (std::ssize(rows) < kFewRows) return false;
  double products = 0;
  for (const auto& [x, y] : rows) products += (x - a.mean()) * (y - b.mean());
  const double scale = a.standard_deviation() * b.standard_deviation();
  return scale > 0 && std::abs(products / static_cast<double>(rows.size() - 1) / scale) > 1 - 1e-6;
}

}  // namespace

double ExplainedShare(const SampledColumn& column, const SampledColumn& target) {
  const std::vector<size_t> groups = GroupsOf(column);
  const double share =
      target.numbers ? VarianceExplained(groups, target) : EntropyExplained(groups, target);
  return std::clamp(share, 0.0, 1.0);
}

bool IsTargetInDisguise(const SampledColumn& column, const SampledColumn& target) {
  return column.cells == target.cells || AreRenamed(column, target) || IsLinear(column, target);
}

}  // namespace stoker
