#include "stoker/tools/live/dashboard_page.h"

#include <string_view>

#include "stoker/http/content_policy.h"

namespace stoker {

// Of live/page, made by cmake/StokerEmbed.cmake.
extern const std::string_view kDashboardHtml, kDashboardStyle, kDashboardScript;

DashboardPage MakeDashboardPage() {
  DashboardPage page{.html = std::string(kDashboardHtml),
                     .policy = SelfContainedPolicy(kDashboardStyle, kDashboardScript) +
                               "; frame-ancestors 'none'"};
  const auto put = [&](std::string_view place, std::string_view text) {
    page.html.replace(page.html.find(place), place.size(), text);
  };
  put("@STYLE@", kDashboardStyle);
  put("@SCRIPT@", kDashboardScript);
  return page;
}

}  // namespace stoker
