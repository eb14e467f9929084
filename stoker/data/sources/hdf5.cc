#include "stoker/data/sources/hdf5.h"

#include <utility>

#include "stoker/formats/hdf5/hdf5_file.h"

namespace stoker {
namespace {

// Every dataset of the file, called by its path.
Result<Hdf5Fields> AllFieldsOf(const Hdf5File& file) {
  STOKER_ASSIGN_OR_RETURN(const std::vector<std::string> paths, file.ListDatasets());
  if (paths.empty()) return InvalidArgument("{}: there is no dataset in the file", file.name());
  std::vector<Hdf5Field> fields;
  for (const std::string& path : paths) fields.push_back({path.substr(1), path});
  return Hdf5Fields(std::move(fields));
}

}  // namespace

void Hdf5Field::Describe(OptionTable<Hdf5Field>& table) {
  table.Field("dataset", &Hdf5Field::dataset, "the path of the dataset in the file").Required();
}

void Hdf5::Describe(OptionTable<Hdf5>& table) {
  table.Field("cache", &Hdf5::cache, kChunkCacheHelp, AtLeast(0));
}

template <>
const std::vector<Option>& OptionsOf<Hdf5>() {
  static const auto options = WithObjects<Hdf5>(
      {ObjectOption("files", &Hdf5::files, "which: a path, 'train-*.h5', or a list",
                    /*required=*/true),
       ObjectOption("fields", &Hdf5::fields,
                    "what to take: {image: /train/images, label: /train/labels}; empty: every "
                    "dataset, by its path")});
  return options;
}

Result<Dataset> Hdf5::Build() const {
  STOKER_ASSIGN_OR_RETURN(std::vector<std::string> paths, files.Expand(kName, /*sorted=*/false));
  Hdf5Fields wanted = fields;
  std::vector<ChunkedFile> opened;
  for (const std::string& path : paths) {
    STOKER_ASSIGN_OR_RETURN(const Hdf5File file, Hdf5File::Open(path));
    if (wanted.empty()) {
      STOKER_ASSIGN_OR_RETURN(wanted, AllFieldsOf(file));
    }
    ChunkedFile& arrays = opened.emplace_back();
    for (const Hdf5Field& field : wanted.fields()) {
      STOKER_ASSIGN_OR_RETURN(auto array, file.OpenDataset(field.dataset));
      arrays.push_back({field.name, std::move(array)});
    }
  }
  return ChunkedRowsDataset({kName, files.ToString(), std::move(paths), cache}, std::move(opened));
}

}  // namespace stoker
