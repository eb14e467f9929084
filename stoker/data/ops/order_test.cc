#include "stoker/data/ops/order.h"

#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/testing/promises.h"
#include "stoker/data/testing/text.h"
#include "stoker/data/transforms/random_flip.h"
#include "stoker/formats/npy/npy.h"

namespace stoker::order_test {

using testing::ElementsAre;

class OrderTest : public TextTest {
 protected:
  Order Of(const std::string& text) const { return {.file = Write("order.txt", text)}; }
  static std::vector<int64_t> LabelsOf(const Result<Dataset>& dataset) {
    return Labels(*ReadAll(*dataset, Runtime::Threaded(2)));
  }
};

TEST_F(OrderTest, GivesTheElementsAtTheListedPositions) {
  const Result<Dataset> dataset = NumberedImages(6) | Of("5\n0\n0\n3\r\n1");
  EXPECT_THAT(LabelsOf(dataset), ElementsAre(5, 0, 0, 3, 1));
  EXPECT_EQ(dataset->cardinality(), Cardinality::Of(5));
  EXPECT_TRUE(LabelsOf(NumberedImages(6) | Of("")).empty());
}

TEST_F(OrderTest, ReadsNpyOfEveryIntegerType) {
  const auto order = [&](const Array& array) {
    STOKER_EXPECT_OK(WriteNpy(dir_ / "order.npy", array));
    return NumberedImages(300) | Order{.file = dir_ / "order.npy"};
  };
  EXPECT_THAT(LabelsOf(order(Array::Of<int64_t>({299, 2}))), ElementsAre(299, 2));
  EXPECT_THAT(LabelsOf(order(Array::Of<int32_t>({299, 2}))), ElementsAre(299, 2));
  EXPECT_THAT(LabelsOf(order(Array::Of<uint8_t>({255, 2}))), ElementsAre(255, 2));
  EXPECT_THAT(order(Array::Of<float>({1, 2})),
              FailsWith(StatusCode::kDataLoss, "positions are integers in one dimension"));
  EXPECT_THAT(order(Array::Of<int64_t>({5, 300})),
              FailsWith(StatusCode::kOutOfRange, "entry 1: 300 is no position"));
}

TEST_F(OrderTest, KeepsThePromisesOfAPipeline) {
  const Order order = Of("5\n0\n0\n12\n3\n1\n12\n11\n");
  ExpectKeepsItsPromises(NumberedImages(13) | order | RandomFlip{} | Batch{.size = 3});
  ExpectKeepsItsPromises(NumberedImages(13) | order | Shuffle{} | Repeat{.count = 2} | Prefetch{});
  ExpectKeepsItsPromises(NumberedImages(13) | Shuffle{} | order);
}

TEST_F(OrderTest, SaysWhichLineIsNoPosition) {
  EXPECT_THAT((NumberedImages(6) | Of("1\nx\n")),
              FailsWith(StatusCode::kDataLoss, "order.txt: line 2: 'x' is no whole number"));
  EXPECT_THAT((NumberedImages(6) | Of("1\n\n2\n")), FailsWith(StatusCode::kDataLoss, "line 2: ''"));
  EXPECT_THAT((NumberedImages(6) | Of("1\n6\n")),
              FailsWith(StatusCode::kOutOfRange, "line 2: 6 is no position"));
  EXPECT_THAT((NumberedImages(6) | Of("-1\n")), FailsWith(StatusCode::kOutOfRange, "line 1: -1"));
  EXPECT_THAT((NumberedImages(6) | Order{.file = dir_ / "none"}),
              FailsWith(StatusCode::kNotFound, "none"));
  EXPECT_THAT((StreamedImages(6) | Of("1\n")),
              FailsWith(StatusCode::kInvalidArgument, "can only be read in order"));
  EXPECT_THAT((NumberedImages(6) | Repeat{.count = 0} | Of("1\n")),
              FailsWith(StatusCode::kInvalidArgument, "an order takes elements from anywhere"));
}

TEST_F(OrderTest, InARecipeAPathStartsAtTheRoot) {
  Write("order.txt", "2\n0\n");
  const Result<Dataset> dataset =
      BuildPipeline(*ParseYaml("[range: 5, order: order.txt]", "r.yaml"), dir_.path());
  EXPECT_THAT(Labels(*ReadAll(*dataset, Runtime::Inline()), 0), ElementsAre(2, 0));
  EXPECT_THAT(dataset->node().files(), ElementsAre(dir_ / "order.txt"));
}

}  // namespace stoker::order_test
