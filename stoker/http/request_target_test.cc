#include "stoker/http/request_target.h"

#include <gtest/gtest.h>

#include <string>

namespace stoker::request_target_test {
namespace {

TEST(RequestTarget, HasPathQueryAndAuthority) {
  const auto plain = ParseRequestTarget("/a%20b/%e2%82%ac?x=%zz&y");
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->path, "/a b/€");
  EXPECT_EQ(plain->query, "x=%zz&y");
  EXPECT_EQ(plain->authority, "");
  const auto absolute = ParseRequestTarget("http://localhost:80/metrics?a");
  ASSERT_TRUE(absolute.ok());
  EXPECT_EQ(absolute->authority, "localhost:80");
  EXPECT_EQ(absolute->path, "/metrics");
  EXPECT_EQ(absolute->query, "a");
  const auto bare = ParseRequestTarget("http://localhost?a=/b");
  ASSERT_TRUE(bare.ok());
  EXPECT_EQ(bare->path, "/");
  EXPECT_EQ(bare->query, "a=/b");
}

TEST(RequestTarget, OfAnyOtherFormIsAnError) {
  for (const std::string_view target :
       {"", "*", "metrics", "localhost:80", "https://localhost/", "ftp://x/", "http:///x", "/%",
        "/%4", "/%g0", "/%0g", "/%00", "/a%0d%0aX: y", "/%7f", "/a#b", "?x", "\\metrics"})
    EXPECT_FALSE(ParseRequestTarget(target).ok()) << target;
  EXPECT_FALSE(ParseRequestTarget(std::string_view("/a\0b", 4)).ok());
  EXPECT_FALSE(ParseRequestTarget("/a?b\tc").ok());
}

TEST(RequestTarget, LeavesDotsAloneSinceAPathNamesNoFile) {
  EXPECT_EQ(ParseRequestTarget("/../etc/passwd")->path, "/../etc/passwd");
  EXPECT_EQ(ParseRequestTarget("/%2e%2e%2fetc")->path, "/../etc");
  EXPECT_EQ(ParseRequestTarget("//metrics")->path, "//metrics");
}

}  // namespace
}  // namespace stoker::request_target_test
