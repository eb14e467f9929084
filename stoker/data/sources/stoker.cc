#include "stoker/data/sources/stoker.h"

#include "stoker/data/core/class_names.h"
#include "stoker/data/core/key_lists.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/core/sample_names.h"
#include "stoker/data/nodes/by_position_node.h"
#include "stoker/data/sources/shard_rows_internal.h"

namespace stoker {
namespace {

Spec SpecOf(const ShardSchema& schema) {
  Spec spec;
  for (const ElementField& field : schema.fields)
    spec.fields.push_back({field.name, field.dtype, field.shape});
  return spec;
}

class StokerNode final : public ByPositionNode, public SampleNames, public LabelNames {
 public:
  StokerNode(std::string details, std::vector<std::string> paths, ShardRows rows)
      : ByPositionNode(Stoker::kName, SpecOf(rows.schema()), Cardinality::Of(rows.size())),
        details_(std::move(details)),
        paths_(std::move(paths)),
        rows_(std::move(rows)) {}

  std::string Details() const override { return details_; }
  std::vector<std::string> files() const override { return paths_; }
  std::string NameOf(int64_t index, std::string_view) const override {
    return index >= 0 && index < rows_.size() ? rows_.NameOf(index) : "";
  }
  std::vector<std::string> ClassNames() const override { return rows_.classes(); }
  // Elements share the files' memory where it is there; rows, which need known shapes, are copies.
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    if (count > 1) return spec().BytesTogether(count);
    return rows_.shared() ? std::optional<int64_t>(0) : spec().BytesApart(1);
  }

 protected:
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override {
    Scratch scratch = context.scratch(*this);
    STOKER_ASSIGN_OR_RETURN(std::vector<Array> arrays, rows_.Read(position, scratch));
    return Element{.key = {context.epoch(), position}, .arrays = std::move(arrays)};
  }
  Result<Rows> DoReadRows(std::span<const int64_t> positions,
                          const ReadContext& context) const override {
    Scratch scratch = context.scratch(*this);
    Rows rows;
    rows.keys = KeysAt(positions, context.epoch());
    STOKER_ASSIGN_OR_RETURN(rows.columns, rows_.Gather(positions, scratch));
    return rows;
  }

 private:
  const std::string details_;
  const std::vector<std::string> paths_;
  const ShardRows rows_;
};

}  // namespace

void Stoker::Describe(OptionTable<Stoker>& table) {
  table.Field("verify", &Stoker::verify,
              "check each block of 256 KiB against its checksum when it is first read");
}

template <>
const std::vector<Option>& OptionsOf<Stoker>() {
  static const auto options = WithObjects<Stoker>({ObjectOption(
      "files", &Stoker::files, "which: a path, 'train-*.stoker', shards 'train@128', or a list",
      /*required=*/true)});
  return options;
}

Result<Dataset> Stoker::Build() const {
  STOKER_ASSIGN_OR_RETURN(std::vector<std::string> paths, files.Expand(kName, /*sorted=*/false));
  STOKER_ASSIGN_OR_RETURN(ShardRows rows, ShardRows::Open(paths, verify ? ShardChecks::kOnFirstRead
                                                                        : ShardChecks::kNone));
  return Dataset(std::make_shared<StokerNode>(files.ToString(), std::move(paths), std::move(rows)));
}

}  // namespace stoker
