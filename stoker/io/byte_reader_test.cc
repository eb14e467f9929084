#include "stoker/io/byte_reader.h"

#include <numeric>
#include <string>
#include <vector>

#include "stoker/base/testing.h"
#include "stoker/io/gzip.h"

namespace stoker::byte_reader_test {

std::vector<std::byte> Counting(size_t size) {
  std::vector<std::byte> bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
  return bytes;
}

// Every test runs over memory and over a source: both must behave alike.
class ByteReaderTest : public testing::TestWithParam<bool> {
 protected:
  ByteReader& Over(std::span<const std::byte> bytes) {
    source_ = MakeMemorySource(bytes, "data");
    reader_.reset();
    if (GetParam()) {
      reader_ = std::make_unique<ByteReader>(*source_);
    } else {
      reader_ = std::make_unique<ByteReader>(bytes, "data");
    }
    return *reader_;
  }

 private:
  std::unique_ptr<ByteSource> source_;
  std::unique_ptr<ByteReader> reader_;
};

INSTANTIATE_TEST_SUITE_P(Over, ByteReaderTest, testing::Bool(),
                         [](const auto& test) { return test.param ? "Source" : "Memory"; });

template <typename T>
void ExpectValue(const Result<T>& result, T value) {
  STOKER_ASSERT_OK(result);
  EXPECT_EQ(*result, value);
}

TEST_P(ByteReaderTest, ReadsIntegersOfBothByteOrders) {
  std::vector<std::byte> bytes(29);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i + 0xe0);
  ByteReader& in = Over(bytes);
  ExpectValue<uint8_t>(in.ReadU8(), 0xe0);
  ExpectValue<uint16_t>(in.ReadU16Le(), 0xe2e1);
  ExpectValue<uint16_t>(in.ReadU16Be(), 0xe3e4);
  ExpectValue<uint32_t>(in.ReadU32Le(), 0xe8e7e6e5);
  ExpectValue<uint32_t>(in.ReadU32Be(), 0xe9eaebec);
  ExpectValue<uint64_t>(in.ReadU64Le(), 0xf4f3f2f1f0efeeed);
  ExpectValue<uint64_t>(in.ReadU64Be(), 0xf5f6f7f8f9fafbfc);
  EXPECT_EQ(in.position(), 29u);
  STOKER_EXPECT_OK(in.ExpectEnd());
}

