// Names of the rows of a batch, for messages.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "stoker/data/core/dataset.h"

namespace stoker {

// Returns words for the middle of a sentence; at least one row.
using RowNames = std::function<std::string(const SampleKey& batch, std::span<const int64_t> rows)>;

// Names them by their place: "sample 3 of batch 12 of epoch 1 (batches and samples are numbered
// from 0)".
std::string PlacesInBatch(const SampleKey& batch, std::span<const int64_t> rows);

// Names them by the samples' numbers in their source and, if each has one, their files: "samples 17
// (cats/a.png), 503 (cats/b.png) of data.train (numbered from 0)"; by their place if the samples
// are unknown (data/core/batch_samples.h).
//   batches  the pipeline of the keys, in a pass with the seed `seed`; the result keeps it alive
//   field    the field whose files to name
//   name     of the dataset, "data.train"
RowNames NamesInSource(Dataset batches, uint64_t seed, std::string field, std::string name);

}  // namespace stoker
