#include "stoker/base/dtype.h"

#include "stoker/base/testing.h"

namespace stoker::dtype_test {

constexpr DType kAll[] = {DType::kBool,    DType::kUInt8,  DType::kInt8,    DType::kInt16,
                          DType::kInt32,   DType::kInt64,  DType::kFloat16, DType::kBFloat16,
                          DType::kFloat32, DType::kFloat64};

TEST(DType, NamesAreReadBack) {
  for (const DType dtype : kAll) {
    STOKER_ASSERT_OK_AND_ASSIGN(const DType parsed, ParseDType(DTypeName(dtype)));
    EXPECT_EQ(parsed, dtype) << DTypeName(dtype);
  }
}

TEST(DType, AnUnknownNameIsRefusedWithTheListOfNames) {
  EXPECT_THAT(ParseDType("float"), FailsWith(StatusCode::kInvalidArgument,
                                             "'float' is not a dtype; the dtypes are bool, uint8"));
  EXPECT_THAT(ParseDType(""), FailsWith(StatusCode::kInvalidArgument, "float64"));
}

TEST(DType, SizesAndKindsAreThoseOfTheTypes) {
  EXPECT_EQ(DTypeSize(DTypeOf<bool>()), sizeof(bool));
  EXPECT_EQ(DTypeSize(DTypeOf<uint8_t>()), sizeof(uint8_t));
  EXPECT_EQ(DTypeSize(DTypeOf<int8_t>()), sizeof(int8_t));
  EXPECT_EQ(DTypeSize(DTypeOf<int16_t>()), sizeof(int16_t));
  EXPECT_EQ(DTypeSize(DTypeOf<int32_t>()), sizeof(int32_t));
  EXPECT_EQ(DTypeSize(DTypeOf<int64_t>()), sizeof(int64_t));
  EXPECT_EQ(DTypeSize(DTypeOf<float>()), sizeof(float));
  EXPECT_EQ(DTypeSize(DTypeOf<double>()), sizeof(double));
  EXPECT_EQ(DTypeSize(DType::kFloat16), 2u);
  EXPECT_EQ(DTypeSize(DType::kBFloat16), 2u);
  int floating = 0;
  for (const DType dtype : kAll) floating += IsFloating(dtype);
  EXPECT_EQ(floating, 4);
  EXPECT_TRUE(IsFloating(DType::kBFloat16));
  EXPECT_FALSE(IsFloating(DType::kInt64));
}

}  // namespace stoker::dtype_test
