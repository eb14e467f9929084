#include "stoker/tools/verify_command.h"

#include "stoker/base/json_text.h"
#include "stoker/tools/arguments.h"
#include "stoker/tools/print.h"
#include "stoker/tools/verification.h"

namespace stoker {
namespace {

constexpr const char* kAbout =
    "Reads whole files and lists what is damaged.\n"
    "Each damage with its bytes and records: of .stoker shards every damaged block, of plain "
    "TFRecord files every damaged "
    "record, of every other format that `stoker inspect` knows, and of pictures, the first error.";
constexpr const char* kFooter =
    "Example: stoker verify data/*.stoker\n"
    "Exit: 0 all are whole, 1 something is damaged or cannot be read, 2 wrong usage";

}  // namespace

void AddVerifyCommand(Program& program) {
  auto [app, arguments] = program.Add<VerifyArguments>("verify", kAbout, kFooter, RunVerify);
  app.add_option("FILE", arguments.files, "known by content")->type_name("")->required();
  AddJsonOption(app, arguments.json);
}

Status RunVerify(const VerifyArguments& arguments) {
  Json files = Json::array();
  size_t damaged = 0;
  for (const std::string& path : arguments.files) {
    const Verification found = VerifyFile(path);
    damaged += found.whole() ? 0 : 1;
    if (arguments.json) {
      files.push_back(found.ToJson());
    } else {
      STOKER_RETURN_IF_ERROR(PrintResult(found.ToText()));
    }
  }
  if (arguments.json) {
    const Json json{{"files", std::move(files)}, {"damaged", damaged}};
    STOKER_RETURN_IF_ERROR(PrintResult(DumpJson(json) + "\n"));
  }
  if (damaged == 0) return OkStatus();
  return DataLoss("{} of {} files are not whole; make or copy them again", damaged,
                  arguments.files.size());
}

}  // namespace stoker