TEST_P(ByteReaderTest, ReadsAndSkipsAnyMixtureOfSizes) {
  const std::vector<std::byte> bytes = Counting(1'000'000);
  ByteReader& in = Over(bytes);
  std::vector<std::byte> out(200'000);
  // Around the 64 KiB of the window, small after large and large after small.
  for (const size_t size : {1, 65535, 65536, 65537, 3, 131072, 0, 200'000, 5}) {
    SCOPED_TRACE(size);
    const size_t start = in.position();
    STOKER_ASSERT_OK(in.ReadBytes(std::span(out).first(size)));
    ASSERT_EQ(std::memcmp(out.data(), bytes.data() + start, size), 0);
    STOKER_ASSERT_OK(in.Skip(size / 3));
    ASSERT_EQ(in.position(), start + size + size / 3);
  }
}

TEST_P(ByteReaderTest, PeeksWithoutMoving) {
  const std::vector<std::byte> bytes = Counting(70'000);
  ByteReader& in = Over(bytes);
  STOKER_ASSERT_OK(in.Skip(60'000));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto seen, in.Peek(20'000));
  ASSERT_EQ(seen.size(), 10'000u);
  EXPECT_EQ(std::memcmp(seen.data(), bytes.data() + 60'000, seen.size()), 0);
  EXPECT_EQ(in.position(), 60'000u);
  STOKER_ASSERT_OK_AND_ASSIGN(const auto nothing, in.Peek(0));
  EXPECT_TRUE(nothing.empty());
}

TEST_P(ByteReaderTest, SaysWhereWhatAndHowMuchIsMissing) {
  const std::vector<std::byte> bytes = Counting(6);
  ByteReader& in = Over(bytes);
  STOKER_ASSERT_OK(in.ReadU32Be());
  EXPECT_THAT(
      in.ReadU32Be("image count"),
      FailsWith(StatusCode::kDataLoss, "data: byte 4: 4 bytes of image count wanted, 2 there"));
  std::vector<std::byte> large(100'000);
  EXPECT_THAT(Over(bytes).ReadBytes(large),
              FailsWith(StatusCode::kDataLoss, "data: byte 0: 100000 bytes wanted, 6 there"));
  EXPECT_THAT(Over(bytes).Skip(uint64_t{1} << 60, "padding"),
              FailsWith(StatusCode::kDataLoss,
                        "byte 0: 1152921504606846976 bytes of padding wanted, 6 there"));
}

TEST_P(ByteReaderTest, RefusesAnnouncedSizesThatCannotBeThere) {
  const std::vector<std::byte> bytes = Counting(100);
  ByteReader& in = Over(bytes);
  STOKER_ASSERT_OK(in.Skip(40));
  STOKER_EXPECT_OK(in.CheckAvailable(60));
  EXPECT_THAT(in.CheckAvailable(61, "values"),
              FailsWith(StatusCode::kDataLoss, "byte 40: 61 bytes of values wanted, 60 there"));
  EXPECT_THAT(in.CheckAvailable(~uint64_t{0}), FailsWith(StatusCode::kDataLoss, "60 there"));
}

TEST_P(ByteReaderTest, NoticesBytesBehindTheEnd) {
  const std::vector<std::byte> bytes = Counting(3);
  ByteReader& in = Over(bytes);
  STOKER_ASSERT_OK(in.ReadU16Le());
  EXPECT_THAT(in.ExpectEnd(),
              FailsWith(StatusCode::kDataLoss, "data: byte 2: the data should end here"));
  STOKER_ASSERT_OK(in.ReadU8());
  STOKER_EXPECT_OK(in.ExpectEnd());
}

TEST_P(ByteReaderTest, OverNothingIsAtItsEnd) {
  ByteReader& in = Over({});
  STOKER_EXPECT_OK(in.ExpectEnd());
  EXPECT_THAT(in.ReadU8(), FailsWith(StatusCode::kDataLoss, "1 bytes wanted, 0 there"));
}

TEST(ByteReader, BeginsWhereTheSourceStands) {
  const std::vector<std::byte> bytes = Counting(10);
  const auto source = MakeMemorySource(bytes, "data");
  std::vector<std::byte> skipped(4);
  STOKER_ASSERT_OK(source->ReadFully(skipped));
  ByteReader in(*source);
  EXPECT_EQ(in.position(), 4u);
  ExpectValue<uint8_t>(in.ReadU8(), 28);
}

TEST(ByteReader, SaysThatTheSizeOfCompressedDataIsABound) {
  STOKER_ASSERT_OK_AND_ASSIGN(const auto compressed, GzipCompress(Counting(10)));
  const auto source = MakeGzipSource(MakeMemorySource(compressed, "x.gz"));
  const ByteReader in(*source);
  EXPECT_THAT(in.CheckAvailable(1 << 30),
              FailsWith(StatusCode::kDataLoss, "x.gz (decompressed): byte 0: "));
  EXPECT_THAT(in.CheckAvailable(1 << 30), FailsWith(StatusCode::kDataLoss, "at most"));
}

TEST(ByteReader, PassesOnTheErrorsOfItsSource) {
  STOKER_ASSERT_OK_AND_ASSIGN(auto compressed, GzipCompress(Counting(10)));
  compressed.resize(compressed.size() - 1);
  const auto source = MakeGzipSource(MakeMemorySource(compressed, "x.gz"));
  ByteReader in(*source);
  STOKER_ASSERT_OK(in.Skip(10));  // all the bytes are there, only their checksum is not
  EXPECT_THAT(in.ExpectEnd(), FailsWith(StatusCode::kDataLoss, "x.gz: byte"));
}

}  // namespace stoker::byte_reader_test
