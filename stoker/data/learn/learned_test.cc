#include "stoker/data/learn/learned.h"

#include "stoker/base/testing.h"
#include "stoker/data/learn/requests.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Learned Example() {
  Learned learned;
  learned.values = {{.stage = "normalize",
                     .field = "x",
                     .options = {{"mean", {0.1, 1.0 / 3}}, {"std", {1, 2.5}}},
                     .facts = Json::object()},
                    {.stage = "lookup",
                     .field = "kind",
                     .which = 2,
                     .options = {{"values", {"true", "oak"}}},
                     .facts = {{"seen", 7}}}};
  learned.from = {{"samples", 7}};
  return learned;
}

TEST(Learned, IsTheSameAfterItWasWrittenAndRead) {
  const Learned before = Example();
  const Json stored = Json::parse(before.ToJson().dump());
  STOKER_ASSERT_OK_AND_ASSIGN(const Learned after, Learned::FromJson(stored));
  EXPECT_EQ(after.ToJson(), before.ToJson());
  EXPECT_EQ(after.ChecksumOfValues(), before.ChecksumOfValues());
  ASSERT_NE(after.Find("lookup", "kind", 2), nullptr);
  EXPECT_EQ(after.Find("lookup", "kind", 1), nullptr);
  EXPECT_EQ(after.values[1].Name(), "lookup of kind (2)");
}

TEST(Learned, RefusesWhatWasChangedOrIsOfALaterVersion) {
  Json changed = Example().ToJson();
  changed["values"][0]["options"]["mean"][0] = 0.2;
  EXPECT_THAT(Learned::FromJson(changed).status().message(), HasSubstr("its checksum is"));
  Json later = Example().ToJson();
  later["schema"] = 2;
  EXPECT_EQ(Learned::FromJson(later).status().code(), StatusCode::kUnimplemented);
  for (const char* const key : {"schema", "checksum", "from", "values"}) {
    Json without = Example().ToJson();
    without.erase(key);
    EXPECT_FALSE(Learned::FromJson(without).ok()) << key;
  }
  EXPECT_FALSE(Learned::FromJson(Json::array()).ok());
}

TEST(Learned, NamesWhatDiffers) {
  Learned now = Example();
  now.values[0].options["std"][1] = 3;
  now.values.pop_back();
  EXPECT_THAT(DifferencesOfLearned(Example(), now),
              ElementsAre("normalize of x: std[1] is 3, it was 2.5",
                          "lookup of kind (2): it is not learned now"));
  EXPECT_TRUE(DifferencesOfLearned(Example(), Example()).empty());
}

TEST(LearnRequests, AreStagesWithAutoAndAreFilledInAndPutBack) {
  const ConfigNode list = *ParseYaml(
      "- {csv: {files: a.csv}}\n"
      "- {normalize: {mean: auto, field: x}, on_error: skip}\n"
      "- {lookup: {values: [oak], field: kind}}\n"
      "- {lookup: {field: kind, values: auto}}\n"
      "- {lookup: {field: kind, values: auto}}\n"
      "- normalize\n",
      "list");
  const std::vector<LearnRequest> requests = FindLearnRequests(list);
  ASSERT_EQ(requests.size(), 3u);
  EXPECT_EQ(requests[0].place, 1u);
  EXPECT_EQ(requests[1].which, 1);
  EXPECT_EQ(requests[2].which, 2);
  Learned learned = Example();
  learned.values.push_back(learned.values[1]);
  learned.values.back().which = 1;
  STOKER_ASSERT_OK_AND_ASSIGN(const ConfigNode filled, FillInLearned(list, &learned));
  EXPECT_EQ(
      ToYamlLine(filled.items[1]),
      "{normalize: {mean: [0.1, 0.3333333333333333], field: x, std: [1, 2.5]}, on_error: skip}");
  EXPECT_EQ(ToYamlLine(filled.items[3]), "{lookup: {field: kind, values: [\"true\", \"oak\"]}}");
  EXPECT_TRUE(FindLearnRequests(filled).empty());
  const ConfigNode back = PutBackRequests(list, filled);
  EXPECT_EQ(ToYamlLine(back.items[1]),
            "{normalize: {mean: auto, field: x, std: auto}, on_error: skip}");
  EXPECT_EQ(FindLearnRequests(back).size(), 3u);
}

TEST(LearnRequests, ThatNobodyHasLearnedAreAnErrorWithTheirPlace) {
  const ConfigNode list = *ParseYaml("[{csv: {files: a.csv}}, {normalize: auto}]", "list");
  EXPECT_THAT(FillInLearned(list, nullptr).status().message(),
              HasSubstr("list:1:25: normalize: mean is auto, but nothing was learned"));
}

}  // namespace
}  // namespace stoker
