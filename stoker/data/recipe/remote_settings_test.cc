#include "stoker/data/recipe/remote_settings.h"

#include <cstdlib>
#include <filesystem>

#include "stoker/base/testing.h"
#include "stoker/data/recipe/recipe.h"

namespace stoker::remote_settings_test {

using ::testing::AllOf;
using ::testing::HasSubstr;

// The settings of `data: {remote: TEXT}` after ParseDataSection or its error; puts the defaults
// back.
class RemoteSettingsTest : public ::testing::Test {
 protected:
  void TearDown() override { SetRemoteOptions(RemoteOptions()); }

  static Result<DataRecipe> Parse(const std::string& text) {
    const std::string yaml =
        "data:\n  remote: " + text + "\n  train:\n    - range: 3\n    - batch: 2\n";
    STOKER_ASSIGN_OR_RETURN(const ConfigNode recipe, ParseYaml(yaml, "r.yaml"));
    return ParseDataSection(recipe, "/recipes");
  }
};

TEST_F(RemoteSettingsTest, EveryKeyOfARecipeHoldsForTheProcess) {
  STOKER_ASSERT_OK(
      Parse("{cache: /scratch/../c, cache_size: 200GB, connections: 3, read_ahead: 1MiB, retries: "
            "7, retry_wait: 0.25, timeout: 1.5, endpoint: 'http://h:9', region: r, profile: p, "
            "path_style: 'false', anonymous: true}")
          .status());
  const RemoteOptions found = *CurrentRemoteOptions();
  EXPECT_EQ(found.cache, "/c");
  EXPECT_EQ(found.cache_size, 200'000'000'000);
  EXPECT_EQ(found.connections, 3);
  EXPECT_EQ(found.read_ahead, 1 << 20);
  EXPECT_EQ(found.retries, 7);
  EXPECT_EQ(found.retry_wait, 0.25);
  EXPECT_EQ(found.timeout, 1.5);
  EXPECT_EQ(found.endpoint, "http://h:9");
  EXPECT_EQ(found.region, "r");
  EXPECT_EQ(found.profile, "p");
  EXPECT_EQ(found.path_style, "false");
  EXPECT_TRUE(found.anonymous);
}

TEST_F(RemoteSettingsTest, WhatARecipeLeavesOutIsTheDefault) {
  SetRemoteOptions({.connections = 99});
  STOKER_ASSERT_OK(Parse("{retries: 1, cache: '', cache_size: ''}").status());
  const RemoteOptions found = *CurrentRemoteOptions(), usual;
  EXPECT_EQ(found.retries, 1);
  EXPECT_EQ(found.connections, usual.connections);
  EXPECT_EQ(found.read_ahead, usual.read_ahead);
  EXPECT_EQ(found.cache, "");
  EXPECT_EQ(found.cache_size, 0);
}

TEST_F(RemoteSettingsTest, ARelativeCacheIsBelowTheWorkingDirectoryNotBelowTheData) {
  STOKER_ASSERT_OK(Parse("{cache: copies}").status());
  EXPECT_EQ(CurrentRemoteOptions()->cache, (std::filesystem::current_path() / "copies").string());
}

TEST_F(RemoteSettingsTest, ARecipeWithoutThemLeavesThoseInForce) {
  SetRemoteOptions({.connections = 99});
  STOKER_ASSERT_OK_AND_ASSIGN(const ConfigNode recipe,
                              ParseYaml("data:\n  train:\n    - range: 3\n", "r.yaml"));
  STOKER_ASSERT_OK(ParseDataSection(recipe, "/recipes").status());
  EXPECT_EQ(CurrentRemoteOptions()->connections, 99);
}

TEST_F(RemoteSettingsTest, TheFilledRecipeReadsBackAsTheSameSettings) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const DataRecipe parsed,
      Parse("{cache: /c, cache_size: 64GiB, read_ahead: 4MiB, timeout: 2.5, path_style: 'true'}"));
  const RemoteOptions before = *CurrentRemoteOptions();
  const ConfigNode* const written = parsed.filled.Find("remote");
  ASSERT_NE(written, nullptr);
  RemoteSettings again;
  STOKER_ASSERT_OK(again.Read(*written));
  SetRemoteOptions({.connections = 99});
  again.Apply();
  const RemoteOptions after = *CurrentRemoteOptions();
  EXPECT_EQ(ToYamlLine(again.Write()), ToYamlLine(*written));
  EXPECT_EQ(after.cache, before.cache);
  EXPECT_EQ(after.cache_size, before.cache_size);
  EXPECT_EQ(after.read_ahead, before.read_ahead);
  EXPECT_EQ(after.timeout, before.timeout);
  EXPECT_EQ(after.path_style, before.path_style);
  EXPECT_EQ(after.connections, before.connections);
}

TEST_F(RemoteSettingsTest, WhatIsWrongIsNamedWithItsPlaceAndKey) {
  struct Case {
    const char *text, *says;
  };
  for (const Case& wrong :
       {Case{"7", "it must be a map"}, Case{"{cach: /c}", "did you mean 'cache'?"},
        Case{"{connections: 0}", "connections is 0"}, Case{"{connections: 257}", "1..256"},
        Case{"{retries: -1}", "retries is -1"}, Case{"{retry_wait: 21}", "0..20"},
        Case{"{timeout: 0}", "timeout is 0"}, Case{"{path_style: maybe}", "auto, true, false"},
        Case{"{anonymous: 7}", "anonymous"},
        Case{"{read_ahead: lots}", "read_ahead: 'lots' is not a size in bytes"},
        Case{"{read_ahead: 64KiB}", "read_ahead: 64KiB is too little; at least 128KiB"},
        Case{"{read_ahead: ''}", "read_ahead: '' is not a size"},
        Case{"{cache_size: 0}", "cache_size: 0 is too little; at least 1MiB"},
        Case{"{cache_size: -5GB}", "cache_size: '-5GB' is not a size in bytes"}}) {
    EXPECT_THAT(Parse(wrong.text).status().message(),
                AllOf(HasSubstr("r.yaml:2:"), HasSubstr("remote"), HasSubstr(wrong.says)))
        << wrong.text;
  }
}

TEST_F(RemoteSettingsTest, AWrongSettingChangesNothing) {
  SetRemoteOptions({.connections = 99});
  EXPECT_FALSE(Parse("{retries: 1, connections: 0}").ok());
  EXPECT_EQ(CurrentRemoteOptions()->connections, 99);
}

}  // namespace stoker::remote_settings_test
