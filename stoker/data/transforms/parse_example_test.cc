#include "stoker/data/transforms/parse_example.h"

#include <string>

#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/enumerate.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/sources/tfrecord.h"
#include "stoker/data/testing/combining.h"
#include "stoker/data/testing/transforms.h"
#include "stoker/formats/tfrecord/example_writer.h"
#include "stoker/formats/tfrecord/record_writer.h"

namespace stoker::parse_example_test {

using testing::ElementsAre;

std::string Int64s(const std::vector<int64_t>& values) { return Int64Feature(values); }
std::string Floats(const std::vector<float>& values) { return FloatFeature(values); }
std::string Strings(const std::vector<std::string_view>& values) { return BytesFeature(values); }

// An element of one record.
Element ElementOf(const std::string& record) {
  return {.key = {0, 7},
          .arrays = {
              Array::Of(std::span(reinterpret_cast<const uint8_t*>(record.data()), record.size()),
                        {std::ssize(record)})}};
}

Dataset Records() { return EmptyDataset({{{"record", DType::kUInt8, {kUnknownDim}}}}); }

Result<Element> Parse(const ParseExample& options, const std::string& record) {
  STOKER_ASSIGN_OR_RETURN(const Dataset dataset, Result<Dataset>(Records()) | options);
  return TransformTester(dataset).Apply(ElementOf(record));
}

template <typename T>
std::vector<T> ValuesOf(const Array& array) {
  return {array.values<T>().begin(), array.values<T>().end()};
}

TEST(ParseExample, MakesFieldsOfFixedLength) {
  const std::string record = ExampleBuilder()
                                 .Add("label", Int64s({-5}))
                                 .Add("box", Floats({1, 2, 3, 4}))
                                 .Add("image", BytesFeature("abcdef"))
                                 .Add("samples", BytesFeature(std::string_view("\1\0\2\0", 4)))
                                 .Example();
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Element element,
      Parse({.features = {{.name = "image", .type = "bytes", .shape = {1, 2, 3}},
                          {.name = "label"},
                          {.name = "box", .type = "float32", .shape = {2, 2}, .field = "b"},
                          {.name = "samples", .type = "bytes", .shape = {2}, .raw = "int16"}}},
            record));
  ASSERT_EQ(element.arrays.size(), 4u);
  EXPECT_EQ(element.arrays[0].ToString(), "uint8[1, 2, 3]");
  EXPECT_EQ(ValuesOf<uint8_t>(element.arrays[0]).back(), 'f');
  EXPECT_EQ(element.arrays[1].ToString(), "int64[]");
  EXPECT_THAT(ValuesOf<int64_t>(element.arrays[1]), ElementsAre(-5));
  EXPECT_EQ(element.arrays[2].ToString(), "float32[2, 2]");
  EXPECT_THAT(ValuesOf<float>(element.arrays[2]), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(ValuesOf<int16_t>(element.arrays[3]), ElementsAre(1, 2));
}

TEST(ParseExample, MakesFieldsOfVariableLength) {
  const ParseExample options{.features = {{.name = "ids", .shape = {-1}},
                                          {.name = "boxes", .type = "float32", .shape = {-1, 2}},
                                          {.name = "text", .type = "bytes"},
                                          {.name = "words", .type = "bytes_list"}}};
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Result<Dataset>(Records()) | options);
  EXPECT_EQ(dataset.spec().ToString(),
            "{ids: int64[?], boxes: float32[?, 2], text: uint8[?], words: uint8[?], words_lengths: "
            "int64[?]}");
  STOKER_ASSERT_OK_AND_ASSIGN(const Element element,
                              Parse(options, ExampleBuilder()
                                                 .Add("ids", Int64s({1, 2, 3}))
                                                 .Add("boxes", Floats({1, 2, 3, 4}))
                                                 .Add("text", BytesFeature("hi"))
                                                 .Add("words", Strings({"a", "", "bc"}))
                                                 .Example()));
  EXPECT_THAT(ValuesOf<int64_t>(element.arrays[0]), ElementsAre(1, 2, 3));
  EXPECT_EQ(element.arrays[1].ToString(), "float32[2, 2]");
  EXPECT_THAT(ValuesOf<uint8_t>(element.arrays[2]), ElementsAre('h', 'i'));
  EXPECT_THAT(ValuesOf<uint8_t>(element.arrays[3]), ElementsAre('a', 'b', 'c'));
  EXPECT_THAT(ValuesOf<int64_t>(element.arrays[4]), ElementsAre(1, 0, 2));
  // One byte string may be empty, but not missing.
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Element empty,
      Parse(options, ExampleBuilder().Add("text", BytesFeature("")).Example()));
  EXPECT_EQ(empty.arrays[1].ToString(), "float32[0, 2]");
  for (const Array& array : empty.arrays) EXPECT_EQ(array.num_values(), 0);
}

