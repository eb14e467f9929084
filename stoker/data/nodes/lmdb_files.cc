#include "stoker/data/nodes/lmdb_files.h"

#include <algorithm>
#include <utility>

#include "stoker/data/nodes/packed_values.h"

namespace stoker {
namespace {

// The schema in the last entry, if it is the one that a packing ends with.
Result<std::optional<RecordSchema>> PackedSchemaIn(const LmdbFile& file) {
  const int64_t last = file.size() - 1;
  if (last < 0 || file.key(last) != kPackedSchemaKey) return std::nullopt;
  std::string text(file.value(last).size(), '\0');
  STOKER_RETURN_IF_ERROR(file.ReadValue(last, std::as_writable_bytes(std::span(text))));
  Result<RecordSchema> schema = ParseRecordSchema(text);
  if (schema.ok()) return std::optional(*std::move(schema));
  return DataLoss("{}: the value of '{}': {}; read the others with a prefix that it lacks",
                  file.name(), kPackedSchemaKey, schema.status().message());
}

Result<int64_t> ElementsOf(const LmdbFile& file, const std::optional<RecordSchema>& packed) {
  if (!packed) return file.size();
  const int64_t entries = file.size() - 1;
  const auto fields = std::ssize(packed->fields);
  if (entries % fields == 0) return entries / fields;
  return DataLoss("{}: {} values are no whole number of elements of {} fields; pack it again",
                  file.name(), entries, fields);
}

}  // namespace

Result<LmdbFiles> LmdbFiles::Open(const std::vector<std::string>& paths, std::string_view database,
                                  std::string_view prefix) {
  LmdbFiles all;
  AgreedClassNames classes;
  for (const std::string& path : paths) {
    STOKER_ASSIGN_OR_RETURN(LmdbFile file, LmdbFile::Open(path, database, prefix));
    STOKER_ASSIGN_OR_RETURN(const std::optional<RecordSchema> schema, PackedSchemaIn(file));
    if (all.files_.empty()) all.packed_ = schema;
    const bool same =
        schema ? all.packed_ && schema->fields == all.packed_->fields : !all.packed_.has_value();
    if (!same) {
      return InvalidArgument(
          "{}: it was not packed with the fields of {}; name files of one packing", path,
          paths.front());
    }
    if (schema) STOKER_RETURN_IF_ERROR(classes.Add(path, schema->classes));
    STOKER_ASSIGN_OR_RETURN(const int64_t elements, ElementsOf(file, schema));
    all.starts_.Add(elements);
    all.longest_ = std::max(all.longest_, file.longest_value());
    all.files_.push_back(std::move(file));
  }
  if (all.packed_) all.packed_->classes = classes.names();
  return all;
}

std::vector<std::string> LmdbFiles::names() const {
  std::vector<std::string> names;
  for (const LmdbFile& file : files_) names.push_back(file.name());
  return names;
}

LmdbFiles::Place LmdbFiles::At(int64_t position) const {
  const auto [file, number] = starts_.At(position);
  const int64_t entries = packed_ ? std::ssize(packed_->fields) : 1;
  return {&files_[file], number * entries};
}

}  // namespace stoker
