#include "stoker/tools/live/thinned_rows.h"

#include <cmath>
#include <limits>
#include <utility>

namespace stoker {

void ThinnedRows::Sums::Add(const Sums& other) {
  if (sums.size() < other.sums.size()) {
    sums.resize(other.sums.size());
    counts.resize(other.sums.size());
  }
  for (size_t i = 0; i < other.sums.size(); ++i) {
    sums[i] += other.sums[i];
    counts[i] += other.counts[i];
  }
  rows += other.rows;
}

ThinnedRows::Row ThinnedRows::Sums::Means() const {
  Row means;
  for (size_t i = 0; i < sums.size(); ++i) {
    means.push_back(counts[i] > 0 ? sums[i] / static_cast<double>(counts[i])
                                  : std::numeric_limits<double>::quiet_NaN());
  }
  return means;
}

void ThinnedRows::Add(const Row& row) {
  Sums added{.rows = 1};
  for (const double value : row) {
    added.sums.push_back(std::isnan(value) ? 0 : value);
    added.counts.push_back(std::isnan(value) ? 0 : 1);
  }
  part_.Add(added);
  if (part_.rows < stride_) return;
  whole_.push_back(std::exchange(part_, {}));
  if (whole_.size() < most_) return;
  std::vector<Sums> joined;
  for (size_t i = 0; i + 1 < whole_.size(); i += 2) {
    whole_[i].Add(whole_[i + 1]);
    joined.push_back(std::move(whole_[i]));
  }
  if (whole_.size() % 2 == 1) part_ = std::move(whole_.back());
  whole_ = std::move(joined);
  stride_ *= 2;
}

std::vector<ThinnedRows::Row> ThinnedRows::rows() const {
  std::vector<Row> rows;
  for (const Sums& each : whole_) rows.push_back(each.Means());
  if (part_.rows > 0) rows.push_back(part_.Means());
  return rows;
}

void ThinnedRows::Clear() {
  whole_.clear();
  part_ = {};
  stride_ = 1;
}

}  // namespace stoker
