#include "stoker/tools/commands/verify_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <map>
#include <string>
#include <utility>

#include "stoker/base/json_text.h"
#include "stoker/tools/inspect/file_set.h"
#include "stoker/tools/inspect/verify_file.h"
#include "stoker/tools/program/arguments.h"
#include "stoker/tools/program/print.h"
#include "stoker/tools/program/status_line.h"
#include "stoker/tools/program/terminal.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

constexpr const char* kVerifyAbout =
    "Reads whole files and lists what is damaged.\n"
    "Reports the bytes and records of each damage: every damaged block of .stoker shards, every "
    "damaged record of plain TFRecord files, and the first error of pictures, of a run's "
    "checkpoints and of every other format that `stoker inspect` knows. Decodes the pictures in "
    "tar archives. Reads all files of a directory or of a pattern, and lists those that are not "
    "whole.";
constexpr const char* kVerifyFooter =
    "Example: stoker verify photos 'data/train-*.stoker'\n"
    "Exit: 0 nothing damaged, 1 damaged, not read or nothing checked, 2 wrong use";

struct Counts {
  int64_t whole = 0, damaged = 0, unchecked = 0, unread = 0;
  std::map<std::string, int64_t> whole_formats;  // how many of the whole ones are of each
  int64_t files() const { return whole + damaged + unchecked + unread; }

  void Add(const Verification& found) {
    ++(found.damaged()            ? damaged
       : !found.failure.empty()   ? unread
       : !found.unchecked.empty() ? unchecked
                                  : whole);
    if (found.whole()) ++whole_formats[found.format];
  }
  std::string ToText() const {
    std::string formats;
    for (const auto& [format, count] : whole_formats)
      formats += fmt::format("{}{}: {}", formats.empty() ? "" : ", ", format, count);
    std::string text = fmt::format("{}: {} whole{}, {} damaged", CountText(files(), "file"), whole,
                                   whole > 0 ? fmt::format(" ({})", formats) : "", damaged);
    if (unchecked > 0) text += fmt::format(", {} not checked", unchecked);
    if (unread > 0) text += fmt::format(", {} not read", unread);
    return text + "\n";
  }
  Status ToStatus() const {
    if (damaged > 0) return FilesNotWhole(damaged, files());
    if (unread > 0) return FilesNotRead(unread, files());
    if (whole > 0) return OkStatus();
    return Unimplemented(
        "nothing is checked: see the {} above; `stoker inspect` tells what is known",
        files() == 1 ? "line" : "lines");
  }
};

// Verifies files and reports on them, one after the other.
class Verifier {
 public:
  explicit Verifier(bool json) : json_(json) {}

  // Of several files, only damaged ones are reported.
  Status Add(const FileSet& set) {
    const bool tell = !set.several || set.files.size() == 1;
    for (const std::string& path : set.files) {
      if (status_.IsDue()) status_.Draw(fmt::format("file {}  {}", counts_.files() + 1, path));
      STOKER_RETURN_IF_ERROR(Add(VerifyFile(path), tell));
    }
    return OkStatus();
  }
  Status Add(const Verification& found, bool tell) {
    counts_.Add(found);
    if (json_) files_.push_back(found.ToJson());
    if (json_ || (found.whole() && !tell)) return OkStatus();
    status_.Clear();
    return PrintResult(found.ToText());
  }

  Status Finish() {
    status_.Clear();
    if (json_) {
      const Json json{{"files", std::move(files_)},
                      {"whole", counts_.whole},
                      {"damaged", counts_.damaged},
                      {"not_checked", counts_.unchecked},
                      {"not_read", counts_.unread}};
      STOKER_RETURN_IF_ERROR(PrintResult(DumpJson(json) + "\n"));
    } else if (counts_.files() > 1) {
      STOKER_RETURN_IF_ERROR(PrintResult(counts_.ToText()));
    }
    return counts_.ToStatus();
  }

 private:
  const bool json_;
  Counts counts_;
  Json files_ = Json::array();
  StatusLine status_{IsTerminal(STDERR_FILENO)};
};

}  // namespace

void AddVerifyCommand(Program& program) {
  auto [app, arguments] =
      program.Add<VerifyArguments>("verify", kVerifyAbout, kVerifyFooter, RunVerify);
  app.add_option("FILE", arguments.files, "files, directories or patterns")
      ->type_name("")
      ->required();
  AddJsonOption(app, arguments.json);
}

Status RunVerify(const VerifyArguments& arguments) {
  Verifier verifier(arguments.json);
  for (const std::string& name : arguments.files) {
    const Result<FileSet> set = FilesOf(name);
    if (set.ok()) {
      STOKER_RETURN_IF_ERROR(verifier.Add(*set));
    } else {
      STOKER_RETURN_IF_ERROR(
          verifier.Add({.file = name, .failure = set.status().message()}, /*tell=*/true));
    }
  }
  return verifier.Finish();
}

}  // namespace stoker
