#include "stoker/data/transforms/encode.h"

#include "stoker/data/options/registry.h"
#include "stoker/data/testing/testing.h"
#include "stoker/data/transforms/decode.h"
#include "stoker/data/transforms/normalize.h"

namespace stoker::encode_test {

TEST(Encode, PngsDecodeToTheSamePixelsAndFieldsKeepTheirPlaces) {
  const Result<Dataset> images = NumberedImages(20);
  const Dataset files = *(images | Encode{.format = "png"});
  EXPECT_EQ(files.spec().ToString(), "{image: uint8[?], label: int64[]}");
  const Dataset again = *(Result(files) | Decode{.channels = "grey"});
  EXPECT_EQ(Fingerprint(*ReadAll(again, Runtime::Inline())),
            Fingerprint(*ReadAll(*images, Runtime::Inline())));
}

TEST(Encode, ThreadedGivesTheBytesOfInline) {
  for (const char* format : {"jpeg", "png"}) {
    const Dataset files = *(Result(NumberedImages(200)) | Encode{.format = format, .quality = 60});
    EXPECT_EQ(Fingerprint(*ReadAll(files, Runtime::Threaded(4))),
              Fingerprint(*ReadAll(files, Runtime::Inline())));
  }
}

TEST(Encode, JpegsOfLowQualityAreSmaller) {
  const Result<Dataset> images = NumberedImages(1);
  const auto bytes = [&](int64_t quality) {
    const Dataset files = *(images | Encode{.quality = quality});
    return (*ReadAll(files, Runtime::Inline()))[0].arrays[0].num_bytes();
  };
  EXPECT_LT(bytes(10), bytes(95));
}

TEST(Encode, RefusesWhatIsNoPictureWhenItIsBuilt) {
  EXPECT_THAT(Result(NumberedImages(1)) | Encode{.field = "label"},
              FailsWith(StatusCode::kInvalidArgument, "field 'label' is int64[]"));
  const Normalize normalize{.mean = {0}, .std = {1}};
  EXPECT_THAT(Result(NumberedImages(1)) | normalize | Encode{},
              FailsWith(StatusCode::kInvalidArgument, "before `normalize`"));
  EXPECT_THAT(Result(NumberedImages(1)) | Encode{.quality = 0},
              FailsWith(StatusCode::kInvalidArgument, "quality"));
}

}  // namespace stoker::encode_test
