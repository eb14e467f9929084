#include "stoker/data/sources/npy.h"

#include <utility>

#include "stoker/data/core/class_names.h"
#include "stoker/data/sources/array_files_internal.h"
#include "stoker/formats/npy/npy.h"
#include "stoker/io/file_bytes.h"

namespace stoker {
Status NamedFiles::Read(const ConfigNode& node) {
  if (node.kind != ConfigNode::Kind::kMap)
    return InvalidArgument("{} is not a map of paths, such as {{image: images.npy}}",
                           node.KindName());
  files_.clear();
  for (const ConfigNode::Entry& entry : node.entries) {
    std::string path;
    STOKER_RETURN_IF_ERROR(ReadOption(entry.value, path));
    files_.emplace_back(entry.key, path);
  }
  return OkStatus();
}

ConfigNode NamedFiles::Write() const {
  std::vector<ConfigNode::Entry> entries;
  for (const auto& [name, path] : files_) entries.push_back({name, {}, WriteOption(path)});
  return ConfigNode::Map(std::move(entries));
}

void NamedFiles::Resolve(const std::filesystem::path& root) {
  for (auto& [name, text] : files_) {
    std::filesystem::path path = text;
    ResolvePath(path, root);
    text = path.string();
  }
}

void Npy::Describe(OptionTable<Npy>&) {}

template <>
const std::vector<Option>& OptionsOf<Npy>() {
  static const auto options = WithObjects<Npy>(
      {ObjectOption("fields", &Npy::fields, "a file for each field: {image: x.npy, label: y.npy}",
                    /*required=*/true)});
  return options;
}

Result<Dataset> Npy::Build() const {
  std::vector<ArrayField> arrays;
  std::vector<std::string> paths, directories;
  for (const auto& [name, path] : fields.files()) {
    STOKER_ASSIGN_OR_RETURN(const FileBytes file, FileBytes::Open(path));
    STOKER_ASSIGN_OR_RETURN(const NpyHeader header, ReadNpyHeader(file));
    STOKER_RETURN_IF_ERROR(CheckNpySize(header, file.size(), path));
    if (LiesAsUsed(header, file.bytes().data() + header.data)) {
      arrays.push_back(FieldInFile(name, path, file, header.data, header.dtype, header.shape));
    } else {
      ArrayField& field = arrays.emplace_back(ArrayField{.name = name, .where = path, .array = {}});
      const auto whole = static_cast<int64_t>(file.present() ? 0 : file.size());
      field.to_load = {.dtype = header.dtype,
                       .shape = header.shape,
                       .bytes_while_reading = whole,
                       .remedy =
                           "save it in C order, little-endian, of a type that is not unsigned "
                           "(but uint8), which is not loaded",
                       .load = [path = path](const std::shared_ptr<MemoryAccount>& account) {
                         return ReadNpy(path, account);
                       }};
    }
    paths.push_back(path);
    directories.push_back(std::filesystem::path(path).parent_path().string());
  }
  STOKER_ASSIGN_OR_RETURN(std::vector<std::string> classes, ReadClassNamesBeside(directories));
  return ArrayFilesDataset(kName, arrays, std::move(paths), std::move(classes));
}

}  // namespace stoker
