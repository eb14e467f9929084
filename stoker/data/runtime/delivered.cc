#include "stoker/data/runtime/delivered.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace stoker {

void Delivered::Add(int64_t begin, int64_t end) {
  if (begin >= end) return;
  auto next = beyond_.lower_bound(begin);
  if (next != beyond_.end() && next->first == end) {
    end = next->second;
    next = beyond_.erase(next);
  }
  if (begin == frontier_) {
    frontier_ = end;
    return;
  }
  if (next != beyond_.begin()) {
    const auto before = std::prev(next);
    if (before->second == begin) {
      before->second = end;
      return;
    }
  }
  beyond_.emplace_hint(next, begin, end);
}

int64_t Delivered::FirstMissing(int64_t from) const {
  if (from < frontier_) return frontier_;
  const auto after = beyond_.upper_bound(from);
  if (after == beyond_.begin()) return from;
  return std::max(from, std::prev(after)->second);
}

int64_t Delivered::FirstDelivered(int64_t from) const {
  if (from < frontier_ || FirstMissing(from) != from) return from;
  const auto after = beyond_.lower_bound(from);
  return after == beyond_.end() ? std::numeric_limits<int64_t>::max() : after->first;
}

void Delivered::SaveBeyond(int64_t origin, Json& state) const {
  if (beyond_.empty()) return;
  Json ranges = Json::array();
  for (const auto& [begin, end] : beyond_) ranges.push_back({begin - origin, end - origin});
  state["beyond"] = std::move(ranges);
}

Result<Delivered> Delivered::Restore(int64_t frontier, const Json& state) {
  Delivered delivered(frontier);
  const auto ranges = state.find("beyond");
  if (ranges == state.end()) return delivered;
  const auto damaged = [](const Json& what) {
    return DataLoss(
        "the saved pipeline position has {} under 'beyond', which must be a list of [begin, end] "
        "in rising order; it is damaged",
        what.dump());
  };
  if (!ranges->is_array()) return damaged(*ranges);
  int64_t end_before = frontier;
  for (const Json& range : *ranges) {
    const bool pair = range.is_array() && range.size() == 2 && range[0].is_number_integer() &&
                      range[1].is_number_integer();
    if (!pair) return damaged(range);
    const auto begin = range[0].get<int64_t>(), end = range[1].get<int64_t>();
    if (begin <= end_before || end <= begin) return damaged(range);
    delivered.beyond_.emplace_hint(delivered.beyond_.end(), begin, end);
    end_before = end;
  }
  return delivered;
}

}  // namespace stoker
