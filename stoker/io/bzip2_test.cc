#include "stoker/io/bzip2.h"

#include "stoker/base/testing.h"
#include "stoker/io/packed_testing_internal.h"

namespace stoker::bzip2_test {

Result<std::string> Decompress(std::string_view packed, size_t piece = 1 << 16,
                               std::shared_ptr<MemoryAccount> account = nullptr) {
  return Unpacked(MakeBzip2Source, packed, "x.bz2", piece, std::move(account));
}

TEST(Bzip2, GivesBackWhatWasCompressedInPiecesOfAnySize) {
  for (const size_t bytes : {0, 1, 1000, 300'000}) {
    for (const int level : {1, 9}) {
      const std::string text = LogText(bytes), packed = Bzip2Compress(text, level);
      for (const size_t piece : {1, 7, 1 << 20}) {
        STOKER_ASSERT_OK_AND_ASSIGN(const std::string got, Decompress(packed, piece));
        ASSERT_EQ(got, text);
      }
    }
  }
}

TEST(Bzip2, StreamsAndTheZerosBetweenThemAreOneStream) {
  for (const size_t zeros : {0, 1, 513}) {
    const std::string padding(zeros, '\0');
    STOKER_ASSERT_OK_AND_ASSIGN(
        const std::string got,
        Decompress(Bzip2Compress("one ") + Bzip2Compress("two ", 1) + padding + Bzip2Compress("") +
                   Bzip2Compress("three") + padding));
    EXPECT_EQ(got, "one two three");
  }
}

TEST(Bzip2, EveryProperPrefixIsAnError) {
  const std::string packed = Bzip2Compress(LogText(3000));
  for (size_t n = 0; n < packed.size(); ++n) {
    EXPECT_THAT(
        Decompress(packed.substr(0, n)),
        FailsWith(StatusCode::kDataLoss,
                  fmt::format("x.bz2: byte {} (compressed): the file ends in the middle", n)))
        << n;
  }
}

TEST(Bzip2, ADamagedByteIsFoundByTheChecksumAtTheLatest) {
  const std::string text = LogText(3000), packed = Bzip2Compress(text);
  for (size_t n = 0; n < packed.size(); ++n) {
    for (const int bit : {0, 4, 7}) {
      std::string damaged = packed;
      damaged[n] = static_cast<char>(damaged[n] ^ (1 << bit));
      const Result<std::string> got = Decompress(damaged);
      EXPECT_FALSE(got.ok() && *got != text) << n;
      if (!got.ok()) {
        EXPECT_THAT(got.status().message(), testing::HasSubstr("x.bz2: byte ")) << n;
      }
    }
  }
}

TEST(Bzip2, WhatFollowsTheLastStreamMustBeOne) {
  const std::string packed = Bzip2Compress("text");
  EXPECT_THAT(Decompress(packed + "garbage"),
              FailsWith(StatusCode::kDataLoss, "a bzip2 stream should begin here"));
  EXPECT_THAT(Decompress("this is no bzip2"),
              FailsWith(StatusCode::kDataLoss, "a bzip2 stream should begin here"));
}

TEST(Bzip2, ChargesItsDecoderWhileItLives) {
  const auto account = Ledger::Create(1 << 30)->OpenAccount("bzip2");
  STOKER_ASSERT_OK(Decompress(Bzip2Compress(LogText(1 << 20)), 1 << 16, account));
  EXPECT_GE(account->peak_bytes(), 3'600'000);
  EXPECT_LE(account->peak_bytes(), 4'000'000);
  EXPECT_EQ(account->bytes(), 0);
}

TEST(Bzip2, WhatItCanGiveAtMostIsAnUpperBound) {
  const std::string zeros(64 << 20, '\0'), packed = Bzip2Compress(zeros);
  const auto source = MakeBzip2Source(MakeMemorySource(std::as_bytes(std::span(packed)), "x.bz2"));
  EXPECT_GE(source->size_bound().bytes, zeros.size());
}

TEST(Bzip2, ATextThatBeginsWithItsLettersIsNone) {
  EXPECT_TRUE(BeginsBzip2(Bzip2Compress("text")));
  EXPECT_TRUE(BeginsBzip2(Bzip2Compress("")));
  for (const char* text : {"", "BZh", "BZh9", "BZh9 is a name", "BZhello world", "BZh01AY&SY"})
    EXPECT_FALSE(BeginsBzip2(text)) << text;
}

}  // namespace stoker::bzip2_test
