#include "stoker/tools/live/dashboard_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>

#include "stoker/http/content_policy.h"

namespace stoker::dashboard_page_test {
namespace {

using testing::HasSubstr;
using testing::Not;

// What stands between `begin` and `end`, which the page must have once.
std::string Between(const std::string& html, std::string_view begin, std::string_view end) {
  const size_t from = html.find(begin) + begin.size(), to = html.find(end, from);
  EXPECT_NE(to, std::string::npos);
  EXPECT_EQ(html.find(begin, from), std::string::npos) << begin;
  return html.substr(from, to - from);
}

TEST(DashboardPage, ItsPolicyAllowsItsOwnStyleAndScript) {
  const DashboardPage page = MakeDashboardPage();
  EXPECT_THAT(page.policy, HasSubstr(HashSource(Between(page.html, "<style>", "</style>"))));
  EXPECT_THAT(page.policy, HasSubstr(HashSource(Between(page.html, "<script>", "</script>"))));
}

TEST(DashboardPage, LoadsNothingAndHasNoPlaceWhereTextBecomesCode) {
  const std::string html = MakeDashboardPage().html;
  for (const char* forbidden : {"http:", "https:", "src=", "url(", "@import", "innerHTML",
                                "outerHTML", "insertAdjacentHTML", "document.write", "eval(",
                                "new Function", " onclick=", " style=\"", "@STYLE@", "@SCRIPT@"})
    EXPECT_THAT(html, Not(HasSubstr(forbidden)));
}

TEST(DashboardPage, CanBeUsedOnAPhoneByKeyboardAndInTheDark) {
  const std::string html = MakeDashboardPage().html;
  for (const char* needed : {"<html lang=", "name=\"viewport\"", "prefers-color-scheme: dark",
                             "ArrowLeft", "aria-live", ":focus-visible", "<label for="})
    EXPECT_THAT(html, HasSubstr(needed));
}

}  // namespace
}  // namespace stoker::dashboard_page_test
