#include "stoker/io/xz.h"

#include "stoker/base/testing.h"
#include "stoker/io/packed_testing_internal.h"

namespace stoker::xz_test {

Result<std::string> Decompress(std::string_view packed, size_t piece = 1 << 16,
                               std::shared_ptr<MemoryAccount> account = nullptr) {
  return Unpacked(MakeXzSource, packed, "x.xz", piece, std::move(account));
}

TEST(Xz, GivesBackWhatWasCompressedInPiecesOfAnySize) {
  for (const size_t bytes : {0, 1, 1000, 300'000}) {
    for (const lzma_check check :
         {LZMA_CHECK_NONE, LZMA_CHECK_CRC32, LZMA_CHECK_CRC64, LZMA_CHECK_SHA256}) {
      const std::string text = LogText(bytes), packed = XzCompress(text, check);
      for (const size_t piece : {1, 7, 1 << 20}) {
        STOKER_ASSERT_OK_AND_ASSIGN(const std::string got, Decompress(packed, piece));
        ASSERT_EQ(got, text);
      }
    }
  }
}

TEST(Xz, StreamsAndThePaddingBetweenThemAreOneStream) {
  const std::string padding(8, '\0');
  STOKER_ASSERT_OK_AND_ASSIGN(const std::string got,
                              Decompress(XzCompress("one ") + XzCompress("two ") + padding +
                                         XzCompress("") + XzCompress("three") + padding));
  EXPECT_EQ(got, "one two three");
  EXPECT_THAT(Decompress(XzCompress("one") + std::string(3, '\0')),
              FailsWith(StatusCode::kDataLoss, "x.xz: byte "));
}

TEST(Xz, EveryProperPrefixIsAnError) {
  const std::string packed = XzCompress(LogText(3000));
  for (size_t n = 0; n < packed.size(); ++n) {
    EXPECT_THAT(
        Decompress(packed.substr(0, n)),
        FailsWith(StatusCode::kDataLoss,
                  fmt::format("x.xz: byte {} (compressed): the file ends in the middle", n)))
        << n;
  }
}

TEST(Xz, ADamagedByteIsFoundByTheChecksumAtTheLatest) {
  const std::string text = LogText(3000), packed = XzCompress(text);
  for (size_t n = 0; n < packed.size(); ++n) {
    for (const int bit : {0, 4, 7}) {
      std::string damaged = packed;
      damaged[n] = static_cast<char>(damaged[n] ^ (1 << bit));
      const Result<std::string> got = Decompress(damaged);
      ASSERT_FALSE(got.ok()) << n;
      EXPECT_THAT(got.status().message(), testing::HasSubstr("x.xz: byte ")) << n;
    }
  }
}

TEST(Xz, WhatFollowsTheLastStreamMustBeOne) {
  EXPECT_THAT(Decompress(XzCompress("text") + "garbage, and more of it"),
              FailsWith(StatusCode::kDataLoss, "x.xz: byte "));
  EXPECT_THAT(Decompress("this is no xz at all"),
              FailsWith(StatusCode::kDataLoss, "an xz stream should begin here"));
}

TEST(Xz, RefusesADictionaryBeyondWhatIsHeld) {
  EXPECT_THAT(Decompress(XzCompress("text", LZMA_CHECK_CRC32, 200 << 20)),
              FailsWith(StatusCode::kUnimplemented, "a dictionary of more than 128 MiB"));
}

TEST(Xz, ChargesItsDecoderWhileItLives) {
  const auto account = Ledger::Create(1 << 30)->OpenAccount("xz");
  STOKER_ASSERT_OK(
      Decompress(XzCompress(LogText(1 << 20), LZMA_CHECK_CRC32, 4 << 20), 1 << 16, account));
  EXPECT_GE(account->peak_bytes(), 4 << 20);
  EXPECT_LE(account->peak_bytes(), 6 << 20);
  EXPECT_EQ(account->bytes(), 0);
}

TEST(Xz, WhatItCanGiveAtMostIsAnUpperBound) {
  const std::string zeros(64 << 20, '\0'), packed = XzCompress(zeros);
  const auto source = MakeXzSource(MakeMemorySource(std::as_bytes(std::span(packed)), "x.xz"));
  EXPECT_GE(source->size_bound().bytes, zeros.size());
  EXPECT_FALSE(source->size_bound().exact);
}

}  // namespace stoker::xz_test
