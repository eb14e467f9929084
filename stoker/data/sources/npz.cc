#include "stoker/data/sources/npz.h"

#include <utility>

#include "stoker/data/sources/array_files_internal.h"
#include "stoker/formats/npy/npz.h"

namespace stoker {

void NpzField::Describe(OptionTable<NpzField>& table) {
  table.Field("array", &NpzField::array, "what the array is called in the file").Required();
}

void Npz::Describe(OptionTable<Npz>& table) {
  table.Field("path", &Npz::path, "the file").Required();
}

template <>
const std::vector<Option>& OptionsOf<Npz>() {
  static const auto options = WithObjectsBehind<Npz>(
      {ObjectOption("fields", &Npz::fields,
                    "what to take: {image: x_train, label: y_train}; empty: every array, by its "
                    "name")});
  return options;
}

Result<Dataset> Npz::Build() const {
  std::vector<std::string> names;
  for (const NpzField& field : fields.fields()) names.push_back(field.array);
  STOKER_ASSIGN_OR_RETURN(const NpzFile file, NpzFile::Open(path.string(), names));
  std::vector<ArrayField> all;
  for (size_t i = 0; i < file.entries().size(); ++i) {
    const NpzEntry& entry = file.entries()[i];
    const std::string name = fields.empty() ? entry.name : fields.fields()[i].name;
    const std::string where = fmt::format("{}: {}", path.string(), entry.name);
    if (entry.in_file) {
      STOKER_RETURN_IF_ERROR(file.Verify(entry));
      all.push_back(FieldInFile(name, where, file.file(), entry.offset(), entry.header.dtype,
                                entry.header.shape));
      continue;
    }
    ArrayField& field = all.emplace_back(ArrayField{.name = name, .where = where, .array = {}});
    field.to_load = {.dtype = entry.header.dtype,
                     .shape = entry.header.shape,
                     .bytes_while_reading = entry.bytes_while_reading(),
                     .remedy =
                         "pack it into .npy or .stoker files, which are not loaded "
                         "(`stoker pack`)",
                     .load = [file, i](const std::shared_ptr<MemoryAccount>& account) {
                       return file.Read(file.entries()[i], account);
                     }};
  }
  return ArrayFilesDataset(kName, all, {path.string()});
}

}  // namespace stoker
