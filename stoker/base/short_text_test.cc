#include "stoker/base/short_text.h"

#include "stoker/base/options.h"
#include "stoker/base/testing.h"

namespace stoker::short_text_test {

struct Numbers {
  static constexpr std::string_view kName = "numbers";
  int64_t count = 0;
  std::string choice = "a";
  static void Describe(OptionTable<Numbers>& table) {
    table.Field("count", &Numbers::count, "how many")
        .Field("choice", &Numbers::choice, "which", OneOf{{"a", "b"}});
  }
};

TEST(ShortText, LeavesWhatIsShortAsItIs) {
  EXPECT_EQ(ShortText(""), "");
  EXPECT_EQ(ShortText(std::string(120, 'a')), std::string(120, 'a'));
}

TEST(ShortText, GivesTheBeginningAndTheLengthOfWhatIsLong) {
  EXPECT_EQ(ShortText(std::string(5000, 'a')), std::string(120, 'a') + "... (5000 bytes)");
  EXPECT_EQ(ShortText("abcdef", 4), "abcd... (6 bytes)");
}

TEST(ShortText, CutsBetweenCharacters) {
  EXPECT_EQ(ShortText("aé€😀", 4), "aé... (10 bytes)");  // 1, 2, 3 and 4 bytes
  EXPECT_EQ(ShortText("aé€😀", 6), "aé€... (10 bytes)");
  EXPECT_EQ(ShortText("aé€😀", 9), "aé€... (10 bytes)");
  EXPECT_EQ(ShortText(std::string(10, '\x80'), 8), std::string(5, '\x80') + "... (10 bytes)");
}

TEST(ShortText, KeepsMessagesAboutLongValuesShort) {
  const std::string longer(5000, '9');
  for (const std::string& text :
       {"count: " + longer, "count: x" + longer, "count: '" + longer + "'", "choice: " + longer,
        "k" + std::string(190, '9') + ": 1"}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const ConfigNode node, ParseYaml(text, "r.yaml"));
    Numbers numbers;
    const Status status = ParseOptions(OptionsOf<Numbers>(), "numbers", node, &numbers);
    ASSERT_FALSE(status.ok());
    EXPECT_LT(status.message().size(), 500u) << status.message();
  }
}

}  // namespace stoker::short_text_test
