#include "stoker/data/transforms/decode_json.h"

#include "stoker/data/ops/ignore_errors.h"
#include "stoker/data/sources/webdataset.h"
#include "stoker/data/testing/combining.h"
#include "stoker/data/testing/transforms.h"
#include "stoker/formats/tar/tar_testing_internal.h"
#include "stoker/io/atomic_file.h"

namespace stoker::decode_json_test {

using testing::ElementsAre;

std::string TextOf(const Array& array) {
  return {reinterpret_cast<const char*>(array.data()), array.num_bytes()};
}

class DecodeJsonTest : public testing::Test {
 protected:
  // An archive of samples with these texts as `json`, and their number as `cls`.
  Result<Dataset> Archive(const std::vector<std::string>& texts) {
    std::vector<std::pair<std::string, std::string>> members;
    for (size_t i = 0; i < texts.size(); ++i) {
      members.emplace_back(fmt::format("{}.json", i), texts[i]);
      members.emplace_back(fmt::format("{}.cls", i), fmt::format("{}", i));
    }
    EXPECT_THAT(WriteFileAtomically(dir_ / "a.tar", TarOf(members)), IsOk());
    return Source(Webdataset{.files = dir_ / "a.tar", .index = "memory"});
  }

  const TempDir dir_;
};

TEST_F(DecodeJsonTest, PutsNamedMembersBehindTheOtherFields) {
  // As `json.dump(..., indent=2)` writes it, and in one line.
  const Result<Dataset> dataset =
      Archive({"{\n  \"label\": 3,\n  \"a\": {\n    \"box\": [\n      1,\n      2.5\n    ]\n  },\n"
               "  \"caption\": \"a \\u00e9\"\n}\n",
               R"({"other":[{}],"a":{"box":[3,4]},"label":-1})"}) |
      DecodeJson{.fields = {{.name = "caption", .type = "text", .default_value = {"none"}},
                            {.name = "box", .path = "a.box", .shape = {2}},
                            {.name = "label", .type = "int64"}}};
  EXPECT_EQ(dataset->spec().ToString(),
            "{cls: int64[], caption: uint8[?], box: float32[2], label: int64[]}");
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> all, ReadAll(*dataset, Runtime::Inline()));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_THAT(Labels(all, 0), ElementsAre(0, 1));
  EXPECT_EQ(TextOf(all[0].arrays[1]), "a \u00e9");
  EXPECT_EQ(TextOf(all[1].arrays[1]), "none");
  EXPECT_THAT(all[0].arrays[2].values<float>(), ElementsAre(1, 2.5));
  EXPECT_THAT(all[1].arrays[2].values<float>(), ElementsAre(3, 4));
  EXPECT_THAT(Labels(all, 3), ElementsAre(3, -1));
  ExpectKeepsItsPromises(dataset);
}

TEST_F(DecodeJsonTest, WhatIsNoSuchObjectIsAnErrorThatNamesSampleMemberAndByte) {
  const auto fails = [&](const std::string& text, const char* says) {
    const Result<Dataset> dataset =
        Archive({R"({"id":1})", text}) | DecodeJson{.fields = {{.name = "id", .type = "int64"}}};
    EXPECT_THAT(ReadAll(*dataset, Runtime::Inline()), FailsWith(StatusCode::kDataLoss, says));
    const QuietLog quiet;
    EXPECT_EQ(ReadAll(*(dataset | IgnoreErrors{.share = 1}), Runtime::Inline())->size(), 1u);
  };
  fails(R"({"id":"x"})",
        "a.tar: record 1 (byte 2048): .json: decode_json: 'id': byte 6: a number is wanted, found");
  fails(R"({"id":2)", "decode_json: byte 7: '}' is wanted, but the text ends");
  fails("", "decode_json: byte 0: '{' is wanted, but the text ends");
  fails("[1]", "decode_json: byte 0: '{' is wanted, found '['");
  fails(R"({"a":1})", "decode_json: there is no 'id'; give the field a default");
}

TEST_F(DecodeJsonTest, RefusesWhatDoesNotFitWhenItIsBuilt) {
  const auto fails = [&](const DecodeJson& stage, const char* says) {
    EXPECT_THAT(Archive({"{}"}) | stage, FailsWith(StatusCode::kInvalidArgument, says));
  };
  fails({}, "no fields are named");
  fails({.fields = {{.name = "cls", .type = "int64"}}},
        "two fields would be called 'cls'; give the new one another name, such as {my_cls: {path: "
        "cls}}");
  fails({.fields = {{.name = "a"}, {.name = "b", .path = "a.b"}}},
        "decode_json: 'a.b' is part of 'a'");
  fails({.fields = {{.name = "a", .type = "text", .shape = {2}}}},
        "decode_json: field 'a': a text");
  fails({.field = "image", .fields = {{.name = "a"}}}, "image");
  fails({.field = "cls", .fields = {{.name = "a"}}}, "field 'cls' is int64[]; it must be uint8[?]");
}

}  // namespace stoker::decode_json_test
