#include "stoker/formats/npy/npy.h"

#include <fmt/format.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "stoker/base/printable.h"
#include "stoker/data/sources/npz.h"
#include "stoker/formats/array_bytes.h"
#include "stoker/formats/npy/npz.h"
#include "stoker/tools/formats/array_rows.h"
#include "stoker/tools/formats/format_rows.h"
#include "stoker/tools/formats/samples.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

Result<Inspection> InspectNpy(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const Array array, ReadNpy(path));
  Inspection out;
  out.json = {{"file", path},
              {"format", "npy"},
              {"count", RowsOf(array)},
              {"fields", {{"value", RowJson(array)}}},
              {"dtype", DTypeName(array.dtype())},
              {"shape", array.shape()}};
  out.text = fmt::format("{}: NumPy array, {}, {}; whole\n", Printable(path), array.ToString(),
                         ByteText(array.num_bytes()));
  return out;
}

Result<Inspection> InspectNpz(const std::string& path) {
  // Nothing is held of the values, which may be very many in a small file.
  STOKER_ASSIGN_OR_RETURN(const NpzFile file, NpzFile::Open(path));
  Inspection out;
  Json fields = Json::object();
  bool agree = true;  // in the number of rows
  std::vector<std::vector<std::string>> table = {{"array", "type", "size"}};
  for (const NpzEntry& entry : file.entries()) {
    STOKER_RETURN_IF_ERROR(file.Verify(entry));
    const auto& [dtype, shape] = std::tie(entry.header.dtype, entry.header.shape);
    fields[entry.name] = RowJson(dtype, shape);
    if (RowsOf(shape) != RowsOf(file.entries().front().header.shape)) agree = false;
    table.push_back({entry.name, fmt::format("{}{}", DTypeName(dtype), ShapeToString(shape)),
                     ByteText(*ArrayBytes(dtype, shape))});
  }
  const auto arrays = std::ssize(file.entries());
  out.json = {
      {"file", path},
      {"format", "npz"},
      {"arrays", arrays},
      {"count", agree && arrays > 0 ? Json(RowsOf(file.entries().front().header.shape)) : Json()},
      {"fields", std::move(fields)}};
  out.text =
      fmt::format("{}: NumPy archive, {}; whole\n", Printable(path), CountText(arrays, "array"));
  out.text += TableText(table, 2);
  return out;
}

}  // namespace

const FileFormat kNpyFormat = {
    .name = "npy",
    .holds = [](const ProbedFile& file) -> Result<bool> { return file.stored == FileKind::kNumpy; },
    .checks = "its header and its size",
    .inspect = [](const ProbedFile& file) { return InspectNpy(file.path); },
    .recipe =
        [](const ProbedFile& file) { return fmt::format("npy: {{fields: {{x: {}}}}}", file.path); },
    .open = [](const std::string& path, const Json&) { return SamplesOf(ReadNpy(path)); },
};

const FileFormat kNpzFormat = {
    .name = "npz",
    .holds = [](const ProbedFile& file) -> Result<bool> {
      return file.stored == FileKind::kZip && file.path.ends_with(".npz");
    },
    .inspect = [](const ProbedFile& file) { return InspectNpz(file.path); },
    .recipe = [](const ProbedFile& file) { return fmt::format("npz: {}", file.path); },
    .open = [](const std::string& path, const Json&) { return Source(Npz{.path = path}); },
};

}  // namespace stoker
