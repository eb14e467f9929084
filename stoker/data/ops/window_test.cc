#include "stoker/data/ops/window.h"

#include "stoker/data/nodes/held_input.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/filter.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/testing/promises.h"

namespace stoker::window_test {

using Windows = std::vector<std::vector<int64_t>>;

// By the definition, element by element.
Windows Expected(int64_t n, const Window& window) {
  Windows windows;
  for (int64_t begin = 0; begin < n; begin += window.shift.value_or(window.size)) {
    std::vector<int64_t> one;
    for (int64_t i = 0; i < window.size && begin + i * window.stride < n; ++i)
      one.push_back(begin + i * window.stride);
    if (window.drop_remainder && std::ssize(one) < window.size) continue;
    windows.push_back(one);
  }
  return windows;
}

Windows LabelsOf(const Result<Dataset>& dataset, const Runtime& runtime) {
  Windows windows;
  for (const Element& element : *ReadAll(*dataset, runtime)) windows.push_back(Labels({element}));
  return windows;
}

TEST(Window, HoldsTheElementsOfItsDefinition) {
  for (int64_t n = 0; n < 12; ++n) {
    for (const Window& window :
         {Window{.size = 3}, Window{.size = 3, .shift = 1}, Window{.size = 2, .shift = 3},
          Window{.size = 3, .shift = 1, .stride = 2}, Window{.size = 2, .shift = 7, .stride = 4},
          Window{.size = 1, .shift = 2}, Window{.size = 20, .shift = 4}}) {
      for (const bool drop : {false, true}) {
        Window dropping = window;
        dropping.drop_remainder = drop;
        for (const Dataset& source : {NumberedImages(n), StreamedImages(n)}) {
          const Result<Dataset> dataset = source | dropping;
          SCOPED_TRACE(dataset->ToString());
          const Windows expected = Expected(n, dropping);
          EXPECT_EQ(LabelsOf(dataset, Runtime::Inline()), expected);
          if (dataset->cardinality().known()) {
            EXPECT_EQ(dataset->cardinality().value(), std::ssize(expected));
          }
          const int64_t extent = dataset->spec().fields[1].shape[0];
          for (const auto& one : expected)
            EXPECT_TRUE(extent == kUnknownDim || extent == std::ssize(one));
        }
      }
    }
  }
}

TEST(Window, KeepsThePromisesOfAPipeline) {
  const Dataset filtered = *(NumberedImages(30) | Filter{.except = {3, 4, 11}});
  for (const Dataset& source : {NumberedImages(17), StreamedImages(17), filtered}) {
    ExpectKeepsItsPromises(*(source | Window{.size = 4, .shift = 1}));
    ExpectKeepsItsPromises(*(source | Window{.size = 3, .shift = 2, .stride = 2} | Prefetch{}));
    ExpectKeepsItsPromises(
        *(source | Window{.size = 2, .shift = 5, .drop_remainder = true} | Repeat{.count = 2}));
  }
  ExpectKeepsItsPromises(*(NumberedImages(17) | Shuffle{} | Window{.size = 4, .shift = 2} |
                           Shuffle{} | Repeat{.count = 2}));
  ExpectKeepsItsPromises(*(StreamedImages(200) | Window{.size = 90, .shift = 30}));
}

TEST(Window, IsByPositionWhereTheInputIs) {
  EXPECT_TRUE((NumberedImages(9) | Window{.size = 3})->node().random_access());
  EXPECT_EQ((NumberedImages(9) | Repeat{} | Window{.size = 3, .shift = 1})->spec().fields[1].shape,
            (Shape{3}));
}

TEST(Window, SaysWhetherItLeavesAnEpochAsItIs) {
  const auto disturbs = [](const Window& window) {
    return (NumberedImages(9) | window)->node().Disturbs();
  };
  EXPECT_EQ(disturbs({.size = 3}), "");
  EXPECT_NE(disturbs({.size = 3, .drop_remainder = true}), "");
  EXPECT_NE(disturbs({.size = 3, .shift = 2}), "");
  EXPECT_NE(disturbs({.size = 3, .stride = 2}), "");
}

TEST(Window, RefusesWhatMakesNoSense) {
  EXPECT_THAT(NumberedImages(3) | Window{}, FailsWith(StatusCode::kInvalidArgument, "size is 0"));
  EXPECT_THAT((NumberedImages(3) | Window{.size = 2, .shift = 0}),
              FailsWith(StatusCode::kInvalidArgument, "shift is 0"));
  const Dataset ragged = FromGenerator({{{"text", DType::kUInt8, {kUnknownDim}}}}, [](uint64_t) {
    return []() -> Result<std::optional<Element>> { return std::nullopt; };
  });
  EXPECT_THAT(ragged | Window{.size = 2},
              FailsWith(StatusCode::kInvalidArgument, "window: field 'text' has shape [?]"));
}

// Blocks are multiples of 64 bytes; an image has 16 bytes, a label 8.
TEST(Window, InOrderAsksForAllFromTheFirstElementToTheLast) {
  const Dataset source = StreamedImages(500);
  const Result<Dataset> dataset = source | Window{.size = 4, .shift = 3, .stride = 10};
  constexpr int64_t kFirstToLast = 31, kNext = 3;
  for (const int64_t windows : {1, 2}) {
    const int64_t elements = kFirstToLast + (windows - 1) * kNext;
    EXPECT_EQ(dataset->node().MemoryToRead(windows),
              *source.node().MemoryToRead(elements) + windows * (64 + 64) +
                  *HeldInput::BytesToHold(source.spec(), elements));
  }
}

TEST(Window, RestoringAStreamThatCanBeReadByKeyReadsAgainWhatWasHeld) {
  std::atomic<int> asked = 0;
  const Filter odd{.predicate = [&](const Element& element) {
    ++asked;
    return element.key.index % 2 == 1;
  }};
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              NumberedImages(5000) | odd | Window{.size = 10, .shift = 1});
  STOKER_ASSERT_OK_AND_ASSIGN(const auto saved, dataset.Open(Runtime::Inline()));
  for (int i = 0; i < 1000; ++i) STOKER_ASSERT_OK(saved->Next());
  STOKER_ASSERT_OK_AND_ASSIGN(const Json state, saved->Save());
  EXPECT_LT(state.dump().size(), 400u) << state;
  asked = 0;
  STOKER_ASSERT_OK_AND_ASSIGN(const auto resumed, dataset.Open(Runtime::Inline()));
  STOKER_ASSERT_OK(resumed->Restore(state));
  STOKER_ASSERT_OK(resumed->Next());
  EXPECT_LE(asked, 12);  // nine that were held, and two of the input
}

}  // namespace stoker::window_test
