#include "stoker/data/ops/choice_plan_internal.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "stoker/base/permutation.h"

namespace stoker {
namespace {

// Long enough that a block's order looks random, short enough to be made in no time.
constexpr int64_t kBlock = 256;
constexpr int64_t kFineBlock = 16384;
constexpr int64_t kMaxDenominator = 1000;
constexpr int64_t kNoEnd = std::numeric_limits<int64_t>::max();
// This many blocks count as endless: their choices might not be counted in 64 bits.
constexpr int64_t kUncountable = kNoEnd >> 32;

// The weights as integers with the sum `denominator`, if they are such; else empty.
std::vector<int64_t> AsIntegers(const std::vector<double>& weights, double sum,
                                int64_t denominator) {
  constexpr double kClose = 1e-9;
  std::vector<int64_t> integers;
  for (const double weight : weights) {
    const double scaled = weight / sum * static_cast<double>(denominator);
    if (std::abs(scaled - std::round(scaled)) > kClose * scaled) return {};
    integers.push_back(std::llround(scaled));
  }
  return integers;
}

// Largest remainders, but at least 1 for each weight that is not 0.
std::vector<int64_t> Apportion(const std::vector<double>& weights, double sum, int64_t total) {
  std::vector<int64_t> shares;
  std::vector<std::pair<double, size_t>> remainders;
  for (size_t i = 0; i < weights.size(); ++i) {
    const double exact = weights[i] / sum * static_cast<double>(total);
    shares.push_back(weights[i] == 0 ? 0 : std::max<int64_t>(1, std::llround(std::floor(exact))));
    if (weights[i] != 0) remainders.emplace_back(static_cast<double>(shares[i]) - exact, i);
  }
  std::ranges::sort(remainders);
  int64_t missing = total - std::accumulate(shares.begin(), shares.end(), int64_t{0});
  for (size_t i = 0; missing > 0; ++i, --missing)
    ++shares[remainders[i % remainders.size()].second];
  return shares;
}

std::vector<int32_t> BlockOf(const std::vector<int64_t>& shares) {
  std::vector<int32_t> block;
  for (size_t i = 0; i < shares.size(); ++i)
    block.insert(block.end(), static_cast<size_t>(shares[i]), static_cast<int32_t>(i));
  return block;
}

// a * b / c without overflow of the product.
int64_t MulDiv(int64_t a, int64_t b, int64_t c, bool up) {
  const __int128 product = static_cast<__int128>(a) * b;
  return static_cast<int64_t>((product + (up ? c - 1 : 0)) / c);
}

// Of the inputs that have a share, the one whose `left` lasts for the fewest (or most) blocks.
std::optional<size_t> Limiting(const std::vector<int64_t>& share, const std::vector<int64_t>& left,
                               bool fewest) {
  std::optional<size_t> found;
  for (size_t i = 0; i < share.size(); ++i) {
    if (share[i] == 0 || left[i] == kNoEnd) continue;
    if (!found) {
      found = i;
      continue;
    }
    const __int128 mine = static_cast<__int128>(left[i]) * share[*found];
    const __int128 best = static_cast<__int128>(left[*found]) * share[i];
    if (fewest ? mine < best : mine > best) found = i;
  }
  return found;
}

// The position, in `block` repeated without end, of the first choice for which `input` has no
// element left.
int64_t FirstWithout(const std::vector<int32_t>& block, int32_t input, int64_t left) {
  const int64_t share = std::ranges::count(block, input);
  if (share == 0 || left == kNoEnd) return kNoEnd;
  int64_t rank = left % share;
  int64_t slot = 0;
  while (block[static_cast<size_t>(slot)] != input || rank-- > 0) ++slot;
  return left / share * std::ssize(block) + slot;
}

// Which inputs have a place in interleave's cycle, and what they have left.
class InterleavedCycle {
 public:
  InterleavedCycle(std::vector<int64_t>& left, int64_t places, int64_t turn)
      : left_(left), turn_(turn), places_(static_cast<size_t>(places), kFree) {
    for (size_t i = 0; i < places_.size(); ++i) Fill(i);
  }

