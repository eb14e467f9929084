#include "stoker/io/gzip.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "stoker/base/testing.h"
#include "stoker/io/checksum.h"

namespace stoker::gzip_test {

using namespace std::string_literals;

std::span<const std::byte> Bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string Text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// printf hello | gzip -n -9
const std::string kHello =
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb\x48\xcd\xc9\xc9\x07\x00\x86\xa6\x10\x36\x05\x00\x00\x00"s;
constexpr size_t kFixedHeader = 10;

// Gives at most `piece` bytes a call, so that every boundary in the input is met.
class PiecewiseSource final : public ByteSource {
 public:
  PiecewiseSource(std::string_view bytes, size_t piece)
      : ByteSource("x.gz"), inner_(MakeMemorySource(Bytes(bytes), "x.gz")), piece_(piece) {}
  SizeBound size_bound() const override { return inner_->size_bound(); }

 private:
  Result<size_t> DoRead(std::span<std::byte> out) override {
    return inner_->Read(out.first(std::min(out.size(), piece_)));
  }
  const std::unique_ptr<ByteSource> inner_;
  const size_t piece_;
};

Result<std::string> Decompress(std::string_view compressed, size_t in_piece = 1 << 20,
                               size_t out_piece = 1 << 20) {
  const auto source = MakeGzipSource(std::make_unique<PiecewiseSource>(compressed, in_piece));
  std::string all;
  std::vector<std::byte> part(out_piece);
  while (true) {
    STOKER_ASSIGN_OR_RETURN(const size_t got, source->Read(part));
    if (got == 0) return all;
    all += Text(std::span(part).first(got));
  }
}

void ExpectText(const Result<std::string>& result, const std::string& expected) {
  STOKER_ASSERT_OK(result);
  EXPECT_TRUE(*result == expected)
      << "got " << result->size() << " bytes, expected " << expected.size();
}

std::string Compress(std::string_view text, int level = 6) {
  const auto compressed = GzipCompress(Bytes(text), level);
  EXPECT_THAT(compressed, IsOk());
  return Text(*compressed);
}

// Text-like, random and constant stretches, so that all kinds of deflate blocks occur.
std::string Mixture(size_t size) {
  std::string text;
  uint32_t state = 1;
  while (text.size() < size) {
    state = state * 1664525 + 1013904223;
    switch (state >> 24 & 3) {
      case 0: text += fmt::format("record {} of many, ", state >> 20); break;
      case 1: text.append(state >> 22, 'z'); break;
      default:
        for (int i = 0; i < 200; ++i)
          text.push_back(static_cast<char>((state = state * 1664525 + 1013904223) >> 24));
    }
  }
  text.resize(size);
  return text;
}

TEST(GzipSource, ReadsWhatGzipWrote) { ExpectText(Decompress(kHello), "hello"); }

TEST(GzipSource, GivesBackWhatWasCompressedAtEverySizeAndLevel) {
  for (const size_t size :
       {0, 1, 2, 257, 258, 259, 32767, 32768, 32769, 65535, 65536, 300'000, 3'000'000}) {
    for (const int level : {1, 6, 9}) {
      SCOPED_TRACE(testing::Message() << "size " << size << " level " << level);
      const std::string text = Mixture(size);
      ExpectText(Decompress(Compress(text, level)), text);
    }
  }
}

TEST(GzipSource, GivesTheSameHoweverInputAndOutputAreCut) {
  const std::string text = Mixture(100'000);
  const std::string compressed = Compress(text);
  for (const size_t in_piece : {1, 2, 7, 331, 4096}) {
    for (const size_t out_piece : {1, 3, 1000, 65'536, 1 << 20}) {
      SCOPED_TRACE(testing::Message() << "input by " << in_piece << ", output by " << out_piece);
      ExpectText(Decompress(compressed, in_piece, out_piece), text);
    }
  }
}

TEST(GzipSource, SkipsEveryOptionalPartOfAHeaderWhereverTheInputIsCut) {
  std::string header = kHello.substr(0, kFixedHeader);
  header[3] = 2 | 4 | 8 | 16;  // all of RFC 1952: header CRC, extra, name, comment
  header +=
      "\x03\x00"
      "abc"s +
      "name.txt\0"s + "a comment\0"s;
  const uint32_t crc = Crc32(header);
  header += {static_cast<char>(crc), static_cast<char>(crc >> 8)};
  const std::string good = header + kHello.substr(kFixedHeader);
  for (const size_t piece : {1, 2, 3, 11, 100}) ExpectText(Decompress(good, piece), "hello");
  std::string bad = good;
  bad[15] ^= 1;
  EXPECT_THAT(Decompress(bad), FailsWith(StatusCode::kDataLoss, "the header's checksum is wrong"));
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_THAT(Decompress(good.substr(0, size)), FailsWith(StatusCode::kDataLoss, "cut short"))
        << size;
  }
}

TEST(GzipSource, JoinsMembersAndIgnoresZeroPadding) {
  const std::string empty = Compress("");
  const std::string two = kHello + Compress(" world");
  for (const size_t piece : {1, 5, 1000}) {
    ExpectText(Decompress(two, piece), "hello world");
    ExpectText(Decompress(empty + two + empty, piece), "hello world");
    ExpectText(Decompress(two + std::string(600, '\0'), piece), "hello world");
  }
}

TEST(GzipSource, RefusesAnythingElseBehindTheLastMember) {
  EXPECT_THAT(Decompress(kHello + "garbage"),
              FailsWith(StatusCode::kDataLoss,
                        "x.gz: byte 27 (compressed): what follows the last gzip member is none"));
  EXPECT_THAT(Decompress(kHello + std::string(3, '\0') + kHello),
              FailsWith(StatusCode::kDataLoss, "zero bytes"));
  EXPECT_THAT(Decompress(kHello + "\x1f"), FailsWith(StatusCode::kDataLoss, "cut short"));
}

TEST(GzipSource, CallsEveryTruncationAnError) {
  const std::string good = Compress(Mixture(3000));
  for (size_t size = 0; size < good.size(); ++size) {
    const std::string cut = good.substr(0, size);
    EXPECT_THAT(Decompress(cut),
                FailsWith(StatusCode::kDataLoss,
                          fmt::format("x.gz: byte {} (compressed): the file ends", size)));
    EXPECT_THAT(Decompress(cut, 1, 1), FailsWith(StatusCode::kDataLoss, "it was cut short"));
  }
}

TEST(GzipSource, DetectsEveryFlippedBitThatMatters) {
  const std::string text = Mixture(700);
  const std::string good = Compress(text);
  int harmless = 0;
  for (size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string flipped = good;
    flipped[bit / 8] ^= static_cast<char>(1 << bit % 8);
    const Result<std::string> result = Decompress(flipped);
    if (!result.ok()) {
      EXPECT_EQ(result.status().code(), StatusCode::kDataLoss) << bit;
      continue;
    }
    ++harmless;
    EXPECT_TRUE(*result == text) << "wrong bytes for a flip of bit " << bit;
  }
  // The time, the extra flags and the operating system (6 bytes), the text flag, and no more than
  // the spare bits of the deflate stream's last byte.
  EXPECT_GE(harmless, 6 * 8);
  EXPECT_LE(harmless, 6 * 8 + 1 + 7);
}

struct BrokenCase {
  const char* name;
  size_t at;
  char value;
  const char* says;
};

const BrokenCase kBroken[] = {
    {"NotGzip", 0, 'P', "byte 2 (compressed): this is not gzip, which begins with 1f 8b"},
    {"OtherMethod", 2, 7, "the compression method is not deflate"},
    {"ReservedFlags", 3, '\x80', "flags that gzip does not know"},
    {"ImpossibleBlock", 10, '\x07', "a block begins with an impossible type"},
    {"WrongChecksum", 17, 0, "the decompressed bytes lack the checksum"},
    {"WrongLength", 21, 6, "the decompressed bytes lack the checksum or the length"},
};

class GzipBroken : public testing::TestWithParam<BrokenCase> {};

TEST_P(GzipBroken, SaysWhatAndWhere) {
  std::string bad = kHello;
  bad[GetParam().at] = GetParam().value;
  EXPECT_THAT(Decompress(bad), FailsWith(StatusCode::kDataLoss, GetParam().says));
  EXPECT_THAT(Decompress(bad), FailsWith(StatusCode::kDataLoss, "x.gz: byte"));
}

INSTANTIATE_TEST_SUITE_P(Cases, GzipBroken, testing::ValuesIn(kBroken),
                         [](const auto& test) { return test.param.name; });

TEST(GzipSource, BoundsItsSizeFromAbove) {
  const std::string zeros(10'000'000, '\0');  // the most that deflate can do
  const std::string compressed = Compress(zeros, 9);
  const auto source = MakeGzipSource(MakeMemorySource(Bytes(compressed), "x.gz"));
  EXPECT_FALSE(source->size_bound().exact);
  EXPECT_GE(source->size_bound().bytes, zeros.size());
  ExpectText(Decompress(compressed), zeros);
}

TEST(GzipCompress, GivesEqualBytesForEqualInput) {
  const std::string text = Mixture(10'000);
  EXPECT_EQ(Compress(text), Compress(text));
  EXPECT_EQ(Compress(text).substr(4, 4), std::string(4, '\0')) << "the time must not be in it";
}

TEST(GzipCompress, RefusesLevelsThatDoNotExist) {
  EXPECT_THAT(GzipCompress(Bytes("x"), 0), FailsWith(StatusCode::kInvalidArgument, "1..9"));
  EXPECT_THAT(GzipCompress(Bytes("x"), 10), FailsWith(StatusCode::kInvalidArgument, "level 10"));
}

TEST(GzipSource, ChargesItsInputOfNoMoreThanThereIsAndItsStateWhileItLives) {
  const auto account = Ledger::Create(1 << 30)->OpenAccount("test");
  {
    const auto source = MakeGzipSource(MakeMemorySource(Bytes(kHello), "x.gz"), account);
    std::vector<std::byte> out(100);
    STOKER_ASSERT_OK_AND_ASSIGN(const size_t got, source->ReadFully(out));
    EXPECT_EQ(Text(std::span(out).first(got)), "hello");
    EXPECT_GT(account->bytes(), 64 << 10);
    EXPECT_LT(account->bytes(), 256 << 10);
  }
  EXPECT_EQ(account->bytes(), 0);
}

}  // namespace stoker::gzip_test
