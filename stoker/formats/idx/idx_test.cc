#include "stoker/formats/idx/idx.h"

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "stoker/base/testing.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/file.h"
#include "stoker/io/gzip.h"

namespace stoker::idx_test {

using namespace std::string_literals;

std::string FromHex(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i < hex.size();) {
    if (hex[i] == ' ') {
      ++i;
      continue;
    }
    bytes.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
    i += 2;
  }
  return bytes;
}

std::span<const std::byte> Bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

Result<Array> Parse(std::string_view bytes) { return ParseIdx(Bytes(bytes), "x.idx"); }

std::string Gzipped(std::string_view bytes) {
  const auto compressed = GzipCompress(Bytes(bytes));
  EXPECT_THAT(compressed, IsOk());
  return {reinterpret_cast<const char*>(compressed->data()), compressed->size()};
}

// Two pictures of 2x3.
const std::string kImages =
    FromHex("00000803 00000002 00000002 00000003 010203040506 f1f2f3f4f5f6");

template <typename T>
void ExpectValues(std::string_view hex, const std::vector<T>& values) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Array array, Parse(FromHex(hex)));
  EXPECT_TRUE(SameBytes(array, Array::Of(values))) << array.ToString();
}

TEST(Idx, ReadsImagesAndLabels) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Array images, Parse(kImages));
  EXPECT_EQ(images.ToString(), "uint8[2, 2, 3]");
  EXPECT_EQ(images.values<uint8_t>()[11], 0xf6);
  ExpectValues<uint8_t>("00000801 00000003 07 02 01", {7, 2, 1});  // README.md's example
}

TEST(Idx, ReadsEveryTypeInTheByteOrderOfThisMachine) {
  ExpectValues<int8_t>("00000901 00000002 ff 80", {-1, -128});
  ExpectValues<int16_t>("00000b01 00000002 fffe 0102", {-2, 258});
  ExpectValues<int32_t>("00000c01 00000002 fffffffd 01020304", {-3, 16909060});
  ExpectValues<float>("00000d01 00000003 3fc00000 c0000000 7f800000",
                      {1.5f, -2.0f, std::numeric_limits<float>::infinity()});
  ExpectValues<double>("00000e01 00000001 3fe0000000000000", {0.5});
}

TEST(Idx, HoldsArraysWithoutValues) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Array empty,
                              Parse(FromHex("00000803 00000000 0000001c 0000001c")));
  EXPECT_EQ(empty.shape(), (Shape{0, 28, 28}));
}

TEST(Idx, HoldsUpTo255Dimensions) {
  std::string bytes = FromHex("000008ff");
  for (int i = 0; i < 255; ++i) bytes += FromHex("00000001");
  STOKER_ASSERT_OK_AND_ASSIGN(const Array array, Parse(bytes + "x"));
  EXPECT_EQ(array.shape(), Shape(255, 1));
}

struct BrokenCase {
  const char* name;
  std::string bytes;
  const char* says;
};

const BrokenCase kBroken[] = {
    {"Empty", "", "x.idx: the file is empty"},
    {"MagicCutShort", FromHex("000008"), "x.idx: byte 0: 4 bytes of magic number wanted, 3 there"},
    {"WrongZeros", FromHex("01000803 00000001"),
     "byte 0: magic number 01 00 08 03, IDX begins with 00 00"},
    {"UnknownType", FromHex("00000a01 00000001 00"), "magic number 00 00 0a 01"},
    {"NoDimensions", FromHex("00000800 01"), "magic number 00 00 08 00"},
    {"ExtentsCutShort", FromHex("00000803 00000002 0000"),
     "byte 8: 4 bytes of extents wanted, 2 there"},
    {"ValuesCutShort", FromHex("00000803 0000ea60 0000001c 0000001c") + std::string(1000, 'x'),
     "x.idx: byte 16: 47040000 bytes of values, uint8[60000, 28, 28] by the header, wanted, 1000 "
     "there"},
    {"BytesBehindTheEnd", kImages + "x",
     "byte 28: the header announces uint8[2, 2, 3], 12 bytes, which end here, but more follows"},
    {"SizeBeyond63Bits", FromHex("00000803 ffffffff ffffffff ffffffff"), "byte 4: the extents"},
    {"SizeThatWrapsIn32Bits", FromHex("00000802 80000000 00000002 0102"),
     "byte 12: 4294967296 bytes of values, uint8[2147483648, 2] by the header, wanted, 2 there"},
    {"HugeExtentsBesideAZero", FromHex("00000804 00000000 ffffffff ffffffff ffffffff"),
     "announce more values"},
    {"Gzip", FromHex("1f8b0800"), "x.idx: byte 0: this is gzip data, not IDX; decompress it first"},
    {"Png", FromHex("89504e47 0d0a1a0a"), "this is a PNG image, not IDX"},
    {"Html", "<!DOCTYPE html><html>404", "this is an HTML or XML page, not IDX; check the path"},
};

