#include "stoker/data/sources/table_rows_internal.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "stoker/base/mutex.h"
#include "stoker/base/stop_scope.h"
#include "stoker/base/worker_group.h"
#include "stoker/data/core/kept_memory.h"
#include "stoker/data/core/key_lists.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/core/sample_names.h"
#include "stoker/data/nodes/by_position_node.h"
#include "stoker/data/nodes/part_starts.h"
#include "stoker/data/sources/set_aside_internal.h"
#include "stoker/data/sources/table_group_cache_internal.h"

namespace stoker {
namespace {

using TablePtr = std::shared_ptr<const TableFile>;

constexpr SetAsideWords kWords{.parts = "groups of rows",
                               .least = "a group of rows, decoded,",
                               .remedy = "write the file with fewer rows in each group"};
constexpr int64_t kLeastMore = 1 << 20;
constexpr double kDecompressedGrowth = 16;  // of values when they are decompressed, about
constexpr uint64_t kMostForNames = 64 << 20;

// A group of rows of one of the files.
struct GroupPlace {
  size_t file;
  int64_t group;      // in the file
  int64_t first_row;  // in the file
};

class TableRowsNode final : public ByPositionNode, public SampleNames {
 public:
  TableRowsNode(const TableRowsOptions& options, TablePlan plan, std::vector<std::string> paths,
                std::vector<TablePtr> tables, std::vector<GroupPlace> groups, PartStarts starts)
      : ByPositionNode(options.op, plan.spec, Cardinality::Of(starts.size())),
        options_(options),
        sources_(std::move(plan.sources)),
        paths_(std::move(paths)),
        tables_(std::move(tables)),
        groups_(std::move(groups)),
        starts_(std::move(starts)),
        cache_(static_cast<uint64_t>(options.cache_mib) << 20) {
    for (const TableSource& source : sources_) wishes_.push_back(source.wish);
    for (size_t number = 0; number < groups_.size(); ++number) wanted_.push_back(WantedOf(number));
    const uint64_t described = BytesOfDescriptions();
    if (described > kSmallDescriptions) described_.Add(static_cast<int64_t>(described));
  }

  Status Prepare(const OpenContext& context) const override {
    const Pass& pass = *context.pass();
    const MutexLock lock(preparing_);
    STOKER_RETURN_IF_ERROR(described_.ChargeToIfItFits(
        pass, *this,
        fmt::format("{}: the descriptions of all columns and groups take", options_.op),
        kWords.remedy));
    STOKER_RETURN_IF_ERROR(SetAside(kept_, pass, *this, DemandOf(pass), kWords));
    cache_.SetLimit(static_cast<uint64_t>(kept_.bytes()));
    cache_.ForgetFailures();
    return OkStatus();
  }

  std::string Details() const override { return options_.files.ToString(); }
  std::vector<std::string> files() const override { return paths_; }
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    return spec().BytesApart(count);
  }

  std::string NameOf(int64_t index, std::string_view field) const override {
    if (index < 0 || index >= starts_.size()) return "";
    const auto found = std::ranges::find(spec().fields, field, &Field::name);
    if (found == spec().fields.end()) return "";
    const TableSource& source = sources_[static_cast<size_t>(found - spec().fields.begin())];
    const auto [number, row] = starts_.At(index);
    const std::string file = NameOfFile(source, number, row);
    return fmt::format("{}: row {}, column '{}'{}", PathOf(number), groups_[number].first_row + row,
                       source.wish.path, file.empty() ? "" : fmt::format(" ({})", file));
  }

 protected:
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override {
    Scratch scratch = context.scratch(*this);
    const auto [number, row] = starts_.At(position);
    STOKER_ASSIGN_OR_RETURN(const TableGroupCache::Use group, Decoded(number, context));
    Element element{.key = {context.epoch(), position}, .arrays = {}};
    for (size_t f = 0; f < sources_.size(); ++f) {
      STOKER_RETURN_IF_ERROR(CheckRow(*group, f, number, row));
      const auto [values, items] = RowOf(group->columns[f], sources_[f], row);
      Shape shape = spec().fields[f].shape;
      if (sources_[f].ragged) shape.front() = items;
      Array array = scratch.NewArray(spec().fields[f].dtype, std::move(shape));
      if (array.num_bytes() > 0) std::memcpy(array.data(), values, array.num_bytes());
      element.arrays.push_back(std::move(array));
    }
    return element;
  }

  // Group by group, whatever the order of the positions, so that each is decoded once for all rows
  // that are wanted of it.
  Result<Rows> DoReadRows(std::span<const int64_t> positions,
                          const ReadContext& context) const override {
    Scratch scratch = context.scratch(*this);
    Rows rows;
    rows.keys = KeysAt(positions, context.epoch());
    for (const Field& field : spec().fields)
      rows.columns.push_back(scratch.NewRows(std::ssize(positions), field.dtype, field.shape));
    std::vector<size_t> order(positions.size());
    std::iota(order.begin(), order.end(), size_t{0});
    if (!std::ranges::is_sorted(positions))
      std::ranges::sort(order, {}, [&](size_t i) { return positions[i]; });
    for (size_t begin = 0; begin < order.size();) {
      const size_t number = starts_.At(positions[order[begin]]).part;
      size_t end = begin;
      while (end < order.size() && positions[order[end]] < starts_.end(number)) ++end;
      const auto of_group = std::span(order).subspan(begin, end - begin);
      STOKER_RETURN_IF_ERROR(CopyRows(number, positions, of_group, context, rows));
      begin = end;
    }
    return rows;
  }

