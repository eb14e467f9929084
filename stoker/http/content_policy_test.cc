#include "stoker/http/content_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stoker::content_policy_test {
namespace {

using testing::HasSubstr;
using testing::Not;

// The example of https://www.w3.org/TR/CSP3/, 8.3.
TEST(ContentPolicy, HashesAScriptAsTheStandardDoes) {
  EXPECT_EQ(HashSource("alert('Hello, world.');"),
            "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='");
}

TEST(ContentPolicy, AllowsNothingButWhatItWasMadeFor) {
  const std::string policy = SelfContainedPolicy("body {}", "1;");
  EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
  EXPECT_THAT(policy, HasSubstr("style-src " + HashSource("body {}")));
  EXPECT_THAT(policy, HasSubstr("script-src " + HashSource("1;")));
  EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
  EXPECT_THAT(SelfContainedPolicy("body {}", ""), Not(HasSubstr("script-src")));
}

}  // namespace
}  // namespace stoker::content_policy_test