class IdxBroken : public testing::TestWithParam<BrokenCase> {};

TEST_P(IdxBroken, SaysWhatAndWhere) {
  EXPECT_THAT(Parse(GetParam().bytes), FailsWith(StatusCode::kDataLoss, GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(Cases, IdxBroken, testing::ValuesIn(kBroken),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(Idx, EveryProperPrefixOfAGoodFileIsAnError) {
  const TempDir dir;
  const std::string gzipped = Gzipped(kImages);
  for (size_t size = 0; size < kImages.size(); ++size) {
    EXPECT_THAT(Parse(kImages.substr(0, size)), FailsWith(StatusCode::kDataLoss, "x.idx: "))
        << size;
  }
  for (size_t size = 0; size < gzipped.size(); ++size) {
    STOKER_ASSERT_OK(WriteFileAtomically(dir / "cut", gzipped.substr(0, size)));
    EXPECT_THAT(ReadIdx(dir / "cut"), FailsWith(StatusCode::kDataLoss, dir / "cut")) << size;
  }
}

TEST(Idx, DetectsEveryFlippedBitOfCompressedValues) {
  const TempDir dir;
  const std::string good = Gzipped(kImages);
  STOKER_ASSERT_OK_AND_ASSIGN(const Array expected, Parse(kImages));
  for (size_t bit = 10 * 8; bit < good.size() * 8;
       ++bit) {  // after gzip's header, which holds what does not matter
    std::string bad = good;
    bad[bit / 8] ^= static_cast<char>(1 << bit % 8);
    STOKER_ASSERT_OK(WriteFileAtomically(dir / "bad", bad));
    const Result<Array> array = ReadIdx(dir / "bad");
    EXPECT_TRUE(!array.ok() || SameBytes(*array, expected))
        << "wrong values after a flip of bit " << bit;
  }
}

TEST(ReadIdx, ReadsPlainAndCompressedFilesAlike) {
  const TempDir dir;
  STOKER_ASSERT_OK_AND_ASSIGN(const Array expected, Parse(kImages));
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "plain.gz", kImages));
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "compressed", Gzipped(kImages)));
  for (const char* name : {"plain.gz", "compressed"}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Array array, ReadIdx(dir / name));
    EXPECT_TRUE(SameBytes(array, expected)) << name;
    STOKER_ASSERT_OK_AND_ASSIGN(const IdxHeader header, ReadIdxHeader(dir / name));
    EXPECT_EQ(header.dtype, DType::kUInt8);
    EXPECT_EQ(header.shape, (Shape{2, 2, 3}));
  }
}

TEST(ReadIdx, NamesTheFileAndPointsIntoTheDecompressedBytes) {
  const TempDir dir;
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "a.gz", Gzipped(kImages.substr(0, 20))));
  EXPECT_THAT(ReadIdx(dir / "a.gz"), FailsWith(StatusCode::kDataLoss,
                                               "a.gz (decompressed): byte 16: 12 bytes of values, "
                                               "uint8[2, 2, 3] by the header, wanted, 4 there"));
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "b.gz", Gzipped(Gzipped(kImages))));
  EXPECT_THAT(ReadIdx(dir / "b.gz"),
              FailsWith(StatusCode::kDataLoss, "b.gz (decompressed): byte 0: this is gzip data"));
  EXPECT_THAT(ReadIdxHeader(dir / "b.gz"),
              FailsWith(StatusCode::kDataLoss, "b.gz (decompressed): byte 0: this is gzip data"));
  EXPECT_THAT(ReadIdx(dir / "a"), FailsWith(StatusCode::kNotFound, "there is a.gz beside it"));
}

