// The elements of a pass that the consumer has: all before a frontier and, if chunks are delivered
// as they finish, some beyond it. Saved positions are made from it.
#pragma once

#include <cstdint>
#include <map>

#include "stoker/base/json.h"
#include "stoker/base/status.h"

namespace stoker {

// Positions count from 0. Not thread-safe.
class Delivered {
 public:
  explicit Delivered(int64_t frontier = 0) : frontier_(frontier) {}

  // Returns the first position that has not been delivered.
  int64_t frontier() const { return frontier_; }
  // Returns the position after the last delivered one.
  int64_t end() const { return beyond_.empty() ? frontier_ : beyond_.rbegin()->second; }
  bool has_beyond() const { return !beyond_.empty(); }

  // Adds begin..end-1, none of which has been delivered before.
  void Add(int64_t begin, int64_t end);

  // Returns the first position from `from` on that has not been delivered.
  int64_t FirstMissing(int64_t from) const;
  // The first position from `from` on that has been delivered; the largest number if there is none.
  int64_t FirstDelivered(int64_t from) const;

  // Writes the ranges beyond the frontier to `state`, as "beyond": [[begin, end], ...] with
  // `origin` subtracted; writes nothing if there are none.
  void SaveBeyond(int64_t origin, Json& state) const;
  // The inverse of SaveBeyond. Errors: ranges that are empty, overlap, or lie below the frontier.
  static Result<Delivered> Restore(int64_t frontier, const Json& state);

 private:
  int64_t frontier_;
  std::map<int64_t, int64_t> beyond_;  // begin -> end, apart from each other and from the frontier
};

}  // namespace stoker
