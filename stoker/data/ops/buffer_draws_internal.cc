#include "stoker/data/ops/buffer_draws_internal.h"

#include <algorithm>

#include "stoker/base/random.h"

namespace stoker {

size_t BufferDraws::Slot(int64_t draw, int64_t held) const {
  Rng rng(seed_, epoch_, static_cast<uint64_t>(draw), stage_);
  return rng.Below(static_cast<uint64_t>(held));
}

int64_t BufferDraws::Refills(const Progress& progress) const {
  if (progress.ended) return std::max<int64_t>(0, progress.pulled - size_);
  return std::max<int64_t>(0, progress.draws - 1);
}

bool BufferDraws::IsPossible(const Progress& progress) const {
  const auto [draws, pulled, ended] = progress;
  if (!ended) return draws == 0 ? pulled == 0 : pulled - size_ == draws - 1;
  // The end was found in place of a refill, or before the first draw.
  const int64_t least = pulled == 0 ? 0 : Refills(progress) + 1;
  return draws >= least && draws <= pulled;
}

BufferDraws::Contents BufferDraws::ContentsAfter(const Progress& progress) const {
  Contents contents;
  if (progress.draws == 0) return contents;
  const int64_t refills = Refills(progress);
  constexpr int64_t kUnseen = -1;
  std::vector<int64_t>& elements = contents.elements;
  elements.assign(static_cast<size_t>(std::min(size_, progress.pulled)), kUnseen);
  // Backwards: what a slot holds was put there after the last of the draws that emptied it.
  size_t seen = 0;
  for (int64_t draw = refills - 1; draw >= 0 && seen < elements.size(); --draw) {
    int64_t& element = elements[Slot(draw, size_)];
    if (element != kUnseen) continue;
    element = size_ + draw;
    ++seen;
  }
  for (size_t slot = 0; slot < elements.size(); ++slot) {
    if (elements[slot] == kUnseen) elements[slot] = static_cast<int64_t>(slot);
  }
  // From there on slots are closed; the last draw's is still open.
  for (int64_t draw = refills; draw + 1 < progress.draws; ++draw) {
    elements[Slot(draw, std::ssize(elements))] = elements.back();
    elements.pop_back();
  }
  contents.empty_slot = Slot(progress.draws - 1, std::ssize(elements));
  return contents;
}

}  // namespace stoker
