#include "stoker/doctor/diagnosis.h"

#include <gmock/gmock.h>

#include <limits>

#include "stoker/doctor/diagnose_testing_internal.h"

namespace stoker::diagnosis_test {

using testing::HasSubstr;

TEST(Diagnosis, JsonHasTheKeysOfTheSchema) {
  RunProfile profile = Starved();
  profile.trials = {InputTrial(kFeed, 3)};
  const Json json = Diagnose(profile).ToJson();
  for (const char* key : {"schema", "rank", "host", "verdict", "stage", "lost_share", "roof", "why",
                          "sentence", "prescriptions", "error", "interrupted"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["verdict"], "threads");
  EXPECT_EQ(json["host"], "here");
  for (const char* key : {"change", "gain_low", "gain_high", "why", "caution", "edit"})
    EXPECT_TRUE(json["prescriptions"][0].contains(key)) << key;
  EXPECT_EQ(json["prescriptions"][0]["change"], "train.feed_threads: auto");
}

TEST(Diagnosis, EveryVerdictHasANameOfItsOwnAndASentence) {
  std::vector<std::string> names;
  for (int i = 0; i < kVerdicts; ++i) {
    const Diagnosis diagnosis{.verdict = static_cast<Verdict>(i), .lost_share = 0.5, .roof = 2};
    names.emplace_back(NameOf(diagnosis.verdict));
    EXPECT_TRUE(diagnosis.Sentence().ends_with('.'));
  }
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
  EXPECT_THAT((Diagnosis{.verdict = Verdict::kLock, .stage = "map", .lost_share = 0.5, .roof = 2})
                  .Sentence(),
              HasSubstr("(stage `map`): 50% of the time is lost, so the run could be 2 times"));
}

TEST(RunProfile, JsonHasNoNumberThatIsNone) {
  RunProfile profile = Starved();
  profile.training->step_s = std::numeric_limits<double>::quiet_NaN();
  profile.trials = {InputTrial(kFeed, std::numeric_limits<double>::infinity())};
  const Json json = profile.ToJson();
  EXPECT_TRUE(json["training"]["step_s"].is_null());
  EXPECT_TRUE(json["trials"][0]["samples_per_s"].is_null());
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["rank"], 0);
  EXPECT_EQ(Json::parse(json.dump()), json);
}

}  // namespace stoker::diagnosis_test
