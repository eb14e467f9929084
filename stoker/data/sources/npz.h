#pragma once

#include <filesystem>
#include <string>

#include "stoker/data/core/dataset.h"
#include "stoker/data/core/option_object.h"
#include "stoker/data/options/field_map.h"

namespace stoker {

// One field. In a recipe `image: x_train`.
struct NpzField {
  static constexpr std::string_view kName = "field";
  std::string name;  // in a recipe the key
  std::string array;

  static void Describe(OptionTable<NpzField>& table);
};
using NpzFields = FieldMap<NpzField>;

// Reads rows of the arrays in a .npz file of numpy.savez (formats/npy): element i is part i of the
// first dimension of each. Stored arrays are mapped if they are aligned, as Stoker writes them;
// others, and those of numpy.savez_compressed, are held in memory from the first Open on, as long
// as the dataset lives, charged to the memory budget of each pass. Without `fields` every array is
// a field, and all deflated ones are inflated: name the fields if the file has more. Checksums are
// verified when the pipeline is built, those of loaded arrays when they are loaded. An element's
// key is its row. Errors of Open: kResourceExhausted if the loaded arrays do not fit into the
// budget.
struct Npz {
  static constexpr std::string_view kName = "npz";
  static constexpr std::string_view kHelp = "Rows of the NumPy arrays in a .npz file.";
  std::filesystem::path path;
  NpzFields fields;

  static void Describe(OptionTable<Npz>& table);
  Result<Dataset> Build() const;
};
template <>
const std::vector<Option>& OptionsOf<Npz>();

}  // namespace stoker
