#include "stoker/tools/commands/pack_input.h"

#include <filesystem>
#include <system_error>
#include <vector>

#include "stoker/data/core/file_patterns.h"
#include "stoker/data/sources/folder.h"
#include "stoker/io/standard_input.h"
#include "stoker/tools/formats/file_format.h"
#include "stoker/tools/formats/format_rows.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

bool IsRecipeName(const std::string& path) {
  return path.ends_with(".yaml") || path.ends_with(".yml");
}

Result<PackSource> OpenFiles(const std::string& source) {
  // What holds its kind is looked at first, and some formats are read by position.
  if (IsPipedIn(source)) STOKER_RETURN_IF_ERROR(MakeStandardInputAFile());
  STOKER_ASSIGN_OR_RETURN(
      const std::vector<std::string> files,
      FilePatterns(source).Expand("pack", /*sorted=*/false, FilePatterns::Kind::kAny));
  std::error_code ignored;
  if (fs::is_directory(files.front(), ignored)) return kLmdbFormat.pack(source);
  STOKER_ASSIGN_OR_RETURN(const ProbedFile first, ProbePath(files.front()));
  STOKER_ASSIGN_OR_RETURN(const FileFormat* const format, FormatOf(first));
  if (format->pack != nullptr) return format->pack(source);
  const FileFormat& readable = format->recipe != nullptr ? *format : kOtherFormat;
  return InvalidArgument(
      "{}: this is {}; packed as they are are directories of class folders, .stoker and TFRecord "
      "files, tar archives and LMDB databases; write a recipe for anything else, such as data: "
      "{{train: [{}]}}, and give that "
      "(docs/formats.md has a line for each format)",
      first.path, first.stored_name(), readable.recipe(first));
}

}  // namespace

Result<PackSource> OpenPackSource(const std::string& source, const PackSourceOptions& options) {
  if (IsRecipeName(source)) return PackSourceOfRecipe(source, options);
  if (options.of != "train" || options.stages || !options.assignments.empty()) {
    return InvalidArgument(
        "{}: --of, --stages and --set are for recipes, whose names end in .yaml or .yml", source);
  }
  std::error_code ignored;
  const bool directory = fs::is_directory(source, ignored);
  if (directory && !fs::exists(fs::path(source) / "data.mdb", ignored))
    return PackSourceOf(Folder{.path = source});
  return OpenFiles(source);
}

}  // namespace stoker
