#include "stoker/data/sources/chunked_rows_internal.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "stoker/base/mutex.h"
#include "stoker/base/worker_group.h"
#include "stoker/data/core/kept_memory.h"
#include "stoker/data/core/key_lists.h"
#include "stoker/data/core/room_in.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/core/sample_names.h"
#include "stoker/data/nodes/by_position_node.h"
#include "stoker/data/nodes/part_starts.h"
#include "stoker/data/sources/chunk_cache_internal.h"
#include "stoker/data/sources/set_aside_internal.h"
#include "stoker/formats/chunked/row_gather.h"

namespace stoker {
namespace {

Spec SpecOf(const ChunkedFile& file) {
  Spec spec;
  for (const auto& [name, array] : file)
    spec.fields.push_back({name, array->layout().dtype, array->layout().row_shape});
  return spec;
}

constexpr SetAsideWords kWords{
    .parts = "chunks",
    .least = "a row of chunks, decompressed,",
    .remedy = "write the array in smaller chunks, or in chunks of fewer rows"};

constexpr double kMost = 0x1p62;  // bytes; more are as good as no end

// Puts the rows before the message of an error in their values.
Status AtRows(const ChunkedArray& array, std::span<const int64_t> rows, const Status& status) {
  const std::string which = rows.size() == 1 ? fmt::format("row {}", rows.front())
                                             : fmt::format("rows {} to {}", std::ranges::min(rows),
                                                           std::ranges::max(rows));
  return Status(status.code(), fmt::format("{}: {}: {}; write it as another type", array.name(),
                                           which, status.message()));
}

class ChunkedRowsNode final : public ByPositionNode, public SampleNames {
 public:
  ChunkedRowsNode(ChunkedRowsOptions options, std::vector<ChunkedFile> files, PartStarts starts)
      : ByPositionNode(options.op, SpecOf(files.front()), Cardinality::Of(starts.size())),
        options_(std::move(options)),
        files_(std::move(files)),
        starts_(std::move(starts)),
        cache_(static_cast<uint64_t>(options_.cache_mib) << 20, /*limit=*/0, kept_.account()) {}

  // Sets memory aside for decompressed chunks: what is to be kept, and a row of chunks for each
  // thread, within half of the budget. One row of chunks must fit. A later pass with more threads
  // sets more aside.
  Status Prepare(const OpenContext& context) const override {
    const Pass& pass = *context.pass();
    const MutexLock lock(preparing_);
    STOKER_RETURN_IF_ERROR(SetAside(kept_, pass, *this, DemandOf(pass), kWords));
    cache_.SetLimit(static_cast<uint64_t>(kept_.bytes()));
    return OkStatus();
  }

  std::string Details() const override { return options_.details; }
  std::vector<std::string> files() const override { return options_.paths; }
  std::string NameOf(int64_t index, std::string_view field) const override {
    if (index < 0 || index >= starts_.size()) return "";
    const auto [file, row] = starts_.At(index);
    const auto found = std::ranges::find(files_[file], field, &ChunkedField::name);
    if (found == files_[file].end()) return "";
    return fmt::format("{}: row {}", found->array->name(), row);
  }
  // Rows of texts and lists differ; others are at most copies.
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    return spec().BytesApart(count);
  }

 protected:
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override {
    Scratch scratch = context.scratch(*this);
    const auto [file, row] = starts_.At(position);
    Element element{.key = {context.epoch(), position}, .arrays = {}};
    for (const ChunkedField& field : files_[file]) {
      STOKER_ASSIGN_OR_RETURN(Array array, ReadRow(*field.array, row, scratch));
      element.arrays.push_back(std::move(array));
    }
    return element;
  }
  Result<Rows> DoReadRows(std::span<const int64_t> positions,
                          const ReadContext& context) const override {
    Scratch scratch = context.scratch(*this);
    Rows rows;
    rows.keys = KeysAt(positions, context.epoch());
    for (size_t f = 0; f < spec().fields.size(); ++f) {
      STOKER_ASSIGN_OR_RETURN(Array column, ReadColumn(f, positions, scratch));
      rows.columns.push_back(std::move(column));
    }
    return rows;
  }

 private:
  // What decompressed chunks take: for the largest row of chunks alone, and as much as is of use.
  SetAsideDemand DemandOf(const Pass& pass) const {
    SetAsideDemand demand;
    double all = 0;
    for (const ChunkedFile& file : files_) {
      for (const auto& [name, array] : file) {
        if (array->mapped() || array->chunks() == 0) continue;
        const auto chunk = static_cast<double>(array->chunk_bytes());
        const int64_t across = array->chunks() / array->grid().front();
        const auto row = static_cast<int64_t>(
            std::min(kMost, chunk * static_cast<double>(across) +
                                static_cast<double>(ChunkCache::BytesToRead(*array))));
        if (row > demand.least) demand = {array->name(), row};
        all += chunk * static_cast<double>(array->chunks() + 1);
      }
    }
    const int threads = pass.runtime().threads > 0 ? pass.runtime().threads : AvailableCpus();
    const double useful = std::max(static_cast<double>(options_.cache_mib) * 0x1p20,
                                   static_cast<double>(demand.least) * threads);
    demand.useful = std::max(demand.least, static_cast<int64_t>(std::min({kMost, useful, all})));
    return demand;
  }

