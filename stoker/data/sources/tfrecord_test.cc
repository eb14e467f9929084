#include "stoker/data/sources/tfrecord.h"

#include <filesystem>
#include <fstream>

#include "stoker/data/ops/ignore_errors.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/testing/combining.h"
#include "stoker/formats/tfrecord/record_writer.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/file.h"
#include "stoker/io/shards.h"

namespace stoker::tfrecord_test {

using testing::ElementsAre;

class TfrecordTest : public testing::Test {
 protected:
  // Record i of the file is "NAME i" with i % 5 dots.
  std::string Write(const std::string& name, int records,
                    Compression compression = Compression::kNone) {
    Result<TfRecordWriter> writer = TfRecordWriter::Create(dir_ / name, compression);
    for (int i = 0; i < records; ++i)
      EXPECT_THAT(writer->Append(fmt::format("{} {}{}", name, i, std::string(i % 5, '.'))), IsOk());
    EXPECT_THAT(writer->Commit(), IsOk());
    return dir_ / name;
  }

  static std::vector<std::string> RecordsOf(const Result<Dataset>& dataset) {
    std::vector<std::string> records;
    const Result<std::vector<Element>> all = ReadAll(*dataset, Runtime::Inline());
    EXPECT_THAT(all, IsOk());
    if (!all.ok()) return records;
    for (const Element& element : *all) {
      const Array& record = element.arrays[0];
      records.emplace_back(reinterpret_cast<const char*>(record.data()), record.num_bytes());
    }
    return records;
  }

  const TempDir dir_;
};

TEST_F(TfrecordTest, ReadsFilesOneAfterTheOther) {
  Write("b", 2);
  Write("a", 1);
  Write("c", 0);
  for (const char* const index : {"stored", "memory", "none"}) {
    EXPECT_THAT(
        RecordsOf(Source(Tfrecord{.files = {dir_ / "b", dir_ / "c", dir_ / "a"}, .index = index})),
        ElementsAre("b 0", "b 1.", "a 0"))
        << index;
  }
  EXPECT_THAT(RecordsOf(Source(Tfrecord{.files = dir_ / "*"})), ElementsAre("a 0", "b 0", "b 1."));
}

TEST_F(TfrecordTest, PlainFilesAreReadByPositionThroughAnIndexBesideThem) {
  Write("a", 7);
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Source(Tfrecord{.files = dir_ / "a"}));
  EXPECT_EQ(dataset.cardinality(), Cardinality::Of(7));
  EXPECT_TRUE(dataset.node().random_access());
  EXPECT_TRUE(std::filesystem::exists(dir_ / ".a.stoker-index"));
  const Result<Dataset> memory = Source(Tfrecord{.files = dir_ / "a", .index = "memory"});
  EXPECT_EQ(memory->cardinality(), Cardinality::Of(7));
  EXPECT_EQ(Source(Tfrecord{.files = dir_ / "a", .index = "none"})->cardinality(),
            Cardinality::Unknown());
}

TEST_F(TfrecordTest, KeepsItsPromises) {
  Write("a", 12);
  Write("b", 1);
  ExpectKeepsItsPromises(Source(Tfrecord{.files = dir_ / "?"}));
  ExpectKeepsItsPromises(Source(Tfrecord{.files = dir_ / "?"}) | Shuffle{} | Prefetch{});
  ExpectKeepsItsPromises(Source(Tfrecord{.files = dir_ / "?", .index = "none"}));
  Write("c", 9, Compression::kGzip);
  ExpectKeepsItsPromises(Source(Tfrecord{.files = dir_ / "?"}));
  Write("d", 5, Compression::kZlib);
  ExpectKeepsItsPromises(Source(Tfrecord{.files = {dir_ / "d", dir_ / "c"}}) |
                         Shuffle{.buffer = 4} | Prefetch{});
}

TEST_F(TfrecordTest, ADamagedRecordIsNamedAndCanBeLeftOut) {
  std::string file = *ReadTextFile(Write("a", 3));
  file[16 + 3 + 12] = 'x';  // in "a 1."
  for (const char* const index : {"stored", "none"}) {
    STOKER_ASSERT_OK(WriteFileAtomically(dir_ / "a", file));
    const Tfrecord options{.files = dir_ / "a", .index = index};
    EXPECT_THAT(ReadAll(*Source(options), Runtime::Inline()),
                FailsWith(StatusCode::kDataLoss, "/a: byte 19: the data of record 1 lack"));
    const QuietLog quiet;
    EXPECT_THAT(RecordsOf(Source(options) | IgnoreErrors{}), ElementsAre("a 0", "a 2.."));
    Tfrecord unverified = options;
    unverified.verify = false;
    EXPECT_THAT(RecordsOf(Source(unverified)), ElementsAre("a 0", "x 1.", "a 2.."));
  }
}