 private:
  // What is in memory of all files, and what the node keeps of each group.
  uint64_t BytesOfDescriptions() const {
    uint64_t bytes = groups_.size() * (sizeof(GroupPlace) + sizeof(TableGroupCache::Wanted) +
                                       2 * sizeof(int64_t));  // of starts_ and of the table
    for (const TableGroupCache::Wanted& wanted : wanted_) bytes += wanted.name.capacity();
    for (const TablePtr& table : tables_) bytes += table->DescriptionBytes();
    return bytes;
  }

  const std::string& PathOf(size_t number) const { return paths_[groups_[number].file]; }

  SetAsideDemand DemandOf(const Pass& pass) const {
    constexpr double kMost = 0x1p62;  // bytes; more are as good as no end
    SetAsideDemand demand;
    double all = 0, most_meanwhile = 0;
    for (size_t number = 0; number < groups_.size(); ++number) {
      const TableGroupCache::Wanted& wanted = wanted_[number];
      const double bytes = static_cast<double>(wanted.held) + static_cast<double>(wanted.meanwhile);
      if (bytes > static_cast<double>(demand.least)) {
        demand.name = wanted.name;
        demand.least = static_cast<int64_t>(std::min(kMost, bytes));
      }
      all += bytes;
      most_meanwhile = std::max(most_meanwhile, static_cast<double>(wanted.meanwhile));
    }
    const int threads = pass.runtime().threads > 0 ? pass.runtime().threads : AvailableCpus();
    // Groups that are kept do not make room for what decoding others takes meanwhile.
    // Of rows that differ in length the files tell little.
    if (std::ranges::any_of(sources_, &TableSource::ragged)) all *= kDecompressedGrowth;
    const double useful =
        std::max(static_cast<double>(options_.cache_mib) * 0x1p20 + most_meanwhile * threads,
                 static_cast<double>(demand.least) * threads);
    demand.useful = std::max(demand.least, static_cast<int64_t>(std::min({kMost, useful, all})));
    return demand;
  }

  TableGroupCache::Wanted WantedOf(size_t number) const {
    const GroupPlace& place = groups_[number];
    const TableFile& table = *tables_[place.file];
    return {static_cast<int64_t>(number),
            fmt::format("{}: {} {}", PathOf(number), TableGroupName(options_.format), place.group),
            table.DecodedBytes(place.group, wishes_), table.BytesToDecode(place.group, wishes_)};
  }

  Result<TableGroupCache::Use> Decoded(size_t number, const ReadContext& context) const {
    const GroupPlace& place = groups_[number];
    const auto decode = [&](uint64_t most_bytes) {
      return tables_[place.file]->ReadGroup(
          place.group, wishes_, {.most_bytes = most_bytes, .stopped = StopScope::Asked});
    };
    return cache_.Get(wanted_[number], decode, [&](uint64_t limit) {
      return SetMoreAside(wanted_[number], limit, context.pass());
    });
  }

  // Doubles what is set aside, since `limit` bytes do not suffice for the group. Up to half of the
  // budget it does not look for room: other stages may have filled it, and wait, once more is
  // charged, until what they hold has been handed on.
  Status SetMoreAside(const TableGroupCache::Wanted& wanted, uint64_t limit,
                      const Pass& pass) const {
    const MutexLock lock(preparing_);
    const auto had = static_cast<int64_t>(limit);
    if (kept_.bytes() > had) return OkStatus();  // another thread did so
    const int64_t more = std::max(had, kLeastMore);
    if (had + more <= pass.ledger().budget_bytes() / 2) {
      kept_.Add(more);
    } else {
      STOKER_RETURN_IF_ERROR(kept_.AddIfItFits(
          pass, more,
          fmt::format("{}: decoding it takes more than {:.1f} MB, and as much again takes",
                      wanted.name, static_cast<double>(limit) * 1e-6),
          kWords.remedy));
    }
    cache_.SetLimit(static_cast<uint64_t>(kept_.bytes()));
    return OkStatus();
  }

  Status CheckRow(const DecodedGroup& group, size_t f, size_t number, int64_t row) const {
    const std::span<const FaultyRow> faulty = group.columns[f].faulty;
    const auto found = std::ranges::lower_bound(faulty, row, {}, &FaultyRow::row);
    if (found == faulty.end() || found->row != row) return OkStatus();
    const std::string& column = sources_[f].wish.path;
    const std::string where = fmt::format("{}: row {}, column '{}'", PathOf(number),
                                          groups_[number].first_row + row, column);
    if (found->fault == TableFault::kTooLarge)
      return DataLoss("{}: there is a number beyond int64; write the column as another type",
                      where);
    return DataLoss(
        "{}: there is a null; name what stands for nulls: {}: {{column: {}, nulls: ...}}", where,
        spec().fields[f].name, column);
  }

