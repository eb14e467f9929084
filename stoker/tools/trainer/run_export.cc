#include <fmt/format.h>

#include <filesystem>

#include "stoker/base/json_text.h"
#include "stoker/base/log.h"
#include "stoker/base/printable.h"
#include "stoker/formats/pt/pt_writer.h"
#include "stoker/run/weights_file.h"
#include "stoker/run/weights_source.h"
#include "stoker/tools/program/print.h"
#include "stoker/tools/program/text.h"
#include "stoker/tools/trainer/commands.h"

namespace stoker {
namespace {

enum class WeightsForm { kPt, kSafetensors };

Result<WeightsForm> FormOf(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  if (ending == ".pt" || ending == ".pth") return WeightsForm::kPt;
  if (ending == ".safetensors") return WeightsForm::kSafetensors;
  return InvalidArgument("--to {}: the ending must be .pt, .pth or .safetensors", path);
}

}  // namespace

Status RunExport(const ExportArguments& arguments) {
  STOKER_ASSIGN_OR_RETURN(const WeightsForm form, FormOf(arguments.to));
  STOKER_ASSIGN_OR_RETURN(LoadedWeights loaded, LoadWeights(arguments.from));
  for (const std::string& warning : loaded.warnings) LogWarning("{}", warning);
  // What is exported is all that is there, or nothing.
  if (!loaded.unread.empty()) {
    const SafetensorsEntry& first = loaded.unread.front();
    return Unimplemented(
        "{}: array '{}' is of type {}, which Stoker does not have; convert it first", loaded.source,
        first.name, first.type);
  }
  uint64_t bytes = 0;
  for (const NamedArray& named : loaded.arrays) bytes += named.array.num_bytes();
  const size_t tensors = loaded.arrays.size();
  STOKER_RETURN_IF_ERROR(form == WeightsForm::kPt
                             ? WritePt(arguments.to, loaded.arrays)
                             : WriteWeights(arguments.to, {.arrays = std::move(loaded.arrays),
                                                           .sample = loaded.sample}));
  if (arguments.json) {
    return PrintResult(DumpJson({{"from", loaded.source},
                                 {"to", arguments.to},
                                 {"tensors", tensors},
                                 {"bytes", bytes}}) +
                       "\n");
  }
  return PrintResult(fmt::format("{}: {}, {}, from {}\n", Printable(arguments.to),
                                 CountText(static_cast<int64_t>(tensors), "tensor"),
                                 ByteText(bytes), Printable(loaded.source)));
}

}  // namespace stoker
