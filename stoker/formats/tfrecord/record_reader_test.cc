#include "stoker/formats/tfrecord/record_reader.h"

#include <zstd.h>

#include <string>
#include <vector>

#include "stoker/base/testing.h"
#include "stoker/formats/tfrecord/record_writer.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/checksum.h"
#include "stoker/io/file.h"
#include "stoker/io/gzip.h"
#include "stoker/io/packed_testing_internal.h"

namespace stoker::record_reader_test {

using namespace std::string_literals;
using testing::ElementsAre;

std::string Text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string Written(const std::vector<std::string>& records,
                    Compression compression = Compression::kNone) {
  const TempDir dir;
  Result<TfRecordWriter> writer = TfRecordWriter::Create(dir / "x", compression);
  for (const std::string& record : records) EXPECT_THAT(writer->Append(record), IsOk());
  EXPECT_THAT(writer->Commit(), IsOk());
  return *ReadTextFile(dir / "x");
}

// Each record as "number@offset:text", damaged ones with "!"; the error that ended it.
Result<std::vector<std::string>> RecordsOf(std::unique_ptr<ByteSource> source,
                                           const TfRecordReaderOptions& options = {}) {
  TfRecordReader reader(std::move(source), options);
  std::vector<std::string> records;
  while (true) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<TfRecord> record, reader.Next());
    if (!record) return records;
    records.push_back(fmt::format("{}@{}:{}{}", record->number, record->offset, Text(record->data),
                                  record->damaged ? "!" : ""));
  }
}
Result<std::vector<std::string>> RecordsOf(std::string_view file,
                                           const TfRecordReaderOptions& options = {}) {
  return RecordsOf(MakeMemorySource(std::as_bytes(std::span(file)), "x.tfrecord"), options);
}

TEST(TfRecordWriter, GivesTheBytesThatTensorFlowWrites) {
  // tf.io.TFRecordWriter, TensorFlow 2.21, of b"" and b"a".
  EXPECT_EQ(Written({"", "a"}),
            "\0\0\0\0\0\0\0\0\x29\x03\x98\x07\xd8\xea\x82\xa2"s
            "\1\0\0\0\0\0\0\0\x01\x75\xde\x41\x61\x78\x6e\xe4\x28"s);
}

TEST(TfRecordReader, ReadsWhatWasWritten) {
  EXPECT_THAT(*RecordsOf(Written({})), testing::IsEmpty());
  EXPECT_THAT(*RecordsOf(Written({"one", "", "three"})),
              ElementsAre("0@0:one", "1@19:", "2@35:three"));
  const std::string large(3'000'000, 'x');
  STOKER_ASSERT_OK_AND_ASSIGN(const auto records, RecordsOf(Written({"a", large, "b", large})));
  ASSERT_EQ(records.size(), 4u);
  EXPECT_TRUE(records[1] == "1@17:" + large);
  EXPECT_TRUE(records[3].ends_with(large));
}

TEST(TfRecordReader, GoesOnFromTheOffsetAndNumberOfAnother) {
  const std::string file = Written({"one", "two", "three"});
  TfRecordReader first(MakeMemorySource(std::as_bytes(std::span(file)), "x"), {});
  STOKER_ASSERT_OK(first.Next().status());
  const TempDir dir;
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "x", file));
  STOKER_ASSERT_OK_AND_ASSIGN(std::unique_ptr<ByteSource> rest,
                              OpenTfRecordSource(dir / "x", "auto", first.offset()));
  TfRecordReader second(std::move(rest), {}, first.number());
  STOKER_ASSERT_OK_AND_ASSIGN(const std::optional<TfRecord> record, second.Next());
  EXPECT_EQ(Text(record->data), "two");
  EXPECT_EQ(record->offset, 19u);
  EXPECT_EQ(record->number, 1);
  EXPECT_THAT(OpenTfRecordSource(dir / "x", "auto", 1000).status(),
              FailsWith(StatusCode::kOutOfRange, "byte 1000"));
}

// The file as the program of that name would compress it.
std::string CompressedFile(const std::vector<std::string>& records, std::string_view compression) {
  if (compression == "gzip") return Written(records, Compression::kGzip);
  if (compression == "zlib") return Written(records, Compression::kZlib);
  std::string file = Written(records);
  if (compression == "xz") return XzCompress(file);
  if (compression == "bzip2") return Bzip2Compress(file);
  if (compression == "zstd") {
    std::string packed(ZSTD_compressBound(file.size()), '\0');
    packed.resize(ZSTD_compress(packed.data(), packed.size(), file.data(), file.size(), 3));
    return packed;
  }
  ADD_FAILURE() << "no test writes " << compression;
  return file;
}