  struct RowValues {
    const std::byte* values;
    int64_t items;
  };
  static RowValues RowOf(const DecodedColumn& column, const TableSource& source, int64_t row) {
    if (!source.ragged) return {column.values + static_cast<size_t>(row) * source.item_bytes, 1};
    const int64_t begin = column.offsets[row], items = column.offsets[row + 1] - begin;
    return {column.values + static_cast<size_t>(begin) * source.item_bytes, items};
  }

  // The rows at `which` of the positions, all of one group, to their places in the columns.
  Status CopyRows(size_t number, std::span<const int64_t> positions, std::span<const size_t> which,
                  const ReadContext& context, Rows& rows) const {
    STOKER_ASSIGN_OR_RETURN(const TableGroupCache::Use group, Decoded(number, context));
    for (size_t f = 0; f < sources_.size(); ++f) {
      const DecodedColumn& column = group->columns[f];
      const size_t bytes = sources_[f].item_bytes;
      std::byte* const out = rows.columns[f].data();
      for (const size_t i : which) {
        const int64_t row = positions[i] - starts_.begin(number);
        if (!column.faulty.empty()) STOKER_RETURN_IF_ERROR(CheckRow(*group, f, number, row));
        std::memcpy(out + i * bytes, column.values + static_cast<size_t>(row) * bytes, bytes);
      }
    }
    return OkStatus();
  }

  // What struct{bytes, path} calls the file; empty where it does not. Decodes the names of the
  // group: it is asked for messages only.
  std::string NameOfFile(const TableSource& source, size_t number, int64_t row) const {
    if (source.names.empty()) return "";
    const GroupPlace& place = groups_[number];
    const TableWish wish{.path = source.names, .null_value = ""};
    const auto names = tables_[place.file]->ReadGroup(
        place.group, {&wish, 1}, {.most_bytes = kMostForNames, .stopped = StopScope::Asked});
    if (!names.ok()) return "";
    const auto [values, items] =
        RowOf((*names)->columns.front(), {.item_bytes = 1, .ragged = true}, row);
    return {reinterpret_cast<const char*>(values), static_cast<size_t>(items)};
  }

  const TableRowsOptions options_;
  const std::vector<TableSource> sources_;
  std::vector<TableWish> wishes_;  // those of sources_
  const std::vector<std::string> paths_;
  const std::vector<TablePtr> tables_;
  const std::vector<GroupPlace> groups_;         // those with rows
  std::vector<TableGroupCache::Wanted> wanted_;  // of each of them
  const PartStarts starts_;                      // of these groups
  mutable KeptMemory described_;                 // of tables_ and groups_; thread-safe by itself
  mutable Mutex preparing_;
  mutable KeptMemory kept_ STOKER_GUARDED_BY(preparing_);  // set aside for cache_
  mutable TableGroupCache cache_;                          // thread-safe by itself
};

}  // namespace

Result<Dataset> TableRowsDataset(const TableRowsOptions& options) {
  STOKER_ASSIGN_OR_RETURN(std::vector<std::string> paths,
                          options.files.Expand(options.op, /*sorted=*/false));
  TableFields fields = options.fields;
  std::optional<TablePlan> plan;
  std::vector<TablePtr> tables;
  std::vector<GroupPlace> groups;
  PartStarts starts;
  for (const std::string& path : paths) {
    STOKER_ASSIGN_OR_RETURN(TablePtr table, OpenTableFile(options.format, path));
    if (fields.empty()) fields = AllFieldsOf(*table);
    STOKER_ASSIGN_OR_RETURN(TablePlan own, PlanTable(*table, path, fields));
    if (own.spec.fields.empty()) return InvalidArgument("{}: there is no column in the file", path);
    if (!plan)
      plan = std::move(own);
    else if (own.spec != plan->spec)
      return InvalidArgument(
          "{}: its fields are {}, those of {} are {}; files of one source must have the same", path,
          own.spec.ToString(), paths.front(), plan->spec.ToString());
    int64_t first_row = 0;
    for (int64_t group = 0; group < std::ssize(table->group_rows()); ++group) {
      const int64_t rows = table->group_rows()[static_cast<size_t>(group)];
      if (rows == 0) continue;
      groups.push_back({tables.size(), group, first_row});
      first_row += rows;
      starts.Add(rows);
    }
    tables.push_back(std::move(table));
  }
  if (!plan) return InvalidArgument("{}: no files are named", options.op);
  return Dataset(std::make_shared<TableRowsNode>(options, *std::move(plan), std::move(paths),
                                                 std::move(tables), std::move(groups),
                                                 std::move(starts)));
}

}  // namespace stoker
