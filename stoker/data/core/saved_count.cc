#include "stoker/data/core/saved_count.h"

#include "stoker/data/core/iterator.h"

namespace stoker {

Result<int64_t> SavedCount(std::string_view who, const Json& state, const char* key, int64_t most) {
  STOKER_ASSIGN_OR_RETURN(const int64_t count, SavedInteger(state, key));
  if (count <= most) return count;
  return DataLoss(
      "{}: the saved position has '{}' {}, where {} is the most; it was saved by another pipeline "
      "or is damaged",
      who, key, count, most);
}

}  // namespace stoker
