#include "stoker/data/ops/position_set_internal.h"

#include <bit>
#include <cstddef>

namespace stoker {

void PositionSet::Add(bool member) {
  if (size_ % kBlockBits == 0) before_.push_back(members_);
  if (size_ % kWordBits == 0) words_.push_back(0);
  if (member) words_.back() |= uint64_t{1} << (size_ % kWordBits);
  ++size_;
  members_ += member ? 1 : 0;
}

int64_t PositionSet::Before(bool member, int64_t block) const {
  const int64_t members = before_[static_cast<size_t>(block)];
  return member ? members : block * kBlockBits - members;
}

int64_t PositionSet::Find(bool member, int64_t i) const {
  int64_t low = 0, high = static_cast<int64_t>(before_.size());
  while (high - low > 1) {
    const int64_t middle = (low + high) / 2;
    (Before(member, middle) <= i ? low : high) = middle;
  }
  i -= Before(member, low);
  const auto bits_of = [&](int64_t word) {
    const uint64_t bits = words_[static_cast<size_t>(word)];
    return member ? bits : ~bits;
  };
  int64_t word = low * kBlockWords;
  uint64_t bits = bits_of(word);
  for (int count = std::popcount(bits); i >= count; count = std::popcount(bits)) {
    i -= count;
    bits = bits_of(++word);
  }
  for (; i > 0; --i) bits &= bits - 1;
  return word * kWordBits + std::countr_zero(bits);
}

int64_t PositionSet::bytes() const {
  return static_cast<int64_t>(words_.capacity() * sizeof(uint64_t) +
                              before_.capacity() * sizeof(int64_t));
}

}  // namespace stoker
