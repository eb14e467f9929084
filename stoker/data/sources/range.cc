#include "stoker/data/sources/range.h"

#include "stoker/data/core/key_lists.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/nodes/by_position_node.h"

namespace stoker {
namespace {

// How many values there are; in 128 bits, since the ends may lie 2^64 apart.
Result<int64_t> CountOf(const Range& range) {
  if (range.step == 0)
    return InvalidArgument("range: step is 0; it must be 1 or more, or -1 or less");
  const __int128 distance = static_cast<__int128>(range.stop) - range.start;
  const __int128 step = range.step;
  const __int128 count = (distance + step + (step > 0 ? -1 : 1)) / step;
  if (count <= 0 || (distance > 0) != (step > 0)) return 0;
  if (count >= std::numeric_limits<int64_t>::max()) {
    return InvalidArgument("range: {}..{} has more than 2^63 - 2 values; bring the ends closer",
                           range.start, range.stop);
  }
  return static_cast<int64_t>(count);
}

class RangeNode final : public ByPositionNode {
 public:
  RangeNode(const Range& range, int64_t count)
      : ByPositionNode(Range::kName, {{{range.field, DType::kInt64, {}}}}, Cardinality::Of(count)),
        range_(range) {}

  std::string Details() const override {
    return fmt::format("{}..{}, step {}", range_.start, range_.stop, range_.step);
  }
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    return count == 1 ? spec().BytesApart(1) : spec().BytesTogether(count);
  }

 protected:
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override {
    Scratch scratch = context.scratch(*this);
    Array value = scratch.NewArray(DType::kInt64, {});
    value.values<int64_t>()[0] = Value(position);
    return Element{.key = {context.epoch(), position}, .arrays = {std::move(value)}};
  }
  Result<Rows> DoReadRows(std::span<const int64_t> positions,
                          const ReadContext& context) const override {
    Scratch scratch = context.scratch(*this);
    Array column = scratch.NewArray(DType::kInt64, {std::ssize(positions)});
    const std::span<int64_t> values = column.values<int64_t>();
    Rows rows;
    rows.keys = EmptyKeyList(positions.size());
    for (size_t i = 0; i < positions.size(); ++i) {
      values[i] = Value(positions[i]);
      rows.keys.push_back({context.epoch(), positions[i]});
    }
    rows.columns.push_back(std::move(column));
    return rows;
  }

 private:
  // Lies between start and stop, but the product alone may not: unsigned, where wrapping is
  // defined.
  int64_t Value(int64_t position) const {
    return static_cast<int64_t>(static_cast<uint64_t>(range_.start) +
                                static_cast<uint64_t>(range_.step) *
                                    static_cast<uint64_t>(position));
  }

  const Range range_;
};

}  // namespace

void Range::Describe(OptionTable<Range>& table) {
  table.Field("stop", &Range::stop, "where the values end; it is not one of them")
      .Required()
      .Field("start", &Range::start, "the first value")
      .Field("step", &Range::step, "from one value to the next; negative: downwards")
      .Field("field", &Range::field, "what the field is called");
}

Result<Dataset> Range::Build() const {
  STOKER_ASSIGN_OR_RETURN(const int64_t count, CountOf(*this));
  if (field.empty()) return InvalidArgument("range: the field's name is empty; give it one");
  return Dataset(std::make_shared<RangeNode>(*this, count));
}

}  // namespace stoker
