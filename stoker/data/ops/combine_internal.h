// What the operators with several inputs have in common.
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

// The Spec that elements of all inputs fulfil: extents that differ are -1. Errors: fields whose
// names, dtypes or numbers of dimensions differ, or their order; the message, begun by `who`, gives
// the inputs' numbers and both Specs.
Result<Spec> CommonSpec(std::string_view who, const std::vector<Dataset>& inputs);

// The key of an element of input `input` of `inputs`: another for each (input, key there), and the
// same whenever and in whatever order the inputs are read. OutOfRange beyond 63 bits.
Result<SampleKey> KeyOfInput(const SampleKey& key, int64_t input, int64_t inputs);

// Whether all inputs can make elements again from their keys, and the element of `node` with a key
// that KeyOfInput made.
bool AllRereadable(const std::vector<Dataset>& inputs);
Result<Element> ReadKeyOfInput(const DatasetNode& node, const SampleKey& key,
                               const ReadContext& context);

// Iterators over all inputs, and their states as a list under "inputs".
Result<std::vector<std::unique_ptr<Iterator>>> OpenAll(const OpenContext& context,
                                                       const std::vector<Dataset>& inputs);
Result<Json> SaveAll(const std::vector<std::unique_ptr<Iterator>>& inputs);
Status RestoreAll(const Json& state, const std::vector<std::unique_ptr<Iterator>>& inputs);

// Where an element of a combination by position comes from.
struct Place {
  int64_t input;
  int64_t position;  // in that input
};

// The bytes that reading `count` elements of any of the inputs may ask for, and gathering them.
std::optional<int64_t> MemoryToGather(const DatasetNode& node, int64_t count);

// Element of `node` at `place`, with its key (KeyOfInput).
Result<Element> ReadPlace(const DatasetNode& node, const Place& place, const ReadContext& context);

// The same for many, in their order: one ReadRows for each input that has some of them.
Result<Rows> GatherPlaces(const DatasetNode& node, std::span<const Place> places,
                          const ReadContext& context);

}  // namespace stoker
