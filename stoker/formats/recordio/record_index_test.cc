#include "stoker/formats/recordio/record_index.h"

#include <vector>

#include "stoker/base/testing.h"
#include "stoker/io/atomic_file.h"

namespace stoker::record_index_test {

const std::vector<uint64_t> kOffsets = {0, 40, 812, 900};

Status Check(std::string_view index) {
  return CheckRecordIoIndex(MakeMemorySource(std::as_bytes(std::span(index)), "a.idx"), "a.rec",
                            kOffsets);
}

TEST(RecordIoIndex, AgreesInAnyOrderWithAnyKeys) {
  STOKER_EXPECT_OK(Check("0\t0\n1\t40\n2\t812\n"));
  STOKER_EXPECT_OK(Check("n01/x.jpg\t812\r\n7\t0\r\n\r\n-1\t40"));
  const uint64_t none = 0;
  STOKER_EXPECT_OK(CheckRecordIoIndex(MakeMemorySource({}, "a.idx"), "a.rec", {&none, 1}));
}

struct BrokenCase {
  const char *name, *index, *says;
};

const BrokenCase kBroken[] = {
    {"OfAnotherFile", "0\t0\n1\t44\n2\t812\n",
     "a.idx: line 2: no record of a.rec begins at byte 44; make the index again"},
    {"WithTheEndOfTheFile", "0\t900\n", "line 1: no record of a.rec begins at byte 900"},
    {"BeyondTheFile", "0\t0\n1\t18446744073709551615\n", "begins at byte 18446744073709551615"},
    {"BeyondAnyNumber", "0\t18446744073709551616\n", "line 1: a key, a tab and the byte"},
    {"OfSomeRecords", "0\t0\n2\t812\n",
     "a.idx: lists 2 of the 3 records of a.rec, not record 1 (byte 40)"},
    {"OfNothing", "", "lists 0 of the 3 records"},
    {"OfARecordTwice", "0\t40\n1\t0\n2\t40\n",
     "line 3: record 1 of a.rec (byte 40) is listed a second time"},
    {"WithoutTabs", "0 0\n1 40\n", "line 1: a key, a tab and the byte where a record of a.rec"},
    {"OfNoNumbers", "0\t0\n1\t4o\n", "line 2: a key, a tab"},
    {"OfNegativeNumbers", "0\t-1\n", "line 1: a key, a tab"},
};

class RecordIoIndexBroken : public testing::TestWithParam<BrokenCase> {};

TEST_P(RecordIoIndexBroken, SaysWhatAndWhere) {
  EXPECT_THAT(Check(GetParam().index), FailsWith(StatusCode::kDataLoss, GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(Cases, RecordIoIndexBroken, testing::ValuesIn(kBroken),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(RecordIoIndex, OfALineThatIsTooLongTheLineIsTold) {
  EXPECT_THAT(Check("0\t0\n" + std::string(70'000, '1') + "\t40\n"),
              FailsWith(StatusCode::kDataLoss, "a.idx: line 2: a key"));
}

TEST(RecordIoIndex, IsFoundBesideItsFileOnly) {
  const TempDir directory;
  STOKER_ASSERT_OK(WriteFileAtomically(directory / "a.idx", "0\t7\n"));
  EXPECT_EQ(FindRecordIoIndex(directory / "a.rec"), directory / "a.idx");
  EXPECT_EQ(FindRecordIoIndex(directory / "b.rec"), "");
  EXPECT_EQ(FindRecordIoIndex(directory / "a"), "");
  EXPECT_EQ(FindRecordIoIndex("https://host/a.rec"), "");
  STOKER_EXPECT_OK(CheckRecordIoIndexOf(directory / "b.rec", kOffsets));
  EXPECT_THAT(CheckRecordIoIndexOf(directory / "a.rec", kOffsets),
              FailsWith(StatusCode::kDataLoss, "a.idx: line 1: no record of"));
}

}  // namespace stoker::record_index_test
