#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/data/core/dataset.h"
#include "stoker/data/core/option_object.h"

namespace stoker {

// Names of fields with a file for each, as an option: in a recipe a map.
class NamedFiles {
 public:
  static constexpr std::string_view kTypeName = "map of paths";

  NamedFiles() = default;
  NamedFiles(std::initializer_list<std::pair<std::string, std::string>> files) : files_(files) {}

  const std::vector<std::pair<std::string, std::string>>& files() const { return files_; }

  // See OptionObject.
  Status Read(const ConfigNode& node);
  ConfigNode Write() const;
  void Resolve(const std::filesystem::path& root);

 private:
  std::vector<std::pair<std::string, std::string>> files_;
};

// Reads rows of NumPy arrays, one .npy file a field (formats/npy): element i is part i of the first
// dimension of each. By position. The files are mapped, so opening costs nothing and they take no
// memory beyond the page cache. Do not change them meanwhile. An element's key is its row.
struct Npy {
  static constexpr std::string_view kName = "npy";
  static constexpr std::string_view kHelp = "Rows of NumPy arrays, one .npy file for each field.";
  NamedFiles fields;

  static void Describe(OptionTable<Npy>& table);
  Result<Dataset> Build() const;
};
template <>
const std::vector<Option>& OptionsOf<Npy>();

}  // namespace stoker
