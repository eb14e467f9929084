#include "stoker/device/tensor.h"

#include <torch/utils.h>

#include "stoker/base/testing.h"

namespace stoker::tensor_test {

constexpr DType kAllTypes[] = {DType::kBool,    DType::kUInt8,  DType::kInt8,    DType::kInt16,
                               DType::kInt32,   DType::kInt64,  DType::kFloat16, DType::kBFloat16,
                               DType::kFloat32, DType::kFloat64};

TEST(Tensor, EveryTypeGoesToTorchAndBackWithItsSize) {
  for (const DType dtype : kAllTypes) {
    SCOPED_TRACE(DTypeName(dtype));
    EXPECT_EQ(c10::elementSize(ToScalarType(dtype)), DTypeSize(dtype));
    STOKER_ASSERT_OK_AND_ASSIGN(const DType back, FromScalarType(ToScalarType(dtype)));
    EXPECT_EQ(back, dtype);
  }
}

TEST(Tensor, ATypeThatWeDoNotHaveIsNamed) {
  EXPECT_THAT(ToArray(torch::zeros({2}, torch::kComplexFloat)),
              FailsWith(StatusCode::kUnimplemented, "ComplexFloat"));
}

TEST(Tensor, AnArraysTensorSharesItsMemory) {
  const Array array = Array::Of<float>(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
  at::Tensor tensor = ToTensor(array);
  EXPECT_EQ(tensor.data_ptr(), static_cast<void*>(array.data()));
  EXPECT_EQ(tensor.sizes().vec(), (std::vector<int64_t>{2, 3}));
  tensor[1][2] = 9;
  EXPECT_EQ(array.values<float>()[5], 9);
}

TEST(Tensor, TheTensorKeepsTheMemoryAlive) {
  bool released = false;
  float value = 7;
  Array array(
      Buffer::Wrap(reinterpret_cast<std::byte*>(&value), sizeof value, [&] { released = true; }),
      DType::kFloat32, {1});
  at::Tensor tensor = ToTensor(array);
  array = Array();
  EXPECT_FALSE(released);
  EXPECT_EQ(tensor.item<float>(), 7);
  tensor = at::Tensor();
  EXPECT_TRUE(released);
}

TEST(Tensor, AnArrayOfATensorSharesMemoryAndOutlivesIt) {
  at::Tensor tensor = torch::arange(4, torch::kFloat);
  const void* memory = tensor.data_ptr();
  STOKER_ASSERT_OK_AND_ASSIGN(const Array array, ToArray(tensor));
  tensor = at::Tensor();
  EXPECT_EQ(static_cast<void*>(array.data()), memory);
  EXPECT_THAT(array.values<float>(), testing::ElementsAre(0, 1, 2, 3));
}

TEST(Tensor, AnArrayHasCOrderWhateverTheTensorsLayout) {
  const at::Tensor tensor = torch::arange(16, torch::kFloat)
                                .view({1, 2, 2, 4})
                                .contiguous(at::MemoryFormat::ChannelsLast);
  STOKER_ASSERT_OK_AND_ASSIGN(const Array array, ToArray(tensor));
  EXPECT_EQ(array.shape(), (Shape{1, 2, 2, 4}));
  for (int i = 0; i < 16; ++i) EXPECT_EQ(array.values<float>()[i], i);
}

TEST(InLayout, WritesTheStridesOutWhereBothOrdersAreTheSameBytes) {
  const at::Tensor grey = torch::arange(24, torch::kFloat).view({2, 1, 3, 4});
  const at::Tensor last = InLayout(grey, at::MemoryFormat::ChannelsLast);
  EXPECT_EQ(last.strides().vec(), (std::vector<int64_t>{12, 1, 4, 1}));
  EXPECT_EQ(last.data_ptr(), grey.data_ptr()) << "nothing needs to move";
  EXPECT_TRUE(torch::equal(last, grey));
  const at::Tensor back = InLayout(last, at::MemoryFormat::Contiguous);
  EXPECT_EQ(back.strides().vec(), (std::vector<int64_t>{12, 12, 4, 1}));
}

TEST(InLayout, MovesTheBytesWhereTheOrdersDiffer) {
  const at::Tensor colour = torch::arange(24, torch::kFloat).view({1, 2, 3, 4});
  const at::Tensor last = InLayout(colour, at::MemoryFormat::ChannelsLast);
  EXPECT_EQ(last.strides().vec(), (std::vector<int64_t>{24, 1, 8, 2}));
  EXPECT_TRUE(torch::equal(last, colour));
}

TEST(InLayout, LeavesWhatIsNoImageInCOrder) {
  const at::Tensor matrix = torch::arange(6, torch::kFloat).view({2, 3});
  EXPECT_TRUE(InLayout(matrix.t(), at::MemoryFormat::ChannelsLast).is_contiguous());
}

TEST(Tensor, AScalarAndAnEmptyArrayKeepTheirShapes) {
  EXPECT_EQ(ToTensor(Array::Allocate(DType::kInt64, {})).dim(), 0);
  EXPECT_EQ(ToTensor(Array::Allocate(DType::kFloat32, {0, 3})).sizes().vec(),
            (std::vector<int64_t>{0, 3}));
  STOKER_ASSERT_OK_AND_ASSIGN(const Array empty, ToArray(torch::zeros({0, 3})));
  EXPECT_EQ(empty.shape(), (Shape{0, 3}));
}

}  // namespace stoker::tensor_test
