#include "stoker/formats/recordio/record_io.h"

#include <fstream>
#include <string>

#include "stoker/base/testing.h"
#include "stoker/formats/recordio/record_io_testing_internal.h"

namespace stoker::record_io_test {

using testing::ElementsAre;

std::string_view TextOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class RecordIoTest : public testing::Test {
 protected:
  Result<File> Open(const std::string& bytes) const {
    std::ofstream(dir_ / "a.rec", std::ios::binary).write(bytes.data(), std::ssize(bytes));
    return File::Open(dir_ / "a.rec");
  }

  // All records of a file of these bytes.
  Result<std::vector<std::string>> Records(const std::string& bytes) const {
    STOKER_ASSIGN_OR_RETURN(const File file, Open(bytes));
    STOKER_ASSIGN_OR_RETURN(const std::vector<uint64_t> offsets, ScanRecordIo(file));
    std::vector<std::string> records;
    std::vector<std::byte> joined;
    const auto memory = [&](size_t size) {
      joined.resize(size);
      return joined.data();
    };
    for (size_t i = 0; i + 1 < offsets.size(); ++i) {
      const std::string frame = bytes.substr(offsets[i], offsets[i + 1] - offsets[i]);
      STOKER_ASSIGN_OR_RETURN(const std::span<const std::byte> data,
                              RecordIoData(std::as_bytes(std::span(frame)), "here", memory));
      records.emplace_back(TextOf(data));
    }
    return records;
  }

  const TempDir dir_;
};

TEST_F(RecordIoTest, GivesTheRecordsWholeOrInParts) {
  const std::string magic = "\x0a\x23\xd7\xce";
  const std::vector<std::string> records = {"",
                                            "a",
                                            "four",
                                            "seven..",
                                            magic,
                                            "abcd" + magic + "ef",
                                            magic + magic,
                                            "x" + magic,
                                            std::string(600'000, 'l'),
                                            "end!" + magic};
  std::string bytes;
  for (const std::string& record : records) bytes += RecordIoRecord(record);
  EXPECT_EQ(*Records(bytes), records);
  EXPECT_THAT(*Records(""), testing::IsEmpty());
}

TEST_F(RecordIoTest, AsksForMemoryOfTheExactSizeAndOnlyForParts) {
  std::vector<size_t> asked;
  std::vector<std::byte> memory(100);
  const auto ask = [&](size_t bytes) {
    asked.push_back(bytes);
    return memory.data();
  };
  const std::string whole = RecordIoRecord("whole");
  STOKER_ASSERT_OK(RecordIoData(std::as_bytes(std::span(whole)), "here", ask));
  EXPECT_THAT(asked, testing::IsEmpty());
  const std::string record =
      "abcd\x0a\x23\xd7\xce"
      "ef";
  const std::string parts = RecordIoRecord(record);
  STOKER_ASSERT_OK_AND_ASSIGN(const std::span<const std::byte> data,
                              RecordIoData(std::as_bytes(std::span(parts)), "here", ask));
  EXPECT_THAT(asked, ElementsAre(record.size()));
  EXPECT_EQ(data.data(), memory.data());
  EXPECT_EQ(TextOf(data), record);
  EXPECT_THAT(RecordIoData(std::as_bytes(std::span(parts).first(parts.size() - 4)), "here", ask),
              FailsWith(StatusCode::kDataLoss, "here: there is no such record any more"));
  EXPECT_EQ(asked.size(), 1u) << "nothing is taken for what is broken";
}

TEST_F(RecordIoTest, ReadsTheBytesOfTheSpecification) {
  using namespace std::string_literals;
  EXPECT_THAT(*Records("\x0a\x23\xd7\xce\x03\0\0\0abc\0"s), ElementsAre("abc"));
}

TEST_F(RecordIoTest, EveryTruncationIsAnErrorAndEveryFlippedByteIsReadOrAnError) {
  const std::string good = RecordIoRecord("abcde") + RecordIoRecord(
                                                         "abcd\x0a\x23\xd7\xce"
                                                         "f");
  for (size_t size = 1; size < good.size(); ++size) {
    if (size == 16) continue;  // one whole record
    EXPECT_THAT(Records(good.substr(0, size)), FailsWith(StatusCode::kDataLoss, "a.rec: byte"))
        << size;
  }
  for (size_t at = 0; at < good.size(); ++at) {
    for (const int flip : {0x01, 0x20, 0x80, 0xff}) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ flip);
      const Result<std::vector<std::string>> records = Records(bad);
      if (!records.ok()) {
        EXPECT_EQ(records.status().code(), StatusCode::kDataLoss);
      }
    }
  }
}

TEST_F(RecordIoTest, SaysWhatAnotherFileIs) {
  EXPECT_THAT(Records("\x89PNG\r\n\x1a\n........"),
              FailsWith(StatusCode::kDataLoss, "byte 0: this is a PNG image, not RecordIO"));
  EXPECT_THAT(Records(RecordIoRecord("a") + "12345678"),
              FailsWith(StatusCode::kDataLoss, "byte 12: no record begins here"));
  EXPECT_THAT(Records(RecordIoPart("a", 3)), FailsWith(StatusCode::kDataLoss, "byte 0: no record"));
  EXPECT_THAT(Records(RecordIoPart("a", 1)),
              FailsWith(StatusCode::kDataLoss, "ends in the middle"));
}

TEST(ImageRecord, HasOneLabelOrSeveral) {
  const std::string one = ImageRecordOf({2.5f}, 7, "img");
  STOKER_ASSERT_OK_AND_ASSIGN(const ImageRecord single,
                              ParseImageRecord(std::as_bytes(std::span(one)), "here"));
  EXPECT_THAT(single.labels, ElementsAre(2.5f));
  EXPECT_EQ(single.id, 7u);
  EXPECT_EQ(TextOf(single.image), "img");
  const std::string many = ImageRecordOf({1, 2, 3}, 8, "");
  STOKER_ASSERT_OK_AND_ASSIGN(const ImageRecord several,
                              ParseImageRecord(std::as_bytes(std::span(many)), "here"));
  EXPECT_THAT(several.labels, ElementsAre(1, 2, 3));
  EXPECT_EQ(several.image.size(), 0u);
  for (size_t size = 0; size < many.size(); ++size) {
    EXPECT_THAT(ParseImageRecord(std::as_bytes(std::span(many).first(size)), "here"),
                FailsWith(StatusCode::kDataLoss, "here: "));
  }
}

}  // namespace stoker::record_io_test
