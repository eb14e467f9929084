#include "stoker/base/quantile_sketch.h"

#include <algorithm>
#include <utility>

namespace stoker {

void QuantileSketch::Add(double value) {
  min_ = count_ == 0 ? value : std::min(min_, value);
  ++count_;
  if (levels_.empty()) levels_.emplace_back();
  for (size_t level = 0; level < levels_.size() && levels_[level].values.size() >= exact_; ++level)
    Compact(level);
  levels_[0].values.push_back(value);
}

// Half of the values of a full level go up, the others are dropped.
void QuantileSketch::Compact(size_t level) {
  if (level + 1 == levels_.size()) levels_.emplace_back();
  Level& full = levels_[level];
  std::vector<double>& above = levels_[level + 1].values;
  std::ranges::sort(full.values);
  for (size_t i = full.odd ? 1 : 0; i < full.values.size(); i += 2) above.push_back(full.values[i]);
  full.odd = !full.odd;
  full.values.clear();
}

int64_t QuantileSketch::bytes() const {
  size_t values = 0;
  for (const Level& level : levels_) values += level.values.capacity();
  return static_cast<int64_t>(values * sizeof(double));
}

std::vector<double> QuantileSketch::Dividers(int64_t parts) const {
  std::vector<std::pair<double, int64_t>> weighted;
  for (size_t level = 0; level < levels_.size(); ++level) {
    for (const double value : levels_[level].values)
      weighted.emplace_back(value, int64_t{1} << level);
  }
  std::ranges::sort(weighted);
  std::vector<double> dividers;
  size_t at = 0;
  int64_t up_to = weighted.front().second;  // values that `at` and those before it stand for
  for (int64_t part = 1; part < parts; ++part) {
    // Without a product of the two, which may not fit.
    const int64_t rank = count_ / parts * part + count_ % parts * part / parts;
    while (up_to <= rank && at + 1 < weighted.size()) up_to += weighted[++at].second;
    dividers.push_back(weighted[at].first);
  }
  return dividers;
}

}  // namespace stoker
