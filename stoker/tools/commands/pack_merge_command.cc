#include "stoker/tools/commands/pack_merge_command.h"

#include <unistd.h>

#include <csignal>

#include "stoker/base/json_text.h"
#include "stoker/data/pack/pack_merge.h"
#include "stoker/tools/commands/pack_progress.h"
#include "stoker/tools/program/interrupt.h"
#include "stoker/tools/program/print.h"
#include "stoker/tools/program/terminal.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

// The fields of an element, the first ones of many.
std::string FieldsText(const Spec& spec) {
  constexpr size_t kMostShown = 16;
  if (spec.fields.size() <= kMostShown) return spec.ToString();
  Spec shown = spec;
  shown.fields.resize(kMostShown);
  return fmt::format("{} and {} fields more", shown.ToString(), spec.fields.size() - kMostShown);
}

std::string ToText(const MergeReport& report, bool verified) {
  std::string text = PackedFilesToText(report.packed, report.spec, verified);
  if (report.was_done) return text + "  merged before: nothing was left to do\n";
  return text + fmt::format("  merged of {}\n", CountText(report.parts, "part"));
}

Json ToJson(const MergeReport& report, const PackFormat& format, bool verified) {
  return {{"format", format.name},
          {"elements", report.packed.elements()},
          {"bytes", report.packed.bytes()},
          {"parts", report.parts},
          {"merged_before", report.was_done},
          {"verified", verified},
          {"files", PackedFilesToJson(report.packed)}};
}

}  // namespace

std::string PackedFilesToText(const PackReport& report, const Spec& spec, bool verified) {
  std::string text =
      fmt::format("{}{}: {}, {}{}\n", report.files.front().path,
                  report.files.size() > 1
                      ? fmt::format(" and {}", CountText(std::ssize(report.files) - 1, "more file"))
                      : "",
                  CountText(report.elements(), "element"), ByteText(report.bytes()),
                  verified ? "; verified" : "");
  return spec.fields.empty() ? text : text + fmt::format("  {}\n", FieldsText(spec));
}

Json PackedFilesToJson(const PackReport& report) {
  Json files = Json::array();
  for (const PackReport::File& file : report.files) {
    files.push_back({{"file", file.path},
                     {"elements", file.elements},
                     {"bytes", file.bytes},
                     {"kept", file.kept}});
  }
  return files;
}

Status RunMerge(const PackArguments& arguments, const PackFormat& format) {
  ::signal(SIGPIPE, SIG_IGN);  // PrintResult notices that a reader has left
  NoteInterrupt();
  PackProgressLine progress(1, IsTerminal(STDERR_FILENO));
  const Result<MergeReport> report = MergeParts(
      arguments.destination, {.format = &format,
                              .verify = arguments.verify,
                              .stop = &Interrupted(),
                              .observer = [&](const PackProgress& now) { progress.On(now); }});
  progress.Finish();
  STOKER_RETURN_IF_ERROR(report.status());
  // What was merged before is not read again: the types of its elements are no longer known.
  const bool verified = arguments.verify && !report->was_done;
  return PrintResult(arguments.json ? DumpJson(ToJson(*report, format, verified)) + "\n"
                                    : ToText(*report, verified));
}

}  // namespace stoker
