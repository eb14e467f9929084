#include "stoker/data/runtime/read_keys.h"

#include <algorithm>

#include "stoker/data/runtime/chunk_source.h"
#include "stoker/data/runtime/read_ahead.h"

namespace stoker {
namespace {

// Chunks of the elements with given keys: taking is counting, finishing is reading.
class KeySource final : public ChunkSource {
 public:
  KeySource(const OpenContext& context, const DatasetNode& input, std::vector<SampleKey> keys,
            std::shared_ptr<const StopFlag> stop)
      : pass_(context.pass()), stop_(std::move(stop)), input_(input), keys_(std::move(keys)) {}

  void Take(int64_t wanted, int64_t, Chunk& chunk) override {
    chunk.begin = next_;
    chunk.count = std::min(wanted, std::ssize(keys_) - next_);
    next_ += chunk.count;
    chunk.last = next_ >= std::ssize(keys_);
  }

  void Finish(Chunk& chunk) const override {
    for (int64_t i = chunk.begin; i < chunk.begin + chunk.count; ++i) {
      const SampleKey& key = keys_[static_cast<size_t>(i)];
      const ReadContext context(*pass_, key.epoch, /*vectorized=*/true, stop_.get());
      Result<Element> element = input_.ReadKey(key, context);
      if (!element.ok()) {
        chunk.error = element.status();
        return;
      }
      chunk.elements.push_back(*std::move(element));
    }
  }

  std::optional<int64_t> MemoryToMake(int64_t count) const override {
    return input_.MemoryToRead(count);
  }
  Result<Json> SaveAfter(const Delivered&) override { return Internal("keys are read in one go"); }
  Result<Delivered> Restore(const Json&) override { return Internal("keys are read in one go"); }

 private:
  const std::shared_ptr<Pass> pass_;
  const std::shared_ptr<const StopFlag> stop_;
  const DatasetNode& input_;
  const std::vector<SampleKey> keys_;
  int64_t next_ = 0;
};

Result<std::vector<Element>> ReadOneByOne(const OpenContext& context, const DatasetNode& input,
                                          const std::vector<SampleKey>& keys) {
  std::vector<Element> elements;
  elements.reserve(keys.size());
  for (const SampleKey& key : keys) {
    const ReadContext reading(*context.pass(), key.epoch, /*vectorized=*/false,
                              context.stop().get());
    STOKER_ASSIGN_OR_RETURN(Element element, input.ReadKey(key, reading));
    elements.push_back(std::move(element));
  }
  return elements;
}

}  // namespace

Result<std::vector<Element>> ReadInputKeys(const OpenContext& context, const DatasetNode& node,
                                           std::vector<SampleKey> keys) {
  const DatasetNode& input = node.input().node();
  const Runtime& runtime = context.pass()->runtime();
  if (runtime.kind == Runtime::Kind::kInline) return ReadOneByOne(context, input, keys);
  const size_t count = keys.size();
  const auto inside = std::make_shared<StopFlag>(context.stop());
  ReadAhead reader(context, node,
                   std::make_unique<KeySource>(context, input, std::move(keys), inside), inside,
                   LimitsFor(runtime, input), /*any_order=*/false);
  std::vector<Element> elements;
  elements.reserve(count);
  while (true) {
    STOKER_ASSIGN_OR_RETURN(std::optional<Element> element, reader.Next());
    if (!element) return elements;
    elements.push_back(*std::move(element));
  }
}

}  // namespace stoker
