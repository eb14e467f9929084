#include "stoker/data/sources/n5.h"

#include <utility>

#include "stoker/formats/n5/n5_array.h"

namespace stoker {
namespace {

Result<N5Fields> AllFieldsOf(const std::filesystem::path& container) {
  STOKER_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListN5Datasets(container));
  if (names.empty())
    return NotFound(
        "{}: there is no dataset in the container: no attributes.json in it has `dimensions`; "
        "check the path",
        container.string());
  std::vector<N5Field> fields;
  for (const std::string& name : names) fields.push_back({name.empty() ? "value" : name, name});
  return N5Fields(std::move(fields));
}

}  // namespace

void N5Field::Describe(OptionTable<N5Field>& table) {
  table.Field("dataset", &N5Field::dataset, "the folder of the dataset in the container")
      .Required();
}

void N5::Describe(OptionTable<N5>& table) {
  table.Field("path", &N5::path, "the container's folder, or a dataset's")
      .Required()
      .Field("cache", &N5::cache, kChunkCacheHelp, AtLeast(0));
}

template <>
const std::vector<Option>& OptionsOf<N5>() {
  static const auto options = [] {
    OptionTable<N5> table;
    N5::Describe(table);
    std::vector<Option> all = table.options();
    all.insert(all.begin() + 1,
               ObjectOption("fields", &N5::fields,
                            "what to take: {image: volumes/raw, label: volumes/labels}; empty: "
                            "every dataset, by its path"));
    return all;
  }();
  return options;
}

Result<Dataset> N5::Build() const {
  N5Fields wanted = fields;
  if (wanted.empty()) {
    STOKER_ASSIGN_OR_RETURN(wanted, AllFieldsOf(path));
  }
  ChunkedFile arrays;
  std::vector<std::string> paths;
  for (const N5Field& field : wanted.fields()) {
    const std::filesystem::path folder = field.dataset.empty() ? path : path / field.dataset;
    STOKER_ASSIGN_OR_RETURN(auto array, OpenN5(folder));
    arrays.push_back({field.name, std::move(array)});
    paths.push_back((folder / "attributes.json").string());
  }
  return ChunkedRowsDataset({kName, path.string(), std::move(paths), cache}, {std::move(arrays)});
}

}  // namespace stoker