  bool AllEnded() const {
    return std::ranges::all_of(places_, [](int64_t input) { return input == kFree; });
  }

  // How many rounds there are in which every input has a whole turn, and what one is (nothing
  // if there are none); they are done with the call. False if a round has more choices than
  // `most`, which are then not laid out: a turn may be as long as the user likes.
  bool FullRounds(int64_t most, int64_t& rounds, std::vector<int32_t>& round) {
    rounds = kNoEnd;
    int64_t inputs = 0;
    for (const int64_t input : places_) {
      if (input == kFree) continue;
      ++inputs;
      rounds = std::min(rounds, LeftOf(input) == kNoEnd ? kNoEnd : LeftOf(input) / turn_);
    }
    if (rounds == 0) return true;
    if (turn_ > most / inputs) return false;
    for (const int64_t input : places_) {
      if (input == kFree) continue;
      round.insert(round.end(), static_cast<size_t>(turn_), static_cast<int32_t>(input));
      if (LeftOf(input) != kNoEnd && rounds != kNoEnd) LeftOf(input) -= rounds * turn_;
    }
    return true;
  }

  // The next round, whose turns may be short, and in which places that are free are filled. False
  // if it has more choices than `most`.
  bool OneRound(int64_t most, std::vector<int32_t>& round) {
    for (size_t i = 0; i < places_.size(); ++i) {
      if (places_[i] == kFree || LeftOf(places_[i]) == 0) Fill(i);
      if (places_[i] == kFree) continue;
      int64_t& left = LeftOf(places_[i]);
      const int64_t taken = std::min(turn_, left);
      if (taken > most - std::ssize(round)) return false;
      round.insert(round.end(), static_cast<size_t>(taken), static_cast<int32_t>(places_[i]));
      if (left != kNoEnd) left -= taken;
    }
    for (size_t i = 0; i < places_.size(); ++i) {
      if (places_[i] != kFree && LeftOf(places_[i]) == 0 && next_ == left_.size())
        places_[i] = kFree;
    }
    return true;
  }

 private:
  static constexpr int64_t kFree = -1;
  int64_t& LeftOf(int64_t input) { return left_[static_cast<size_t>(input)]; }
  // The next input that is not empty.
  void Fill(size_t place) {
    while (next_ < left_.size() && left_[next_] == 0) ++next_;
    places_[place] = next_ < left_.size() ? static_cast<int64_t>(next_++) : kFree;
  }

