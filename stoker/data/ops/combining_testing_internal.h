// What the tests of operators with several inputs share. Included by tests only.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "stoker/data/map.h"
#include "stoker/data/registry.h"
#include "stoker/data/testing.h"

namespace stoker {

// n elements {field: int64[]} with the values first, first + 1, ...
inline Dataset Numbers(int64_t n, int64_t first = 0, const std::string& field = "x") {
  Array values = Array::Allocate(DType::kInt64, {n});
  for (int64_t i = 0; i < n; ++i) values.values<int64_t>()[static_cast<size_t>(i)] = first + i;
  return *FromArrays({{field, values}});
}

// The same elements, readable only in order.
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

// The values of the first field over a whole pass, inline.
inline std::vector<int64_t> ValuesOf(const Result<Dataset>& dataset, const PassOptions& pass = {}) {
  const Result<std::vector<Element>> elements = ReadAll(*dataset, Runtime::Inline(), pass);
  EXPECT_THAT(elements, IsOk());
  return elements.ok() ? Labels(*elements, 0) : std::vector<int64_t>{};
}

// Saved after `done` elements under `first` and continued under `second`, the pass gives `whole`.
inline void ExpectResumes(const Dataset& dataset, const PassOptions& pass, size_t done,
                          const Runtime& first, const Runtime& second,
                          const std::vector<Element>& whole) {
  SCOPED_TRACE(testing::Message() << "saved after " << done);
  STOKER_ASSERT_OK_AND_ASSIGN(const auto saved, dataset.Open(first, pass));
  std::vector<Element> pieces;
  for (size_t i = 0; i < done; ++i) {
    STOKER_ASSERT_OK_AND_ASSIGN(std::optional<Element> element, saved->Next());
    ASSERT_TRUE(element);
    pieces.push_back(*std::move(element));
  }
  STOKER_ASSERT_OK_AND_ASSIGN(const Json state, saved->Save());
  STOKER_ASSERT_OK_AND_ASSIGN(const auto resumed, dataset.Open(second, pass));
  STOKER_ASSERT_OK(resumed->Restore(Json::parse(state.dump())));
  STOKER_ASSERT_OK_AND_ASSIGN(const Json again, resumed->Save());
  EXPECT_EQ(again, state);
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> rest, ReadAll(*resumed));
  pieces.insert(pieces.end(), rest.begin(), rest.end());
  ASSERT_EQ(Fingerprint(pieces), Fingerprint(whole));
}

// What every pipeline promises: the same bytes inline and on 1, 2 and 8 threads, keys that no two
// elements share, and an exact continuation from every position under both runtimes.
inline void ExpectKeepsItsPromises(const Result<Dataset>& made, const PassOptions& pass = {}) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, made);
  SCOPED_TRACE(dataset.ToString());
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> whole,
                              ReadAll(dataset, Runtime::Inline(), pass));
  if (dataset.cardinality().known()) {
    ASSERT_EQ(std::ssize(whole), dataset.cardinality().value());
  }
  std::set<std::pair<uint64_t, int64_t>> keys;
  for (const Element& element : whole) keys.emplace(element.key.epoch, element.key.index);
  EXPECT_EQ(keys.size(), whole.size()) << "elements share keys";
  for (const int threads : {1, 2, 8}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> got,
                                ReadAll(dataset, Runtime::Threaded(threads), pass));
    ASSERT_EQ(Fingerprint(got), Fingerprint(whole)) << threads << " threads";
  }
  const Runtime runtimes[] = {Runtime::Inline(), Runtime::Threaded(2)};
  for (size_t done = 0; done <= whole.size(); ++done) {
    for (const Runtime& first : runtimes) {
      for (const Runtime& second : runtimes)
        ExpectResumes(dataset, pass, done, first, second, whole);
    }
  }
}

// A recipe's pipeline.
inline Result<Dataset> FromRecipe(const std::string& yaml, ConfigNode* filled = nullptr) {
  STOKER_ASSIGN_OR_RETURN(const ConfigNode node, ParseYaml(yaml, "r.yaml"));
  return BuildPipeline(node, "/", filled);
}

}  // namespace stoker
