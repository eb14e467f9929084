#include "stoker/data/nodes/flat_map.h"

#include <thread>

#include "stoker/data/nodes/map.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/testing/promises.h"

namespace stoker::flat_map_test {

using testing::ElementsAre;

// Element i makes i % 4 elements {part: int64[], noise: uint8[part]}; part 10 i, 10 i + 1, ...
FlatMap Parts() {
  return {.function = [](const Element& element, Rng& rng,
                         Scratch& scratch) -> Result<std::vector<Element>> {
            const int64_t label = element.arrays[1].values<int64_t>()[0];
            std::vector<Element> made;
            for (int64_t p = 0; p < label % 4; ++p) {
              Array part = scratch.NewArray(DType::kInt64, {});
              part.values<int64_t>()[0] = 10 * label + p;
              Array noise = scratch.NewArray(DType::kUInt8, {p});
              for (uint8_t& value : noise.values<uint8_t>())
                value = static_cast<uint8_t>(rng.Below(256));
              made.push_back({.arrays = {part, noise}});
            }
            return made;
          },
          .output = {{{"part", DType::kInt64, {}}, {"noise", DType::kUInt8, {-1}}}}};
}

TEST(FlatMap, HandsOutWhatTheFunctionMakesInOrder) {
  for (const Dataset& source : {NumberedImages(8), StreamedImages(8)}) {
    const Result<Dataset> dataset = source | Parts();
    EXPECT_EQ(dataset->spec(), Parts().output);
    EXPECT_EQ(dataset->cardinality(), Cardinality::Unknown());
    STOKER_ASSERT_OK_AND_ASSIGN(const auto elements, ReadAll(*dataset, Runtime::Threaded(2)));
    EXPECT_THAT(Labels(elements, 0), ElementsAre(10, 20, 21, 30, 31, 32, 50, 60, 61, 70, 71, 72));
    for (size_t i = 0; i < elements.size(); ++i)
      EXPECT_EQ(elements[i].key.index, static_cast<int64_t>(i));
  }
}

TEST(FlatMap, KeepsThePromisesOfAPipeline) {
  for (const Dataset& source : {NumberedImages(14), StreamedImages(14)}) {
    ExpectKeepsItsPromises(*(source | Parts()));
    ExpectKeepsItsPromises(*(source | Parts() | Repeat{.count = 2} | Prefetch{}));
  }
  ExpectKeepsItsPromises(*(NumberedImages(14) | Shuffle{} | Parts() | Prefetch{}));
}

TEST(FlatMap, OfFunctionsThatMakeNothingEnds) {
  FlatMap nothing = Parts();
  nothing.function = [](const Element&, Rng&, Scratch&) { return std::vector<Element>(); };
  ExpectKeepsItsPromises(*(NumberedImages(9) | nothing));
  EXPECT_TRUE(ReadAll(*(NumberedImages(9) | nothing), Runtime::Threaded(2))->empty());
}

// From the third on each call waits until another has begun, so one thread alone would not end.
// (How large elements are is known only after the first.)
TEST(FlatMap, CallsTheFunctionOnSeveralThreadsAtOnce) {
  std::atomic<int> inside = 0;
  std::atomic<bool> together = false;
  const FlatMap meet{.function = [&](const Element& element, Rng&, Scratch&) {
    ++inside;
    for (int waited = 0; element.key.index > 1 && waited < 5000 && !together; ++waited) {
      if (inside == 2) together = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    --inside;
    return std::vector<Element>{element};
  }};
  STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator,
                              (NumberedImages(20) | meet)->Open(Runtime::Threaded(2)));
  for (int i = 0; i < 4; ++i) STOKER_ASSERT_OK(iterator->Next());
  EXPECT_TRUE(together);
}

TEST(FlatMap, RestoringCallsTheFunctionAgainForOneElementAlone) {
  std::atomic<int> calls = 0;
  FlatMap counted = Parts();
  counted.function = [&calls, make = Parts().function](const Element& element, Rng& rng,
                                                       Scratch& scratch) {
    ++calls;
    return make(element, rng, scratch);
  };
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, NumberedImages(4000) | Shuffle{} | counted);
  STOKER_ASSERT_OK_AND_ASSIGN(const auto saved, dataset.Open(Runtime::Inline()));
  for (int i = 0; i < 5000; ++i) STOKER_ASSERT_OK(saved->Next());
  while (true) {  // to the first of several parts
    STOKER_ASSERT_OK_AND_ASSIGN(const auto element, saved->Next());
    if (element->arrays[0].values<int64_t>()[0] % 40 == 30) break;
  }
  STOKER_ASSERT_OK_AND_ASSIGN(const Json state, saved->Save());
  EXPECT_LT(state.dump().size(), 300u) << state;
  calls = 0;
  STOKER_ASSERT_OK_AND_ASSIGN(const auto resumed, dataset.Open(Runtime::Inline()));
  STOKER_ASSERT_OK(resumed->Restore(state));
  STOKER_ASSERT_OK(resumed->Next());
  EXPECT_EQ(calls, 1);
}

TEST(FlatMap, SaysWhichElementTheFunctionFailedOn) {
  FlatMap throws = Parts(), lies = Parts();
  throws.function = [](const Element& element, Rng&, Scratch&) -> Result<std::vector<Element>> {
    if (element.key.index == 5) throw std::runtime_error("broke");
    return std::vector<Element>();
  };
  lies.function = [](const Element& element, Rng&, Scratch&) {
    return std::vector<Element>{element};
  };
  for (const Dataset& source : {NumberedImages(9), StreamedImages(9)}) {
    for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(2)}) {
      EXPECT_THAT(
          ReadAll(*(source | throws), runtime),
          FailsWith(StatusCode::kInternal, "flat_map: element 5: the function threw: broke"));
      EXPECT_THAT(ReadAll(*(source | lies), runtime),
                  FailsWith(StatusCode::kInvalidArgument,
                            "flat_map: element 0: field 'part' is uint8[1, 4, 4]"));
    }
  }
}

TEST(FlatMap, NeedsAFunction) {
  EXPECT_THAT(NumberedImages(3) | FlatMap{},
              FailsWith(StatusCode::kInvalidArgument, "set FlatMap::function"));
  EXPECT_EQ((NumberedImages(3) | Parts())->node().Disturbs(), "makes other elements out of each");
}

}  // namespace stoker::flat_map_test
