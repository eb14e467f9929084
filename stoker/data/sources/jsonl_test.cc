#include "stoker/data/sources/jsonl.h"

#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/ignore_errors.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/testing/combining.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/gzip.h"

namespace stoker::jsonl_test {

using testing::ElementsAre;

class JsonlTest : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    EXPECT_THAT(WriteFileAtomically(dir_ / name, text), IsOk());
    return dir_ / name;
  }

  const TempDir dir_;
};

std::string TextOf(const Array& array) {
  return {reinterpret_cast<const char*>(array.data()), array.num_bytes()};
}

TEST_F(JsonlTest, GuessesFieldsFromTheFirstLines) {
  Write("a",
        "{\"id\":1,\"x\":2.5,\"name\":\"ann\",\"ids\":[1,2],\"box\":[[1,2.5],[3,4]],\"ok\":true,"
        "\"in\":{\"y\":1},\"odd\":[\"t\"],\"gap\":null}\n"
        "{\"id\":2,\"x\":3,\"name\":\"b\\n\",\"ids\":[],\"box\":[[1,2],[3,4]],\"ok\":false,"
        "\"in\":{\"y\":2},\"odd\":[],\"gap\":4}\n");
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Source(Jsonl{.files = dir_ / "a"}));
  EXPECT_EQ(dataset.spec().ToString(),
            "{id: int64[], x: float32[], name: uint8[?], ids: int64[?], box: float32[2, 2], ok: "
            "bool[], in.y: int64[], odd: uint8[?], gap: float32[]}")
      << "in the order of the first line";
  EXPECT_EQ(dataset.cardinality(), Cardinality::Of(2));
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> all, ReadAll(dataset, Runtime::Inline()));
  EXPECT_THAT(Labels(all, 0), ElementsAre(1, 2));
  EXPECT_EQ(TextOf(all[1].arrays[2]), "b\n");
  EXPECT_THAT(Labels(all, 3), ElementsAre(1, 2));
  EXPECT_THAT(all[0].arrays[4].values<float>(), ElementsAre(1, 2.5, 3, 4));
  EXPECT_EQ(TextOf(all[0].arrays[7]), "[\"t\"]");
  EXPECT_NE(all[0].arrays[8].values<float>()[0], all[0].arrays[8].values<float>()[0]) << "nan";
}

TEST_F(JsonlTest, TakesMembersByPathTypeAndShape) {
  Write("a", "{\"a\":{\"box\":[1,2,3,4]},\"t\":\"x\"}\r\n\n{\"a\":{}}");
  const JsonlFields fields{
      {.name = "box", .type = "uint8", .path = "a.box", .shape = {4}, .default_value = {"9"}},
      {.name = "first", .type = "int64", .path = "t", .default_value = {"0"}}};
  EXPECT_THAT(
      ReadAll(*Source(Jsonl{.files = dir_ / "a", .fields = fields}), Runtime::Inline()),
      FailsWith(StatusCode::kDataLoss, "/a: record 0 (line 1, byte 0): 't': byte 27: a number"));
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset dataset,
      Source(Jsonl{.files = dir_ / "a",
                   .fields = {fields.fields()[0],
                              {.name = "t", .type = "text", .default_value = {"none"}}}}));
  EXPECT_EQ(dataset.spec().ToString(), "{box: uint8[4], t: uint8[?]}");
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> all, ReadAll(dataset, Runtime::Inline()));
  EXPECT_THAT(all[1].arrays[0].values<uint8_t>(), ElementsAre(9, 9, 9, 9));
  EXPECT_EQ(TextOf(all[1].arrays[1]), "none");
}

