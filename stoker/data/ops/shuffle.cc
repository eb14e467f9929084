#include "stoker/data/ops/shuffle.h"

#include <algorithm>

#include "stoker/data/core/drawn_order.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/ops/own_seed_internal.h"
#include "stoker/data/ops/read_anywhere_internal.h"
#include "stoker/data/ops/shuffle_buffer_internal.h"
#include "stoker/data/ops/window_order_internal.h"
#include "stoker/data/rewrites/map_order.h"

namespace stoker {
namespace {

// More pages in a window mix better, larger ones are read faster: 64 in a window leave little
// trace of the pages.
constexpr int64_t kPagesInAWindow = 64;

// Size of a buffer for which none is given: what 10,000 elements take, but no more than this. It
// does not follow the memory budget, since the order follows from it.
constexpr int64_t kAutoBuffer = 10'000;
constexpr int64_t kAutoBufferBytes = 64 << 20;
constexpr int64_t kAutoBufferWhereSizesDiffer = 1'000;
constexpr int64_t kLeastAutoBuffer = 16;

class ShuffleNode final : public DatasetNode, public DrawnOrder {
 public:
  ShuffleNode(Dataset input, const Shuffle& options)
      : DatasetNode(std::string(Shuffle::kName), input.spec(), input.cardinality(), {input}),
        options_(options),
        page_(options.page.value_or(
            std::max<int64_t>(1, options.window.value_or(1) / kPagesInAWindow))) {}

  std::string Details() const override {
    std::string text = options_.window ? fmt::format("window {}, page {}", *options_.window, page_)
                                       : std::string("exact");
    if (options_.seed) text += fmt::format(", seed {}", *options_.seed);
    if (!options_.reshuffle) text += ", the same order each epoch";
    return text;
  }
  KeyOrigin key_origin() const override { return KeyOrigin::kInput; }
  std::string_view Disturbs() const override { return "reorders elements"; }
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    return MemoryToReadAnywhere(input().node(), count);
  }
  bool fixed_order() const override {
    return options_.seed && !options_.reshuffle && input().node().fixed_order();
  }
  bool random() const override { return !options_.seed || options_.reshuffle; }
  bool random_access() const override { return true; }
  bool rereadable() const override { return input().node().rereadable(); }
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext&) const override {
    return Internal("shuffle: is read by position");
  }

 protected:
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override {
    int64_t source = position;
    FindSources({&source, 1}, context);
    return input().node().Read(source, context);
  }

  Result<Rows> DoReadRows(std::span<const int64_t> positions,
                          const ReadContext& context) const override {
    std::vector<int64_t> sources(positions.begin(), positions.end());
    FindSources(sources, context);
    return input().node().ReadRows(sources, context);
  }

  Result<Element> DoReadKey(const SampleKey& key, const ReadContext& context) const override {
    return input().node().ReadKey(key, context);
  }

 private:
  // Puts where each position comes from in its place.
  void FindSources(std::span<int64_t> positions, const ReadContext& context) const {
    const auto [seed, stage] = DrawsOf(options_.seed, context.rngs(*this));
    const uint64_t epoch = options_.reshuffle ? context.epoch() : 0;
    const SharedPermutations& permutations = context.permutations(*this);
    const int64_t n = cardinality().value();
    if (options_.window) {
      WindowOrder(permutations, n, *options_.window, page_, seed, epoch, stage).Map(positions);
    } else {
      permutations.Get(n, seed, epoch, stage)->Map(positions);
    }
  }

  const Shuffle options_;
  const int64_t page_;
};

int64_t AutoBuffer(const Spec& spec) {
  const std::optional<int64_t> bytes = spec.ElementBytes();
  if (!bytes) return kAutoBufferWhereSizesDiffer;
  return std::clamp(kAutoBufferBytes / std::max<int64_t>(*bytes, 1), kLeastAutoBuffer, kAutoBuffer);
}

Result<Dataset> ShuffleByPosition(Dataset input, const Shuffle& options) {
  if (input.cardinality().infinite())
    return InvalidArgument("shuffle: the input has no end; put repeat after shuffle");
  if (options.page && !options.window) {
    return InvalidArgument(
        "shuffle: page is set, but window is not; pages are what a window is made of, set both or "
        "neither");
  }
  if (options.page && *options.page > *options.window) {
    return InvalidArgument("shuffle: a page of {} elements does not fit into a window of {}",
                           *options.page, *options.window);
  }
  return Dataset(std::make_shared<ShuffleNode>(std::move(input), options));
}

Result<Dataset> ShuffleInOrder(Dataset input, const Shuffle& options) {
  if (options.window || options.page) {
    return InvalidArgument(
        "shuffle: '{}' can only be read in order, a window needs an input that is readable by "
        "position; use buffer",
        input.node().name());
  }
  return HoldBeforeGrowingMaps(Shuffle::kName, std::move(input), [&](Dataset before) {
    const int64_t size = options.buffer.value_or(AutoBuffer(before.spec()));
    return ShuffleBufferDataset(std::move(before), {.size = size,
                                                    .automatic = !options.buffer,
                                                    .seed = options.seed,
                                                    .reshuffle = options.reshuffle});
  });
}

}  // namespace

void Shuffle::Describe(OptionTable<Shuffle>& table) {
  constexpr double kMaxBuffer = 1 << 30;
  table
      .Field("buffer", &Shuffle::buffer,
             "elements to draw from where the input can only be read in order (any other is "
             "shuffled exactly, without a buffer); auto: 10000, fewer where they are large, 1000 "
             "where their size is not known",
             Between(1, kMaxBuffer))
      .Field("seed", &Shuffle::seed,
             "fixes this order whatever the run's seed is; auto: the run's seed")
      .Field("window", &Shuffle::window,
             "shuffle only within so many elements at a time, for data larger than memory; auto: "
             "all",
             AtLeast(1))
      .Field("page", &Shuffle::page,
             "consecutive elements that are read together, where window is set; auto: window / 64",
             AtLeast(1))
      .Field("reshuffle", &Shuffle::reshuffle,
             "a new order each epoch; false: the first epoch's in all");
}

Result<Dataset> Shuffle::Build(Dataset input) const {
  return input.node().random_access() ? ShuffleByPosition(std::move(input), *this)
                                      : ShuffleInOrder(std::move(input), *this);
}

}  // namespace stoker
