#include "stoker/data/runtime/rank_node.h"

#include <algorithm>

#include "stoker/data/core/runtime.h"

namespace stoker {
namespace {

Cardinality ShareOf(const Cardinality& whole, const PassOptions& options, int64_t begin) {
  if (whole.infinite()) return whole;
  const int64_t left = std::max<int64_t>(0, whole.value() - begin);
  const int64_t rounds = left / options.world;
  const bool one_more =
      options.rank < left % options.world && options.when_dry != WhenDry::kStopAll;
  return Cardinality::Of(rounds + (one_more ? 1 : 0));
}

class RankNode final : public DatasetNode {
 public:
  RankNode(const Dataset& whole, const PassOptions& options, int64_t begin)
      : DatasetNode("rank", whole.spec(), ShareOf(whole.cardinality(), options, begin), {whole}),
        options_(options),
        begin_(begin) {}

  std::string Details() const override {
    return fmt::format("{} of {}", options_.rank, options_.world);
  }
  std::string_view Disturbs() const override { return "leaves elements out"; }
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    return input().node().MemoryToRead(count);
  }
  int64_t read_ahead() const override { return input().node().read_ahead(); }
  bool random_access() const override { return true; }
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext&) const override {
    return Internal("rank: is read by position");
  }

 protected:
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override {
    return input().node().Read(InWhole(position), context);
  }
  Result<Rows> DoReadRows(std::span<const int64_t> positions,
                          const ReadContext& context) const override {
    std::vector<int64_t> in_whole(positions.begin(), positions.end());
    for (int64_t& position : in_whole) position = InWhole(position);
    return input().node().ReadRows(in_whole, context);
  }

 private:
  int64_t InWhole(int64_t position) const {
    return begin_ + position * options_.world + options_.rank;
  }

  const PassOptions options_;
  const int64_t begin_;
};

}  // namespace

Dataset RankDataset(const Dataset& whole, const PassOptions& options, int64_t begin) {
  return Dataset(std::make_shared<RankNode>(whole, options, begin));
}

}  // namespace stoker