TEST(TfRecordCompression, IsToldByTheContentAndReadAlike) {
  const std::vector<std::string> records = {"one", std::string(100'000, 'y'), ""};
  const TempDir dir;
  for (const Decompression& compression : Decompressions()) {
    SCOPED_TRACE(compression.name);
    STOKER_ASSERT_OK(WriteFileAtomically(dir / "x", CompressedFile(records, compression.name)));
    STOKER_ASSERT_OK_AND_ASSIGN(const File opened, File::Open(dir / "x"));
    STOKER_ASSERT_OK_AND_ASSIGN(const auto* const found, DetectTfRecordCompression(opened));
    EXPECT_EQ(found, &compression);
    for (const std::string_view how : {compression.name, std::string_view("auto")}) {
      STOKER_ASSERT_OK_AND_ASSIGN(std::unique_ptr<ByteSource> source,
                                  OpenTfRecordSource(dir / "x", how));
      STOKER_ASSERT_OK_AND_ASSIGN(const auto got, RecordsOf(std::move(source)));
      EXPECT_EQ(got, *RecordsOf(Written(records)));
    }
  }
}

TEST(TfRecordCompression, OfAPlainFileIsNone) {
  const TempDir dir;
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "x", Written({"one"})));
  STOKER_ASSERT_OK_AND_ASSIGN(const File opened, File::Open(dir / "x"));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto* const found, DetectTfRecordCompression(opened));
  EXPECT_EQ(found, nullptr);
  for (const char* const how : {"none", "auto"}) {
    STOKER_ASSERT_OK_AND_ASSIGN(std::unique_ptr<ByteSource> source,
                                OpenTfRecordSource(dir / "x", how));
    STOKER_ASSERT_OK_AND_ASSIGN(const auto got, RecordsOf(std::move(source)));
    EXPECT_EQ(got, *RecordsOf(Written({"one"})));
  }
}

TEST(TfRecordCompression, APlainFileWhoseLengthLooksLikeAMagicNumberIsPlain) {
  const TempDir dir;
  for (const size_t length : {size_t{0x8b1f}, size_t{0x0178}, size_t{0x9c78}}) {
    STOKER_ASSERT_OK(WriteFileAtomically(dir / "x", Written({std::string(length, 'x')})));
    STOKER_ASSERT_OK_AND_ASSIGN(const File file, File::Open(dir / "x"));
    STOKER_ASSERT_OK_AND_ASSIGN(const auto* const found, DetectTfRecordCompression(file));
    EXPECT_EQ(found, nullptr) << length;
  }
}

TEST(TfRecordReader, EveryTruncationIsAnErrorThatNamesTheRecordAndItsByte) {
  const std::string file = Written({"one", "two"});
  for (size_t size = 1; size < file.size(); ++size) {
    if (size == 19) continue;  // the first record alone is a whole file
    EXPECT_THAT(RecordsOf(file.substr(0, size)),
                FailsWith(StatusCode::kDataLoss,
                          size < 19 ? "x.tfrecord: byte 0: " : "x.tfrecord: byte 19: "))
        << size;
  }
}

TEST(TfRecordReader, EveryFlippedByteIsNoticed) {
  const std::string file = Written({"one", "two"});
  for (size_t at = 0; at < file.size(); ++at) {
    std::string bad = file;
    bad[at] = static_cast<char>(~bad[at]);
    const Result<std::vector<std::string>> records = RecordsOf(bad);
    const bool in_data = at % 19 >= kTfRecordHeaderBytes;
    EXPECT_EQ(records.ok(), in_data) << at;
    if (!in_data) {
      EXPECT_THAT(records, FailsWith(StatusCode::kDataLoss, "lacks its checksum"));
      continue;
    }
    EXPECT_EQ(records->at(at / 19).back(), '!') << at;
    EXPECT_NE(records->at(1 - at / 19).back(), '!') << "the other one is whole";
    EXPECT_EQ(RecordsOf(bad, {.verify = false})->at(at / 19).back() == '!', false);
  }
  EXPECT_THAT(TfRecordDamaged("x.tfrecord", 19, 1),
              FailsWith(StatusCode::kDataLoss, "x.tfrecord: byte 19: the data of record 1"));
}

// A length with its checksum, and nothing after it.
std::string Announcing(uint64_t length) {
  std::string header(reinterpret_cast<const char*>(&length), sizeof(length));
  const uint32_t crc = MaskCrc32c(Crc32c(header));
  return header.append(reinterpret_cast<const char*>(&crc), sizeof(crc));
}

