// What messages call the rows of a batch.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "stoker/data/core/dataset.h"

namespace stoker {

// In words for the middle of a sentence; at least one row.
using RowNames = std::function<std::string(const SampleKey& batch, std::span<const int64_t> rows)>;

// By their place: "sample 3 of batch 12 of epoch 1 (batches and samples are numbered from 0)".
std::string PlacesInBatch(const SampleKey& batch, std::span<const int64_t> rows);

// By the samples' numbers in their source and, where each has one, their files:
// "samples 17 (cats/a.png), 503 (cats/b.png) of data.train (numbered from 0)"; by their place where
// the pipeline does not tell (data/core/batch_samples.h).
//   batches  of which the keys are, in a pass with the seed `seed`; kept by the result
//   field    whose files are meant
//   name     of the dataset, "data.train"
RowNames NamesInSource(Dataset batches, uint64_t seed, std::string field, std::string name);

}  // namespace stoker
