#include "stoker/base/array.h"

#include <numeric>
#include <vector>

#include "stoker/base/testing.h"

namespace stoker::array_test {

Array Counting(Shape shape) {
  Array array = Array::Allocate(DType::kInt32, std::move(shape));
  std::iota(array.values<int32_t>().begin(), array.values<int32_t>().end(), 0);
  return array;
}

TEST(Shape, PrintsUnknownExtentsAndCountsKnownOnes) {
  EXPECT_EQ(ShapeToString(Shape{128, 1, 28, 28}), "[128, 1, 28, 28]");
  EXPECT_EQ(ShapeToString(Shape{kUnknownDim, 28}), "[?, 28]");
  EXPECT_EQ(ShapeToString(Shape{}), "[]");
  EXPECT_EQ(NumValues(Shape{}), 1);
  EXPECT_EQ(NumValues(Shape{2, 3, 4}), 24);
  EXPECT_EQ(NumValues(Shape{2, 0, 4}), 0);
  EXPECT_TRUE(IsFullyKnown(Shape{0, 1}));
  EXPECT_FALSE(IsFullyKnown(Shape{1, kUnknownDim}));
}

TEST(Array, IsAlignedAndKnowsItsSize) {
  const Array array = Array::Allocate(DType::kFloat32, {3, 5});
  EXPECT_EQ(reinterpret_cast<uintptr_t>(array.data()) % kBufferAlignment, 0u);
  EXPECT_EQ(array.num_values(), 15);
  EXPECT_EQ(array.num_bytes(), 60u);
  EXPECT_EQ(array.ToString(), "float32[3, 5]");
  EXPECT_EQ(array.values<float>().size(), 15u);
}

TEST(Array, ADefaultOneHoldsNothing) {
  const Array array;
  EXPECT_EQ(array.num_values(), 0);
  EXPECT_EQ(array.num_bytes(), 0u);
  EXPECT_TRUE(SameBytes(array, Array()));
}

// Under UndefinedBehaviorSanitizer: an empty vector's pointer is null.
TEST(Array, OfAnEmptyListHasNoValues) {
  const Array array = Array::Of(std::vector<float>());
  EXPECT_EQ(array.ToString(), "float32[0]");
  EXPECT_EQ(Array::Of(std::span<const uint8_t>(), {0, 3}).shape(), (Shape{0, 3}));
}

TEST(Array, RowsShareTheMemoryAndKeepItAlive) {
  Array row;
  {
    const Array array = Counting({4, 3});
    row = array.Row(2);
    EXPECT_EQ(row.data(), array.data() + 2 * 3 * sizeof(int32_t));
  }
  EXPECT_EQ(row.shape(), (Shape{3}));
  EXPECT_TRUE(SameBytes(row, Array::Of<int32_t>(std::vector<int32_t>{6, 7, 8})));
}

TEST(Array, RowsAndReshapedKeepTheValuesInOrder) {
  const Array array = Counting({4, 3});
  const Array middle = array.Rows(1, 3);
  EXPECT_EQ(middle.shape(), (Shape{2, 3}));
  EXPECT_EQ(middle.values<int32_t>()[0], 3);
  EXPECT_EQ(array.Rows(4, 4).num_values(), 0);
  const Array flat = middle.Reshaped({6});
  EXPECT_EQ(flat.shape(), (Shape{6}));
  EXPECT_EQ(flat.data(), middle.data());
  const Array scalar = Counting({2}).Row(1);
  EXPECT_EQ(scalar.shape(), Shape{});
  EXPECT_EQ(scalar.values<int32_t>()[0], 1);
}

TEST(Array, BeginsWhereItsOffsetSays) {
  const Array whole = Counting({8});
  const Array tail(whole.buffer(), DType::kInt32, {2}, /*byte_offset=*/24);
  EXPECT_EQ(tail.values<int32_t>()[0], 6);
}

TEST(Array, SameBytesComparesDtypeShapeAndBytes) {
  const Array array = Counting({2, 3});
  EXPECT_TRUE(SameBytes(array, Counting({2, 3})));
  EXPECT_FALSE(SameBytes(array, Counting({3, 2})));
  EXPECT_FALSE(SameBytes(array, Array(array.buffer(), DType::kFloat32, {2, 3})));
  Array other = Counting({2, 3});
  other.values<int32_t>()[5] = 0;
  EXPECT_FALSE(SameBytes(array, other));
}

TEST(Array, IsChargedToItsAccountWhileItLives) {
  const auto ledger = Ledger::Create(1 << 20);
  const auto account = ledger->OpenAccount("test");
  {
    const Array array = Array::Allocate(DType::kInt64, {16}, account);
    const Array row = array.Row(3);
    EXPECT_EQ(account->bytes(), 128);
  }
  EXPECT_EQ(account->bytes(), 0);
}

}  // namespace stoker::array_test
