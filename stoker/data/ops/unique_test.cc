#include "stoker/data/ops/unique.h"

#include "stoker/data/nodes/from_arrays.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/sources/csv.h"
#include "stoker/data/testing/promises.h"
#include "stoker/data/testing/text.h"

namespace stoker::unique_test {

using testing::ElementsAre;

// {x: float, y: int64, n: int64}, in which n numbers the rows.
Result<Dataset> Table() {
  return *FromArrays({{"x", Array::Of<float>({1, 1, 2, 1, 2, 3})},
                      {"y", Array::Of<int64_t>({5, 5, 5, 6, 5, 5})},
                      {"n", Array::Of<int64_t>({0, 1, 2, 3, 4, 5})}});
}

std::vector<int64_t> NumbersOf(const Result<Dataset>& dataset, size_t field = 2) {
  return Labels(*ReadAll(*dataset, Runtime::Threaded(2)), field);
}

TEST(Unique, KeepsTheFirstOfEachKindInItsPlace) {
  EXPECT_THAT(NumbersOf(Table() | Unique{.by = {"x"}}), ElementsAre(0, 2, 5));
  EXPECT_THAT(NumbersOf(Table() | Unique{.by = {"x", "y"}}), ElementsAre(0, 2, 3, 5));
  EXPECT_THAT(NumbersOf(Table() | Unique{.by = {"y"}}), ElementsAre(0, 3));
  EXPECT_EQ(NumbersOf(Table() | Unique{}).size(), 6u);  // they differ in n
  EXPECT_EQ((Table() | Unique{.by = {"x"}})->cardinality(), Cardinality::Of(3));
}

// {ab, c} and {a, bc} are other elements although their bytes follow each other alike.
using UniqueOfTexts = TextTest;

TEST_F(UniqueOfTexts, ComparesTextsFieldByField) {
  const std::string file =
      Write("t.csv", "a,b,n\nab,c,0\na,bc,1\nab,c,2\n,,3\n,,4\nabcdefgh,,5\nabcdefg,h,6\n");
  const Result<Dataset> rows = Source(Csv{.files = file, .index = "memory"});
  EXPECT_THAT(NumbersOf(rows | Unique{.by = {"a", "b"}}), ElementsAre(0, 1, 3, 5, 6));
}

TEST(Unique, OfManyEqualAndDifferentElementsKeepsEachOnce) {
  Array numbers = Array::Allocate(DType::kInt64, {20000});
  for (int64_t i = 0; i < 20000; ++i) numbers.values<int64_t>()[static_cast<size_t>(i)] = i % 7001;
  const Result<Dataset> dataset = *FromArrays({{"n", numbers}}) | Unique{};
  const std::vector<int64_t> left = NumbersOf(dataset, 0);
  ASSERT_EQ(left.size(), 7001u);
  for (int64_t i = 0; i < 7001; ++i) EXPECT_EQ(left[static_cast<size_t>(i)], i);
}

TEST(Unique, KeepsThePromisesOfAPipeline) {
  ExpectKeepsItsPromises(Table() | Unique{.by = {"x"}} | Shuffle{} | Repeat{.count = 3});
  ExpectKeepsItsPromises(NumberedImages(13) | Unique{} | Batch{.size = 3});
}

TEST(Unique, NeedsAFixedOrder) {
  EXPECT_THAT((StreamedImages(3) | Unique{}),
              FailsWith(StatusCode::kInvalidArgument, "can only be read in order"));
  EXPECT_THAT((NumberedImages(3) | Shuffle{} | Unique{}),
              FailsWith(StatusCode::kInvalidArgument, "same order in every pass"));
  EXPECT_THAT((NumberedImages(3) | Repeat{.count = 0} | Unique{}),
              FailsWith(StatusCode::kInvalidArgument, "put unique directly after"));
  EXPECT_THAT((NumberedImages(3) | Unique{.by = {"id"}}),
              FailsWith(StatusCode::kInvalidArgument, "there is no field 'id'"));
}

}  // namespace stoker::unique_test
