#include "stoker/formats/tfrecord/record_check.h"

#include <string>

#include "stoker/base/testing.h"
#include "stoker/formats/tfrecord/record_writer.h"
#include "stoker/io/file.h"

namespace stoker::record_check_test {

// A file of `n` records "record 0", "record 1", ..., each a frame of 24 bytes.
constexpr uint64_t kFrame = 24;
std::string Records(int n) {
  const TempDir directory;
  const std::string path = (directory.path() / "x").string();
  TfRecordWriter writer = *TfRecordWriter::Create(path);
  for (int i = 0; i < n; ++i) STOKER_EXPECT_OK(writer.Append(fmt::format("record {}", i)));
  STOKER_EXPECT_OK(writer.Commit());
  return *ReadTextFile(path);
}

TfRecordCheck Check(const std::string& bytes) {
  return CheckTfRecords(std::as_bytes(std::span(bytes)));
}

TEST(TfRecordCheck, FindsNothingInAWholeFile) {
  for (const int n : {0, 1, 9}) {
    const TfRecordCheck check = Check(Records(n));
    EXPECT_EQ(check.records, n);
    EXPECT_TRUE(check.damages.empty());
  }
}

TEST(TfRecordCheck, EveryFlippedByteIsFoundAndTheOtherRecordsAreToo) {
  const std::string whole = Records(5);
  for (size_t at = 0; at < whole.size(); ++at) {
    SCOPED_TRACE(at);
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x40);
    const TfRecordCheck check = Check(bytes);
    ASSERT_EQ(check.damages.size(), 1u);
    const TfRecordDamage& damage = check.damages[0];
    EXPECT_EQ(damage.begin, at / kFrame * kFrame);
    EXPECT_EQ(damage.bytes, kFrame);
    EXPECT_EQ(damage.record, static_cast<int64_t>(at / kFrame));
    const bool in_header = at % kFrame < 12;
    EXPECT_EQ(check.records, in_header ? 4 : 5);
    const bool last = at / kFrame == 4;
    EXPECT_EQ(damage.kind, !in_header ? TfRecordDamage::Kind::kData
                           : last     ? TfRecordDamage::Kind::kCut
                                      : TfRecordDamage::Kind::kFrames);
  }
}

TEST(TfRecordCheck, EveryCutIsFound) {
  const std::string whole = Records(3);
  for (size_t size = 0; size < whole.size(); ++size) {
    SCOPED_TRACE(size);
    const TfRecordCheck check = Check(whole.substr(0, size));
    EXPECT_EQ(check.records, static_cast<int64_t>(size / kFrame));
    ASSERT_EQ(check.damages.size(), size % kFrame == 0 ? 0u : 1u);
    if (size % kFrame == 0) continue;
    EXPECT_EQ(check.damages[0].kind, TfRecordDamage::Kind::kCut);
    EXPECT_EQ(check.damages[0].begin, size / kFrame * kFrame);
    EXPECT_EQ(check.damages[0].bytes, size % kFrame);
  }
}

TEST(TfRecordCheck, ALostStretchIsOneDamageHoweverManyRecordsItHeld) {
  std::string bytes = Records(9);
  bytes.replace(kFrame * 2 + 3, kFrame * 3, std::string(kFrame * 3, '\xff'));
  const TfRecordCheck check = Check(bytes);
  EXPECT_EQ(check.records, 5);
  ASSERT_EQ(check.damages.size(), 1u);
  EXPECT_EQ(check.damages[0].begin, kFrame * 2);
  EXPECT_EQ(check.damages[0].bytes, kFrame * 4);
}

TEST(TfRecordCheck, LengthsThatOverflowAreDamage) {
  EXPECT_EQ(Check(std::string(40, '\xff')).damages.size(), 1u);
  EXPECT_EQ(Check(std::string(40, '\xff')).records, 0);
}

}  // namespace stoker::record_check_test
