// Which samples a batch was made of. A batch knows its own number only; where its pipeline is read
// by position, that is enough to find out.
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
  std::string file;   // that `field` was read from; empty where it has none of its own
};

// Those in the rows `rows` of the batch that a pass over `batches` with the seed `seed` gave with
// the key `batch`. Reads them again, one by one: for messages. Errors: kUnimplemented where the
// batches are not read by position, or what is between them and the end of the pipeline makes other
// elements of them; kOutOfRange where there is no such batch or row; those of reading.
//   field  whose file is wanted
Result<std::vector<BatchSample>> SamplesInBatch(const Dataset& batches, uint64_t seed,
                                                const SampleKey& batch,
                                                std::span<const int64_t> rows,
                                                std::string_view field);

}  // namespace stoker
