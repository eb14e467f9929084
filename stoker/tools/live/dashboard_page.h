// The page of --dashboard, from the files that are embedded in the program.
#pragma once

#include <string>

namespace stoker {

struct DashboardPage {
  std::string html;    // whole; holds nothing of a run
  std::string policy;  // the header Content-Security-Policy for it
};

DashboardPage MakeDashboardPage();

}  // namespace stoker
