#include "stoker/data/pack/pack_source.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "stoker/base/remote_path.h"
#include "stoker/data/core/class_names.h"
#include "stoker/data/core/file_patterns.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/recipe/recipe.h"
#include "stoker/data/recipe/recipe_line.h"
#include "stoker/data/sources/folder.h"
#include "stoker/data/sources/lmdb.h"
#include "stoker/data/sources/stoker.h"
#include "stoker/data/sources/tfrecord.h"
#include "stoker/data/sources/webdataset.h"
#include "stoker/formats/probe/file_kind.h"
#include "stoker/formats/tfrecord/record_reader.h"
#include "stoker/io/byte_source.h"
#include "stoker/io/file.h"
#include "stoker/io/standard_input.h"

namespace stoker {
namespace {

bool IsRecipeName(const std::string& path) {
  return path.ends_with(".yaml") || path.ends_with(".yml");
}

std::string_view StageName(const ConfigNode& stage) {
  if (stage.kind == ConfigNode::Kind::kScalar) return stage.scalar;
  for (const ConfigNode::Entry& entry : stage.entries) {
    if (entry.key != kOnError) return entry.key;
  }
  return {};
}

bool GivesBatches(std::string_view stage) {
  constexpr std::string_view kBatching[] = {"batch", "padded_batch", "bucket_by_length"};
  return std::ranges::find(kBatching, stage) != std::end(kBatching);
}

// Elements are packed, not batches: those are made anew, of another size perhaps, when the files
// are read.
Status CheckStages(const std::vector<ConfigNode>& stages, const std::string& of) {
  for (size_t i = stages.size(); i-- > 0;) {
    const std::string_view name = StageName(stages[i]);
    if (name == "unbatch") return OkStatus();
    if (!GivesBatches(name)) continue;
    return InvalidArgument(
        "{}: stage {} of data.{} gives batches, and elements are packed; give --stages {} to pack "
        "what comes before `{}`",
        stages[i].location.ToString(), i + 1, of, i, name);
  }
  return OkStatus();
}

// The recipe with the pipeline that is packed as its only one.
Result<PackSource> OpenRecipe(const std::string& path, const PackSourceOptions& options) {
  STOKER_ASSIGN_OR_RETURN(ConfigNode recipe, ReadRecipe(path, options.assignments));
  ConfigNode* const data = recipe.Find("data");
  const ConfigNode* const wanted = data != nullptr ? data->Find(options.of) : nullptr;
  if (data != nullptr && wanted == nullptr && options.of != "train") {
    return InvalidArgument("{}: the recipe has no pipeline data.{}", data->location.ToString(),
                           options.of);
  }
  if (wanted != nullptr) {
    ConfigNode pipeline = *wanted;
    const auto stages = static_cast<int64_t>(pipeline.items.size());
    if (options.stages && *options.stages > stages) {
      return InvalidArgument("--stages {}: data.{} has {} stages", *options.stages, options.of,
                             stages);
    }
    if (options.stages) pipeline.items.resize(static_cast<size_t>(*options.stages));
    STOKER_RETURN_IF_ERROR(CheckStages(pipeline.items, options.of));
    std::erase_if(data->entries, [](const ConfigNode::Entry& entry) {
      return entry.key == "train" || entry.key == "eval";
    });
    data->entries.push_back({"train", {}, std::move(pipeline)});
  }
  STOKER_ASSIGN_OR_RETURN(DataRecipe parsed,
                          ParseDataSection(recipe, std::filesystem::path(path).parent_path()));
  return PackSource{std::move(parsed.train),
                    std::move(parsed.classes),
                    WithoutSecrets(ToYamlLine(*parsed.filled.Find("train"))),
                    {path}};
}

template <typename Options>
Result<PackSource> OpenAs(const Options& options) {
  STOKER_ASSIGN_OR_RETURN(Dataset dataset, Source(options));
  std::vector<std::string> classes = FindClassNames(dataset);
  return PackSource{
      std::move(dataset), std::move(classes),
      WithoutSecrets(fmt::format("{}: {}", Options::kName,
                                 ToYamlLine(FormatOptions(OptionsOf<Options>(), &options))))};
}

Result<PackSource> OpenFiles(const std::string& source) {
  // What holds its kind is looked at first, and some formats are read by position.
  if (IsPipedIn(source)) STOKER_RETURN_IF_ERROR(MakeStandardInputAFile());
  STOKER_ASSIGN_OR_RETURN(
      const std::vector<std::string> files,
      FilePatterns(source).Expand("pack", /*sorted=*/false, FilePatterns::Kind::kAny));
  std::error_code ignored;
  if (std::filesystem::is_directory(files.front(), ignored)) return OpenAs(Lmdb{.path = source});
  const std::string& first = files.front();
  STOKER_ASSIGN_OR_RETURN(const File file, File::Open(first));
  std::array<std::byte, kProbeBytes> prefix;
  STOKER_ASSIGN_OR_RETURN(const size_t size, file.ReadUpTo(0, prefix));
  const FileKind kind = ProbeFile(std::span(prefix).first(size));
  if (kind == FileKind::kStoker) return OpenAs(Stoker{.files = source});
  if (kind == FileKind::kTar) return OpenAs(Webdataset{.files = source});
  if (kind == FileKind::kLmdb) return OpenAs(Lmdb{.path = source});
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> content,
                          OpenTfRecordSource(first, TfRecordCompression::kAuto));
  std::array<std::byte, kTfRecordHeaderBytes> start;
  const Result<size_t> got = content->ReadFully(start);
  if (got.ok() && BeginsTfRecord(std::span(start).first(*got)))
    return OpenAs(Tfrecord{.files = source});
  return InvalidArgument(
      "{}: this is {}; packed as they are are directories of class folders, .stoker and TFRecord "
      "files, tar archives and LMDB databases; write a recipe for anything else, such as data: "
      "{{train: [{}]}}, and give that "
      "(docs/formats.md has a line for each format)",
      first, FileKindName(kind), RecipeLineOf(kind, first));
}

}  // namespace

Result<PackSource> OpenPackSource(const std::string& source, const PackSourceOptions& options) {
  if (IsRecipeName(source)) return OpenRecipe(source, options);
  if (options.of != "train" || options.stages || !options.assignments.empty()) {
    return InvalidArgument(
        "{}: --of, --stages and --set are for recipes, whose names end in .yaml or .yml", source);
  }
  std::error_code ignored;
  const bool directory = std::filesystem::is_directory(source, ignored);
  if (directory && !std::filesystem::exists(std::filesystem::path(source) / "data.mdb", ignored))
    return OpenAs(Folder{.path = source});
  return OpenFiles(source);
}

}  // namespace stoker
