#include "stoker/data/core/explanation.h"

#include <fmt/format.h>

#include <utility>

namespace stoker {
namespace {

constexpr size_t kKeptFirst = 200;
constexpr size_t kKeptLast = 200;

}  // namespace

std::string Decision::ToString() const {
  std::string values = from == 0 ? "" : fmt::format(" {} ->", from);
  if (to != 0) values += fmt::format(" {}", to);
  return fmt::format("{:7.2f} s  {}: {}{}: {}", at_s, stage, what, values, why);
}

Json Decision::ToJson() const {
  return {{"at_s", at_s}, {"stage", stage}, {"what", what},
          {"from", from}, {"to", to},       {"why", why}};
}

void DecisionLog::Add(Decision decision) {
  const MutexLock lock(mutex_);
  decision.at_s = since_open_.ElapsedSeconds();
  if (first_.size() < kKeptFirst) {
    first_.push_back(std::move(decision));
    return;
  }
  last_.push_back(std::move(decision));
  if (last_.size() <= kKeptLast) return;
  last_.pop_front();
  ++left_out_;
}

std::vector<Decision> DecisionLog::decisions() const {
  const MutexLock lock(mutex_);
  std::vector<Decision> all = first_;
  all.insert(all.end(), last_.begin(), last_.end());
  return all;
}

int64_t DecisionLog::left_out() const {
  const MutexLock lock(mutex_);
  return left_out_;
}

}  // namespace stoker
