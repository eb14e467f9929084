#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>

#include "stoker/base/testing.h"
#include "stoker/formats/tensorboard/event_writer.h"
#include "stoker/formats/tensorboard/histogram.h"
#include "stoker/formats/tensorboard/summary.h"
#include "stoker/formats/tfrecord/record_reader.h"
#include "stoker/formats/tfrecord/record_writer.h"
#include "stoker/formats/tfrecord/wire_internal.h"

namespace stoker::tensorboard_test {

using internal::WireCursor;
using internal::WireTag;
using internal::WireType;
using testing::ElementsAre;

std::string Hex(std::string_view bytes) {
  std::string hex;
  for (const char c : bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    hex += kDigits[static_cast<unsigned char>(c) >> 4];
    hex += kDigits[c & 15];
  }
  return hex;
}

// The fields of a message as raw bytes; of repeated ones all, in order.
std::multimap<uint64_t, std::string> FieldsOf(std::string_view message) {
  std::multimap<uint64_t, std::string> fields;
  WireCursor cursor(std::as_bytes(std::span(message)));
  while (!cursor.done()) {
    WireTag tag;
    EXPECT_TRUE(cursor.ReadTag(tag));
    const std::byte* const begin = cursor.at();
    std::span<const std::byte> bytes;
    if (tag.type == WireType::kBytes) {
      EXPECT_TRUE(cursor.ReadBytes(bytes));
    } else {
      EXPECT_TRUE(cursor.Skip(tag.type));
      bytes = {begin, cursor.at()};
    }
    fields.emplace(tag.field,
                   std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
  return fields;
}

std::string Field(std::string_view message, std::initializer_list<uint64_t> path) {
  std::string found(message);
  for (const uint64_t field : path) {
    const auto fields = FieldsOf(found);
    const auto it = fields.find(field);
    if (it == fields.end()) return "(absent)";
    found = it->second;
  }
  return found;
}

template <typename T>
std::vector<T> Packed(const std::string& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

std::vector<std::string> RecordsOf(const std::string& path) {
  auto source = OpenTfRecordSource(path, "auto");
  EXPECT_THAT(source, IsOk());
  TfRecordReader reader(*std::move(source), {});
  std::vector<std::string> records;
  while (true) {
    const auto record = reader.Next();
    EXPECT_THAT(record, IsOk());
    if (!record.ok() || !*record) return records;
    EXPECT_FALSE((*record)->damaged);
    records.emplace_back(reinterpret_cast<const char*>((*record)->data.data()),
                         (*record)->data.size());
  }
}

// Values: those that TensorFlow's own writer gives.
TEST(EventBytes, AreThoseOfTensorFlowsWriter) {
  EXPECT_EQ(Hex(FrameTfRecord(FileVersionEvent(1))),
            "1800000000000000a37f4b2209000000000000f03f1a0d627261696e2e4576656e743a3286bf577a");
  EXPECT_EQ(Hex(FrameTfRecord(Summary().AddScalar("loss", 0.5).Event(2, 7))),
            "1a00000000000000129bd82d09000000000000004010072a0d0a0b0a046c6f7373150000003fc33fc24a");
}

TEST(Summary, HoldsSeveralValuesInTheirOrder) {
  Summary summary;
  EXPECT_TRUE(summary.empty());
  summary.AddScalar("a", 1).AddScalar("b", 2);
  const auto values = FieldsOf(Field(summary.Event(1, 300), {5}));
  ASSERT_EQ(values.size(), 2u);
  EXPECT_EQ(Field(values.begin()->second, {1}), "a");
  EXPECT_EQ(Packed<float>(Field(std::next(values.begin())->second, {2})), std::vector<float>{2});
  EXPECT_EQ(Hex(Field(summary.Event(1, 300), {2})), "ac02");
}

TEST(Summary, HoldsAnImageWithItsSize) {
  const std::string image = Field(Summary().AddImage("i", 3, 500, 1, "png").Event(1, 0), {5, 1, 4});
  EXPECT_EQ(Hex(image), "080310f40318012203" + Hex("png"));
}

TEST(Summary, HoldsTextAsATensorForItsPlugin) {
  const std::string event = Summary().AddText("t", "*hello*").Event(1, 0);
  EXPECT_EQ(Field(event, {5, 1, 8, 8}), "*hello*");
  EXPECT_EQ(Hex(Field(event, {5, 1, 8, 1})), "07");
  EXPECT_EQ(Field(event, {5, 1, 9, 1, 1}), "text");
}

TEST(Summary, HoldsHyperparametersByTypeAndTheTagsOfMetrics) {
  const std::vector<HyperParameter> hparams = {{"lr", 0.5}, {"name", "sgd"}, {"fast", true}};
  const std::vector<std::string> tags = {"eval/accuracy"};
  const std::string experiment =
      Field(Summary().AddExperiment(hparams, tags).Event(1, 0), {5, 1, 9, 1, 2, 2});
  std::string names, types;
  for (const auto& [field, info] : FieldsOf(experiment)) {
    if (field == 4) names += Field(info, {1}) + ",";
    if (field == 4) types += Hex(Field(info, {4})) + ",";
  }
  EXPECT_EQ(names, "lr,name,fast,");
  EXPECT_EQ(types, "03,01,02,");
  EXPECT_EQ(Field(experiment, {5, 1, 2}), "eval/accuracy");
  const std::string start =
      Field(Summary().AddSessionStart(hparams, 9).Event(1, 0), {5, 1, 9, 1, 2, 3});
  EXPECT_EQ(Packed<double>(Field(start, {1, 2, 2})), std::vector<double>{0.5});
  const std::string end = Summary().AddSessionEnd(SessionStatus::kSuccess, 9).Event(1, 0);
  EXPECT_EQ(Hex(Field(end, {5, 1, 9, 1, 2, 4, 1})), "01");
}

TEST(Histogram, LimitsAreTheSameOnBothSidesOfZeroAndGrowByATenth) {
  const auto limits = HistogramLimits();
  EXPECT_EQ(limits.size(), 1551u);
  EXPECT_TRUE(std::ranges::is_sorted(limits));
  const size_t zero = limits.size() / 2;
  EXPECT_EQ(limits[zero], 0);
  EXPECT_EQ(limits[zero + 1], 1e-12);
  EXPECT_EQ(limits[zero - 1], -1e-12);
  EXPECT_DOUBLE_EQ(limits[zero + 101], limits[zero + 100] * 1.1);
  EXPECT_EQ(limits.back(), std::numeric_limits<double>::max());
}

TEST(Histogram, CountsEveryFiniteValueInTheBucketBelowTheNextLimit) {
  const std::vector<float> values = {1, 1.05f, -1, 0, std::nanf(""), INFINITY, 2};
  const Histogram histogram = MakeHistogram(values);
  EXPECT_EQ(histogram.num, 5);
  EXPECT_EQ(histogram.min, -1);
  EXPECT_EQ(histogram.max, 2);
  EXPECT_FLOAT_EQ(static_cast<float>(histogram.sum), 3.05f);
  EXPECT_NEAR(histogram.sum_squares, 1 + 1.05 * 1.05 + 1 + 4, 1e-6);
  // Each value's bucket, found by looking at all limits.
  std::map<double, double> plain;
  for (const float value : {1.0f, 1.05f, -1.0f, 0.0f, 2.0f}) {
    for (const double limit : HistogramLimits()) {
      if (value < limit) {
        plain[limit] += 1;
        break;
      }
    }
  }
  std::map<double, double> found;
  for (size_t i = 0; i < histogram.limits.size(); ++i) {
    if (histogram.counts[i] > 0) found[histogram.limits[i]] = histogram.counts[i];
  }
  EXPECT_EQ(found, plain);
  // Values that equal a limit count above it.
  EXPECT_EQ(MakeHistogram(std::vector<float>{0}).limits[1], 1e-12);
}

TEST(Histogram, WritesStretchesOfEmptyBucketsAsOne) {
  const Histogram histogram = MakeHistogram(std::vector<float>{0, 0, 5});
  EXPECT_THAT(histogram.counts, ElementsAre(0, 2, 0, 1, 0));
  EXPECT_EQ(histogram.limits.back(), std::numeric_limits<double>::max());
  EXPECT_THAT(MakeHistogram({}).counts, ElementsAre(0));
  const std::string message = Field(Summary().AddHistogram("h", histogram).Event(1, 0), {5, 1, 5});
  EXPECT_EQ(Packed<double>(Field(message, {7})), histogram.counts);
  EXPECT_EQ(Packed<double>(Field(message, {6})), histogram.limits);
  EXPECT_EQ(Packed<double>(Field(message, {3})), std::vector<double>{3});
}

TEST(EventWriter, WritesRecordsThatAreThereAtOnce) {
  const TempDir directory;
  STOKER_ASSERT_OK_AND_ASSIGN(EventWriter writer, EventWriter::Create(directory.path()));
  STOKER_ASSERT_OK(writer.Write(Summary().AddScalar("a", 1), 3));
  const std::vector<std::string> records = RecordsOf(writer.path());
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(Field(records[0], {3}), "brain.Event:2");
  EXPECT_EQ(Hex(Field(records[1], {2})), "03");
  EXPECT_NEAR(Packed<double>(Field(records[1], {1}))[0], WallTime(), 60);
  STOKER_EXPECT_OK(writer.Sync());
}

TEST(EventWriter, GoesOnInANewFileThatSortsBehindAndSaysWhatToForget) {
  const TempDir directory;
  STOKER_ASSERT_OK_AND_ASSIGN(EventWriter first, EventWriter::Create(directory.path()));
  // Half a record, as a killed process leaves it; and a file from a clock that is ahead.
  std::ofstream(first.path(), std::ios::app | std::ios::binary) << "\x18\0\0";
  const std::string ahead = directory / "events.out.tfevents.9000000000.host.1.0";
  std::ofstream(ahead, std::ios::binary) << "";
  STOKER_ASSERT_OK_AND_ASSIGN(EventWriter second, EventWriter::Create(directory.path(), 8));
  EXPECT_GT(second.path(), ahead);
  const std::vector<std::string> records = RecordsOf(second.path());
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(Hex(Field(records[1], {2})), "08");
  EXPECT_EQ(Hex(Field(records[1], {7, 1})), "01");
}

TEST(EventWriter, NamesTheDirectoryThatIsNotThere) {
  const TempDir directory;
  EXPECT_THAT(EventWriter::Create(directory / "no"),
              FailsWith(StatusCode::kNotFound, "no/events.out.tfevents."));
}

TEST(EventWriter, SaysThatTheDiskIsFull) {
  const TempDir directory;
  STOKER_ASSERT_OK_AND_ASSIGN(EventWriter writer, EventWriter::Create(directory.path()));
  struct rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  std::filesystem::resize_file(writer.path(), 4096);
  ::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small = {.rlim_cur = 4100, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status cut = writer.Write(Summary().AddScalar("a", 1), 1);
  const Status full = writer.Write(Summary().AddScalar("a", 1), 1);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_THAT(cut, FailsWith(StatusCode::kResourceExhausted, "byte 4100: cannot write"));
  EXPECT_THAT(full, FailsWith(full.code(), writer.path()));
}

}  // namespace stoker::tensorboard_test
