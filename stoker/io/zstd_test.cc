#include "stoker/io/zstd.h"

#include <zstd.h>

#include <random>
#include <string>

#include "stoker/base/stop_scope.h"
#include "stoker/base/testing.h"
#include "stoker/io/atomic_file.h"

namespace stoker::zstd_test {

// One frame with a checksum, as zstd(1) writes it.
std::string Compress(std::string_view text, int window_log = 0) {
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  if (window_log > 0) ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
  // Streamed, so that the frame says its window rather than the size of its content.
  std::string out(ZSTD_compressBound(text.size()) + 1024, '\0');
  ZSTD_inBuffer in{text.data(), text.size(), 0};
  ZSTD_outBuffer to{out.data(), out.size(), 0};
  EXPECT_EQ(ZSTD_compressStream2(context, &to, &in, ZSTD_e_flush), 0u);
  EXPECT_EQ(ZSTD_compressStream2(context, &to, &in, ZSTD_e_end), 0u);
  ZSTD_freeCCtx(context);
  out.resize(to.pos);
  return out;
}

std::string Text(size_t bytes) {
  std::mt19937 random(1);
  std::string text;
  while (text.size() < bytes) text += fmt::format("line {}\n", random() % 1000);
  return text.substr(0, bytes);
}

Result<std::string> Decompress(const std::string& compressed, size_t piece = 1 << 16,
                               std::shared_ptr<MemoryAccount> account = nullptr) {
  const auto source = MakeZstdSource(
      MakeMemorySource(std::as_bytes(std::span(compressed)), "x.zst"), std::move(account));
  std::string out, part(piece, '\0');
  while (true) {
    STOKER_ASSIGN_OR_RETURN(const size_t got,
                            source->Read(std::as_writable_bytes(std::span(part))));
    if (got == 0) return out;
    out.append(part, 0, got);
  }
}

TEST(Zstd, GivesBackWhatWasCompressedInPiecesOfAnySize) {
  for (const size_t bytes : {0, 1, 1000, 300'000}) {
    const std::string text = Text(bytes), compressed = Compress(text);
    for (const size_t piece : {1, 7, 1 << 20}) {
      STOKER_ASSERT_OK_AND_ASSIGN(const std::string got, Decompress(compressed, piece));
      ASSERT_EQ(got, text);
    }
  }
}

TEST(Zstd, FramesAreOneStreamAndSkippableFramesAreSkipped) {
  const std::string skippable("\x50\x2a\x4d\x18\x03\x00\x00\x00xyz", 11);
  STOKER_ASSERT_OK_AND_ASSIGN(const std::string got,
                              Decompress(Compress("one ") + skippable + Compress("two ") +
                                         Compress("") + Compress("three") + skippable));
  EXPECT_EQ(got, "one two three");
}

TEST(Zstd, EveryProperPrefixIsAnError) {
  const std::string compressed = Compress(Text(3000));
  for (size_t n = 0; n < compressed.size(); ++n) {
    EXPECT_THAT(Decompress(compressed.substr(0, n)),
                FailsWith(StatusCode::kDataLoss, "the file ends in the middle of its zstd data"))
        << n;
  }
}

TEST(Zstd, ADamagedByteIsFoundByTheChecksumAtTheLatest) {
  const std::string text = Text(3000), compressed = Compress(text);
  for (size_t n = 0; n < compressed.size(); ++n) {
    std::string damaged = compressed;
    damaged[n] = static_cast<char>(damaged[n] ^ 0x10);
    const Result<std::string> got = Decompress(damaged);
    EXPECT_FALSE(got.ok() && *got != text) << n;
    if (!got.ok()) {
      EXPECT_THAT(got.status().message(), testing::HasSubstr("x.zst: byte ")) << n;
    }
  }
}

TEST(Zstd, WhatFollowsTheLastFrameMustBeOne) {
  EXPECT_THAT(Decompress(Compress("text") + "garbage"),
              FailsWith(StatusCode::kDataLoss, "a zstd frame should begin here"));
  EXPECT_THAT(Decompress("this is no zstd"), FailsWith(StatusCode::kDataLoss, "x.zst: byte "));
}

TEST(Zstd, RefusesAWindowBeyondWhatIsHeld) {
  EXPECT_THAT(Decompress(Compress(Text(1000), 28)),
              FailsWith(StatusCode::kUnimplemented, "a window of more than 128 MiB"));
}

TEST(Zstd, ChargesItsDecoderWhileItLives) {
  const auto account = Ledger::Create(1 << 30)->OpenAccount("zstd");
  STOKER_ASSERT_OK(Decompress(Compress(Text(1 << 20), 20), 1 << 16, account));
  EXPECT_GE(account->peak_bytes(), 1 << 20);
  EXPECT_EQ(account->bytes(), 0);
}

TEST(OpenByteSourceAt, ContinuesPlainAndCompressedFilesFromAnyByte) {
  const TempDir dir;
  const std::string text = Text(200'000);
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "plain", text));
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "packed", Compress(text)));
  for (const char* name : {"plain", "packed"}) {
    for (const uint64_t offset : {0, 1, 70'000, 200'000}) {
      STOKER_ASSERT_OK_AND_ASSIGN(const auto source, OpenByteSourceAt(dir / name, offset, nullptr));
      EXPECT_EQ(source->position(), offset);
      std::string rest(text.size(), '\0');
      STOKER_ASSERT_OK_AND_ASSIGN(const size_t got,
                                  source->ReadFully(std::as_writable_bytes(std::span(rest))));
      EXPECT_EQ(rest.substr(0, got), text.substr(offset));
    }
    EXPECT_THAT(OpenByteSourceAt(dir / name, 200'001, nullptr),
                FailsWith(StatusCode::kOutOfRange, "the content ends at byte 200000"));
  }
  const StopScope stopped([] { return true; });
  EXPECT_THAT(OpenByteSourceAt(dir / "packed", 70'000, nullptr),
              FailsWith(StatusCode::kCancelled, "asked to stop"));
}

}  // namespace stoker::zstd_test
