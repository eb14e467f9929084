#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "stoker/cluster/rank_judge_internal.h"

namespace stoker {

using std::chrono::milliseconds;

std::string RankReport::Sentence() const {
  return awaited == 0 ? doing : fmt::format("waiting for the other ranks: {}", what);
}

RankJudge::RankJudge(std::vector<std::string> hosts, milliseconds timeout)
    : hosts_(std::move(hosts)), timeout_(timeout), ranks_(hosts_.size()) {}

std::string RankJudge::Name(size_t rank) const {
  return fmt::format("rank {} on {}", rank, hosts_[rank]);
}

std::string RankJudge::Seconds() const {
  return fmt::format("{:g} s", static_cast<double>(timeout_.count()) / 1e3);
}

void RankJudge::Blame(size_t rank, std::string why) {
  if (fault_) return;
  fault_ = RankFault{.rank = static_cast<int64_t>(rank), .sentence = std::move(why)};
}

void RankJudge::Heard(int64_t rank, RankReport report) {
  Rank& one = ranks_[static_cast<size_t>(rank)];
  if (one.report.awaited != report.awaited) one.waiting = {};
  one.known = true;
  one.silent = {};
  one.report = std::move(report);
}

void RankJudge::Ended(int64_t rank, RankReport report, std::string failure) {
  Heard(rank, std::move(report));
  ranks_[static_cast<size_t>(rank)].ended = true;
  if (!failure.empty())
    Blame(static_cast<size_t>(rank), fmt::format("rank {} failed: {}", rank, failure));
}

void RankJudge::Closed(int64_t rank) {
  const auto index = static_cast<size_t>(rank);
  const Rank& one = ranks_[index];
  if (one.ended) return;
  Blame(index, fmt::format("{} is lost: its connection was closed; it was last seen {}",
                           Name(index), one.report.Sentence()));
}

const std::optional<RankFault>& RankJudge::Look(milliseconds passed) {
  for (size_t rank = 0; rank < ranks_.size() && !fault_; ++rank) LookAt(rank, passed);
  return fault_;
}

void RankJudge::LookAt(size_t rank, milliseconds passed) {
  Rank& one = ranks_[rank];
  if (!one.known || one.ended) return;
  one.silent += passed;
  if (one.silent > timeout_) {
    Blame(rank, fmt::format("{} is lost: nothing was heard of it for {}; it was last seen {}",
                            Name(rank), Seconds(), one.report.Sentence()));
  }
  if (one.report.awaited == 0) return;
  one.waiting += passed;
  FindMissing(rank);
}

// Those that have not begun what `waiting` waits for.
void RankJudge::FindMissing(size_t waiting) {
  const RankReport& report = ranks_[waiting].report;
  // Up to when it was last heard of: what it waits for now is not known while it is silent.
  const bool late = ranks_[waiting].waiting - ranks_[waiting].silent > timeout_;
  std::vector<size_t> missing;
  for (size_t rank = 0; rank < ranks_.size(); ++rank) {
    const Rank& other = ranks_[rank];
    if (!other.known || other.report.started >= report.awaited) continue;
    if (other.ended) {
      Blame(rank, fmt::format("{} has ended, and rank {} waits for it: {}", Name(rank), waiting,
                              report.what));
    }
    missing.push_back(rank);
  }
  if (!late || fault_) return;
  if (missing.empty()) {
    fault_ = RankFault{
        .rank = -1,
        .sentence = fmt::format("rank {} has waited {} for what no rank holds up: {}; the network "
                                "between the ranks may be interrupted",
                                waiting, Seconds(), report.what)};
    return;
  }
  const size_t first = missing.front();
  missing.erase(missing.begin());
  Blame(first,
        fmt::format("{} did not come within {}: rank {} waits for {}; it was last seen {}{}",
                    Name(first), Seconds(), waiting, report.what, ranks_[first].report.Sentence(),
                    missing.empty()
                        ? std::string()
                        : fmt::format(" (nor did rank{} {})", missing.size() > 1 ? "s" : "",
                                      fmt::join(missing, ", "))));
}

}  // namespace stoker