TEST(ReadIdx, RefusesHugeSizesBeforeItTakesMemoryForThem) {
  const TempDir dir;
  // 64 TiB of values are announced; the ledger would show if memory were taken for them.
  const std::string bytes = FromHex("00000e03 00010000 00010000 00000800");
  const auto account = Ledger::Create(1 << 30)->OpenAccount("test");
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "plain", bytes));
  EXPECT_THAT(ReadIdx(dir / "plain", account),
              FailsWith(StatusCode::kDataLoss,
                        "70368744177664 bytes of values, float64[65536, 65536, 2048] by the "
                        "header, wanted, 0 there"));
  EXPECT_EQ(account->peak_bytes(), 0);
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "gz", Gzipped(bytes)));
  EXPECT_THAT(ReadIdx(dir / "gz", account),
              FailsWith(StatusCode::kDataLoss, "by the header, wanted, at most"));
  EXPECT_LT(account->peak_bytes(), 1 << 20);  // the decoder's
}

TEST(ReadIdx, ChargesTheAccountWhileTheArrayLives) {
  const TempDir dir;
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "a", kImages));
  const auto account = Ledger::Create(1 << 30)->OpenAccount("test");
  {
    STOKER_ASSERT_OK_AND_ASSIGN(const Array array, ReadIdx(dir / "a", account));
    EXPECT_GE(account->bytes(), 12);
  }
  EXPECT_EQ(account->bytes(), 0);
}

TEST(ReadIdx, ChargesTheDecoderWhileItReads) {
  const TempDir dir;
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "a.gz", Gzipped(kImages)));
  const auto account = Ledger::Create(1 << 30)->OpenAccount("test");
  STOKER_ASSERT_OK_AND_ASSIGN(const Array array, ReadIdx(dir / "a.gz", account));
  EXPECT_EQ(account->bytes(), 64);             // the array alone
  EXPECT_GT(account->peak_bytes(), 64 << 10);  // and input and state of igzip
}

TEST(WriteIdx, WritesTheBytesOfTheFormat) {
  const TempDir dir;
  STOKER_ASSERT_OK_AND_ASSIGN(const Array images, Parse(kImages));
  STOKER_ASSERT_OK(WriteIdx(dir / "a", images));
  STOKER_ASSERT_OK_AND_ASSIGN(const std::string written, ReadTextFile(dir / "a"));
  EXPECT_EQ(written, kImages);
}

template <typename T>
class WriteIdxOf : public testing::Test {};
using IdxTypes = testing::Types<uint8_t, int8_t, int16_t, int32_t, float, double>;
TYPED_TEST_SUITE(WriteIdxOf, IdxTypes);

TYPED_TEST(WriteIdxOf, ReadsBackTheSame) {
  const TempDir dir;
  std::vector<TypeParam> values(24);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<TypeParam>(1.5 * static_cast<double>(i) - 12);
  const Array array = Array::Of(std::span<const TypeParam>(values), {2, 3, 4});
  for (const IdxCompression compression : {IdxCompression::kNone, IdxCompression::kGzip}) {
    STOKER_ASSERT_OK(WriteIdx(dir / "a", array, compression));
    STOKER_ASSERT_OK_AND_ASSIGN(const Array back, ReadIdx(dir / "a"));
    EXPECT_TRUE(SameBytes(array, back));
    STOKER_ASSERT_OK_AND_ASSIGN(const std::string written, ReadTextFile(dir / "a"));
    EXPECT_EQ(written.starts_with("\x1f\x8b"), compression == IdxCompression::kGzip);
  }
}

TEST(WriteIdx, RefusesWhatTheFormatCannotHold) {
  const TempDir dir;
  EXPECT_THAT(WriteIdx(dir / "a", Array::Allocate(DType::kInt64, {1})),
              FailsWith(StatusCode::kInvalidArgument, "IDX has no type for int64; cast to"));
  EXPECT_THAT(WriteIdx(dir / "a", Array::Allocate(DType::kUInt8, {})),
              FailsWith(StatusCode::kInvalidArgument, "1 to 255 dimensions, not 0"));
  EXPECT_THAT(WriteIdx(dir / "a", Array::Allocate(DType::kUInt8, Shape(256, 1))),
              FailsWith(StatusCode::kInvalidArgument, "not 256"));
  EXPECT_THAT(WriteIdx(dir / "a", Array::Allocate(DType::kUInt8, {0, int64_t{1} << 32})),
              FailsWith(StatusCode::kInvalidArgument, "an extent of 4294967296 is too large"));
  EXPECT_FALSE(std::filesystem::exists(dir / "a"));
}

}  // namespace stoker::idx_test
