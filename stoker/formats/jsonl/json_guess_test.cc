#include "stoker/formats/jsonl/json_guess.h"

#include <fmt/format.h>

#include "stoker/base/testing.h"

namespace stoker::json_guess_test {

// Each member as "path type[shape]=default".
std::string GuessOf(const std::vector<std::string>& lines) {
  JsonGuess guess;
  for (const std::string& line : lines) EXPECT_THAT(guess.Add(line), IsOk()) << line;
  std::string text;
  for (const JsonMember& member : guess.Members()) {
    const bool numbers = member.kind == JsonMember::Kind::kNumbers;
    const bool json = member.kind == JsonMember::Kind::kJson;
    text += fmt::format("{} {}{}{} ", member.path,
                        numbers ? DTypeName(member.dtype)
                        : json  ? "json"
                                : "text",
                        numbers ? ShapeToString(member.shape) : "",
                        member.has_default ? "=" + member.default_text : "");
  }
  return text;
}

TEST(JsonGuess, TellsTypesByAllValuesOfAMember) {
  EXPECT_EQ(GuessOf({R"({"a":1,"b":true,"c":"x","d":2})", R"({"a":-2,"b":false,"c":"","d":0.5})"}),
            "a int64[] b bool[] c text d float32[] ");
  EXPECT_EQ(GuessOf({R"({"a":1})", R"({"a":"x"})"}), "a json ");
  EXPECT_EQ(GuessOf({R"({"a":NaN})", R"({"a":-Infinity})"}), "a float32[] ");
  EXPECT_EQ(GuessOf({R"({"a":9223372036854775807})"}), "a int64[] ");
  EXPECT_EQ(GuessOf({R"({"a":9223372036854775808})"}), "a float32[] ");
}

TEST(JsonGuess, TakesWhatIsMissingOrNullAsAGap) {
  EXPECT_EQ(GuessOf({R"({"a":1,"b":"x","c":true,"d":[1],"e":null})", R"({"b":null})"}),
            "a float32[]=nan b text= c json=null d int64[?] e json=null ");
}

TEST(JsonGuess, TellsTheShapesThatAllListsHave) {
  EXPECT_EQ(GuessOf({R"({"a":[1,2],"b":[[1,2],[3,4]],"c":[[1],[2,3]],"d":[]})",
                     R"({"a":[3,4],"b":[[1,2.5]],"c":[[1]],"d":[[1,2]]})"}),
            "a int64[2] b float32[?, 2] c json d int64[?, 2] ");
  EXPECT_EQ(GuessOf({R"({"a":[true],"b":["x"],"c":[{"d":1}],"e":[null]})"}),
            "a json b json c json e json ");
}

TEST(JsonGuess, NamesMembersOfObjectsByTheirPath) {
  EXPECT_EQ(GuessOf({R"({"a":{"b":{"c":1}},"d":{}})", R"({"a":{"b":{"c":2}},"d":{"e":1}})"}),
            "a.b.c int64[] d.e float32[]=nan ");
  EXPECT_EQ(GuessOf({R"({"":1,"a.b":2,"c":3})"}), "c int64[] ") << "no path can name the others";
  EXPECT_EQ(GuessOf({R"({"a":1,"a":2})"}), "a int64[] ");
}

TEST(JsonGuess, KeepsTheOrderOfTheFirstLineAndPutsWhatLaterLinesHaveBehind) {
  EXPECT_EQ(GuessOf({R"({"b":1,"z":{"y":1,"a":1},"a":1})",
                     R"({"a":1,"aa":"x","z":{"y":1,"a":1,"b":null},"b":1})"}),
            "b int64[] z.y int64[] z.a int64[] a int64[] aa text= z.b json=null ");
  EXPECT_EQ(GuessOf({R"({"a":1,"b":2,"a":3})"}), "a int64[] b int64[] ");
}

TEST(JsonGuess, ALineThatIsNoObjectOrNestsTooDeepIsAnErrorAndTellsNothing) {
  const auto fails = [](const std::string& line, const char* says) {
    JsonGuess guess;
    EXPECT_THAT(guess.Add(line), FailsWith(StatusCode::kDataLoss, says)) << line.substr(0, 40);
    EXPECT_THAT(guess.Members(), testing::IsEmpty());
  };
  fails("[1]", "byte 0: an object is wanted");
  fails("", "byte 0: an object is wanted");
  fails(R"({"a":1)", "byte 6: '}' is wanted, but the text ends");
  fails(R"({"a":1} 2)", "nothing may follow");
  fails(R"({"a":"\ud800"})", "half of a pair of surrogates");
  std::string lists, objects;
  for (int i = 0; i < 200'000; ++i) {
    lists += '[';
    objects += R"({"a":)";
  }
  fails(R"({"a":)" + lists, "nests more than 256 deep");
  fails(objects, "nests more than 256 deep");
}

}  // namespace stoker::json_guess_test
