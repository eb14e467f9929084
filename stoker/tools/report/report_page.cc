#include <fmt/format.h>

#include <filesystem>
#include <string_view>

#include "stoker/base/remote_path.h"
#include "stoker/http/content_policy.h"
#include "stoker/tools/program/html_text.h"
#include "stoker/tools/report/report_sections_internal.h"

namespace stoker {

// Of report.css, made by cmake/StokerEmbed.cmake.
extern const std::string_view kReportStyle;

std::string ReportHtml(const RunReport& report) {
  const std::filesystem::path run = report.record.name;
  const std::string name =
      EscapedHtml((run.has_filename() ? run.filename() : run.parent_path().filename()).string());
  std::string html = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<title>{} – Stoker</title>\n<style>{}</style>\n</head>\n<body>\n"
      "<header>\n<h1>{}</h1>\n<p>{}</p>\n<p class=\"when\">Report of {}</p>\n</header>\n<main>\n",
      SelfContainedPolicy(kReportStyle, ""), name, kReportStyle, name,
      EscapedHtml(WithoutSecrets(report.how)), EscapedHtml(report.when));
  for (const auto part : {FiguresHtml, VerdictHtml, CurvesHtml, EvaluationsHtml, ChoicesHtml,
                          TimesHtml, StagesHtml, MachineHtml, RecipeHtml, NotesHtml})
    html += part(report);
  return html + "</main>\n</body>\n</html>\n";
}

}  // namespace stoker
