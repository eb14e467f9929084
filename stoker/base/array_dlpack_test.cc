#include <cstdint>
#include <vector>

#include "stoker/base/array.h"
#include "stoker/base/dlpack_abi.h"
#include "stoker/base/testing.h"

namespace stoker::array_dlpack_test {

// A tensor as another library would hand it over; counts how often it is given back.
struct Foreign {
  explicit Foreign(std::vector<int64_t> its_shape, std::vector<int64_t> its_strides = {})
      : shape(std::move(its_shape)), strides(std::move(its_strides)) {
    tensor.dl_tensor = {.data = values.data(),
                        .device = {kDLCPU, 0},
                        .ndim = static_cast<int32_t>(shape.size()),
                        .dtype = {kDLFloat, 32, 1},
                        .shape = shape.data(),
                        .strides = strides.empty() ? nullptr : strides.data(),
                        .byte_offset = 0};
    tensor.manager_ctx = this;
    tensor.deleter = [](DLManagedTensor* self) {
      ++static_cast<Foreign*>(self->manager_ctx)->given_back;
    };
  }
  Foreign(const Foreign&) = delete;

  std::vector<float> values = std::vector<float>(24, 1.5f);
  std::vector<int64_t> shape, strides;
  DLManagedTensor tensor;
  int given_back = 0;
};

// https://github.com/dmlc/dlpack/blob/v0.8/include/dlpack/dlpack.h on a 64-bit machine.
TEST(DLPack, HasTheLayoutOfItsStandard) {
  EXPECT_EQ(sizeof(DLTensor), 48u);
  EXPECT_EQ(offsetof(DLTensor, ndim), 16u);
  EXPECT_EQ(offsetof(DLTensor, dtype), 20u);
  EXPECT_EQ(offsetof(DLTensor, shape), 24u);
  EXPECT_EQ(offsetof(DLTensor, byte_offset), 40u);
  EXPECT_EQ(sizeof(DLManagedTensor), 64u);
}

TEST(DLPack, RoundTripsEveryDtypeWithoutACopy) {
  for (int i = 0; i <= static_cast<int>(DType::kFloat64); ++i) {
    const Array array = Array::Allocate(static_cast<DType>(i), {2, 3});
    std::memset(array.data(), 0, array.num_bytes());
    STOKER_ASSERT_OK_AND_ASSIGN(const Array back, FromDLPack(ToDLPack(array)));
    EXPECT_EQ(back.data(), array.data());
    EXPECT_TRUE(SameBytes(array, back)) << array.ToString();
  }
}

TEST(DLPack, TheMemoryLivesUntilTheDeleterIsCalled) {
  const auto account = Ledger::Create(1 << 20)->OpenAccount("test");
  DLManagedTensor* tensor = ToDLPack(Array::Allocate(DType::kUInt8, {64}, account));
  EXPECT_EQ(account->bytes(), 64);
  EXPECT_EQ(tensor->dl_tensor.ndim, 1);
  EXPECT_EQ(tensor->dl_tensor.strides[0], 1);
  tensor->deleter(tensor);
  EXPECT_EQ(account->bytes(), 0);
}

TEST(DLPack, AnArrayFromATensorGivesItBackOnce) {
  Foreign foreign({2, 3, 4}, {12, 4, 1});
  {
    STOKER_ASSERT_OK_AND_ASSIGN(const Array array, FromDLPack(&foreign.tensor));
    EXPECT_EQ(array.ToString(), "float32[2, 3, 4]");
    EXPECT_EQ(array.Row(1).values<float>()[0], 1.5f);
    EXPECT_EQ(foreign.given_back, 0);
  }
  EXPECT_EQ(foreign.given_back, 1);
}

TEST(DLPack, TheOffsetIsInBytesAndStridesOfExtentOneAreFree) {
  Foreign foreign({1, 4}, {777, 1});
  foreign.tensor.dl_tensor.byte_offset = 8;
  foreign.values[2] = 42;
  STOKER_ASSERT_OK_AND_ASSIGN(const Array array, FromDLPack(&foreign.tensor));
  EXPECT_EQ(array.values<float>()[0], 42);
}

TEST(DLPack, WhatWeCannotHoldIsRefusedAndGivenBack) {
  const struct {
    const char* says;
    StatusCode code;
    void (*spoil)(DLTensor&);
  } cases[] = {
      {"device of type 2", StatusCode::kInvalidArgument,
       [](DLTensor& t) { t.device.device_type = 2; }},
      {"type code 5 with 64 bits", StatusCode::kUnimplemented,
       [](DLTensor& t) {
         t.dtype = {5, 64, 1};
       }},
      {"4 lanes", StatusCode::kUnimplemented, [](DLTensor& t) { t.dtype.lanes = 4; }},
      {"float32[2, 3] is not contiguous", StatusCode::kInvalidArgument,
       [](DLTensor& t) { t.strides[0] = 1; }},
      {"shape [2, ?] cannot be, at dimension 1", StatusCode::kInvalidArgument,
       [](DLTensor& t) { t.shape[1] = -1; }},
      {"at dimension 0", StatusCode::kInvalidArgument,
       [](DLTensor& t) { t.shape[0] = INT64_MAX / 2; }},
      {"1 dimensions without a shape", StatusCode::kInvalidArgument,
       [](DLTensor& t) { t.ndim = 1, t.shape = nullptr; }},
      {"-1 dimensions", StatusCode::kInvalidArgument, [](DLTensor& t) { t.ndim = -1; }},
  };
  for (const auto& broken : cases) {
    Foreign foreign({2, 3}, {3, 1});
    broken.spoil(foreign.tensor.dl_tensor);
    EXPECT_THAT(FromDLPack(&foreign.tensor), FailsWith(broken.code, broken.says));
    EXPECT_EQ(foreign.given_back, 1) << broken.says;
  }
}

}  // namespace stoker::array_dlpack_test
