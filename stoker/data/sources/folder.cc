#include "stoker/data/sources/folder.h"

#include <fmt/format.h>

#include "stoker/data/sources/file_samples_internal.h"
#include "stoker/data/sources/folder_scan_internal.h"

namespace stoker {
namespace {

class FolderSamples final : public FileSamples {
 public:
  explicit FolderSamples(FolderScan scan) : scan_(std::move(scan)) {}

  int64_t size() const override { return scan_.names.size(); }
  std::string PathOf(int64_t sample, size_t) const override {
    return fmt::format("{}/{}", scan_.DirectoryOf(sample).path, scan_.names[sample]);
  }
  int64_t LabelOf(int64_t sample) const override { return scan_.DirectoryOf(sample).label; }
  std::vector<std::string> ClassNames() const override { return scan_.classes; }

 private:
  const FolderScan scan_;
};

// As they are compared: "JPG" and ".jpg" are jpg.
Result<std::vector<std::string>> PlainExtensions(std::vector<std::string> extensions) {
  for (std::string& extension : extensions) {
    if (extension.starts_with('.')) extension.erase(0, 1);
    for (char& c : extension) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    if (extension.empty() || extension.find_first_of("./*") != extension.npos)
      return InvalidArgument("folder: extensions has '{}'; an extension is a word such as jpg",
                             extension);
  }
  if (extensions.empty())
    return InvalidArgument("folder: extensions is empty; name those of the files, such as jpg");
  return extensions;
}

}  // namespace

void Folder::Describe(OptionTable<Folder>& table) {
  table.Field("path", &Folder::path, "the folder that holds a folder for each class")
      .Required()
      .Field("extensions", &Folder::extensions,
             "which files count, by the ends of their names; capitals are the same")
      .Field("allow_empty", &Folder::allow_empty, "classes without files are classes too")
      .Field("paths", &Folder::paths, "the files' paths too, as field `path`");
}

Result<Dataset> Folder::Build() const {
  STOKER_ASSIGN_OR_RETURN(const std::vector<std::string> wanted, PlainExtensions(extensions));
  std::string root = path.string();
  while (root.size() > 1 && root.ends_with('/')) root.pop_back();
  STOKER_ASSIGN_OR_RETURN(FolderScan scan, ScanFolder(root, wanted, allow_empty));
  std::string details =
      fmt::format("{}, {} classes{}", root, scan.classes.size(),
                  scan.left_out > 0 ? fmt::format(", {} other files left out", scan.left_out) : "");
  return FileSamplesDataset(kName, std::move(details),
                            {.files = {"image"}, .label = "label", .path = paths ? "path" : ""},
                            std::make_shared<FolderSamples>(std::move(scan)));
}

}  // namespace stoker
