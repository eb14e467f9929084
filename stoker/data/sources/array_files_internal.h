// Sources whose fields are arrays in files, one row an element.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/array.h"
#include "stoker/data/dataset.h"

namespace stoker {

struct ArrayField {
  std::string name;
  std::string where;  // what messages call the array: a file, or a file and a name in it
  Array array;
};

// Element i is row i of each array, which have elements along their first dimension; read by
// position. `op` is the operator's name, `files` what is read, `classes` what labels stand for, if
// that is known. Errors: kInvalidArgument for an
// array that is a single value, kDataLoss where the arrays differ in length.
Result<Dataset> ArrayFilesDataset(std::string_view op, const std::vector<ArrayField>& fields,
                                  std::vector<std::string> files,
                                  std::vector<std::string> classes = {});

}  // namespace stoker
