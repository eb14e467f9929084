// The key `on_error` of a recipe. What it does is tested in ops/ignore_errors_test.cc.
#include "stoker/data/options/registry.h"
#include "stoker/data/testing/testing.h"

namespace stoker::on_error_test {

using testing::HasSubstr;

// Behind a source, the stages that are written in `stage`, read with the root /data.
Result<Dataset> AfterImages(const std::string& stage, ConfigNode* filled = nullptr) {
  STOKER_ASSIGN_OR_RETURN(const ConfigNode list, ParseYaml("- idx\n" + stage, "r.yaml"));
  Dataset dataset = NumberedImages(40);
  ConfigNode made = ConfigNode::List({});
  for (size_t i = 1; i < list.items.size(); ++i) {
    STOKER_ASSIGN_OR_RETURN(const auto configured, ParseStage(list.items[i], "/data"));
    STOKER_ASSIGN_OR_RETURN(dataset, configured.build(dataset));
    made.items.push_back(configured.node);
  }
  if (filled != nullptr) *filled = made;
  return dataset;
}

TEST(OnError, IsShorthandForTheOperatorBehindItsStage) {
  const std::pair<const char*, const char*> kSame[] = {
      {"- cast: float32\n  on_error: skip\n", "- cast: float32\n- ignore_errors: skip\n"},
      {"- shuffle:\n  on_error: replace\n", "- shuffle\n- ignore_errors: replace\n"},
      {"- on_error: {policy: replace, limit: 100, share: 0.5, log: bad.jsonl}\n  prefetch:\n",
       "- prefetch\n- ignore_errors: {policy: replace, limit: 100, share: 0.5, log: bad.jsonl}\n"},
      {"- cast: float32\n  on_error: fail\n", "- cast: float32\n"},
  };
  for (const auto& [shorthand, longhand] : kSame) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset a, AfterImages(shorthand));
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset b, AfterImages(longhand));
    EXPECT_EQ(a.ToString(), b.ToString());
  }
  EXPECT_THAT(AfterImages("- cast: float32\n  on_error: {log: bad.jsonl}\n")->ToString(),
              HasSubstr("log /data/bad.jsonl"));
}

TEST(OnError, IsFilledInSoThatTheFilledRecipeMeansTheSame) {
  ConfigNode filled;
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              AfterImages("- cast: float32\n  on_error: skip\n", &filled));
  const std::string text = ToYaml(filled);
  EXPECT_THAT(text, HasSubstr("  on_error: {policy: skip, limit: auto, share: auto, log: \"\"}"));
  ConfigNode again;
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset same, AfterImages(text, &again));
  EXPECT_EQ(same.ToString(), dataset.ToString());
  EXPECT_EQ(ToYaml(again), text);
}

TEST(OnError, SaysWithLineAndColumnWhatIsWrong) {
  const std::pair<const char*, const char*> kBroken[] = {
      {"- cast: float32\n  on_error: skpi\n",
       "r.yaml:3:13: on_error.policy is 'skpi'; it must be one of: skip, replace, fail; did you "
       "mean 'skip'?"},
      {"- cast: float32\n  on_error: {polcy: skip}\n",
       "r.yaml:3:14: on_error: unknown option 'polcy'; did you mean 'policy'?"},
      {"- cast: float32\n  on_error: {share: 2}\n", "on_error.share is 2; it must lie in 0..1"},
      {"- cast: float32\n  on_error:\n", "on_error: there is no value"},
      {"- on_error: skip\n", "r.yaml:2:13: on_error stands alone"},
      {"- cast: {dtype: float32, on_error: skip}\n",
       "r.yaml:2:26: on_error stands beside cast, not among its options: {cast: {...}, on_error: "
       "...}"},
      {"- cast: float32\n  on_eror: skip\n", "with the keys 'cast' and 'on_eror'"},
  };
  for (const auto& [stage, says] : kBroken)
    EXPECT_THAT(AfterImages(stage), FailsWith(StatusCode::kInvalidArgument, says));
}

TEST(OnError, IsReachedBySetThroughItsStage) {
  STOKER_ASSERT_OK_AND_ASSIGN(ConfigNode recipe,
                              ParseYaml("train:\n  - cast: float32\n    on_error: skip\n", "r"));
  STOKER_ASSERT_OK(SetByPath(recipe, "train.0.on_error=replace"));
  STOKER_ASSERT_OK(SetByPath(recipe, "train.cast=float16"));
  EXPECT_THAT(ToYaml(recipe), HasSubstr("- cast: float16\n    on_error: replace"));
}

}  // namespace stoker::on_error_test
