#include "stoker/data/sources/parquet.h"

namespace stoker {

void Parquet::Describe(OptionTable<Parquet>& table) {
  table.Field("cache", &Parquet::cache, kTableCacheHelp, AtLeast(0));
}

template <>
const std::vector<Option>& OptionsOf<Parquet>() {
  static const auto options = WithObjects<Parquet>(
      {ObjectOption("files", &Parquet::files, "which: a path, 'train-*.parquet', or a list",
                    /*required=*/true),
       ObjectOption("fields", &Parquet::fields, kTableFieldsHelp)});
  return options;
}

Result<Dataset> Parquet::Build() const {
  return TableRowsDataset({TableFormat::kParquet, kName, files, fields, cache});
}

}  // namespace stoker
