#include "stoker/formats/arrow/dense_column_plugin.h"

#include <parquet/column_reader.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/schema.h>
#include <parquet/statistics.h>

#include <algorithm>
#include <vector>

namespace stoker {
namespace {

constexpr int64_t kBatchValues = 16 << 10;  // levels and values together fit into a core's L2 cache

bool AllEqual(const int16_t* levels, int64_t count, int16_t wanted) {
  int different = 0;
  for (int64_t i = 0; i < count; ++i) different |= levels[i] ^ wanted;
  return different == 0;
}

// The repetition levels of rows whose lists all have the sizes of the plan: 0 where a row begins,
// and where a list of depth d begins, d.
class FullRows {
 public:
  explicit FullRows(const std::vector<int64_t>& lists) {
    int64_t values = 1;
    for (auto size = lists.rbegin(); size != lists.rend(); ++size)
      values_.insert(values_.begin(), values *= *size);
  }

  // Whether the next `count` levels are those.
  bool Match(const int16_t* levels, int64_t count) {
    const auto deepest = static_cast<int16_t>(values_.size());
    const int64_t innermost = values_.back();
    for (int64_t done = 0; done < count;) {
      const int64_t within = at_ % innermost;
      const int64_t run = std::min(innermost - within, count - done);
      const bool begins = within == 0;
      if (begins && levels[done] != LevelAt(at_)) return false;
      if (!AllEqual(levels + done + begins, run - begins, deepest)) return false;
      done += run;
      at_ += run;
    }
    return true;
  }

 private:
  int16_t LevelAt(int64_t at) const {
    int16_t depth = 0;
    while (at % values_[static_cast<size_t>(depth)] != 0) ++depth;
    return depth;
  }

  std::vector<int64_t> values_;  // of a list of each depth, the outermost first
  int64_t at_ = 0;
};

template <typename Stored, typename Out>
void Store(const Stored* values, int64_t count, uint8_t* out) {
  Out* const to = reinterpret_cast<Out*>(out);
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<Out>(values[i]);
}

template <typename Physical>
arrow::Result<bool> ReadAs(parquet::ColumnReader& column, const ColumnPlan& plan, int64_t rows,
                           const LimitedPool& stopped, uint8_t* out) {
  using Stored = typename Physical::c_type;
  auto& reader = static_cast<parquet::TypedColumnReader<Physical>&>(column);
  const int16_t most_defined = column.descr()->max_definition_level();
  const int64_t all = rows * plan.values_of_item();
  FullRows full(plan.lists);
  std::vector<int16_t> defined(kBatchValues), repeated(kBatchValues);
  std::vector<Stored> values(kBatchValues);
  for (int64_t done = 0; done < all;) {
    if (stopped.stopped()) return arrow::Status::Cancelled("asked to stop");
    int64_t present = 0;
    const int64_t levels = reader.ReadBatch(std::min(kBatchValues, all - done), defined.data(),
                                            repeated.data(), values.data(), &present);
    if (levels == 0 || present != levels) return false;
    if (most_defined > 0 && !AllEqual(defined.data(), levels, most_defined)) return false;
    if (!plan.lists.empty() && !full.Match(repeated.data(), levels)) return false;
    uint8_t* const to = out + static_cast<size_t>(done) * plan.value_bytes;
    switch (plan.value_bytes) {
      case 1: Store<Stored, uint8_t>(values.data(), levels, to); break;
      case 2: Store<Stored, uint16_t>(values.data(), levels, to); break;
      default: std::copy_n(values.data(), levels, reinterpret_cast<Stored*>(to)); break;
    }
    done += levels;
  }
  return !reader.HasNext();
}

// Whether the file says that values are missing, so that reading need not find it out.
bool SaysNulls(const parquet::ColumnChunkMetaData& chunk) {
  const auto statistics = chunk.statistics();
  return statistics != nullptr && statistics->HasNullCount() && statistics->null_count() > 0;
}

}  // namespace

bool MayBeDense(const ColumnPlan& plan) {
  return !plan.ragged && !plan.dictionary && plan.leaf == LeafForm::kCopy &&
         plan.values_of_item() > 0;
}

arrow::Result<bool> ReadDenseColumn(parquet::RowGroupReader& group, int leaf,
                                    const ColumnPlan& plan, int64_t rows,
                                    const LimitedPool& stopped, uint8_t* out) {
  const parquet::ColumnDescriptor& column = *group.metadata()->schema()->Column(leaf);
  const bool lists = column.max_repetition_level() == std::ssize(plan.lists);
  const bool integer = plan.column.dtype != DType::kFloat32 && plan.column.dtype != DType::kFloat64;
  const size_t bytes = plan.value_bytes;
  if (!lists || SaysNulls(*group.metadata()->ColumnChunk(leaf))) return false;
  switch (column.physical_type()) {
    case parquet::Type::INT32:
      if (!integer || bytes > sizeof(int32_t)) return false;
      return ReadAs<parquet::Int32Type>(*group.Column(leaf), plan, rows, stopped, out);
    case parquet::Type::INT64:
      if (!integer || bytes != sizeof(int64_t)) return false;
      return ReadAs<parquet::Int64Type>(*group.Column(leaf), plan, rows, stopped, out);
    case parquet::Type::FLOAT:
      if (plan.column.dtype != DType::kFloat32) return false;
      return ReadAs<parquet::FloatType>(*group.Column(leaf), plan, rows, stopped, out);
    case parquet::Type::DOUBLE:
      if (plan.column.dtype != DType::kFloat64) return false;
      return ReadAs<parquet::DoubleType>(*group.Column(leaf), plan, rows, stopped, out);
    default: return false;
  }
}

}  // namespace stoker
