#include "stoker/data/runtime/rank_state.h"

#include "stoker/data/core/iterator.h"
#include "stoker/data/core/saved_count.h"
#include "stoker/data/core/saved_unsigned.h"
#include "stoker/data/core/spec.h"

namespace stoker {
namespace {

bool IsDealt(const Json& shape) { return shape.contains("dealt"); }

// A sum or product of counts.
Result<int64_t> Counted(std::optional<int64_t> count) {
  if (count && *count <= kMostCounted) return *count;
  return DataLoss("the saved position is beyond what can be counted; it is damaged");
}

}  // namespace

Status SavedInAnyOrder() {
  return FailedPrecondition(
      "the position was saved by a pass that hands out elements in any order, which only one rank "
      "alone continues; set `deterministic: true` where ranks are to change");
}

Result<Deal::Start> TakeApart(const Json& state, const Json& shape,
                              const std::vector<int64_t>& group_sizes) {
  Deal::Start start;
  int64_t skipped = 0;  // elements of the stage at hand
  Json at = state;
  for (const Json* in_shape = &shape; !IsDealt(*in_shape); in_shape = &in_shape->at("input")) {
    if (at.contains("beyond")) return SavedInAnyOrder();
    if (in_shape->contains("epoch")) {
      STOKER_ASSIGN_OR_RETURN(start.epoch, SavedUnsigned(at, "epoch"));
    }
    if (in_shape->contains("read_again")) {
      STOKER_ASSIGN_OR_RETURN(const int64_t read_again, SavedCount("ranks", at, "read_again"));
      STOKER_ASSIGN_OR_RETURN(skipped, Counted(AddSizes(skipped, read_again)));
    }
    if (in_shape->contains("batches")) {
      STOKER_ASSIGN_OR_RETURN(const int64_t batches, SavedCount("ranks", at, "batches"));
      STOKER_ASSIGN_OR_RETURN(const int64_t number, Counted(AddSizes(batches, skipped)));
      STOKER_ASSIGN_OR_RETURN(skipped,
                              Counted(MultiplySizes(skipped, group_sizes[start.numbers.size()])));
      start.numbers.push_back(number);
    }
    STOKER_ASSIGN_OR_RETURN(at, SavedObject(at, "input"));
  }
  if (at.contains("skip")) STOKER_RETURN_IF_ERROR(SavedInteger(at, "skip").status());
  SkipMore(skipped, at);
  start.dealt_state = std::move(at);
  return start;
}

Json PutTogether(const Deal::Start& start, const Json& shape) {
  Json state = shape;
  Json* at = &state;
  size_t level = 0;
  for (; !IsDealt(*at); at = &at->at("input")) {
    if (at->contains("read_again")) (*at)["read_again"] = 0;
    if (at->contains("batches")) (*at)["batches"] = start.numbers[level++];
  }
  *at = *start.dealt_state;
  return state;
}

}  // namespace stoker
