#include "stoker/formats/tfrecord/example.h"

#include <limits>
#include <string>
#include <vector>

#include "stoker/base/testing.h"
#include "stoker/formats/tfrecord/example_writer.h"

namespace stoker::example_test {

using namespace std::string_literals;
using testing::ElementsAre;

using Bytes = std::span<const std::byte>;

Bytes Of(std::string_view text) { return std::as_bytes(std::span(text)); }

Result<std::vector<int64_t>> Int64sOf(std::string_view record, const FeatureValues& values) {
  STOKER_ASSIGN_OR_RETURN(const int64_t count, CountValues(Of(record), values));
  std::vector<int64_t> out(static_cast<size_t>(count));
  STOKER_ASSIGN_OR_RETURN(const int64_t copied, CopyInt64s(Of(record), values, out));
  EXPECT_EQ(copied, count);
  return out;
}
Result<std::vector<float>> FloatsOf(std::string_view record, const FeatureValues& values) {
  STOKER_ASSIGN_OR_RETURN(const int64_t count, CountValues(Of(record), values));
  std::vector<float> out(static_cast<size_t>(count));
  STOKER_ASSIGN_OR_RETURN(const int64_t copied, CopyFloats(Of(record), values, out));
  EXPECT_EQ(copied, count);
  return out;
}
Result<std::vector<std::string>> StringsOf(std::string_view record, const FeatureValues& values) {
  STOKER_ASSIGN_OR_RETURN(const int64_t count, CountValues(Of(record), values));
  std::vector<Bytes> found(static_cast<size_t>(count));
  STOKER_RETURN_IF_ERROR(FindByteStrings(Of(record), values, found).status());
  std::vector<std::string> out;
  for (const Bytes one : found)
    out.emplace_back(reinterpret_cast<const char*>(one.data()), one.size());
  return out;
}

// All that can be told of the features a, b and c of `record`, or the first error.
Status ReadAll(std::string_view record) {
  static const FeatureNames names({"a", "b", "c"});
  std::vector<FeatureValues> found(3);
  std::vector<FeatureSteps> steps(3);
  STOKER_RETURN_IF_ERROR(FindSequenceFeatures(Of(record), names, found, names, steps));
  for (const FeatureSteps& one : steps) STOKER_RETURN_IF_ERROR(SplitSteps(Of(record), one, found));
  for (const FeatureValues& one : found) {
    if (one.kind == FeatureKind::kInt64) STOKER_RETURN_IF_ERROR(Int64sOf(record, one).status());
    if (one.kind == FeatureKind::kFloat) STOKER_RETURN_IF_ERROR(FloatsOf(record, one).status());
    if (one.kind == FeatureKind::kBytes) STOKER_RETURN_IF_ERROR(StringsOf(record, one).status());
  }
  return OkStatus();
}

// What tf.train.Example's SerializeToString of TensorFlow 2.21 gave: a = [1, -2, 300]; b = [1.5]; c
// = [b"xy", b""].
const std::string kInts =
    "\x0a\x18\x0a\x16\x0a\x01\x61\x12\x11\x1a\x0f\x0a\x0d\x01\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01\xac\x02"s;
const std::string kFloats = "\x0a\x0f\x0a\x0d\x0a\x01\x62\x12\x08\x12\x06\x0a\x04\x00\x00\xc0\x3f"s;
const std::string kStrings =
    "\x0a\x0f\x0a\x0d\x0a\x01\x63\x12\x08\x0a\x06\x0a\x02\x78\x79\x0a\x00"s;
// A SequenceExample with that context and l = [[7], (a Feature of nothing)].
const std::string kSequence =
    kStrings + "\x12\x10\x0a\x0e\x0a\x01\x6c\x12\x09\x0a\x05\x1a\x03\x0a\x01\x07\x0a\x00"s;

const std::vector<int64_t> kThree = {1, -2, 300};
const std::vector<float> kOne = {1.5f};
const std::vector<std::string_view> kTwo = {"xy", ""};

TEST(ExampleBuilder, GivesTheBytesThatTensorFlowGives) {
  EXPECT_EQ(ExampleBuilder().Add("a", Int64Feature(kThree)).Example(), kInts);
  EXPECT_EQ(ExampleBuilder().Add("b", FloatFeature(kOne)).Example(), kFloats);
  EXPECT_EQ(ExampleBuilder().Add("c", BytesFeature(kTwo)).Example(), kStrings);
  const std::vector<std::string> steps = {Int64Feature(std::vector<int64_t>{7}), ""};
  EXPECT_EQ(ExampleBuilder().Add("c", BytesFeature(kTwo)).AddSteps("l", steps).SequenceExample(),
            kSequence);
}

TEST(FindFeatures, ReadsWhatTensorFlowWrote) {
  const FeatureNames names({"c", "a", "b"});
  std::vector<FeatureValues> found(3);
  STOKER_ASSERT_OK(FindFeatures(Of(kInts), names, found));
  EXPECT_EQ(found[0].kind, FeatureKind::kMissing);
  EXPECT_THAT(*Int64sOf(kInts, found[1]), ElementsAre(1, -2, 300));
  STOKER_ASSERT_OK(FindFeatures(Of(kFloats), names, found));
  EXPECT_EQ(found[1].kind, FeatureKind::kMissing) << "what was found before is forgotten";
  EXPECT_THAT(*FloatsOf(kFloats, found[2]), ElementsAre(1.5f));
  STOKER_ASSERT_OK(FindFeatures(Of(kStrings), names, found));
  EXPECT_THAT(*StringsOf(kStrings, found[0]), ElementsAre("xy", ""));
  STOKER_ASSERT_OK(FindFeatures({}, names, found));
  EXPECT_EQ(found[0].kind, FeatureKind::kMissing);
}

TEST(FindSequenceFeatures, ReadsContextAndSteps) {
  const FeatureNames context_names({"c"}), list_names({"l", "none"});
  std::vector<FeatureValues> context(1);
  std::vector<FeatureSteps> lists(2);
  STOKER_ASSERT_OK(FindSequenceFeatures(Of(kSequence), context_names, context, list_names, lists));
  EXPECT_THAT(*StringsOf(kSequence, context[0]), ElementsAre("xy", ""));
  EXPECT_TRUE(lists[1].missing);
  std::vector<FeatureValues> steps;
  STOKER_ASSERT_OK(SplitSteps(Of(kSequence), lists[0], steps));
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_THAT(*Int64sOf(kSequence, steps[0]), ElementsAre(7));
  EXPECT_EQ(steps[1].kind, FeatureKind::kMissing);
}

TEST(FindFeatures, TakesNamesInAnyOrderAndPassesOverOthers) {
  std::vector<std::string> all;
  ExampleBuilder builder;
  for (int64_t i = 0; i < 40; ++i) {
    all.push_back(fmt::format("feature {}", i));
    builder.Add(all.back(), Int64Feature(std::vector<int64_t>{i}));
  }
  const std::string record = builder.Example();
  const std::vector<std::string> wanted = {all[39], all[3], "none", all[4], all[0]};
  const FeatureNames names(wanted);
  std::vector<FeatureValues> found(wanted.size());
  STOKER_ASSERT_OK(FindFeatures(Of(record), names, found));
  EXPECT_THAT(*Int64sOf(record, found[0]), ElementsAre(39));
  EXPECT_THAT(*Int64sOf(record, found[1]), ElementsAre(3));
  EXPECT_EQ(found[2].kind, FeatureKind::kMissing);
  EXPECT_THAT(*Int64sOf(record, found[3]), ElementsAre(4));
  EXPECT_THAT(*Int64sOf(record, found[4]), ElementsAre(0));
}

// One Feature under the name a.
FeatureValues ValuesOf(const std::string& record) {
  static const FeatureNames names({"a"});
  std::vector<FeatureValues> found(1);
  EXPECT_THAT(FindFeatures(Of(record), names, found), IsOk());
  return found[0];
}

TEST(CopyValues, TakesPackedAndSingleValuesMixed) {
  // {1: 5 (single)}, {1: [6, 7] packed}, and field 10, which nobody knows.
  const std::string good =
      ExampleBuilder().Add("a", "\x1a\x08\x08\x05\x0a\x02\x06\x07\x50\x63"s).Example();
  EXPECT_THAT(*Int64sOf(good, ValuesOf(good)), ElementsAre(5, 6, 7));
  const std::string floats =
      ExampleBuilder().Add("a", "\x12\x0b\x0d\0\0\xc0\x3f\x0a\x04\0\0\0\x40"s).Example();
  EXPECT_THAT(*FloatsOf(floats, ValuesOf(floats)), ElementsAre(1.5f, 2.0f));
}

TEST(CopyValues, KeepsTheExtremes) {
  const std::vector<int64_t> ints = {
      std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max(), -1, 0, 127, 128};
  const std::string record = ExampleBuilder().Add("a", Int64Feature(ints)).Example();
  EXPECT_EQ(*Int64sOf(record, ValuesOf(record)), ints);
  const std::string none = ExampleBuilder().Add("a", Int64Feature({})).Example();
  EXPECT_EQ(ValuesOf(none).kind, FeatureKind::kInt64) << "a list of no values is not missing";
  EXPECT_THAT(*Int64sOf(none, ValuesOf(none)), testing::IsEmpty());
}

TEST(CopyValues, WritesNoMoreThanThereIsRoomForAndSaysHowManyThereAre) {
  const std::string ints = ExampleBuilder().Add("a", Int64Feature(kThree)).Example();
  std::vector<int64_t> two = {8, 8, 8};
  EXPECT_EQ(*CopyInt64s(Of(ints), ValuesOf(ints), std::span(two).first(2)), 3);
  EXPECT_THAT(two, ElementsAre(1, -2, 8));
  const std::vector<float> values = {1, 2, 3};
  const std::string floats = ExampleBuilder().Add("a", FloatFeature(values)).Example();
  std::vector<float> some = {8, 8, 8};
  EXPECT_EQ(*CopyFloats(Of(floats), ValuesOf(floats), std::span(some).first(2)), 3);
  EXPECT_THAT(some, ElementsAre(1, 2, 8));
}

TEST(FindFeatures, OfANameThatComesTwiceTheLastOneCounts) {
  const std::vector<int64_t> first = {1}, second = {2};
  const std::string record =
      ExampleBuilder().Add("a", Int64Feature(first)).Add("a", Int64Feature(second)).Example();
  EXPECT_THAT(*Int64sOf(record, ValuesOf(record)), ElementsAre(2));
}

TEST(FindFeatures, EveryTruncationAndEveryFlippedByteIsReadOrAnError) {
  const std::string good = ExampleBuilder()
                               .Add("a", Int64Feature(kThree))
                               .Add("b", FloatFeature(kOne))
                               .Add("c", BytesFeature(kTwo))
                               .AddSteps("a", std::vector<std::string>{Int64Feature(kThree)})
                               .SequenceExample();
  STOKER_ASSERT_OK(ReadAll(good));
  int errors = 0;
  for (size_t size = 1; size < good.size(); ++size) {
    const Status status = ReadAll(good.substr(0, size));
    errors += status.ok() ? 0 : 1;
    if (!status.ok()) {
      EXPECT_THAT(status, FailsWith(StatusCode::kDataLoss, "of the record"));
    }
  }
  // Where one of the two top-level fields ends, a whole message does.
  EXPECT_EQ(errors, static_cast<int>(good.size()) - 2);
  for (size_t at = 0; at < good.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ 1 << bit);
      const Status status = ReadAll(bad);
      if (!status.ok()) {
        EXPECT_THAT(status, FailsWith(StatusCode::kDataLoss, "of the record"));
      }
    }
  }
}

TEST(FindFeatures, ALengthThatOverflowsIsAnError) {
  for (const char* const bad :
       {"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        "\x0a\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", "\x0b", "\x07", "\x02\x01x"}) {
    EXPECT_THAT(ReadAll(bad), FailsWith(StatusCode::kDataLoss, "byte")) << bad;
  }
}

}  // namespace stoker::example_test