  std::vector<int64_t>& left_;
  const int64_t turn_;
  std::vector<int64_t> places_;
  size_t next_ = 0;
};

std::vector<int64_t> LeftOf(const std::vector<Cardinality>& lengths) {
  std::vector<int64_t> left;
  for (const Cardinality& length : lengths) left.push_back(length.value());  // infinite: kNoEnd
  return left;
}

bool AnyUnknown(const std::vector<Cardinality>& lengths) {
  return std::ranges::find(lengths, Cardinality::Unknown()) != lengths.end();
}

}  // namespace

std::vector<int64_t> BlockShares(const std::vector<double>& weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (int64_t denominator = 1; denominator <= kMaxDenominator; ++denominator) {
    std::vector<int64_t> shares = AsIntegers(weights, sum, denominator);
    if (shares.empty()) continue;
    const int64_t times = (kBlock + denominator - 1) / denominator;
    for (int64_t& share : shares) share *= times;
    return shares;
  }
  return Apportion(weights, sum, std::max<int64_t>(kFineBlock, 16 * std::ssize(weights)));
}

void ChoicePlan::AddRun(std::vector<int32_t> block, bool shuffled, int64_t length) {
  if (length == 0 || block.empty()) return;
  Run run{.begin = length_.value(),
          .block = std::move(block),
          .shuffled = shuffled,
          .share = std::vector<int64_t>(taken_.size(), 0),
          .before = taken_};
  for (const int32_t input : run.block) ++run.share[static_cast<size_t>(input)];
  if (length == kNoEnd) {
    length_ = Cardinality::Infinite();
  } else {
    const int64_t blocks = length / std::ssize(run.block);
    for (size_t i = 0; i < taken_.size(); ++i) taken_[i] += blocks * run.share[i];
    for (int64_t j = 0; j < length % std::ssize(run.block); ++j)
      ++taken_[static_cast<size_t>(run.block[static_cast<size_t>(j)])];
    length_ = Cardinality::Of(length_.value() + length);
  }
  runs_.push_back(std::move(run));
}

void ChoicePlan::AddShares(const std::vector<int64_t>& share, int64_t blocks,
                           const std::vector<int64_t>& rest) {
  const int64_t block = std::accumulate(share.begin(), share.end(), int64_t{0});
  AddRun(BlockOf(share), /*shuffled=*/true, blocks * block);
  std::vector<int32_t> last = BlockOf(rest);
  const int64_t last_length = std::ssize(last);
  AddRun(std::move(last), /*shuffled=*/true, last_length);
}

ChoicePlan ChoicePlan::Weighted(const std::vector<double>& weights,
                                const std::vector<Cardinality>& lengths, WhenExhausted policy) {
  ChoicePlan plan(weights.size());
  std::vector<double> active = weights;
  if (AnyUnknown(lengths)) {
    plan.AddRun(BlockOf(BlockShares(active)), /*shuffled=*/true, kNoEnd);
    return plan;
  }
  std::vector<int64_t> left = LeftOf(lengths);
  const bool repeat = policy == WhenExhausted::kRepeat;
  for (size_t i = 0; i < left.size() && repeat; ++i) {
    if (left[i] == 0) active[i] = 0;  // there is nothing to repeat
  }
  while (std::ranges::any_of(active, [](double weight) { return weight > 0; })) {
    const std::vector<int64_t> share = BlockShares(active);
    const std::optional<size_t> limit = Limiting(share, left, /*fewest=*/!repeat);
    if (!limit || (repeat && std::ranges::find(left, kNoEnd) != left.end())) {
      plan.AddRun(BlockOf(share), /*shuffled=*/true, kNoEnd);
      return plan;
    }
    const int64_t blocks = left[*limit] / share[*limit];
    if (blocks > kUncountable) {
      plan.AddRun(BlockOf(share), /*shuffled=*/true, kNoEnd);
      return plan;
    }
    const int64_t over = left[*limit] % share[*limit];
    std::vector<int64_t> rest;
    for (size_t i = 0; i < share.size(); ++i)
      rest.push_back(MulDiv(share[i], over, share[*limit], /*up=*/repeat));
    plan.AddShares(share, blocks, rest);
    if (policy != WhenExhausted::kContinue) return plan;
    for (size_t i = 0; i < share.size(); ++i) {
      if (left[i] != kNoEnd) left[i] = lengths[i].value() - plan.taken_[i];
      if (left[i] == 0) active[i] = 0;
    }
  }
  return plan;
}

ChoicePlan ChoicePlan::Pattern(const std::vector<int64_t>& pattern,
                               const std::vector<Cardinality>& lengths, WhenExhausted policy) {
  ChoicePlan plan(lengths.size());
  std::vector<int32_t> block(pattern.begin(), pattern.end());
  if (AnyUnknown(lengths)) {
    plan.AddRun(std::move(block), /*shuffled=*/false, kNoEnd);
    return plan;
  }
  while (!block.empty()) {
    int64_t end = kNoEnd;
    int32_t ended = 0;
    for (size_t i = 0; i < lengths.size(); ++i) {
      const int64_t length = lengths[i].value();
      const int64_t left = length == kNoEnd ? kNoEnd : length - plan.taken_[i];
      const int64_t at = FirstWithout(block, static_cast<int32_t>(i), left);
      if (at < end) {
        end = at;
        ended = static_cast<int32_t>(i);
      }
    }
    plan.AddRun(block, /*shuffled=*/false, end);
    if (policy == WhenExhausted::kStop || end == kNoEnd) return plan;
    std::rotate(block.begin(), block.begin() + end % std::ssize(block), block.end());
    std::erase(block, ended);
  }
  return plan;
}

std::optional<ChoicePlan> ChoicePlan::Turns(const std::vector<Cardinality>& lengths, int64_t places,
                                            int64_t turn) {
  constexpr int64_t kMaxChoices = 1 << 20;
  ChoicePlan plan(lengths.size());
  std::vector<int64_t> left = LeftOf(lengths);
  int64_t choices = 0;
  for (InterleavedCycle cycle(left, places, turn); !cycle.AllEnded();) {
    // As many rounds as no input ends in, then the round in which one does.
    int64_t rounds = 0;
    std::vector<int32_t> block;
    if (!cycle.FullRounds(kMaxChoices - choices, rounds, block)) return std::nullopt;
    const int64_t size = std::ssize(block);
    choices += size;
    if (rounds > kUncountable) {
      plan.AddRun(std::move(block), /*shuffled=*/false, kNoEnd);
      return plan;
    }
    plan.AddRun(std::move(block), /*shuffled=*/false, rounds * size);
    std::vector<int32_t> round;
    if (!cycle.OneRound(kMaxChoices - choices, round)) return std::nullopt;
    const int64_t length = std::ssize(round);
    choices += length;
    plan.AddRun(std::move(round), /*shuffled=*/false, length);
  }
  return plan;
}

bool ChoicePlan::shuffled() const { return std::ranges::any_of(runs_, &Run::shuffled); }

int64_t ChoicePlan::TakenOf(size_t input) const { return taken_[input]; }

std::shared_ptr<const ChoicePlan::Ordered> ChoicePlan::Order(const OrderKey& key) const {
  auto ordered = std::make_shared<Ordered>();
  ordered->plan_ = this;
  for (const Run& run : runs_) {
    const int64_t size = std::ssize(run.block);
    const IndexPermutation order(run.shuffled ? size : 0, key.seed, key.epoch, key.stage);
    std::vector<int32_t> ranks(taken_.size(), 0);
    std::vector<Ordered::Slot> slots(run.block.size());
    for (int64_t j = 0; j < size; ++j) {
      const int32_t input = run.block[static_cast<size_t>(run.shuffled ? order(j) : j)];
      slots[static_cast<size_t>(j)] = {input, ranks[static_cast<size_t>(input)]++};
    }
    ordered->runs_.push_back(std::move(slots));
  }
  return ordered;
}

int64_t ChoicePlan::OrderBytes() const {
  int64_t choices = 0;
  for (const Run& run : runs_) choices += std::ssize(run.block);
  return choices * static_cast<int64_t>(sizeof(Ordered::Slot));
}

std::shared_ptr<const ChoicePlan::Ordered> ChoiceOrders::Get(const OrderKey& key) const {
  const OrderKey decisive = plan_.shuffled() ? key : OrderKey{};
  return kept_.Get(decisive, plan_.OrderBytes(), [&] { return plan_.Order(decisive); });
}

Place ChoicePlan::Ordered::At(int64_t position) const {
  const auto after = std::ranges::upper_bound(plan_->runs_, position, {}, &Run::begin);
  const Run& run = *std::prev(after);
  const int64_t in_run = position - run.begin, size = std::ssize(run.block);
  const Slot slot = runs_[static_cast<size_t>(after - plan_->runs_.begin() - 1)]
                         [static_cast<size_t>(in_run % size)];
  const auto input = static_cast<size_t>(slot.input);
  return {slot.input, run.before[input] + in_run / size * run.share[input] + slot.rank};
}

}  // namespace stoker
