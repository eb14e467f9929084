// Sources whose fields are arrays in files; an element is one row of each.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/array.h"
#include "stoker/base/ledger.h"
#include "stoker/data/core/dataset.h"
#include "stoker/io/file_bytes.h"

namespace stoker {

// An array that is held in memory, from the first pass on, charged to the budget of each.
struct ArrayToLoad {
  DType dtype = DType::kUInt8;
  Shape shape;
  int64_t bytes_while_reading = 0;  // additional memory while loading
  std::string remedy;               // what to do if it does not fit, beside raising the budget
  // Its memory is charged to `account`.
  std::function<Result<Array>(const std::shared_ptr<MemoryAccount>& account)> load;
};

// Rows stored in their final form, read by position.
struct RowsInFile {
  FileBytes file;
  uint64_t at = 0;  // of the first one
  DType dtype = DType::kUInt8;
  Shape shape;  // of the array
};

// Makes a field of the array at byte `at` of `file`, of this dtype and shape. REQUIRES: it is
// aligned and inside the file. Shared if the file is in memory, else read row by row.
struct ArrayField;
ArrayField FieldInFile(std::string name, std::string where, const FileBytes& file, uint64_t at,
                       DType dtype, Shape shape);

struct ArrayField {
  std::string name;
  std::string where;  // what messages call the array: a file, or a file and a name in it
  Array array;        // takes no memory, such as a mapped one
  // Instead of `array`.
  std::optional<ArrayToLoad> to_load = std::nullopt;
  std::optional<RowsInFile> rows = std::nullopt;

  DType dtype() const { return to_load ? to_load->dtype : rows ? rows->dtype : array.dtype(); }
  const Shape& shape() const {
    return to_load ? to_load->shape : rows ? rows->shape : array.shape();
  }
};

// Makes a dataset whose element i is row i of each array, which have elements along their first
// dimension; read by position. `op` is the operator's name, `files` the files read, `classes` the
// names of labels, if known. Errors: kInvalidArgument for an array that is a single value,
// kDataLoss if the arrays differ in length; of Open, those of loading, and kResourceExhausted if
// the loaded arrays do not fit into the memory budget.
Result<Dataset> ArrayFilesDataset(std::string_view op, const std::vector<ArrayField>& fields,
                                  std::vector<std::string> files,
                                  std::vector<std::string> classes = {});

}  // namespace stoker
