// Finds the samples of a batch. A batch has only its own number; that is enough if its pipeline is
// read by position.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

struct BatchSample {
  int64_t index = 0;  // its number in its source
  std::string file;   // that `field` was read from; empty if it has none of its own
};

// Returns the samples in the rows `rows` of the batch with the key `batch` of a pass over `batches`
// with the seed `seed`. Reads them again, one by one: for messages. Errors: kUnimplemented if the
// batches are not read by position, or later stages make other elements of them; kOutOfRange if
// there is no such batch or row; those of reading.
//   field  whose file is wanted
Result<std::vector<BatchSample>> SamplesInBatch(const Dataset& batches, uint64_t seed,
                                                const SampleKey& batch,
                                                std::span<const int64_t> rows,
                                                std::string_view field);

}  // namespace stoker
