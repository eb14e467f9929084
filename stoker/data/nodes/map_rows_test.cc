// MapRows, and reading rows instead of elements.
#include "stoker/data/nodes/map.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/cache.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/testing/test_stages.h"

namespace stoker::map_rows_test {

// AddNoise of test_stages.h, many rows at a time: it must give the same bytes.
MapRows AddNoiseToRows() {
  return {.function = [](Rows& rows, const MapRows::RowRng& rng, Scratch& scratch) {
    const Array& from = rows.columns[0];
    Array to = scratch.NewArray(from.dtype(), from.shape());
    const size_t row_bytes = from.num_bytes() / static_cast<size_t>(rows.size());
    for (int64_t row = 0; row < rows.size(); ++row) {
      Rng draws = rng(row);
      for (size_t i = static_cast<size_t>(row) * row_bytes, end = i + row_bytes; i < end; ++i) {
        to.values<uint8_t>()[i] =
            static_cast<uint8_t>(from.values<uint8_t>()[i] + draws.Below(256));
      }
    }
    rows.columns[0] = std::move(to);
    return OkStatus();
  }};
}

TEST(MapRows, GivesTheBytesOfAMapHoweverTheRowsTravel) {
  for (const Dataset& source : {NumberedImages(300), StreamedImages(300)}) {
    for (const bool batched : {false, true}) {
      const auto end = [&](Result<Dataset> dataset) {
        return batched ? std::move(dataset) | Batch{.size = 7} | Prefetch{}
                       : std::move(dataset) | Prefetch{};
      };
      const Result<Dataset> by_element = end(Result<Dataset>(source) | DoNothing() | AddNoise());
      const Result<Dataset> by_rows = end(Result<Dataset>(source) | DoNothing() | AddNoiseToRows());
      STOKER_ASSERT_OK_AND_ASSIGN(const auto expected, ReadAll(*by_element, Runtime::Inline()));
      for (Runtime runtime : {Runtime::Inline(), Runtime::Threaded(1), Runtime::Threaded(3)}) {
        for (const int64_t chunk : {0, 1, 50}) {
          runtime.chunk = chunk;
          STOKER_ASSERT_OK_AND_ASSIGN(const auto got, ReadAll(*by_rows, runtime));
          ASSERT_EQ(Fingerprint(got), Fingerprint(expected)) << by_rows->ToString();
        }
      }
    }
  }
}

MapRows Function(std::function<Status(Rows&)> function, Spec output = {}) {
  return {.function = [=](Rows& rows, const MapRows::RowRng&, Scratch&) { return function(rows); },
          .output = std::move(output)};
}

TEST(MapRows, RefusesWhatItsFunctionMustNotDo) {
  const struct {
    const char* says;
    MapRows map;
  } cases[] = {
      {"the function threw: broke",
       Function([](Rows&) -> Status { throw std::runtime_error("broke"); })},
      {"that is no std::exception", Function([](Rows&) -> Status { throw 5; })},
      {"which rows there are", Function([](Rows& rows) {
         rows.keys[0].index = 99;
         return OkStatus();
       })},
      {"its Spec is", Function([](Rows& rows) {
         rows.columns.pop_back();
         return OkStatus();
       })},
      {"its Spec says", Function([](Rows& rows) {
         rows.columns[0] = rows.columns[1];
         return OkStatus();
       })},
      {"must be the rows", Function([](Rows& rows) {
         rows.columns[1] = Array::Allocate(DType::kInt64, {});
         return OkStatus();
       })},
  };
  Runtime runtime = Runtime::Threaded(2);
  runtime.chunk = 10;
  for (const auto& [says, map] : cases) {
    for (const Dataset& source : {NumberedImages(20), StreamedImages(20)}) {
      const Status status = ReadAll(*(Result<Dataset>(source) | map), runtime).status();
      EXPECT_FALSE(status.ok()) << says;
    }
    // Many rows at once, as a batch asks for them.
    const Status status = ReadAll(*(NumberedImages(20) | map | Batch{.size = 5}), runtime).status();
    EXPECT_THAT(status.message(), testing::HasSubstr(says));
  }
  EXPECT_THAT(NumberedImages(1) | MapRows{},
              FailsWith(StatusCode::kInvalidArgument, "no function is given"));
}

TEST(MapRows, MayBeCachedWhereItSaysThatItDrawsNothing) {
  const auto with = [](bool random) {
    MapRows map = Function([](Rows&) { return OkStatus(); });
    map.random = random;
    return NumberedImages(3) | map;
  };
  EXPECT_THAT(with(false) | Cache{}, IsOk());
  EXPECT_EQ(with(false)->node().Disturbs(), "");
  EXPECT_THAT(with(true) | Cache{}, FailsWith(StatusCode::kInvalidArgument, "draws at random"));
  EXPECT_NE(with(true)->node().Disturbs(), "");
}

TEST(MapRows, DeliversWhatComesBeforeTheElementAtFault) {
  const MapRows fails_at_17 = Function([](Rows& rows) {
    for (const SampleKey& key : rows.keys) {
      if (key.index == 17) return DataLoss("element 17 is bad");
    }
    return OkStatus();
  });
  Runtime runtime = Runtime::Threaded(2);
  runtime.chunk = 10;
  for (const Dataset& source : {NumberedImages(50), StreamedImages(50)}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator,
                                (Result<Dataset>(source) | fails_at_17)->Open(runtime));
    for (int i = 0; i < 17; ++i) STOKER_ASSERT_OK(iterator->Next());
    EXPECT_THAT(iterator->Next(), FailsWith(StatusCode::kDataLoss, "element 17 is bad"));
  }
}

