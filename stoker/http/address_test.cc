#include "stoker/http/address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stoker::address_test {
namespace {

using testing::HasSubstr;

TEST(HttpAddress, TakesEveryFormThatTheHelpShows) {
  const std::pair<const char*, HttpAddress> kGood[] = {{"9090", {"127.0.0.1", 9090}},
                                                       {":9090", {"127.0.0.1", 9090}},
                                                       {"0", {"127.0.0.1", 0}},
                                                       {"localhost:1", {"localhost", 1}},
                                                       {"0.0.0.0:65535", {"0.0.0.0", 65535}},
                                                       {"[::1]:80", {"::1", 80}},
                                                       {"gpu-1.lab_a:80", {"gpu-1.lab_a", 80}}};
  for (const auto& [text, wanted] : kGood) {
    const Result<HttpAddress> parsed = ParseHttpAddress(text);
    ASSERT_TRUE(parsed.ok()) << text << ": " << parsed.status().ToString();
    EXPECT_EQ(*parsed, wanted) << text;
  }
}

TEST(HttpAddress, RefusesEverythingElseAndShowsTheForm) {
  for (const char* text : {"",
                           ":",
                           "host",
                           "host:",
                           "host:x",
                           "host:65536",
                           "-1",
                           "1.2.3.4",
                           "::1",
                           "::1:80",
                           "[::1]",
                           "[::1]80",
                           "[::1",
                           "[host]:80",
                           "[1.2.3.4]:80",
                           "a b:80",
                           "host:80:80",
                           "http://host:80",
                           "host:+80",
                           "host: 80",
                           "ho\nst:80",
                           "99999999999999999999"}) {
    const Result<HttpAddress> parsed = ParseHttpAddress(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.status().code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(parsed.status().message(), HasSubstr("127.0.0.1:9090")) << text;
  }
  EXPECT_LT(ParseHttpAddress(std::string(100000, 'x')).status().message().size(), 400u);
}

TEST(HttpAddress, KnowsWhatOnlyThisMachineReaches) {
  for (const char* host : {"127.0.0.1", "127.255.1.2", "::1", "::ffff:127.0.0.1"})
    EXPECT_TRUE(IsLoopback(host)) << host;
  for (const char* host :
       {"0.0.0.0", "10.0.0.1", "::", "::ffff:10.0.0.1", "localhost", "", "127.1"})
    EXPECT_FALSE(IsLoopback(host)) << host;
  EXPECT_FALSE(IsLoopback(std::string_view("127.0.0.1\0x", 11)));
}

TEST(HttpAddress, PutsBracketsAroundIpv6InUrls) {
  EXPECT_EQ(HttpUrl("127.0.0.1", 80), "http://127.0.0.1:80/");
  EXPECT_EQ(HttpUrl("::1", 8080), "http://[::1]:8080/");
}

TEST(HttpNames, OfLoopbackRefuseTheNamesOfOtherSites) {
  const HttpNames names("127.0.0.1", {"Gpu01"});
  for (const char* host : {"localhost", "LOCALHOST:8080", "localhost.", "a.localhost:1",
                           "127.0.0.1:8080", "127.9.9.9", "[::1]:8080", "[::1]", "gpu01:80"})
    EXPECT_TRUE(names.Allows(host)) << host;
  for (const char* host : {"",
                           "evil.example",
                           "evil.example:8080",
                           "localhost.evil.example",
                           "10.0.0.1",
                           "gpu01.evil.example",
                           "[::2]",
                           "127.0.0.1.evil.example",
                           "localhost:x",
                           "localhost:",
                           "localhost:99999",
                           "user@localhost",
                           "localhost/",
                           "local host",
                           "[localhost]",
                           "[::1",
                           "::1",
                           "127.0.0.1 evil",
                           "xlocalhost",
                           ".",
                           "localhost:80:80",
                           "localhost\t"})
    EXPECT_FALSE(names.Allows(host)) << host;
  EXPECT_FALSE(names.Allows(std::string_view("localhost\0", 10)));
}

TEST(HttpNames, OfOtherAddressesAllowEachIpAddressSinceNoNameIsLookedUpForIt) {
  const HttpNames names("0.0.0.0", {"gpu01.lab"});
  for (const char* host : {"10.0.0.1:80", "[fe80::1]", "gpu01.lab.", "localhost"})
    EXPECT_TRUE(names.Allows(host)) << host;
  EXPECT_FALSE(names.Allows("gpu01"));
  EXPECT_FALSE(names.Allows("10.0.0.256"));
}

}  // namespace
}  // namespace stoker::address_test
