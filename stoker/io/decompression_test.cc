#include "stoker/io/decompression.h"

#include <fmt/format.h>

#include <set>
#include <string_view>
#include <utility>

#include "stoker/base/testing.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/byte_source.h"

namespace stoker::decompression_test {

using namespace std::string_view_literals;

TEST(Decompressions, HaveNamesAndEndingsOfTheirOwn) {
  std::set<std::string_view> names, endings;
  for (const Decompression& one : Decompressions()) {
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
    const bool own = one.ending.empty() || endings.insert(one.ending).second;
    EXPECT_TRUE(own) << one.ending;
    EXPECT_EQ(DecompressionNamed(one.name), &one);
    EXPECT_EQ(WithoutCompressedEnding(fmt::format("a.csv{}", one.ending)), "a.csv");
  }
  EXPECT_EQ(DecompressionNamed("none"), nullptr);
  EXPECT_EQ(WithoutCompressedEnding("a.csv"), "a.csv");
}

TEST(Decompressions, AreToldByTheFirstBytes) {
  EXPECT_EQ(DecompressionOfStart("\x1f\x8b\x08\0"sv), DecompressionNamed("gzip"));
  EXPECT_EQ(DecompressionOfStart("\x28\xb5\x2f\xfd\x04"sv), DecompressionNamed("zstd"));
  EXPECT_EQ(DecompressionOfStart("\xfd\x37zXZ\0"sv), DecompressionNamed("xz"));
  EXPECT_EQ(DecompressionOfStart("BZh91AY&SY"sv), DecompressionNamed("bzip2"));
  EXPECT_EQ(DecompressionOfStart("x\x9c plain"sv), nullptr);
  EXPECT_EQ(DecompressionOfStart(""sv), nullptr);
}

TEST(Decompressions, OfOtherKindsAreNamedAndNotReadAsTheyStand) {
  const TempDir dir;
  for (const auto& [name, start] :
       {std::pair{"a.csv.lz4", "\x04\x22\x4d\x18rest"sv},
        std::pair{"a.csv.lzma", "\x5d\0\0\x80rest"sv}, std::pair{"a.csv.lz", "LZIPrest"sv},
        std::pair{"a.csv.Z", "\x1f\x9drest"sv}}) {
    STOKER_ASSERT_OK(WriteFileAtomically(dir / name, start));
    EXPECT_THAT(OpenByteSource(dir / name),
                FailsWith(StatusCode::kUnimplemented, "is not read; make it gzip"));
    // Numbers may begin so.
    STOKER_ASSERT_OK(WriteFileAtomically(dir / "numbers", start));
    STOKER_EXPECT_OK(OpenByteSource(dir / "numbers"));
  }
}

}  // namespace stoker::decompression_test
