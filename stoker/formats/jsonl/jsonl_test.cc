#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/base/testing.h"
#include "stoker/formats/jsonl/json_cursor.h"
#include "stoker/formats/jsonl/json_row_parser.h"

namespace stoker::jsonl_test {

using Kind = JsonMember::Kind;
using testing::ElementsAre;

// One member of one line as Ts.
template <typename T>
Result<std::vector<T>> Values(const std::string& line, Shape shape = {}, std::string missing = "",
                              std::string path = "x") {
  const bool loose = !shape.empty() && shape.front() == -1;
  JsonMember member{.path = std::move(path), .dtype = DTypeOf<T>(), .shape = shape};
  member.has_default = !missing.empty();
  member.default_text = std::move(missing);
  STOKER_ASSIGN_OR_RETURN(const JsonRowParser parser, JsonRowParser::Make({member}));
  std::vector<T> values(loose ? 0 : static_cast<size_t>(NumValues(shape)));
  std::byte* const memory = reinterpret_cast<std::byte*>(values.data());
  std::string bytes;
  STOKER_RETURN_IF_ERROR(parser.Parse(line, {&memory, 1}, {&bytes, 1}));
  if (loose) {
    values.resize(bytes.size() / sizeof(T));
    if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  }
  return values;
}

Result<std::string> Text(const std::string& line, Kind kind = Kind::kText) {
  STOKER_ASSIGN_OR_RETURN(const JsonRowParser parser,
                          JsonRowParser::Make({{.path = "x", .kind = kind}}));
  std::string text;
  std::byte* const nothing = nullptr;
  STOKER_RETURN_IF_ERROR(parser.Parse(line, {&nothing, 1}, {&text, 1}));
  return text;
}

TEST(JsonRowParser, ReadsNumbersOfEveryTypeAndForm) {
  EXPECT_THAT(*Values<int64_t>(R"({"x": -9223372036854775808})"),
              ElementsAre(std::numeric_limits<int64_t>::min()));
  EXPECT_THAT(*Values<int32_t>(R"( { "y" : [1, {"x": 2}] , "x" : 7 } )"), ElementsAre(7));
  EXPECT_THAT(*Values<uint8_t>(R"({"x":255})"), ElementsAre(255));
  EXPECT_THAT(*Values<double>(R"({"x":-1.25e-3})"), ElementsAre(-0.00125));
  EXPECT_THAT(*Values<float>(R"({"x":1e-60})"), ElementsAre(0.0f));
  EXPECT_THAT(*Values<double>(R"({"x":1e-400})"), ElementsAre(0.0));
  EXPECT_THAT(*Values<float>(R"({"x":1e-400})"), ElementsAre(0.0f));
  EXPECT_THAT(*Values<double>(R"({"x":-Infinity})"),
              ElementsAre(-std::numeric_limits<double>::infinity()));
  EXPECT_THAT(*Values<float>(R"({"x":-Infinity})"),
              ElementsAre(-std::numeric_limits<float>::infinity()));
  EXPECT_TRUE(std::isnan((*Values<float>(R"({"x":NaN})"))[0]));
  JsonMember flag{.path = "x", .dtype = DType::kBool};
  bool value = false;
  std::byte* const memory = reinterpret_cast<std::byte*>(&value);
  STOKER_ASSERT_OK(JsonRowParser::Make({flag})->Parse(R"({"x":true})", {&memory, 1}, {}));
  EXPECT_TRUE(value);
}

TEST(JsonRowParser, ReadsListsOfAShapeAndOfAnyLength) {
  EXPECT_THAT(*Values<int32_t>(R"({"x":[[1,2,3],[4,5,6]]})", {2, 3}),
              ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(*Values<int32_t>(R"({"x":[[1,2],[3,4],[5,6]]})", {-1, 2}),
              ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(*Values<float>(R"({"x":[]})", {-1}), testing::IsEmpty());
  EXPECT_THAT(*Values<float>(R"({})", {-1}), testing::IsEmpty());
  EXPECT_THAT(*Values<float>(R"({"x":null})", {2}, "1.5"), ElementsAre(1.5, 1.5));
}

TEST(JsonRowParser, FindsMembersByTheirPath) {
  const std::string line = R"({"a":{"c":1,"b":[5,{"x":7},9]},"a.b":3})";
  EXPECT_THAT(*Values<int32_t>(line, {}, "", "a.b.1.x"), ElementsAre(7));
  EXPECT_THAT(*Values<int32_t>(line, {}, "", "a.b.2"), ElementsAre(9));
  EXPECT_THAT(*Values<int32_t>(R"({"\u0078":4})"), ElementsAre(4));
  EXPECT_THAT(*Values<int32_t>(R"({"x":1,"x":2})"), ElementsAre(2));
}

TEST(JsonRowParser, UnescapesTextsAndKeepsJsonAsItStands) {
  EXPECT_EQ(*Text(R"({"x":"a\"\\\/\b\f\n\r\tz"})"), "a\"\\/\b\f\n\r\tz");
  EXPECT_EQ(*Text(R"({"x":"\u00e9\u20AC\ud83d\ude00"})"), "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  EXPECT_EQ(*Text(R"({"x": [1, {"y": null}] })", Kind::kJson), R"([1, {"y": null}])");
  EXPECT_EQ(*Text(R"({"x": null})", Kind::kJson), "null");
}

TEST(JsonRowParser, SaysWhereALineIsWrong) {
  for (const auto& [line, says] : std::vector<std::pair<std::string, std::string>>{
           {"", "byte 0: '{' is wanted, but the text ends"},
           {"[1]", "byte 0: '{' is wanted, found '['"},
           {R"({"x":1)", "byte 6: '}' is wanted, but the text ends"},
           {R"({"x":1} 2)", "byte 8: the value ends here, nothing may follow, found '2'"},
           {R"({"x":01})", "byte 6: a number does not begin with 0"},
           {R"({"x":1.})", "byte 7: digits are wanted after the point"},
           {R"({"x":1e})", "byte 7: digits are wanted in the exponent"},
           {R"({"x":"1"})", "'x': byte 5: a number is wanted, found '\"'"},
           {R"({"x":1.5})", "'x': byte 5: 1.5 is no int32; set the field's type"},
           {R"({"x":4294967296})", "'x': byte 5: 4294967296 is no int32"},
           {R"({"x":[1]})", "'x': byte 5: a number is wanted, found '['"},
           {R"({"y":1})", "there is no 'x'; give the field a default"},
           {"{\"y\":\"a\nb\"}", "byte 7: control characters must be escaped, found byte 0a"},
           {R"({"y":"\x"})", "byte 7: a backslash wants one of"},
           {R"({"y":"\u12g4"})", "byte 10: \\u wants four hexadecimal digits, found 'g'"},
           {R"({"y":"\ud800"})", "half of a pair of surrogates stands alone"},
           {R"({"y":nul})", "byte 5: a value is wanted"}}) {
    EXPECT_THAT(Values<int32_t>(line), FailsWith(StatusCode::kDataLoss, says)) << line;
  }
  EXPECT_THAT(
      Values<float>(R"({"x":1e50})"),
      FailsWith(StatusCode::kDataLoss, "byte 5: 1e50 is too large for float32; correct it"));
  EXPECT_THAT(Values<double>(R"({"x":-1e400})"),
              FailsWith(StatusCode::kDataLoss, "byte 5: -1e400 is too large for float64"));
  EXPECT_THAT(Values<float>(R"({"x":[1,2]})", {3}),
              FailsWith(StatusCode::kDataLoss, "the list has 2 values, 3 are wanted"));
  EXPECT_THAT(Values<float>(R"({"x":[1,2,3]})", {2}),
              FailsWith(StatusCode::kDataLoss, "byte 10: 2 values are wanted, found '3'"));
  EXPECT_THAT(Values<float>(R"({"x":1})", {2}),
              FailsWith(StatusCode::kDataLoss, "byte 5: a list is wanted, found '1'"));
  EXPECT_THAT(Values<float>("{\"y\":" + std::string(100'000, '[')),
              FailsWith(StatusCode::kDataLoss, "nests more than 256 deep"));
}

TEST(JsonRowParser, RefusesPathsThatDoNotGoTogether) {
  const auto fails = [](const std::vector<std::string>& paths, const char* says) {
    std::vector<JsonMember> members;
    for (const std::string& path : paths) members.push_back({.path = path});
    EXPECT_THAT(JsonRowParser::Make(members), FailsWith(StatusCode::kInvalidArgument, says));
  };
  fails({""}, "'' is no path");
  fails({"a..b"}, "'a..b' is no path");
  fails({"a", "a"}, "'a' is wanted twice");
  fails({"a", "a.b"}, "'a.b' is part of 'a'");
  fails({"a.b", "a"}, "a part of 'a' is wanted too");
  EXPECT_THAT(Values<float>("{}", {}, "x"),
              FailsWith(StatusCode::kInvalidArgument, "'x': default 'x' is no float32"));
}

TEST(JsonRowParser, EveryTruncationIsAnErrorAndEveryFlippedByteIsReadOrAnError) {
  const std::string good = R"({"x":[1.5,-2e3],"s":"a\u00e9","y":{"z":[true,null]}})";
  const std::vector<JsonMember> members = {{.path = "x", .shape = {2}},
                                           {.path = "s", .kind = Kind::kText}};
  STOKER_ASSERT_OK_AND_ASSIGN(const JsonRowParser parser, JsonRowParser::Make(members));
  float numbers[2] = {};
  std::byte* const memory[2] = {reinterpret_cast<std::byte*>(numbers), nullptr};
  std::vector<std::string> loose(2);
  STOKER_ASSERT_OK(parser.Parse(good, memory, loose));
  for (size_t at = 0; at < good.size(); ++at) {
    const std::string cut = good.substr(0, at);
    EXPECT_THAT(parser.Parse(cut, memory, loose), FailsWith(StatusCode::kDataLoss, ""));
    for (int byte = 0; byte < 256; ++byte) {
      std::string bad = good;
      bad[at] = static_cast<char>(byte);
      const Status status = parser.Parse(bad, memory, loose);
      const bool wanted_gone = Json::accept(bad) && bad.find("\"x\"") == bad.npos;
      if (status.ok()) {
        EXPECT_FALSE(wanted_gone);
      } else {
        EXPECT_EQ(status.code(), StatusCode::kDataLoss);
      }
    }
  }
}

TEST(JsonCursor, TakesWhatAnotherParserTakes) {
  for (const char* const text : {"0",
                                 "-0",
                                 "-",
                                 "1.5E+7",
                                 "1.e1",
                                 ".5",
                                 "00",
                                 "1e+",
                                 "true",
                                 "tru",
                                 "nullx",
                                 "\"\"",
                                 "[]",
                                 "[,]",
                                 "[1,]",
                                 "[1 2]",
                                 "{}",
                                 "{\"a\"}",
                                 "{\"a\":}",
                                 "{\"a\":1,}",
                                 "{a:1}",
                                 "[[[]]]",
                                 "\"\\\"",
                                 " [ 1 , 2 ] ",
                                 "\"\\u00zz\"",
                                 "\"\\udc00\"",
                                 "\"\\ud800\\u0041\"",
                                 "'a'",
                                 ""}) {
    JsonCursor cursor(text);
    const bool taken = cursor.TakeValue().ok() && cursor.ExpectEnd().ok();
    EXPECT_EQ(taken, Json::accept(std::string(text))) << text;
  }
}

}  // namespace stoker::jsonl_test
