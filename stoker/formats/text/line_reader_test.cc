#include "stoker/formats/text/line_reader.h"

#include <string>
#include <vector>

#include "stoker/base/testing.h"
#include "stoker/io/dripping_testing_internal.h"

namespace stoker::line_reader_test {

using testing::ElementsAre;

// Each line as "number@offset:text", too long ones as "number@offset!length".
std::vector<std::string> LinesOf(std::string_view text, int64_t max_bytes = 100,
                                 size_t piece = 1 << 20) {
  LineReader reader(std::make_unique<Dripping>(text, piece), max_bytes);
  std::vector<std::string> lines;
  while (true) {
    const Result<std::optional<Line>> line = reader.Next();
    EXPECT_THAT(line, IsOk());
    if (!line.ok() || !*line) return lines;
    const Line& one = **line;
    lines.push_back(one.too_long ? fmt::format("{}@{}!{}", one.number, one.offset, one.length)
                                 : fmt::format("{}@{}:{}", one.number, one.offset, one.text));
  }
}

TEST(LineReader, SplitsAtLfAndCrLf) {
  EXPECT_THAT(LinesOf("a\nbc\r\n\r\n\nd\re\r\r\n"),
              ElementsAre("0@0:a", "1@2:bc", "2@6:", "3@8:", "4@9:d\re\r"));
}

TEST(LineReader, ALastLineNeedsNoEnd) {
  EXPECT_THAT(LinesOf("a\nb"), ElementsAre("0@0:a", "1@2:b"));
  EXPECT_THAT(LinesOf("a\r"), ElementsAre("0@0:a\r"));
  EXPECT_THAT(LinesOf("a\n"), ElementsAre("0@0:a"));
  EXPECT_THAT(LinesOf("\n"), ElementsAre("0@0:"));
  EXPECT_THAT(LinesOf(""), testing::IsEmpty());
}

TEST(LineReader, TellsOfLinesBeyondTheLimitAndGoesOn) {
  EXPECT_THAT(LinesOf("abc\nabcd\nabcde\r\nabc\r\nx", 3),
              ElementsAre("0@0:abc", "1@4!4", "2@9!5", "3@16:abc", "4@21:x"));
  EXPECT_THAT(LinesOf("a\nabcdefgh", 3), ElementsAre("0@0:a", "1@2!8"));
  EXPECT_THAT(LinesOf("abcd\r", 3), ElementsAre("0@0!5"));
}

TEST(LineReader, GivesTheSameHoweverTheBytesArrive) {
  const std::string text = "a\r\n\nbcd\n" + std::string(70'000, 'x') + "\r\nlast\r";
  for (const int64_t limit : {int64_t{2}, int64_t{3}, int64_t{69'999}, int64_t{70'000}}) {
    const std::vector<std::string> whole = LinesOf(text, limit);
    for (const size_t piece : {1, 2, 3, 5, 4096, 65'536})
      EXPECT_EQ(LinesOf(text, limit, piece), whole);
  }
}

TEST(LineReader, GoesOnFromTheOffsetAndNumberOfAnother) {
  const std::string text = "one\r\ntwo\n\nfour\nfive";
  LineReader reader(std::make_unique<Dripping>(text, 100), 100);
  for (int read = 0; read <= 5; ++read) {
    LineReader rest(
        MakeMemorySource(std::as_bytes(std::span(text)).subspan(reader.offset()), "rest"), 100,
        reader.number());
    STOKER_ASSERT_OK_AND_ASSIGN(const std::optional<Line> of_rest, rest.Next());
    const std::string expected(of_rest ? of_rest->text : "");
    STOKER_ASSERT_OK_AND_ASSIGN(const std::optional<Line> line, reader.Next());
    ASSERT_EQ(line.has_value(), of_rest.has_value());
    if (!line) break;
    EXPECT_EQ(line->text, expected);
    EXPECT_EQ(line->number, of_rest->number);
  }
}

TEST(LineReader, HoldsLittleMoreThanTheLimit) {
  const auto account = Ledger::Create(1 << 30)->OpenAccount("lines");
  const std::string text(10 << 20, 'x');
  LineReader reader(std::make_unique<Dripping>(text, 1 << 20), 100'000, 0, account);
  STOKER_ASSERT_OK_AND_ASSIGN(const std::optional<Line> line, reader.Next());
  EXPECT_EQ(line->length, text.size());
  EXPECT_LE(account->peak_bytes(), 300'000);
}

}  // namespace stoker::line_reader_test
