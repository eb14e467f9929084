#include "stoker/base/testing.h"
#include "stoker/image/decode.h"
#include "stoker/image/testing.h"

namespace stoker::image_format_test {

using namespace std::string_literals;  // NOLINT: for texts with zero bytes

struct DetectCase {
  const char* name;
  std::string bytes;
  StatusCode code;
  const char* says;
};
void PrintTo(const DetectCase& c, std::ostream* out) { *out << c.name; }
class OtherFormat : public testing::TestWithParam<DetectCase> {};

TEST_P(OtherFormat, IsRefusedByName) {
  EXPECT_THAT(ProbeImage(BytesOf(GetParam().bytes), "p.jpg"),
              FailsWith(GetParam().code, GetParam().says));
}

constexpr StatusCode kOther = StatusCode::kUnimplemented;
const DetectCase kOtherFormats[] = {
    {"Gif", "GIF89a...", kOther,
     "p.jpg: a GIF picture; Stoker reads JPEG, PNG, BMP, WebP and PNM: convert it, or leave it "
     "out"},
    {"TiffLittle", "II*\0\x08"s, kOther, "a TIFF picture"},
    {"TiffBig", "MM\0*\0"s, kOther, "a TIFF picture"},
    {"Avif",
     "\0\0\0\x20"
     "ftypavif"s,
     kOther, "an AVIF picture"},
    {"Heic",
     "\0\0\0\x20"
     "ftypheic"s,
     kOther, "a HEIC picture"},
    {"Mp4",
     "\0\0\0\x20"
     "ftypisom"s,
     kOther, "an MP4 or QuickTime file"},
    {"JpegXl", "\xff\x0a\1", kOther, "a JPEG XL codestream"},
    {"Jpeg2000", "\0\0\0\x0cjP  \r\n"s, kOther, "a JPEG 2000 picture"},
    {"Pam", "P7\nWIDTH 1", kOther, "a PAM picture"},
    {"Svg", "<svg xmlns", kOther, "an SVG drawing"},
    {"Html", "<!DOCTYPE html>", kOther, "an HTML page, as a failed download leaves"},
    {"Empty", "", StatusCode::kDataLoss, "p.jpg: byte 0: the file is empty"},
    {"ZeroBytes", std::string(600, '\0'), StatusCode::kDataLoss,
     "p.jpg: byte 0: no picture that is known begins with 00 00 00 00 00 00 00 00"},
    {"Text", "hi", StatusCode::kDataLoss, "begins with 68 69; Stoker reads JPEG"},
    {"RiffButNoWebp", "RIFF\x20\0\0\0WAVEfmt "s, StatusCode::kDataLoss, "no picture that is known"},
};
INSTANTIATE_TEST_SUITE_P(DetectImageFormat, OtherFormat, testing::ValuesIn(kOtherFormats),
                         [](const auto& c) { return c.param.name; });

}  // namespace stoker::image_format_test