TEST(ParseExample, TakesTheDefaultWhereAFeatureIsMissing) {
  const ParseExample options{
      .features = {{.name = "a", .default_value = {"-9223372036854775808"}},
                   {.name = "b", .type = "float32", .shape = {2}, .default_value = {"1.5", "-2"}},
                   {.name = "c", .type = "bytes", .shape = {2}, .default_value = {"xy"}},
                   {.name = "d", .shape = {3}, .default_value = {"4"}},
                   {.name = "e", .shape = {-1}, .default_value = {"5", "6"}}}};
  STOKER_ASSERT_OK_AND_ASSIGN(const Element element, Parse(options, ""));
  EXPECT_THAT(ValuesOf<int64_t>(element.arrays[0]),
              ElementsAre(std::numeric_limits<int64_t>::min()));
  EXPECT_THAT(ValuesOf<float>(element.arrays[1]), ElementsAre(1.5, -2));
  EXPECT_THAT(ValuesOf<uint8_t>(element.arrays[2]), ElementsAre('x', 'y'));
  EXPECT_THAT(ValuesOf<int64_t>(element.arrays[3]), ElementsAre(4, 4, 4));
  EXPECT_THAT(ValuesOf<int64_t>(element.arrays[4]), ElementsAre(5, 6));
  // A list of no values is there.
  EXPECT_THAT(
      Parse(options, ExampleBuilder().Add("a", Int64s({})).Example()),
      FailsWith(StatusCode::kDataLoss, "feature 'a' has 0 values of int64, shape [] wants 1"));
}

TEST(ParseExample, ReadsContextAndSequences) {
  const std::vector<std::string> frames = {Floats({1, 2}), Floats({3, 4}), Floats({5, 6})};
  const std::vector<std::string> tokens = {Int64s({1}), Int64s({}), Int64s({2, 3}), ""};
  const std::vector<std::string> words = {BytesFeature("ab"), BytesFeature("c")};
  const std::string record = ExampleBuilder()
                                 .Add("id", Int64s({8}))
                                 .AddSteps("frames", frames)
                                 .AddSteps("tokens", tokens)
                                 .AddSteps("words", words)
                                 .SequenceExample();
  const ParseExample options{.features = {{.name = "id"}},
                             .sequences = {{.name = "frames", .type = "float32", .shape = {2}},
                                           {.name = "tokens", .shape = {-1}},
                                           {.name = "words", .type = "bytes"},
                                           {.name = "none"}}};
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Result<Dataset>(Records()) | options);
  EXPECT_EQ(dataset.spec().ToString(),
            "{id: int64[], frames: float32[?, 2], tokens: int64[?], tokens_lengths: int64[?], "
            "words: uint8[?], words_lengths: int64[?], none: int64[?]}");
  STOKER_ASSERT_OK_AND_ASSIGN(const Element element, Parse(options, record));
  EXPECT_EQ(element.arrays[1].ToString(), "float32[3, 2]");
  EXPECT_THAT(ValuesOf<float>(element.arrays[1]), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(ValuesOf<int64_t>(element.arrays[2]), ElementsAre(1, 2, 3));
  EXPECT_THAT(ValuesOf<int64_t>(element.arrays[3]), ElementsAre(1, 0, 2, 0));
  EXPECT_THAT(ValuesOf<uint8_t>(element.arrays[4]), ElementsAre('a', 'b', 'c'));
  EXPECT_THAT(ValuesOf<int64_t>(element.arrays[5]), ElementsAre(2, 1));
  EXPECT_EQ(element.arrays[6].ToString(), "int64[0]");
}

struct BadRecord {
  const char* name;
  ExampleFeature feature;
  std::string record;
  const char* says;
};

TEST(ParseExample, SaysWhatIsWrongWithARecord) {
  const auto of = [](const std::string& feature) {
    return ExampleBuilder().Add("x", feature).Example();
  };
  const BadRecord cases[] = {
      {"missing", {.name = "x"}, "", "feature 'x' is missing; give it a default"},
      {"no bytes", {.name = "x", .type = "bytes"}, "", "feature 'x' is missing; give it a default"},
      {"kind",
       {.name = "x"},
       of(Floats({1})),
       "feature 'x' has float values, the recipe says int64"},
      {"count",
       {.name = "x", .shape = {2}},
       of(Int64s({1})),
       "has 1 values of int64, shape [2] wants 2"},
      {"many", {.name = "x"}, of(Int64s({1, 2})), "has 2 values of int64, shape [] wants 1"},
      {"rows", {.name = "x", .shape = {-1, 2}}, of(Int64s({1, 2, 3})), "wants a multiple of 2"},
      {"bytes",
       {.name = "x", .type = "bytes", .shape = {3}},
       of(BytesFeature("ab")),
       "has 2 values of uint8, shape [3] wants 3"},
      {"strings", {.name = "x", .type = "bytes"}, of(Strings({"a", "b"})), "use bytes_list"},
      {"raw",
       {.name = "x", .type = "bytes", .raw = "int32"},
       of(BytesFeature("abc")),
       "take a multiple of 4; check raw"},
      {"damaged", {.name = "x"}, of(Int64s({1})).substr(0, 6), "of the record"},
  };
  for (const BadRecord& bad : cases) {
    SCOPED_TRACE(bad.name);
    EXPECT_THAT(Parse({.features = {bad.feature}}, bad.record),
                FailsWith(StatusCode::kDataLoss, bad.says));
    EXPECT_THAT(Parse({.features = {bad.feature}}, bad.record),
                FailsWith(StatusCode::kDataLoss, "element 7: "));
  }
}

