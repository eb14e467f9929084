// The order of `balance`: all classes equally often, and in each class every element equally often.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <unordered_map>
#include <vector>

#include "stoker/data/core/shared_permutations.h"

namespace stoker {

// The elements of each class, classes numbered from 0 by ascending label. Immutable. 8 bytes an
// element.
class ClassTable {
 public:
  explicit ClassTable(const std::vector<int64_t>& labels);

  int64_t classes() const { return static_cast<int64_t>(begins_.size()) - 1; }
  int64_t size(int64_t of_class) const { return begin(of_class + 1) - begin(of_class); }
  // Returns the input position of element number `i` of a class.
  int64_t element(int64_t of_class, int64_t i) const {
    return elements_[static_cast<size_t>(begin(of_class) + i)];
  }

 private:
  int64_t begin(int64_t of_class) const { return begins_[static_cast<size_t>(of_class)]; }

  std::vector<int64_t> begins_;    // of each class in elements_, and the end
  std::vector<int64_t> elements_;  // by class, then by place in the input
};

// Position i of an endless order of elements. Each run of `classes` positions from a multiple of it
// on has every class once, in its own order; each class visits all its elements in random order,
// then again in another. So after any number of positions two classes differ by at most one, and so
// do two elements of a class. O(1) memory beside the table, and any position at once.
//
// It keeps the last permutations, of the run and of each class visited, that serve further
// positions: consecutive positions are cheap, and one position alone costs at most two
// permutations, for any number of classes. Not thread-safe; made anew for each read. The order is
// part of the format of a run.
class BalancedOrder {
 public:
  // Both must outlive it.
  //   positions  about how many consecutive positions will be read: small permutations are kept
  //              only if they are used again
  BalancedOrder(const ClassTable& table, const SharedPermutations& permutations, uint64_t seed,
                uint64_t epoch, uint64_t stage,
                int64_t positions = std::numeric_limits<int64_t>::max());

  // Returns the input position of the element at position i.
  int64_t operator()(int64_t i);

  // Returns how many permutations it keeps.
  int64_t kept() const { return std::ssize(rounds_) + (run_.order ? 1 : 0); }

 private:
  struct Kept {
    int64_t number = -1;  // of the run, or of the round through a class
    std::shared_ptr<const IndexPermutation> order;
  };
  const IndexPermutation& Find(Kept& kept, int64_t number, int64_t n, uint64_t key);
  // Returns position i of the permutation that Find would return, without making it.
  int64_t PositionIn(int64_t n, uint64_t key, int64_t i) const;

  const ClassTable& table_;
  const SharedPermutations& permutations_;
  const uint64_t seed_, epoch_, stage_;
  const bool keeps_runs_, keeps_rounds_;
  Kept run_;
  std::unordered_map<int64_t, Kept> rounds_;  // by class
};

}  // namespace stoker
