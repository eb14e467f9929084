#include "stoker/data/ops/order.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stoker/data/core/kept_memory.h"
#include "stoker/data/ops/drawn_internal.h"
#include "stoker/formats/npy/npy.h"
#include "stoker/image/cast.h"
#include "stoker/io/file.h"

namespace stoker {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 36;  // of a text file

struct Positions {
  std::vector<int64_t> list;
  KeptMemory kept;  // its bytes
};

class OrderNode final : public DrawnNode {
 public:
  OrderNode(Dataset input, const Order& options, std::shared_ptr<Positions> positions)
      : DrawnNode(Order::kName, std::move(input), std::ssize(positions->list), std::nullopt),
        file_(options.file.string()),
        positions_(std::move(positions)) {}

  std::string Details() const override { return file_; }
  std::string_view Disturbs() const override { return "reorders elements"; }
  bool random() const override { return false; }
  bool fixed_order() const override { return input().node().fixed_order(); }
  std::vector<std::string> files() const override { return {file_}; }

 protected:
  Status Learn(const OpenContext& context) const override {
    positions_->kept.ChargeTo(*context.pass(), *this);
    return OkStatus();
  }
  void FindSources(std::span<int64_t> positions, const Key& /*key*/,
                   const SharedPermutations& /*permutations*/) const override {
    for (int64_t& position : positions) position = positions_->list[static_cast<size_t>(position)];
  }

 private:
  const std::string file_;
  const std::shared_ptr<Positions> positions_;
};

// Checks one position, number `i` of the file.
Status CheckListed(const std::string& where, int64_t position, const Dataset& input) {
  if (position >= 0 && position < input.cardinality().value()) return OkStatus();
  return OutOfRange("{}: {} is no position of an element: '{}' has {}, numbered from 0", where,
                    position, input.node().name(), input.cardinality().ToString());
}

Result<std::vector<int64_t>> ReadNpyPositions(const std::string& path, const Dataset& input) {
  STOKER_ASSIGN_OR_RETURN(const Array array, ReadNpy(path));
  if (array.shape().size() != 1 || IsFloating(array.dtype()) || array.dtype() == DType::kBool) {
    return DataLoss("{}: the file holds {}; positions are integers in one dimension", path,
                    array.ToString());
  }
  std::vector<int64_t> positions(static_cast<size_t>(array.num_values()));
  CastValues(array.dtype(), array.data(), positions.size(), DType::kInt64,
             reinterpret_cast<std::byte*>(positions.data()));
  for (size_t i = 0; i < positions.size(); ++i) {
    const std::string where = fmt::format("{}: entry {}", path, i);
    STOKER_RETURN_IF_ERROR(CheckListed(where, positions[i], input));
  }
  return positions;
}

Result<std::vector<int64_t>> ReadTextPositions(const std::string& path, const Dataset& input) {
  STOKER_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(path, kMostBytes));
  std::vector<int64_t> positions;
  std::string_view rest = text;
  for (int64_t line = 1; !rest.empty(); ++line) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view word = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (word.ends_with('\r')) word.remove_suffix(1);
    int64_t position = 0;
    const auto [last, error] = std::from_chars(word.data(), word.data() + word.size(), position);
    if (error != std::errc() || last != word.data() + word.size()) {
      return DataLoss(
          "{}: line {}: '{}' is no whole number; each line has the position of an element", path,
          line, word.substr(0, 40));
    }
    STOKER_RETURN_IF_ERROR(CheckListed(fmt::format("{}: line {}", path, line), position, input));
    positions.push_back(position);
  }
  return positions;
}

}  // namespace

void Order::Describe(OptionTable<Order>& table) {
  table.Field("file", &Order::file, "positions: a .npy of integers, or text with one a line")
      .Required();
}

Result<Dataset> Order::Build(Dataset input) const {
  if (!input.node().random_access() || !input.cardinality().known()) {
    return InvalidArgument(
        "order: '{}' {}, but an order takes elements from anywhere; put order after a source that "
        "is readable by position",
        input.node().name(),
        input.node().random_access() ? "has no end" : "can only be read in order");
  }
  const std::string path = file.string();
  Result<std::vector<int64_t>> read =
      file.extension() == ".npy" ? ReadNpyPositions(path, input) : ReadTextPositions(path, input);
  if (!read.ok())
    return Status(read.status().code(), fmt::format("order: {}", read.status().message()));
  auto positions = std::make_shared<Positions>();
  positions->list = *std::move(read);
  positions->kept.Add(static_cast<int64_t>(positions->list.size() * sizeof(int64_t)));
  return Dataset(std::make_shared<OrderNode>(std::move(input), *this, std::move(positions)));
}

}  // namespace stoker