TEST(ParseExample, RefusesOptionsThatDoNotGoTogether) {
  const auto fails = [](const ParseExample& options, const char* says) {
    EXPECT_THAT(Result<Dataset>(Records()) | options,
                FailsWith(StatusCode::kInvalidArgument, says));
  };
  fails({}, "no features are named");
  fails({.features = {{.name = "x"}}, .field = "none"}, "none");
  fails({.features = {{.name = "x", .type = "string"}}}, "string");
  fails({.features = {{.name = "x", .shape = {2, -1}}}}, "the first may be -1");
  fails({.features = {{.name = "x", .shape = {1 << 30, 1 << 30}}}}, "too large");
  fails({.features = {{.name = "x", .raw = "int16"}}}, "raw goes with type bytes");
  fails({.features = {{.name = "x", .type = "bytes_list", .shape = {3}}}}, "lengths of their own");
  fails({.features = {{.name = "x", .default_value = {"1.5"}}}}, "is not an integer");
  fails({.features = {{.name = "x", .shape = {3}, .default_value = {"1", "2"}}}}, "give one, or 3");
  fails({.features = {{.name = "x", .type = "bytes", .shape = {3}, .default_value = {"ab"}}}},
        "default has 2 bytes");
  fails({.features = {{.name = "x"}, {.name = "x"}}}, "named twice");
  fails({.features = {{.name = "x"}, {.name = "y", .field = "x"}}},
        "two fields would be called 'x'");
  const ParseExample of_image{.features = {{.name = "x"}}, .field = "image"};
  EXPECT_THAT(Result<Dataset>(EmptyImages(DType::kUInt8, {1, 2, 3})) | of_image,
              FailsWith(StatusCode::kInvalidArgument, "must be uint8[?]"));
}

class ParseExampleFile : public testing::Test {
 protected:
  ParseExampleFile() {
    Result<TfRecordWriter> writer = TfRecordWriter::Create(dir_ / "a");
    for (int64_t i = 0; i < 20; ++i) {
      const std::string image(6, static_cast<char>('a' + i));
      EXPECT_THAT(writer->Append(ExampleBuilder()
                                     .Add("label", Int64s({i}))
                                     .Add("image", BytesFeature(image))
                                     .Example()),
                  IsOk());
    }
    EXPECT_THAT(writer->Commit(), IsOk());
  }

  Result<Dataset> Parsed(const std::string& index = "stored") const {
    return Source(Tfrecord{.files = dir_ / "a", .index = index}) |
           ParseExample{.features = {{.name = "image", .type = "bytes", .shape = {2, 3}},
                                     {.name = "label"}}};
  }

  const TempDir dir_;
};

TEST_F(ParseExampleFile, KeepsItsPromisesAlsoWhereManyAreParsedAtOnce) {
  ExpectKeepsItsPromises(Parsed() | Shuffle{} | Batch{.size = 6} | Prefetch{});
  ExpectKeepsItsPromises(Parsed("none") | Shuffle{.buffer = 5} | Batch{.size = 6});
  ExpectKeepsItsPromises(Source(Tfrecord{.files = dir_ / "a"}) | Enumerate{} |
                         ParseExample{.features = {{.name = "label"}}} | Batch{.size = 6});
}

TEST_F(ParseExampleFile, AnErrorNamesFileRecordAndByte) {
  const Result<Dataset> dataset = Source(Tfrecord{.files = dir_ / "a"}) |
                                  ParseExample{.features = {{.name = "x"}}} | Batch{.size = 6};
  for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(2)}) {
    EXPECT_THAT(ReadAll(*dataset, runtime),
                FailsWith(StatusCode::kDataLoss, "/a: record 0 (byte 0): feature 'x' is missing"));
  }
}

TEST_F(ParseExampleFile, IsWrittenInARecipe) {
  ConfigNode filled;
  const std::string yaml = fmt::format(
      "- tfrecord: {}\n"
      "- parse_example: {{features: {{label: int64, image: {{type: bytes, shape: [2, 3]}}, z: "
      "{{default: 3}}}}}}\n",
      dir_ / "a");
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, FromRecipe(yaml, &filled));
  EXPECT_EQ(dataset.spec().ToString(), "{label: int64[], image: uint8[2, 3], z: int64[]}");
  EXPECT_THAT(ToYaml(filled), testing::HasSubstr("default: [\"3\"]"));
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset again, FromRecipe(ToYaml(filled)));
  EXPECT_EQ(again.spec(), dataset.spec());
  const std::string wrong = fmt::format(
      "- tfrecord: {}\n- parse_example: {{features: {{a: {{tpye: int64}}}}}}\n", dir_ / "a");
  EXPECT_THAT(FromRecipe(wrong), FailsWith(StatusCode::kInvalidArgument, "did you mean 'type'?"));
}

}  // namespace stoker::parse_example_test
