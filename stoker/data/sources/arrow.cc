#include "stoker/data/sources/arrow.h"

namespace stoker {

void Arrow::Describe(OptionTable<Arrow>& table) {
  table.Field("cache", &Arrow::cache, kTableCacheHelp, AtLeast(0));
}

template <>
const std::vector<Option>& OptionsOf<Arrow>() {
  static const auto options = WithObjects<Arrow>(
      {ObjectOption("files", &Arrow::files, "which: a path, 'train-*.arrow', or a list",
                    /*required=*/true),
       ObjectOption("fields", &Arrow::fields, kTableFieldsHelp)});
  return options;
}

Result<Dataset> Arrow::Build() const {
  return TableRowsDataset({TableFormat::kArrow, kName, files, fields, cache});
}

}  // namespace stoker
