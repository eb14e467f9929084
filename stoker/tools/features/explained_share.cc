#include "stoker/tools/features/explained_share.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "stoker/base/statistics.h"
#include "stoker/tools/features/column_profile.h"

namespace stoker {
namespace {

constexpr size_t kParts = 20;

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
  return there.size() > 1 && there.size() * 2 <= column.cells.size();
}

// Whether nearly all rows lie on one line, next to how far the target's middle half reaches: a few
// rows far out, which make any correlation near 1, are not enough.
bool IsLinear(const SampledColumn& column, const SampledColumn& target) {
  if (!column.numbers || !target.numbers) return false;
  std::vector<double> xs, ys;
  RunningStats x_stats, y_stats;
  for (size_t row = 0; row < column.cells.size(); ++row) {
    const auto x = NumberInCell(column.cells[row]), y = NumberInCell(target.cells[row]);
    if (!x || !y) continue;
    xs.push_back(*x);
    ys.push_back(*y);
    x_stats.Add(*x);
    y_stats.Add(*y);
  }
  double products = 0, squares = 0;
  for (size_t i = 0; i < xs.size(); ++i) {
    products += (xs[i] - x_stats.mean()) * (ys[i] - y_stats.mean());
    squares += (xs[i] - x_stats.mean()) * (xs[i] - x_stats.mean());
  }
  const double slope = products / squares, reach = Quantile(ys, 0.75) - Quantile(ys, 0.25);
  const auto on_the_line = [&](size_t i) {
    const double expected = y_stats.mean() + slope * (xs[i] - x_stats.mean());
    return std::abs(ys[i] - expected) < 1e-3 * reach;
  };
  int64_t count = 0;
  for (size_t i = 0; i < xs.size(); ++i) count += on_the_line(i) ? 1 : 0;
  return count * 100 >= std::ssize(column.cells) * 99;
}

}  // namespace

double ExplainedShare(const SampledColumn& column, const SampledColumn& target) {
  const std::vector<size_t> groups = GroupsOf(column);
  const double share =
      target.numbers ? VarianceExplained(groups, target) : EntropyExplained(groups, target);
  // Of numbers near the limit of a double the variance is none.
  return std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0;
}

bool IsTargetInDisguise(const SampledColumn& column, const SampledColumn& target) {
  if (std::ssize(column.cells) < kFewRows) return false;
  return column.cells == target.cells || AreRenamed(column, target) || IsLinear(column, target);
}

}  // namespace stoker
