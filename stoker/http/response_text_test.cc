#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/http/response_text_internal.h"

namespace stoker::response_text_test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(HeadText, SaysHowTheBodyEnds) {
  const std::string whole = HeadText({.status = 404}, {.length = 7});
  EXPECT_THAT(whole, testing::StartsWith("HTTP/1.1 404 Not Found\r\nDate: "));
  EXPECT_THAT(whole, testing::EndsWith("\r\n\r\n"));
  EXPECT_THAT(whole, HasSubstr("Content-Length: 7\r\n"));
  EXPECT_THAT(whole, Not(HasSubstr("chunked")));
  const std::string chunked = HeadText({}, {.chunked = true});
  EXPECT_THAT(chunked, HasSubstr("Transfer-Encoding: chunked\r\n"));
  EXPECT_THAT(chunked, Not(HasSubstr("Content-Length")));
  const std::string until_end = HeadText({}, {.keep_alive = false});
  EXPECT_THAT(until_end, HasSubstr("Connection: close\r\n"));
  EXPECT_THAT(until_end, Not(HasSubstr("chunked")));
}

TEST(HeadText, LetsAPageLoadNothingUnlessItSaysOtherwise) {
  EXPECT_THAT(HeadText({}, {}), HasSubstr("Content-Security-Policy: default-src 'none'"));
  const std::string own =
      HeadText({.headers = {{"Content-Security-Policy", "default-src 'self'"}}}, {});
  EXPECT_THAT(own, HasSubstr("default-src 'self'"));
  EXPECT_THAT(own, Not(HasSubstr("default-src 'none'")));
}

TEST(HeadText, NoHeaderBreaksOutOfItsLine) {
  const std::string text = HeadText(
      {.headers = {{"X-A", "1\r\nSet-Cookie: x"}, {"X-B\n", "2"}, {"", "3"}, {"X-C", "4"}}}, {});
  EXPECT_THAT(text, Not(HasSubstr("Set-Cookie")));
  EXPECT_THAT(text, Not(HasSubstr("X-B")));
  EXPECT_THAT(text, HasSubstr("X-C: 4\r\n"));
}

TEST(ChunkText, IsOfTheFormOfRfc9112) {
  EXPECT_EQ(ChunkText("Wiki"), "4\r\nWiki\r\n");
  EXPECT_EQ(ChunkText(std::string(26, 'x')).substr(0, 4), "1a\r\n");
  EXPECT_EQ(ChunkText(""), "") << "an empty chunk ends the body";
}

}  // namespace
}  // namespace stoker::response_text_test
