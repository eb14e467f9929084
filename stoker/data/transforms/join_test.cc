#include "stoker/data/transforms/join.h"

#include "stoker/data/nodes/from_arrays.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/sources/csv.h"
#include "stoker/data/testing/promises.h"
#include "stoker/data/testing/text.h"
#include "stoker/data/transforms/cast.h"

namespace stoker::join_test {

using testing::ElementsAre;

Result<Dataset> Numbers() {
  return *FromArrays({{"a", Array::Of<int64_t>({1, 2, 3})},
                      {"b", Array::Of<float>({0.5f, 1.5f, 2.5f})},
                      {"c", Array::Of<float>(std::vector<float>{7, 8, 9, 10, 11, 12}, {3, 2})},
                      {"label", Array::Of<int64_t>({0, 1, 0})}});
}

TEST(Join, PutsTheValuesOfFieldsOneAfterTheOtherInTheOrderNamed) {
  const Result<Dataset> dataset = Numbers() | Join{.fields = {"b", "c", "a"}};
  EXPECT_EQ(dataset->spec().ToString(), "{x: float32[4], label: int64[]}");
  for (const Runtime& runtime : kRuntimes) {
    STOKER_ASSERT_OK_AND_ASSIGN(const auto all, ReadAll(*dataset, runtime));
    EXPECT_THAT(all[0].arrays[0].values<float>(), ElementsAre(0.5f, 7, 8, 1));
    EXPECT_THAT(all[2].arrays[0].values<float>(), ElementsAre(2.5f, 11, 12, 3));
    EXPECT_THAT(Labels(all), ElementsAre(0, 1, 0));
  }
}

TEST(Join, StandsWhereTheFirstStoodOrLastIfTheFieldsAreKept) {
  EXPECT_EQ((Numbers() | Join{.fields = {"c", "b"}, .to = "both"})->spec().ToString(),
            "{a: int64[], both: float32[3], label: int64[]}");
  EXPECT_EQ((Numbers() | Join{.fields = {"b", "c"}, .to = "b"})->spec().ToString(),
            "{a: int64[], b: float32[3], label: int64[]}");
  const Result<Dataset> kept = Numbers() | Join{.fields = {"b", "c"}, .keep = true};
  EXPECT_EQ(kept->spec().ToString(),
            "{a: int64[], b: float32[], c: float32[2], label: int64[], x: float32[3]}");
  STOKER_ASSERT_OK_AND_ASSIGN(const auto all, ReadAll(*kept, Runtime::Threaded(2)));
  EXPECT_THAT(all[1].arrays[4].values<float>(), ElementsAre(1.5f, 9, 10));
}

TEST(Join, TakesTheSmallestDTypeThatHoldsAllUnlessOneIsNamed) {
  const auto dtype = [](const char* of_a, const char* of_b, const char* wanted = "auto") {
    const Result<Dataset> dataset = Numbers() | Cast{.field = "a", .dtype = of_a} |
                                    Cast{.field = "b", .dtype = of_b} |
                                    Join{.fields = {"a", "b"}, .dtype = wanted};
    return std::string(DTypeName(dataset->spec().fields[0].dtype));
  };
  EXPECT_EQ(dtype("int16", "int16"), "int16");
  EXPECT_EQ(dtype("int16", "uint8"), "int64");
  EXPECT_EQ(dtype("int64", "bfloat16"), "float32");
  EXPECT_EQ(dtype("float32", "float64"), "float64");
  EXPECT_EQ(dtype("float16", "float16"), "float16");
  EXPECT_EQ(dtype("int64", "float32", "float16"), "float16");
}

using JoinOfTexts = TextTest;

TEST_F(JoinOfTexts, AreJoinedWithASeparator) {
  const std::string file = Write("t.csv", "cut,color,x\nIdeal,E,1\nFair,,2\n");
  const Result<Dataset> rows = Source(Csv{.files = file, .index = "memory"});
  const Result<Dataset> dataset =
      rows | Join{.fields = {"cut", "color"}, .to = "both", .separator = "_x_"};
  EXPECT_EQ(dataset->spec().ToString(), "{both: uint8[?], x: int64[]}");
  STOKER_ASSERT_OK_AND_ASSIGN(const auto all, ReadAll(*dataset, Runtime::Threaded(2)));
  const auto text = [&](size_t i) {
    const Array& array = all[i].arrays[0];
    return std::string(reinterpret_cast<const char*>(array.data()), array.num_bytes());
  };
  EXPECT_EQ(text(0), "Ideal_x_E");
  EXPECT_EQ(text(1), "Fair_x_");
  EXPECT_THAT(
      (rows | Join{.fields = {"cut", "x"}}),
      FailsWith(StatusCode::kInvalidArgument, "field 'cut' is text and field 'x' is int64"));
  EXPECT_THAT((rows | Join{.fields = {"cut", "color"}, .dtype = "float32"}),
              FailsWith(StatusCode::kInvalidArgument, "leave dtype out"));
}

TEST(Join, KeepsThePromisesOfAPipeline) {
  for (const Dataset& source : {NumberedImages(13), StreamedImages(13)}) {
    ExpectKeepsItsPromises(source | Join{.fields = {"label"}, .to = "x", .keep = true} |
                           Join{.fields = {"x", "label"}, .to = "y"} | Batch{.size = 3});
  }
  ExpectKeepsItsPromises(NumberedImages(13) | Shuffle{} |
                         Join{.fields = {"label"}, .dtype = "float32"});
}

TEST(Join, SaysWhatCannotBeJoined) {
  const auto refused = [](std::string_view says) {
    return FailsWith(StatusCode::kInvalidArgument, std::string(says));
  };
  EXPECT_THAT((Numbers() | Join{}), refused("fields is empty"));
  EXPECT_THAT((Numbers() | Join{.fields = {"a", "d"}}), refused("there is no field 'd'"));
  EXPECT_THAT((Numbers() | Join{.fields = {"a", "a"}}), refused("names 'a' twice"));
  EXPECT_THAT((Numbers() | Join{.fields = {"a", "b"}, .to = "label"}), refused("one of that name"));
  EXPECT_THAT((Numbers() | Join{.fields = {"a", "b"}, .separator = "-"}),
              refused("separator stands between texts"));
  EXPECT_THAT((Result<Dataset>(NumberedImages(3)) | Join{.fields = {"image", "label"}}),
              refused("reshape"));
}

}  // namespace stoker::join_test
