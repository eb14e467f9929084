// Shared by the operators with several inputs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"

namespace stoker {

bool AllRandomAccess(const std::vector<Dataset>& inputs);

// Returns the Spec that elements of all inputs satisfy: extents that differ are -1. Errors: fields
// whose names, dtypes or numbers of dimensions differ, or their order; the message, begun by `who`,
// gives the inputs' numbers and both Specs.
Result<Spec> CommonSpec(std::string_view who, const std::vector<Dataset>& inputs);

// Returns the key of an element of input `input` of `inputs`: a bijection of (input, key there),
// independent of the order of reading. OutOfRange beyond 63 bits.
Result<SampleKey> KeyOfInput(const SampleKey& key, int64_t input, int64_t inputs);

// Return whether all inputs can make elements again from their keys, and the element of `node` with
// a key that KeyOfInput made.
bool AllRereadable(const std::vector<Dataset>& inputs);
Result<Element> ReadKeyOfInput(const DatasetNode& node, const SampleKey& key,
                               const ReadContext& context);

// Iterators over all inputs, and their states as a list under "inputs".
Result<std::vector<std::unique_ptr<Iterator>>> OpenAll(const OpenContext& context,
                                                       const std::vector<Dataset>& inputs);
Result<Json> SaveAll(const std::vector<std::unique_ptr<Iterator>>& inputs);
Status RestoreAll(const Json& state, const std::vector<std::unique_ptr<Iterator>>& inputs);

// The origin of an element of a combination by position.
struct Place {
  int64_t input;
  int64_t position;  // in that input
};

// Returns an upper bound of the bytes for reading `count` elements of any of the inputs and
// gathering them.
std::optional<int64_t> MemoryToGather(const DatasetNode& node, int64_t count);

// Returns the element of `node` at `place`, with its key (KeyOfInput).
Result<Element> ReadPlace(const DatasetNode& node, const Place& place, const ReadContext& context);

// Does the same for many, in their order: one ReadRows for each input that has some of them.
Result<Rows> GatherPlaces(const DatasetNode& node, std::span<const Place> places,
                          const ReadContext& context);

}  // namespace stoker