TEST(TfRecordReader, ALengthThatLiesAllocatesNothing) {
  for (const uint64_t length :
       {uint64_t{1} << 29, uint64_t{1} << 40, ~uint64_t{0}, ~uint64_t{0} - 15}) {
    const std::string file = Announcing(length) + "data";
    const auto account = Ledger::Create(1 << 30)->OpenAccount("test");
    TfRecordReader reader(MakeMemorySource(std::as_bytes(std::span(file)), "x"), {}, 0, account);
    EXPECT_THAT(reader.Next().status(), FailsWith(StatusCode::kDataLoss, "x: byte 0"));
    EXPECT_THAT(reader.Next().status(), FailsWith(StatusCode::kDataLoss, "x: byte 0"));
    EXPECT_LE(account->peak_bytes(), 300 << 10);
    const TempDir dir;
    STOKER_ASSERT_OK(WriteFileAtomically(dir / "x", file));
    STOKER_ASSERT_OK_AND_ASSIGN(const File opened, File::Open(dir / "x"));
    EXPECT_THAT(ScanTfRecords(opened).status(), FailsWith(StatusCode::kDataLoss, "byte 0"));
  }
  // Of compressed data it is not known beforehand how much there is: the window grows as they come.
  const std::string lie = Announcing(uint64_t{1} << 29) + "data";
  const std::string packed = Text(*GzipCompress(std::as_bytes(std::span(lie))));
  const auto account = Ledger::Create(1 << 30)->OpenAccount("test");
  TfRecordReader reader(MakeGzipSource(MakeMemorySource(std::as_bytes(std::span(packed)), "x")), {},
                        0, account);
  EXPECT_THAT(reader.Next().status(), FailsWith(StatusCode::kDataLoss, "ends in the middle"));
  EXPECT_LE(account->peak_bytes(), 1 << 20);
}

TEST(TfRecordReader, SaysWhatAnotherFileIs) {
  EXPECT_THAT(RecordsOf("\x89PNG\r\n\x1a\n 12345678"s),
              FailsWith(StatusCode::kDataLoss, "this is a PNG image, not TFRecord"));
  EXPECT_THAT(RecordsOf(std::string(100, '\xff')),
              FailsWith(StatusCode::kDataLoss, "this is no TFRecord file"));
  EXPECT_THAT(RecordsOf(Written({"abcdef"}), {.max_bytes = 5}),
              FailsWith(StatusCode::kDataLoss, "announces 6 bytes of data, at most 5 are taken"));
}

TEST(ScanTfRecords, FindsWhatReadingInOrderFinds) {
  const TempDir dir;
  const std::vector<std::string> records = {
      "a", std::string(300'000, 'b'), "", std::string(262'100, 'c'), "d", std::string(5000, 'e')};
  const std::string file = Written(records);
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "x", file));
  STOKER_ASSERT_OK_AND_ASSIGN(const File opened, File::Open(dir / "x"));
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<uint64_t> offsets, ScanTfRecords(opened));
  ASSERT_EQ(offsets.size(), records.size() + 1);
  for (size_t i = 0; i < records.size(); ++i) {
    const auto frame =
        std::as_bytes(std::span(file)).subspan(offsets[i], offsets[i + 1] - offsets[i]);
    STOKER_ASSERT_OK_AND_ASSIGN(const auto data,
                                CheckTfRecordFrame(frame, "x", offsets[i], 0, true));
    EXPECT_TRUE(Text(data) == records[i]) << i;
  }
}

TEST(ScanTfRecords, EveryTruncationIsAnError) {
  const std::string file = Written({"one", "two"});
  const TempDir dir;
  for (size_t size = 1; size < file.size(); ++size) {
    if (size == 19) continue;
    STOKER_ASSERT_OK(WriteFileAtomically(dir / "x", std::string_view(file).substr(0, size)));
    STOKER_ASSERT_OK_AND_ASSIGN(const File opened, File::Open(dir / "x"));
    EXPECT_THAT(ScanTfRecords(opened).status(),
                FailsWith(StatusCode::kDataLoss, size < 19 ? "x: byte 0: " : "x: byte 19: "))
        << size;
  }
}

TEST(CheckTfRecordFrame, AFrameThatIsNotThereAnyMoreIsAnError) {
  const std::string file = Written({"one", "two"});
  const auto bytes = std::as_bytes(std::span(file));
  for (const auto& [begin, size] : {std::pair{0, 18}, {0, 20}, {1, 19}, {0, 0}, {0, 15}}) {
    EXPECT_THAT(CheckTfRecordFrame(bytes.subspan(begin, size), "x", 0, 0, true).status(),
                FailsWith(StatusCode::kDataLoss, "x: byte 0: there is no record 0"));
  }
}

}  // namespace stoker::record_reader_test
