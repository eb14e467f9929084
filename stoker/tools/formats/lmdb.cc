#include "stoker/data/sources/lmdb.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/printable.h"
#include "stoker/data/nodes/lmdb_files.h"
#include "stoker/formats/lmdb/lmdb_file.h"
#include "stoker/tools/formats/format_rows.h"
#include "stoker/tools/formats/inspect_schema.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

struct DatabaseSummary {
  std::string name;  // empty: the main one
  int64_t values = 0;
  uint64_t smallest = 0, largest = 0, bytes = 0;
  Status status = OkStatus();  // why it could not be read

  Json ToJson() const {
    if (!status.ok()) return {{"error", status.message()}};
    return {
        {"count", values}, {"value_bytes", bytes}, {"smallest", smallest}, {"largest", largest}};
  }
  std::vector<std::string> ToRow() const {
    const std::string shown = name.empty() ? "(main)" : name;
    if (!status.ok()) return {shown, "not read"};
    return {shown, WithThousands(static_cast<double>(values)),
            RangeText(static_cast<int64_t>(smallest), static_cast<int64_t>(largest), "byte"),
            ByteText(bytes)};
  }
};

DatabaseSummary Summarize(std::string name, const LmdbFile& file) {
  DatabaseSummary out{.name = std::move(name),
                      .values = file.size(),
                      .smallest = file.longest_value(),
                      .largest = file.longest_value()};
  for (int64_t i = 0; i < file.size(); ++i) {
    out.smallest = std::min<uint64_t>(out.smallest, file.value(i).size());
    out.bytes += file.value(i).size();
  }
  return out;
}

// Those that the main one names, each with what is wrong with it.
std::vector<DatabaseSummary> SummarizeNamed(const LmdbFile& main) {
  std::vector<DatabaseSummary> all;
  for (const std::string& name : main.databases()) {
    const Result<LmdbFile> file = main.Database(name);
    all.push_back(file.ok() ? Summarize(name, *file)
                            : DatabaseSummary{.name = name, .status = file.status()});
  }
  return all;
}

Json FieldsOf(const DatabaseSummary& database) {
  return {{"value", {{"smallest", database.smallest}, {"largest", database.largest}}}};
}

void DescribeMain(const LmdbFile& file, const DatabaseSummary& main, Inspection& out) {
  out.json["count"] = main.values;
  out.json["value_bytes"] = main.bytes;
  out.json["fields"] = FieldsOf(main);
  out.text = fmt::format(
      "{}: LMDB, {} of {}, {}\n", Printable(file.name()), CountText(main.values, "value"),
      RangeText(static_cast<int64_t>(main.smallest), static_cast<int64_t>(main.largest), "byte"),
      ByteText(main.bytes));
  const auto printable = [](std::string_view key) {
    return std::ranges::all_of(key, [](char c) { return c >= ' ' && c < 0x7f; });
  };
  if (file.size() > 0 && printable(file.key(0))) {
    out.json["first_key"] = std::string(file.key(0));
    out.text += fmt::format("  the first key is '{}'\n", file.key(0));
  }
}

// All that can be read, as if it were one.
DatabaseSummary TotalOf(const std::vector<DatabaseSummary>& all) {
  DatabaseSummary total;
  for (const DatabaseSummary& database : all) {
    if (!database.status.ok() || database.values == 0) continue;
    total.smallest =
        total.values == 0 ? database.smallest : std::min(total.smallest, database.smallest);
    total.largest = std::max(total.largest, database.largest);
    total.values += database.values;
    total.bytes += database.bytes;
  }
  return total;
}

// Values may be in several databases. The file is described by the one that a source reads unless
// it names another, the main one; if that has no values, by all together.
void DescribeNamed(const LmdbFile& file, std::vector<DatabaseSummary> all, Inspection& out) {
  if (all.front().values == 0) all.erase(all.begin());
  Json databases = Json::object();
  std::vector<std::vector<std::string>> table = {{"database", "values", "each", "size"}};
  for (const DatabaseSummary& database : all) {
    databases[database.name] = database.ToJson();
    table.push_back(database.ToRow());
    if (out.damage.ok())
      out.damage = database.status.While(fmt::format("reading database '{}'", database.name));
  }
  const DatabaseSummary told = all.front().name.empty() ? all.front() : TotalOf(all);
  out.json["count"] = told.values;
  out.json["value_bytes"] = told.bytes;
  out.json["fields"] = FieldsOf(told);
  out.json["databases"] = std::move(databases);
  out.text = fmt::format("{}: LMDB, {}\n", Printable(file.name()),
                         CountText(std::ssize(all), "database")) +
             TableText(table, 2);
}

Result<Inspection> InspectLmdb(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const LmdbFile file, LmdbFile::Open(path));
  const DatabaseSummary main = Summarize("", file);
  Inspection out;
  out.json = {{"file", path}, {"format", "lmdb"}};
  if (!file.databases().empty()) {
    std::vector<DatabaseSummary> all = SummarizeNamed(file);
    all.insert(all.begin(), main);
    DescribeNamed(file, std::move(all), out);
    return out;
  }
  DescribeMain(file, main, out);
  STOKER_ASSIGN_OR_RETURN(const LmdbFiles packed, LmdbFiles::Open({path}, "", ""));
  if (!packed.packed()) return out;
  out.json["values"] = file.size();
  out.json["count"] = packed.size();
  out.text += fmt::format("  packed: {}\n", CountText(packed.size(), "record"));
  DescribeFields(*packed.packed(), /*sizes=*/nullptr, out);
  DescribeOrigin(*packed.packed(), out);
  return out;
}

// The name of the only database with values, if the main one has none.
std::string OnlyDatabaseIn(const std::string& path) {
  const Result<LmdbFile> main = LmdbFile::Open(path);
  const bool one = main.ok() && main->size() == 0 && main->databases().size() == 1;
  return one ? main->databases().front() : "";
}

Result<Dataset> OpenSamples(const std::string& path, const Json&) {  // what was packed has no keys
  const std::string database = OnlyDatabaseIn(path);
  const Result<Dataset> values = Source(Lmdb{.path = path, .database = database, .key = true});
  return values.ok() ? values : Source(Lmdb{.path = path});
}

}  // namespace

const FileFormat kLmdbFormat = {
    .name = "lmdb",
    .holds = [](const ProbedFile& file) -> Result<bool> { return file.stored == FileKind::kLmdb; },
    .checks = "its pages and the sizes of its records",
    .inspect = [](const ProbedFile& file) { return InspectLmdb(file.path); },
    .recipe = [](const ProbedFile& file) { return fmt::format("lmdb: {}", file.path); },
    .open = OpenSamples,
    .pack = [](const std::string& files) { return PackSourceOf(Lmdb{.path = files}); },
};

}  // namespace stoker