TEST(NextRows, GivesTheSameElementsAndMayAlternateWithNext) {
  for (const Dataset& source : {NumberedImages(100), StreamedImages(100)}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                                Result<Dataset>(source) | AddNoiseToRows() | Repeat{.count = 2});
    STOKER_ASSERT_OK_AND_ASSIGN(const auto expected, ReadAll(dataset, Runtime::Inline()));
    for (Runtime runtime : {Runtime::Inline(), Runtime::Threaded(2)}) {
      runtime.chunk = 30;
      STOKER_ASSERT_OK_AND_ASSIGN(auto iterator, dataset.Open(runtime));
      std::vector<Element> got;
      for (int64_t turn = 0; true; ++turn) {
        if (turn % 3 == 0) {
          STOKER_ASSERT_OK_AND_ASSIGN(std::optional<Element> element, iterator->Next());
          if (!element) break;
          got.push_back(*std::move(element));
        } else {
          STOKER_ASSERT_OK_AND_ASSIGN(const std::optional<Rows> rows, iterator->NextRows(1 + turn));
          if (!rows) break;
          ASSERT_GE(rows->size(), 1);
          ASSERT_LE(rows->size(), 1 + turn);
          for (int64_t i = 0; i < rows->size(); ++i) got.push_back(rows->RowElement(i));
        }
        if (turn % 5 == 4) {
          STOKER_ASSERT_OK_AND_ASSIGN(const Json state, iterator->Save());
          STOKER_ASSERT_OK_AND_ASSIGN(iterator, dataset.Open(runtime));
          STOKER_ASSERT_OK(iterator->Restore(state));
        }
      }
      EXPECT_EQ(Fingerprint(got), Fingerprint(expected));
    }
  }
}

TEST(NextRows, RefusesElementsThatDifferInShape) {
  const Dataset source = FromGenerator({{{"x", DType::kUInt8, {kUnknownDim}}}}, [](uint64_t) {
    return []() -> Result<std::optional<Element>> { return std::nullopt; };
  });
  STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, source.Open(Runtime::Threaded(1)));
  EXPECT_THAT(iterator->NextRows(5), FailsWith(StatusCode::kFailedPrecondition, "differ in shape"));
}

}  // namespace stoker::map_rows_test
