#include "stoker/http/token.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "stoker/base/testing.h"

namespace stoker::token_test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kToken = "0123456789abcdef-._~+/=";

TEST(Token, IsTheFirstLineOfItsFile) {
  for (const std::string end : {"", "\n", "\r\n", " \nsecond line"}) {
    const Result<std::string> token = ParseToken(std::string(kToken) + end, "file");
    ASSERT_TRUE(token.ok()) << token.status().ToString();
    EXPECT_EQ(*token, kToken);
  }
}

TEST(Token, ThatIsShortLongOrOfOtherCharactersIsRefusedAndNotShown) {
  for (const std::string& text :
       {std::string(), std::string("\n0123456789abcdef"), std::string("secret"),
        std::string(kLongestToken + 1, 'x'), std::string("0123456789abcde f"),
        std::string("0123456789abcdef\x01"), std::string("0123456789abcdefé")}) {
    const Result<std::string> token = ParseToken(text, "the file");
    ASSERT_FALSE(token.ok()) << text;
    EXPECT_EQ(token.status().code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(token.status().message(), HasSubstr("the file: holds no token"));
    EXPECT_THAT(token.status().message(), HasSubstr("openssl rand"));
    EXPECT_THAT(token.status().message(), Not(HasSubstr("secret")));
  }
}

TEST(TokenCheck, PassesTheTokenAlone) {
  const TokenCheck check(kToken);
  EXPECT_TRUE(check.Passes("Bearer " + std::string(kToken)));
  EXPECT_TRUE(check.Passes("bearer  " + std::string(kToken)));
  const std::string whole(kToken);
  for (const std::string& header :
       {std::string(), std::string("Bearer"), std::string("Bearer "), std::string("Bearer  "),
        whole, "Basic " + whole, "Bearer" + whole, "Bearer " + whole + " ", "Bearer " + whole + "x",
        "Bearer " + whole.substr(1), "Bearer " + whole.substr(0, whole.size() - 1),
        "Bearer " + whole + "," + whole, "Bearer \"" + whole + "\"",
        "Bearer " + whole + std::string(1, '\0'), "Bearer\t" + whole})
    EXPECT_FALSE(check.Passes(header)) << header;
}

}  // namespace
}  // namespace stoker::token_test
