#include "stoker/io/byte_source.h"

#include <string>
#include <vector>

#include "stoker/base/testing.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/gzip.h"

namespace stoker::byte_source_test {

std::span<const std::byte> Bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

// Hands out one byte a call, then fails at the given position.
class FailingSource final : public ByteSource {
 public:
  explicit FailingSource(uint64_t fails_at) : ByteSource("failing"), fails_at_(fails_at) {}
  SizeBound size_bound() const override { return {1000, true}; }
  int calls() const { return calls_; }

 private:
  Result<size_t> DoRead(std::span<std::byte> out) override {
    ++calls_;
    if (position() == fails_at_) return Unavailable("the disk is tired");
    out[0] = std::byte{'x'};
    return size_t{1};
  }
  const uint64_t fails_at_;
  int calls_ = 0;
};

std::string ReadAll(ByteSource& source) {
  std::vector<std::byte> out(1000);
  const Result<size_t> got = source.ReadFully(out);
  EXPECT_THAT(got, IsOk());
  return {reinterpret_cast<const char*>(out.data()), got.ok() ? *got : 0};
}

TEST(MemorySource, GivesItsBytesInPiecesThenTheEndForEver) {
  const auto source = MakeMemorySource(Bytes("hello"), "greeting");
  std::vector<std::byte> out(3);
  STOKER_ASSERT_OK_AND_ASSIGN(const size_t first, source->Read(out));
  STOKER_ASSERT_OK_AND_ASSIGN(const size_t second, source->Read(out));
  EXPECT_EQ(first, 3u);
  EXPECT_EQ(second, 2u);
  EXPECT_EQ(source->position(), 5u);
  for (int i = 0; i < 2; ++i) {
    STOKER_ASSERT_OK_AND_ASSIGN(const size_t end, source->Read(out));
    EXPECT_EQ(end, 0u);
  }
  EXPECT_EQ(source->size_bound().bytes, 5u);
  EXPECT_EQ(source->name(), "greeting");
}

TEST(ByteSource, RepeatsItsErrorWithoutAskingAgain) {
  FailingSource source(2);
  std::vector<std::byte> out(10);
  EXPECT_THAT(source.ReadFully(out), FailsWith(StatusCode::kUnavailable, "tired"));
  const int calls = source.calls();
  EXPECT_THAT(source.Read(out), FailsWith(StatusCode::kUnavailable, "tired"));
  EXPECT_EQ(source.calls(), calls);
  EXPECT_EQ(source.position(), 2u);
}

TEST(OpenByteSource, GivesAPlainFileAsItIs) {
  const TempDir dir;
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "plain", "just text"));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto source, OpenByteSource(dir / "plain"));
  EXPECT_EQ(source->name(), dir / "plain");
  EXPECT_TRUE(source->size_bound().exact);
  EXPECT_EQ(ReadAll(*source), "just text");
}

TEST(OpenByteSource, DecompressesByContentAndNotByName) {
  const TempDir dir;
  STOKER_ASSERT_OK_AND_ASSIGN(const auto compressed, GzipCompress(Bytes("squeezed")));
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "looks-plain", compressed));
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "plain.gz", "never was gzip"));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto squeezed, OpenByteSource(dir / "looks-plain"));
  EXPECT_EQ(ReadAll(*squeezed), "squeezed");
  EXPECT_EQ(squeezed->name(), dir / "looks-plain (decompressed)");
  STOKER_ASSERT_OK_AND_ASSIGN(const auto plain, OpenByteSource(dir / "plain.gz"));
  EXPECT_EQ(ReadAll(*plain), "never was gzip");
}

TEST(OpenByteSource, TakesFilesShorterThanAnyMagicNumber) {
  const TempDir dir;
  for (const std::string text : {"", "\x1f", "a"}) {
    STOKER_ASSERT_OK(WriteFileAtomically(dir / "short", text));
    STOKER_ASSERT_OK_AND_ASSIGN(const auto source, OpenByteSource(dir / "short"));
    EXPECT_EQ(ReadAll(*source), text);
  }
}

TEST(OpenByteSource, FailsAsOpeningDoes) {
  EXPECT_THAT(OpenByteSource("/no/such/file"),
              FailsWith(StatusCode::kNotFound, "there is no directory /no"));
}

}  // namespace stoker::byte_source_test