TEST_F(JsonlTest, KeepsItsPromises) {
  std::string text;
  for (int i = 0; i < 20; ++i) {
    text += fmt::format("{{\"id\": {}, \"x\": [{}, 2.5], \"t\": \"a{}\"}}\n{}", i, i * 0.5, i,
                        i % 3 == 0 ? "\n" : "");
  }
  Write("a", text);
  Write("b", "{\"id\": 70, \"x\": [1, 2], \"t\": \"\\u00e9\"}");
  STOKER_ASSERT_OK(
      WriteFileAtomically(dir_ / "a.gz", *GzipCompress(std::as_bytes(std::span(text)))));
  const auto jsonl = [&](const std::string& index, const JsonlFields& fields) {
    return Source(Jsonl{.files = {dir_ / "a", dir_ / "b"}, .fields = fields, .index = index});
  };
  for (const char* const index : {"stored", "memory", "none"}) {
    ExpectKeepsItsPromises(jsonl(index, {}));
    EXPECT_EQ(Fingerprint(*ReadAll(*jsonl(index, {}), Runtime::Inline())),
              Fingerprint(*ReadAll(*jsonl("memory", {}), Runtime::Inline())));
  }
  const JsonlFields numbers{{.name = "id", .type = "int64"}, {.name = "x", .shape = {2}}};
  ExpectKeepsItsPromises(jsonl("stored", numbers) | Shuffle{} | Batch{.size = 4} | Prefetch{});
  ExpectKeepsItsPromises(Source(Jsonl{.files = dir_ / "a.gz"}));
}

TEST_F(JsonlTest, ABadLineIsNamedAndCanBeLeftOut) {
  Write("a", "{\"id\":1}\n{\"id\":x}\n{\"id\":3}\n");
  for (const char* const index : {"stored", "none"}) {
    const Jsonl jsonl{
        .files = dir_ / "a", .fields = {{.name = "id", .type = "int64"}}, .index = index};
    const char* const says =
        "/a: record 1 (line 2, byte 9): 'id': byte 6: a number is wanted, found 'x'";
    EXPECT_THAT(ReadAll(*Source(jsonl), Runtime::Inline()), FailsWith(StatusCode::kDataLoss, says));
    EXPECT_THAT(ReadAll(*(Source(jsonl) | Batch{.size = 3}), Runtime::Threaded(2)),
                FailsWith(StatusCode::kDataLoss, says));
    const QuietLog quiet;
    EXPECT_THAT(Labels(*ReadAll(*(Source(jsonl) | IgnoreErrors{}), Runtime::Inline()), 0),
                ElementsAre(1, 3));
  }
}

TEST_F(JsonlTest, RefusesWhatDoesNotGoTogether) {
  Write("a", "{\"id\":1}\n");
  const auto fails = [&](const JsonlFields& fields, const char* says) {
    EXPECT_THAT(Source(Jsonl{.files = dir_ / "a", .fields = fields}),
                FailsWith(StatusCode::kInvalidArgument, says));
  };
  fails({{.name = "a"}, {.name = "b", .path = "a.b"}}, "'a.b' is part of 'a'");
  fails({{.name = "a", .shape = {2, -1}}}, "extent 1 of the shape is -1");
  fails({{.name = "a", .type = "text", .shape = {2}}}, "a text has no shape");
  fails({{.name = "a", .default_value = {"1", "2"}}}, "default has 2 values");
  fails({{.name = "a"}, {.name = "a", .path = "b"}}, "two fields are called 'a'");
  EXPECT_THAT(Source(Jsonl{.files = Write("empty", "[1]\n")}),
              FailsWith(StatusCode::kDataLoss, "there is no JSON object with members"));
}

TEST_F(JsonlTest, WhereNoLineTellsTheFieldsTheFirstThatCannotBeReadIsSaid) {
  EXPECT_THAT(
      Source(Jsonl{.files = Write("half", "{\"a\":\"\\ud800\"}\n")}),
      FailsWith(StatusCode::kDataLoss,
                "record 0 (line 1, byte 0): byte 12: half of a pair of surrogates stands alone"));
  const std::string deep(200'000, '[');
  EXPECT_THAT(
      Source(Jsonl{.files = Write("deep", "{\"a\":" + deep + std::string(200'000, ']') + "}\n")}),
      FailsWith(StatusCode::kDataLoss, "the text nests more than 256 deep"));
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset large,
                              Source(Jsonl{.files = Write("large", "{\"a\":1e999}\n")}));
  EXPECT_THAT(ReadAll(large, Runtime::Inline()),
              FailsWith(StatusCode::kDataLoss,
                        "record 0 (line 1, byte 0): 'a': byte 5: 1e999 is too large"));
}

}  // namespace stoker::jsonl_test
