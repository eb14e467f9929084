// States of streams are kept for going back to, at a price that stays small.
#include "stoker/data/runtime/snapshot_pace.h"

#include "stoker/base/clock.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/runtime/crew.h"
#include "stoker/data/testing/promises.h"
#include "stoker/data/testing/test_stages.h"

namespace stoker::snapshot_pace_test {

// Hands its input's elements on, and takes a millisecond of CPU time to save its state. Counts how
// often that is.
class DearNode final : public DatasetNode {
 public:
  explicit DearNode(const Dataset& input)
      : DatasetNode("dear", input.spec(), input.cardinality(), {input}) {}
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext& context) const override {
    STOKER_ASSIGN_OR_RETURN(std::unique_ptr<Iterator> elements, context.OpenInput(input()));
    return std::make_unique<Stream>(context, *this, std::move(elements));
  }
  std::atomic<int64_t>& saved() const { return saved_; }

 private:
  class Stream final : public Iterator {
   public:
    Stream(const OpenContext& context, const DearNode& node, std::unique_ptr<Iterator> input)
        : Iterator(context, node), node_(node), input_(std::move(input)) {}

   private:
    Result<std::optional<Element>> DoNext() override { return input_->Next(); }
    Result<Json> DoSave() const override {
      ++node_.saved();
      for (const int64_t began = ThreadCpuNs(); ThreadCpuNs() - began < 1'000'000;) {
      }
      return WithInputState({}, *input_);
    }
    Status DoRestore(const Json& state) override { return RestoreInput(state, *input_); }
    const DearNode& node_;
    const std::unique_ptr<Iterator> input_;
  };

  mutable std::atomic<int64_t> saved_ = 0;
};

Dataset Dear(int64_t n) { return Dataset(std::make_shared<DearNode>(StreamedImages(n))); }

TEST(SnapshotPace, KeepsFewStatesOfAStreamThatIsDearToSave) {
  constexpr int64_t kElements = 256 * kSnapshotInterval;
  const struct {
    const char* who;
    std::function<Result<Dataset>(Dataset)> behind;
    Runtime runtime;
  } cases[] = {
      {"a map", [](Dataset input) { return Result(input) | DoNothing(); }, Runtime::Inline()},
      {"a map on threads", [](Dataset input) { return Result(input) | DoNothing(); },
       Runtime::Threaded(2)},
      {"a shuffle buffer", [](Dataset input) { return Result(input) | Shuffle{.buffer = 10}; },
       Runtime::Inline()},
  };
  for (const auto& [who, behind, runtime] : cases) {
    SCOPED_TRACE(who);
    const Dataset dear = Dear(kElements);
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, behind(dear));
    STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> all, ReadAll(dataset, runtime));
    EXPECT_EQ(std::ssize(all), kElements);
    const int64_t saved = dynamic_cast<const DearNode&>(dear.node()).saved();
    EXPECT_GE(saved, 1);
    // Of 256 that there could be. All elements together take no longer than saving some ten times.
    EXPECT_LT(saved, 100);
  }
}

TEST(SnapshotPace, SavesBeforeEachWhereNothingCanBeMadeAgain) {
  SnapshotPace pace = SnapshotPace::BeforeEach();
  const auto iterator = *Dear(5).Open(Runtime::Inline());
  EXPECT_FALSE(pace.IsDue(0));
  STOKER_ASSERT_OK(pace.Save(*iterator));
  EXPECT_TRUE(pace.IsDue(1));
}

TEST(SnapshotPace, IsDueAgainAfterTwentyTimesWhatSavingTook) {
  SnapshotPace pace = SnapshotPace::Sparing();
  const auto iterator = *Dear(5).Open(Runtime::Inline());
  STOKER_ASSERT_OK(pace.Save(*iterator));
  const Stopwatch since;
  EXPECT_FALSE(pace.IsDue(kSnapshotInterval - 1));
  int64_t elements = kSnapshotInterval;
  while (!pace.IsDue(elements)) ++elements;
  EXPECT_GE(since.ElapsedSeconds(), 0.019);
}

TEST(SnapshotPace, LeavesNothingOutWhicheverStateIsGoneBackTo) {
  ExpectKeepsItsPromises(*(Result<Dataset>(Dear(30)) | DoNothing()));
}

}  // namespace stoker::snapshot_pace_test
