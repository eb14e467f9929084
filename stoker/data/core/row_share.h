// The rows of each batch that are one rank's, where several ranks make a batch together.
#pragma once

#include <cstdint>
#include <optional>

#include "stoker/data/core/dataset.h"

namespace stoker {

// Of `rows` rows, rank r of n has r rows / n to (r + 1) rows / n, rounded down: consecutive ones,
// of all ranks together each row once, and none where there are fewer rows than ranks.
struct RowShare {
  int64_t rank = 0;
  int64_t world = 1;

  bool whole() const { return world == 1; }
  // REQUIRES: 0 <= rows < 2^31, the most that a batch has, and world < 2^31.
  int64_t Begin(int64_t rows) const { return rows * rank / world; }
  int64_t End(int64_t rows) const { return rows * (rank + 1) / world; }
  int64_t Count(int64_t rows) const { return End(rows) - Begin(rows); }
};

// Implemented by the nodes of batches that can make some of their rows without making the others,
// and by the stages after them that pass elements on.
class SharesRows {
 public:
  virtual ~SharesRows() = default;

  // Returns a dataset with the elements of this one, but with the rows of `share` alone; offsets of
  // ragged fields begin at 0 in each share. Keys and saved positions are the same. Nothing: not
  // possible, as for a stage whose input cannot do it.
  virtual std::optional<Dataset> OnlyRows(const RowShare& share) const = 0;

  // Returns the share that this node itself leaves of each batch, if it is such a dataset's batch
  // or cuts whole ones.
  virtual RowShare rows_made() const { return {}; }

 protected:
  // Returns OnlyRows of `input`.
  static std::optional<Dataset> OnlyRowsOf(const Dataset& input, const RowShare& share) {
    const auto* const shares = dynamic_cast<const SharesRows*>(&input.node());
    return shares == nullptr ? std::nullopt : shares->OnlyRows(share);
  }
};

}  // namespace stoker
