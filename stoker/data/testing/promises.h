// What every pipeline promises, checked on one dataset. Only tests include it.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "stoker/data/testing/testing.h"

namespace stoker {

// Positions of a whole pass under `runtime`: before the first element, after each, and at the end.
inline Result<std::vector<Json>> SaveEverywhere(const Dataset& dataset, const Runtime& runtime,
                                                const PassOptions& pass) {
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<Iterator> iterator, dataset.Open(runtime, pass));
  std::vector<Json> states;
  while (true) {
    STOKER_ASSIGN_OR_RETURN(Json state, iterator->Save());
    states.push_back(std::move(state));
    STOKER_ASSIGN_OR_RETURN(const std::optional<Element> element, iterator->Next());
    if (!element) break;
  }
  STOKER_ASSIGN_OR_RETURN(Json at_the_end, iterator->Save());
  states.push_back(std::move(at_the_end));
  return states;
}

// Returns the rest of a pass from `state`, by way of a position that is saved as soon as it is
// restored.
inline Result<std::vector<Element>> ReadRest(const Dataset& dataset, const Json& state,
                                             const Runtime& first, const Runtime& second,
                                             const PassOptions& pass) {
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<Iterator> between, dataset.Open(first, pass));
  STOKER_RETURN_IF_ERROR(between->Restore(state));
  STOKER_ASSIGN_OR_RETURN(const Json again, between->Save());
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<Iterator> iterator, dataset.Open(second, pass));
  STOKER_RETURN_IF_ERROR(iterator->Restore(again));
  return ReadAll(*iterator);
}

inline void ExpectKeysOfTheirOwn(const std::vector<Element>& elements) {
  std::set<std::pair<uint64_t, int64_t>> keys;
  for (const Element& element : elements) {
    const auto [epoch, index] = element.key;
    EXPECT_TRUE(keys.emplace(epoch, index).second)
        << "two elements have the key " << epoch << "/" << index;
  }
}

// The pipeline can be built; it gives the same bytes inline and on 1, 2 and 8 threads, as many
// elements as announced, each with a key of its own; and from every position saved under either
// runtime the same rest under either. For passes of some tens of elements.
inline void ExpectKeepsItsPromises(const Result<Dataset>& made,
                                   const PassOptions& pass = {.seed = 1}) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, made);
  SCOPED_TRACE(dataset.ToString());
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> whole,
                              ReadAll(dataset, Runtime::Inline(), pass));
  if (dataset.cardinality().known()) {
    EXPECT_EQ(std::ssize(whole), dataset.cardinality().value());
  }
  ExpectKeysOfTheirOwn(whole);
  for (const int threads : {1, 2, 8}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> got,
                                ReadAll(dataset, Runtime::Threaded(threads), pass));
    ASSERT_EQ(Fingerprint(got), Fingerprint(whole)) << threads << " threads";
  }
  for (const Runtime& saver : {Runtime::Inline(), Runtime::Threaded(2)}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Json> states,
                                SaveEverywhere(dataset, saver, pass));
    ASSERT_EQ(states.size(), whole.size() + 2);
    for (size_t at = 0; at < states.size(); ++at) {
      const auto left = static_cast<std::ptrdiff_t>(std::min(at, whole.size()));
      const std::vector<Element> rest(whole.begin() + left, whole.end());
      for (const bool inline_first : {true, false}) {
        const Runtime first = inline_first ? Runtime::Inline() : Runtime::Threaded(2);
        const Runtime second = inline_first ? Runtime::Threaded(2) : Runtime::Inline();
        STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> got,
                                    ReadRest(dataset, states[at], first, second, pass));
        ASSERT_EQ(Fingerprint(got), Fingerprint(rest))
            << "saved after " << at << " elements: " << states[at];
      }
    }
  }
}

}  // namespace stoker
