#include "stoker/data/core/field_option.h"

#include "stoker/base/testing.h"
#include "stoker/data/testing/testing.h"
#include "stoker/data/transforms/center_crop.h"
#include "stoker/data/transforms/normalize.h"

namespace stoker::field_option_test {

TEST(IndexOfOption, SaysWhichOptionNamesAnotherField) {
  const Spec spec{{{"x", DType::kUInt8, {4}}, {"y", DType::kInt64, {}}}};
  EXPECT_EQ(*IndexOfOption(spec, "filter", "field", "y"), 1u);
  EXPECT_THAT(IndexOfOption(spec, "filter", "field", "label"),
              FailsWith(StatusCode::kInvalidArgument,
                        "filter: there is no field 'label'; the elements are {x: uint8[4], y: "
                        "int64[]}; say which it is with `field:`"));
}

TEST(IndexOfOption, ProposesTheFieldThatIsCalledNearlySo) {
  const Spec spec{{{"carat", DType::kFloat32, {}}, {"cut", DType::kInt64, {}}}};
  EXPECT_THAT(IndexOfOption(spec, "cast", "field", "carrat"),
              FailsWith(StatusCode::kInvalidArgument, "cut: int64[]}; did you mean 'carat'?"));
}

TEST(IndexOfOption, IsWhatOperatorsAnswerWith) {
  const Dataset images = NumberedImages(4);
  EXPECT_THAT(Normalize{.field = "x"}.Build(images),
              FailsWith(StatusCode::kInvalidArgument, "say which it is with `field:`"));
  CenterCrop crop{.size = 1};
  crop.masks = {"mask"};
  EXPECT_THAT(crop.Build(images),
              FailsWith(StatusCode::kInvalidArgument, "say which it is with `masks:`"));
}

}  // namespace stoker::field_option_test
