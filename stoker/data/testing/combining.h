// What the tests of operators with several inputs share. Only tests include it.
#pragma once

#include <string>
#include <vector>

#include "stoker/data/nodes/map.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/testing/promises.h"
#include "stoker/data/testing/testing.h"

namespace stoker {

// n elements {field: int64[]} with the values first, first + 1, ...
inline Dataset Numbers(int64_t n, int64_t first = 0, const std::string& field = "x") {
  Array values = Array::Allocate(DType::kInt64, {n});
  for (int64_t i = 0; i < n; ++i) values.values<int64_t>()[static_cast<size_t>(i)] = first + i;
  return *FromArrays({{field, values}});
}

// Returns the same elements, readable only in order.
inline Dataset StreamedNumbers(int64_t n, int64_t first = 0, const std::string& field = "x") {
  const Dataset source = Numbers(n, first, field);
  return FromGenerator(source.spec(), [source](uint64_t) {
    std::shared_ptr<Iterator> elements = *source.Open(Runtime::Inline());
    return [elements] { return elements->Next(); };
  });
}

// Adds a random number of 0..999 times a million to each value.
inline Map AddMillions() {
  return {.function = [](Element& element, Rng& rng, Scratch& scratch) {
    Array value = scratch.NewArray(DType::kInt64, {});
    value.values<int64_t>()[0] =
        element.arrays[0].values<int64_t>()[0] + static_cast<int64_t>(rng.Below(1000)) * 1'000'000;
    element.arrays[0] = std::move(value);
    return OkStatus();
  }};
}

// Returns the values of the first field over a whole pass, inline.
inline std::vector<int64_t> ValuesOf(const Result<Dataset>& dataset, const PassOptions& pass = {}) {
  const Result<std::vector<Element>> elements = ReadAll(*dataset, Runtime::Inline(), pass);
  EXPECT_THAT(elements, IsOk());
  return elements.ok() ? Labels(*elements, 0) : std::vector<int64_t>{};
}

// Returns a recipe's pipeline.
inline Result<Dataset> FromRecipe(const std::string& yaml, ConfigNode* filled = nullptr) {
  STOKER_ASSIGN_OR_RETURN(const ConfigNode node, ParseYaml(yaml, "r.yaml"));
  return BuildPipeline(node, "/", filled);
}

}  // namespace stoker