  // Copies the stored values of rows to `out`.
  Status Gather(const ChunkedArray& array, std::span<const int64_t> rows, std::byte* out) const {
    if (array.mapped())
      return GatherRows(
          array, rows, [&](int64_t number) { return array.ReadChunk(number); }, out);
    ChunkCache::Use chunks(cache_, array);
    return GatherRows(
        array, rows, [&](int64_t number) { return chunks.Get(number); }, out);
  }

  // Rows of numbers, each to its dtype, one after another from `out` on.
  Status ReadValues(const ChunkedArray& array, std::span<const int64_t> rows,
                    std::byte* out) const {
    const ChunkedLayout& layout = array.layout();
    const size_t values = rows.size() * (array.stored_row_bytes() / layout.value_bytes);
    // Values are widened in place, from the end of what they will fill.
    const size_t in_front = values * (DTypeSize(layout.dtype) - layout.value_bytes);
    STOKER_RETURN_IF_ERROR(Gather(array, rows, out + in_front));
    const Status converted = ConvertStored(layout.value, out, values);
    return converted.ok() ? converted : AtRows(array, rows, converted);
  }

  Result<Array> ReadRow(const ChunkedArray& array, int64_t row, Scratch& scratch) const {
    const ChunkedLayout& layout = array.layout();
    if (layout.form == RowForm::kValues) {
      if (array.mapped()) {
        STOKER_ASSIGN_OR_RETURN(
            std::optional<Array> shared,
            ShareRow(array, row, [&](int64_t number) { return array.ReadChunk(number); }));
        if (shared) return *std::move(shared);
      }
      Array out = scratch.NewArray(layout.dtype, layout.row_shape);
      STOKER_RETURN_IF_ERROR(ReadValues(array, {&row, 1}, out.data()));
      return out;
    }
    std::vector<std::byte> stored(array.stored_row_bytes());
    STOKER_RETURN_IF_ERROR(Gather(array, {&row, 1}, stored.data()));
    return array.Follow(stored, RoomIn(scratch));
  }

  Result<Array> ReadColumn(size_t field, std::span<const int64_t> positions,
                           Scratch& scratch) const {
    const ChunkedLayout& layout = files_.front()[field].array->layout();
    Array column = scratch.NewRows(std::ssize(positions), layout.dtype, layout.row_shape);
    const size_t row_bytes = column.num_bytes() / positions.size();
    std::vector<int64_t> rows;
    rows.reserve(positions.size());
    for (size_t begin = 0; begin < positions.size(); begin += rows.size()) {
      const auto [file, first] = starts_.At(positions[begin]);
      const int64_t start = starts_.begin(file), end = starts_.end(file);
      rows.assign(1, first);
      for (size_t i = begin + 1; i < positions.size(); ++i) {
        if (positions[i] < start || positions[i] >= end) break;
        rows.push_back(positions[i] - start);
      }
      STOKER_RETURN_IF_ERROR(
          ReadValues(*files_[file][field].array, rows, column.data() + begin * row_bytes));
    }
    return column;
  }

  const ChunkedRowsOptions options_;
  const std::vector<ChunkedFile> files_;
  const PartStarts starts_;
  mutable Mutex preparing_;   // held while memory is set aside
  mutable KeptMemory kept_;   // set aside for cache_
  mutable ChunkCache cache_;  // thread-safe by itself
};

}  // namespace

Result<Dataset> ChunkedRowsDataset(ChunkedRowsOptions options, std::vector<ChunkedFile> files) {
  PartStarts starts;
  for (const ChunkedFile& file : files) {
    if (file.empty())
      return InvalidArgument("{}: no fields are named; name at least one, such as image: x",
                             options.op);
    const ChunkedArray& first = *file.front().array;
    for (const auto& [name, array] : file) {
      if (array->rows() != first.rows()) {
        return DataLoss("{}: {} rows, but {} has {}; the arrays do not belong together",
                        array->name(), array->rows(), first.name(), first.rows());
      }
    }
    if (SpecOf(file) != SpecOf(files.front())) {
      return InvalidArgument(
          "{}: its fields are {}, those of {} are {}; files of one source must "
          "have the same",
          first.name(), SpecOf(file).ToString(), files.front().front().array->name(),
          SpecOf(files.front()).ToString());
    }
    starts.Add(first.rows());
  }
  if (files.empty()) return InvalidArgument("{}: no files are named", options.op);
  return Dataset(
      std::make_shared<ChunkedRowsNode>(std::move(options), std::move(files), std::move(starts)));
}

}  // namespace stoker
