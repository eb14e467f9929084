#include "stoker/data/runtime/deal.h"

#include <algorithm>

#include "stoker/data/core/runtime.h"
#include "stoker/data/runtime/snapshot_pace.h"

namespace stoker {
namespace {

// Hands out the elements of a stage that are a rank's, and drops the others.
class DealtIterator final : public Iterator {
 public:
  DealtIterator(const OpenContext& context, std::shared_ptr<Deal> deal,
                std::unique_ptr<Iterator> all)
      : Iterator(context, deal->dealt(), Counting::kElsewhere),
        deal_(std::move(deal)),
        all_(std::move(all)) {}

  Status Begin() {
    if (deal_->start().dealt_state)
      STOKER_RETURN_IF_ERROR(all_->Restore(*deal_->start().dealt_state));
    return SaveAll();
  }

 private:
  Result<std::optional<Element>> DoNext() override {
    if (deal_->when_dry() == WhenDry::kStopAll) return NextOfWholeRound();
    while (true) {
      const bool mine = deal_->IsMine(pulled_);
      STOKER_ASSIGN_OR_RETURN(std::optional<Element> element, Pull());
      if (!element || mine) return element;
    }
  }

  // Reads the whole round before any of it is handed out: its end says whether all have something.
  Result<std::optional<Element>> NextOfWholeRound() {
    if (mine_of_round_.empty() && pulled_ % deal_->round() == 0)
      STOKER_RETURN_IF_ERROR(TakeRound());
    if (mine_of_round_.empty()) return std::nullopt;
    Element element = std::move(mine_of_round_.front());
    mine_of_round_.pop_front();
    return element;
  }

  Status TakeRound() {
    const int64_t begin = pulled_;
    do {
      const bool mine = deal_->IsMine(pulled_);
      STOKER_ASSIGN_OR_RETURN(std::optional<Element> element, Pull());
      if (!element) break;
      if (mine) mine_of_round_.push_back(*std::move(element));
    } while (pulled_ % deal_->round() != 0);
    if (!deal_->IsWhole(pulled_ - begin)) mine_of_round_.clear();
    return OkStatus();
  }

  Result<std::optional<Element>> Pull() {
    STOKER_RETURN_IF_ERROR(SaveIfDue());
    STOKER_ASSIGN_OR_RETURN(std::optional<Element> element, all_->Next());
    if (element) {
      ++pulled_;
    } else {
      deal_->SetEnd(pulled_);
    }
    return element;
  }

  Status SaveIfDue() {
    const bool due = pulled_ % deal_->round() == 0 && pace_.IsDue(pulled_ - saved_at_);
    return due ? SaveAll() : OkStatus();
  }

  Status SaveAll() {
    STOKER_ASSIGN_OR_RETURN(Json state, pace_.Save(*all_));
    deal_->AddState(pulled_, std::move(state));
    saved_at_ = pulled_;
    return OkStatus();
  }

  // Positions of a rank's pass are made by its outermost iterator (rank_iterator.h), from this
  // shape and what is in the deal.
  Result<Json> DoSave() const override { return Json{{"dealt", true}}; }
  Status DoRestore(const Json&) override {
    return Internal("a rank's share is opened where it is to begin");
  }

  const std::shared_ptr<Deal> deal_;
  const std::unique_ptr<Iterator> all_;
  int64_t pulled_ = 0;
  std::deque<Element> mine_of_round_;
  int64_t saved_at_ = 0;
  SnapshotPace pace_ = SnapshotPace::Sparing();
};

}  // namespace

Result<std::shared_ptr<Deal>> Deal::Create(const Dataset& outermost, const PassOptions& options,
                                           Start start) {
  std::shared_ptr<Deal> deal(new Deal(options, std::move(start)));
  std::optional<int64_t> block = 1;
  const DatasetNode* node = &outermost.node();
  for (; !node->random_access() && node->grouping().size > 0; node = &node->input().node()) {
    const auto [size, full, numbered] = node->grouping();
    if (numbered) {
      deal->levels_.push_back({node, *block});
      deal->group_sizes_.push_back(size);
    }
    block = MultiplySizes(block, size);
    if (!block || !MultiplySizes(block, options.world)) {
      return InvalidArgument("{}: groups of groups for {} ranks are too large to be counted",
                             node->name(), options.world);
    }
    deal->needed_ = full ? deal->needed_ * size : (deal->needed_ - 1) * size + 1;
  }
  deal->dealt_ = node;
  deal->block_ = *block;
  deal->start_.numbers.resize(deal->levels_.size());
  return deal;
}

int64_t Deal::NumberInPass(const DatasetNode& node, int64_t local) const {
  for (size_t level = 0; level < levels_.size(); ++level) {
    if (levels_[level].node != &node) continue;
    const int64_t block = levels_[level].block;
    const int64_t block_in_pass = local / block * options_.world + options_.rank;
    return start_.numbers[level] + block_in_pass * block + local % block;
  }
  return local;
}

Deal::Start Deal::StartAfter(int64_t elements, bool finished) const {
  Start after = start_;
  const int64_t rounds = elements;
  for (size_t level = 0; level < levels_.size(); ++level)
    after.numbers[level] += rounds * options_.world * levels_[level].block;
  int64_t target = rounds * round();
  if (finished) target = std::max(target, end_.load());
  const MutexLock lock(mutex_);
  const auto newer =
      std::ranges::find_if(states_, [&](const State& state) { return state.pulled > target; });
  const State& state = *std::prev(newer);
  after.dealt_state = state.state;
  SkipMore(target - state.pulled, *after.dealt_state);
  return after;
}

void Deal::AddState(int64_t pulled, Json state) {
  const int64_t delivered = delivered_ * round();
  const MutexLock lock(mutex_);
  states_.push_back({pulled, std::move(state)});
  while (states_.size() > 1 && states_[1].pulled <= delivered) states_.pop_front();
}

int64_t Deal::Rounds() const {
  const int64_t elements = end_;
  return elements < needed_ ? 0 : (elements - needed_) / round() + 1;
}

Result<std::unique_ptr<Iterator>> OpenDealt(const OpenContext& context, std::shared_ptr<Deal> deal,
                                            const Dataset& dealt) {
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<Iterator> all, context.OpenInputAlike(dealt));
  auto iterator = std::make_unique<DealtIterator>(context, std::move(deal), std::move(all));
  STOKER_RETURN_IF_ERROR(iterator->Begin());
  return iterator;
}

}  // namespace stoker