TEST_F(TfrecordTest, AFileThatIsCutShortIsAnErrorThatNamesTheByte) {
  std::string file = *ReadTextFile(Write("a", 3));
  file.resize(file.size() - 1);
  STOKER_ASSERT_OK(WriteFileAtomically(dir_ / "a", file));
  EXPECT_THAT(Source(Tfrecord{.files = dir_ / "a"}),
              FailsWith(StatusCode::kDataLoss, "/a: byte 39: the file ends in the middle"));
  EXPECT_THAT(ReadAll(*Source(Tfrecord{.files = dir_ / "a", .index = "none"}), Runtime::Inline()),
              FailsWith(StatusCode::kDataLoss, "/a: byte 39: the file ends in the middle"));
}

TEST_F(TfrecordTest, AFileThatIsChangedInPlaceIsNoticedAndANewOneIsIndexedAnew) {
  Write("a", 3);
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Source(Tfrecord{.files = dir_ / "a"}));
  std::ofstream(dir_ / "a", std::ios::binary) << std::string(100, 'x');
  EXPECT_THAT(ReadAll(dataset, Runtime::Inline()),
              FailsWith(StatusCode::kDataLoss, "/a: byte 0: there is no record 0"));
  Write("a", 4);
  EXPECT_THAT(RecordsOf(Source(Tfrecord{.files = dir_ / "a"})),
              ElementsAre("a 0", "a 1.", "a 2..", "a 3..."));
}

TEST_F(TfrecordTest, ShardsAreNamedTogetherAndAMissingOneIsAnError) {
  for (const int shard : {0, 1, 2}) Write(ShardName("x", shard, 3), 1);
  const auto first = [&](const std::string& files) {
    return RecordsOf(Source(Tfrecord{.files = dir_ / files}));
  };
  const auto all = ElementsAre("x-00000-of-00003 0", "x-00001-of-00003 0", "x-00002-of-00003 0");
  EXPECT_THAT(first("x@3"), all);
  EXPECT_THAT(first("x-*-of-00003"), all);
  std::filesystem::remove(dir_ / "x-00001-of-00003");
  for (const char* const files : {"x@3", "x-*-of-00003", "x*", "x-0000?-of-00003"}) {
    EXPECT_THAT(Source(Tfrecord{.files = dir_ / files}),
                FailsWith(StatusCode::kNotFound, "x-00001-of-00003"))
        << files;
  }
  // Who does not ask for it does not miss it.
  EXPECT_THAT(first("x-0000[02]-of-00003"),
              ElementsAre("x-00000-of-00003 0", "x-00002-of-00003 0"));
}

// A record of 64 MiB in a few KB, under a budget of 16.
TEST_F(TfrecordTest, ACompressedRecordBeyondTheBudgetIsRefusedBeforeItIsRead) {
  STOKER_ASSERT_OK_AND_ASSIGN(TfRecordWriter writer,
                              TfRecordWriter::Create(dir_ / "x.gz", Compression::kGzip));
  STOKER_ASSERT_OK(writer.Append("small"));
  STOKER_ASSERT_OK(writer.Append(std::string(64 << 20, '\0')));
  STOKER_ASSERT_OK(writer.Commit());
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset records, Source(Tfrecord{.files = dir_ / "x.gz"}));
  Runtime runtime = Runtime::Inline();
  runtime.memory_budget = 16 << 20;
  STOKER_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Iterator> pass, records.Open(runtime));
  STOKER_ASSERT_OK(pass->Next());
  EXPECT_THAT(pass->Next(),
              FailsWith(StatusCode::kResourceExhausted,
                        "byte 21: record 1 announces 67108864 bytes of data, but the memory "
                        "budget is 16777216 bytes"));
  runtime.memory_budget = 128 << 20;
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> all, ReadAll(records, runtime));
  EXPECT_EQ(all.size(), 2u);
}

TEST_F(TfrecordTest, RefusesWhatItCannotTake) {
  Write("a", 3);
  EXPECT_THAT(Source(Tfrecord{.files = dir_ / "none"}), FailsWith(StatusCode::kNotFound, "none"));
  EXPECT_THAT(Source(Tfrecord{}), FailsWith(StatusCode::kInvalidArgument, "no file is named"));
  EXPECT_THAT(Source(Tfrecord{.files = dir_ / "a", .field = ""}),
              FailsWith(StatusCode::kInvalidArgument, "the field's name is empty"));
  EXPECT_THAT(Source(Tfrecord{.files = dir_ / "a", .compression = "rar"}),
              FailsWith(StatusCode::kInvalidArgument, "rar"));
  EXPECT_THAT(ReadAll(*Source(Tfrecord{.files = dir_ / "a", .max_bytes = 4}), Runtime::Inline()),
              FailsWith(StatusCode::kDataLoss, "record 2 (byte 39): it has 5 bytes"));
  STOKER_ASSERT_OK(WriteFileAtomically(dir_ / "t", "plain text, and not a little of it"));
  EXPECT_THAT(Source(Tfrecord{.files = dir_ / "t"}),
              FailsWith(StatusCode::kDataLoss, "this is text, not TFRecord"));
}

}  // namespace stoker::tfrecord_test
