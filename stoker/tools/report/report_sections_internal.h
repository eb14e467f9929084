// The parts of the report, in the order of the page. Each returns HTML; empty: the run has nothing
// of the kind.
#pragma once

#include <string>

#include "stoker/tools/report/run_report.h"

namespace stoker {

std::string FiguresHtml(const RunReport& report);
std::string VerdictHtml(const RunReport& report);
std::string CurvesHtml(const RunReport& report);
std::string EvaluationsHtml(const RunReport& report);
std::string ChoicesHtml(const RunReport& report);
std::string TimesHtml(const RunReport& report);
std::string StagesHtml(const RunReport& report);
std::string MachineHtml(const RunReport& report);
std::string RecipeHtml(const RunReport& report);
std::string NotesHtml(const RunReport& report);

}  // namespace stoker
