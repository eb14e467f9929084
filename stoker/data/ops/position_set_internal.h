// A set of positions, one bit each, whose members, and those that are none, are found by number.
#pragma once

#include <cstdint>
#include <vector>

namespace stoker {

// Filled by Add, then only read; thread-safe then. Memory: 1.13 bits a position, or up to
// twice that after it has grown.
class PositionSet {
 public:
  // Appends the next position.
  void Add(bool member);

  int64_t size() const { return size_; }
  // Returns how many positions are members, or are none.
  int64_t Count(bool member) const { return member ? members_ : size_ - members_; }
  // Returns the position of member number `i`, or of the i-th that is none. REQUIRES: 0 <= i <
  // Count(member). O(log size).
  int64_t Find(bool member, int64_t i) const;
  int64_t bytes() const;

 private:
  static constexpr int64_t kWordBits = 64;
  static constexpr int64_t kBlockWords = 8;
  static constexpr int64_t kBlockBits = kWordBits * kBlockWords;

  // Returns how many members, or others, precede a block.
  int64_t Before(bool member, int64_t block) const;

  std::vector<uint64_t> words_;
  std::vector<int64_t> before_;  // members before each block
  int64_t size_ = 0, members_ = 0;
};

}  // namespace stoker
