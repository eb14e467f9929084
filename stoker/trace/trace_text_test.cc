#include <algorithm>
#include <string>
#include <vector>

#include "stoker/base/testing.h"
#include "stoker/trace/chrome_trace.h"
#include "stoker/trace/flame_graph.h"
#include "stoker/trace/folded_stacks.h"

namespace stoker::trace_text_test {

using testing::HasSubstr;
using testing::Not;

constexpr char kHostile[] = "a\"b\\c;d\n<e>&\xff";

std::string Parsed(const std::string& text, size_t number, const char* key) {
  const Json events = Json::parse(text).at("traceEvents");
  return events.at(number).value(key, Json()).dump();
}

TEST(ChromeTrace, IsJsonThatNamesProcessHostAndRank) {
  const std::string text = TraceBegin(
      {.command = "stoker \"x\"", .version = "1.0", .host = "desk", .rank = 3, .pid = 7});
  const Json trace = Json::parse(text + std::string(kTraceEnd));
  EXPECT_EQ(trace.at("otherData"), (Json{{"schema", 1},
                                         {"rank", 3},
                                         {"host", "desk"},
                                         {"command", "stoker \"x\""},
                                         {"version", "1.0"}}));
  EXPECT_EQ(trace.at("traceEvents").at(0).at("args").at("name"), "stoker \"x\" (rank 3 on desk)");
  EXPECT_EQ(trace.at("traceEvents").at(1).at("args").at("sort_index"), 3);
}

TEST(ChromeTrace, GivesSpansInMicrosecondsFromItsOriginWithAllDigits) {
  std::string text = TraceBegin({});
  const int64_t origin = 1'000'000'000'000'000;  // after 11 days of running
  const TraceThread thread{.id = 12, .name = "decode0"};
  AppendThreadName(thread, 7, text);
  AppendEvent({.name = "decode", .begin_ns = origin + 1'234'567, .end_ns = origin + 2'234'568},
              thread, 7, origin, text);
  AppendEvent(
      {.name = "decode", .begin_ns = origin, .end_ns = origin + 9, .kind = TraceKind::kStarved},
      thread, 7, origin, text);
  AppendEvent({.name = "early", .begin_ns = origin - 7, .end_ns = origin + 2}, thread, 7, origin,
              text);
  text += kTraceEnd;
  EXPECT_EQ(Parsed(text, 2, "args"), R"({"name":"decode0"})");
  EXPECT_THAT(text, HasSubstr(R"({"name":"decode","cat":"work","ph":"X","ts":1234.567,)"
                              R"("dur":1000.001,"pid":7,"tid":12})"));
  EXPECT_EQ(Parsed(text, 4, "name"), R"("decode: waits for its input")");
  EXPECT_EQ(Parsed(text, 4, "cat"), R"("starved")");
  EXPECT_EQ(Parsed(text, 4, "dur"), "0.009");
  EXPECT_EQ(Parsed(text, 5, "ts"), "0.0");
  EXPECT_EQ(Parsed(text, 5, "dur"), "0.002");
}

TEST(ChromeTrace, GivesCountersAndMarks) {
  std::string text = TraceBegin({});
  AppendEvent({.name = "batches", .begin_ns = 5000, .end_ns = 4, .kind = TraceKind::kQueue},
              {.id = 1, .name = "main"}, 1, 0, text);
  AppendMark("end", {{"full", true}}, 9000, 1, 0, text);
  text += kTraceEnd;
  EXPECT_EQ(Parsed(text, 2, "name"), R"("batches: ready")");
  EXPECT_EQ(Parsed(text, 2, "ph"), R"("C")");
  EXPECT_EQ(Parsed(text, 2, "args"), R"({"waiting":4})");
  EXPECT_EQ(Parsed(text, 3, "ph"), R"("i")");
  EXPECT_EQ(Parsed(text, 3, "args"), R"({"full":true})");
}

TEST(ChromeTrace, OfAnyNamesIsJson) {
  std::string text = TraceBegin({.command = kHostile, .host = kHostile});
  const TraceThread thread{.id = 1, .name = kHostile};
  AppendThreadName(thread, 1, text);
  AppendEvent({.name = kHostile, .begin_ns = 1, .end_ns = 2}, thread, 1, 0, text);
  AppendMark(kHostile, Json::object(), 3, 1, 0, text);
  EXPECT_EQ(Json::parse(text + std::string(kTraceEnd)).at("traceEvents").size(), 5u);
}

// Two decode threads of 4 ms each, of which 1 ms waits, and a main thread of 2 ms.
std::vector<TraceThreadStacks> SomeStacks() {
  const int64_t ms = 1'000'000;
  TraceStack batch{.name = "batch", .total_ns = 6 * ms, .count = 3};
  batch.children.push_back({.name = "decode", .total_ns = 5 * ms, .count = 60});
  const TraceStack waits{
      .name = "decode", .kind = TraceKind::kBlocked, .total_ns = 2 * ms, .count = 1};
  return {{.thread = "decode", .threads = 2, .stacks = {batch, waits}},
          {.thread = "main",
           .threads = 1,
           .stacks = {{.name = "step", .total_ns = 2 * ms, .count = 1}}}};
}

TEST(FoldedStacks, AreALineForEachStackWithTheTimeOfItsOwn) {
  EXPECT_EQ(FoldedStacks(SomeStacks()),
            "decode;batch 1000\n"
            "decode;batch;decode 5000\n"
            "decode;decode: waits for room 2000\n"
            "main;step 2000\n");
  EXPECT_EQ(FoldedStacks({}), "");
}

TEST(FoldedStacks, HaveNoSeparatorsInNamesAndNoLineWithoutTime) {
  EXPECT_EQ(FoldedStacks({{.thread = "a;b",
                           .threads = 1,
                           .stacks = {{.name = "c\nd;e", .total_ns = 2000, .count = 1},
                                      {.name = "", .total_ns = 1000, .count = 1},
                                      {.name = "short", .total_ns = 499, .count = 1}}}}),
            "a,b;c d,e 2\na,b;(no name) 1\n");
}

TEST(FlameGraph, IsThisForTheseStacks) {
  EXPECT_EQ(
      FlameGraphSvg(SomeStacks(), "stoker <train>"),
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1200\" height=\"146\" "
      "viewBox=\"0 0 1200 146\" role=\"img\" aria-label=\"stoker &lt;train&gt;\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
      "<text x=\"10\" y=\"26\" font-size=\"17\">stoker &lt;train&gt;</text>\n"
      "<text x=\"10\" y=\"48\" fill=\"#555555\">0.010 s of all threads together; warm: works, "
      "cool: waits; hold the pointer over a frame for its time</text>\n"
      "<g><title>all threads: 0.010000 s, 100.00%</title><rect x=\"10.00\" y=\"118\" "
      "width=\"1180.00\" height=\"17\" fill=\"rgb(236,168,101)\"/>"
      "<text x=\"13.00\" y=\"131\">all threads</text></g>\n"
      "<g><title>decode (2 threads): 0.008000 s, 80.00%</title><rect x=\"10.00\" y=\"100\" "
      "width=\"944.00\" height=\"17\" fill=\"rgb(252,181,117)\"/>"
      "<text x=\"13.00\" y=\"113\">decode (2 threads)</text></g>\n"
      "<g><title>batch: 0.006000 s, 60.00%, 3 times</title><rect x=\"10.00\" y=\"82\" "
      "width=\"708.00\" height=\"17\" fill=\"rgb(218,189,83)\"/>"
      "<text x=\"13.00\" y=\"95\">batch</text></g>\n"
      "<g><title>decode: 0.005000 s, 50.00%, 60 times</title><rect x=\"10.00\" y=\"64\" "
      "width=\"590.00\" height=\"17\" fill=\"rgb(222,147,87)\"/>"
      "<text x=\"13.00\" y=\"77\">decode</text></g>\n"
      "<g><title>decode: waits for room: 0.002000 s, 20.00%, 1 time</title><rect x=\"718.00\" "
      "y=\"82\" width=\"236.00\" height=\"17\" fill=\"rgb(183,213,226)\"/>"
      "<text x=\"721.00\" y=\"95\">decode: waits for room</text></g>\n"
      "<g><title>main: 0.002000 s, 20.00%</title><rect x=\"954.00\" y=\"100\" width=\"236.00\" "
      "height=\"17\" fill=\"rgb(247,179,112)\"/><text x=\"957.00\" y=\"113\">main</text></g>\n"
      "<g><title>step: 0.002000 s, 20.00%, 1 time</title><rect x=\"954.00\" y=\"82\" "
      "width=\"236.00\" height=\"17\" fill=\"rgb(238,157,103)\"/>"
      "<text x=\"957.00\" y=\"95\">step</text></g>\n"
      "</svg>\n");
}

TEST(FlameGraph, EscapesNamesAndCutsThoseThatDoNotFit) {
  const std::string name = "aver\u00f6ng<name>&more";
  const auto graph = [&](int64_t other_ns) {
    return FlameGraphSvg({{.thread = "main",
                           .threads = 1,
                           .stacks = {{.name = name, .total_ns = 10'000, .count = 1},
                                      {.name = "other", .total_ns = other_ns, .count = 1}}}},
                         "t");
  };
  const std::string title = "<title>aver\u00f6ng&lt;name&gt;&amp;more: 0.000010 s";
  EXPECT_THAT(graph(1000), HasSubstr(">aver\u00f6ng&lt;name&gt;&amp;more</text>"));
  // Room for 8 letters: 1180 of 190000 / 10000 are 62.1 units.
  EXPECT_THAT(graph(180'000), HasSubstr(">aver\u00f6ng…</text>"));
  EXPECT_THAT(graph(180'000), HasSubstr(title));
  EXPECT_THAT(graph(900'000), Not(HasSubstr("…</text>"))) << "room for a letter or two";
  EXPECT_THAT(graph(900'000'000), Not(HasSubstr(title))) << "narrower than a tenth";
  const std::string hostile =
      FlameGraphSvg({{.thread = kHostile,
                      .threads = 1,
                      .stacks = {{.name = kHostile, .total_ns = 10'000, .count = 1}}}},
                    kHostile);
  EXPECT_THAT(hostile, Not(HasSubstr("<e>")));
  EXPECT_THAT(hostile, Not(HasSubstr("\xff")));
}

TEST(FlameGraph, OfNothingSaysSo) {
  EXPECT_THAT(FlameGraphSvg({}, "t"), HasSubstr("nothing was recorded"));
}

}  // namespace stoker::trace_text_test
