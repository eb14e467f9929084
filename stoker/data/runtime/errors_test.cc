// What comes out of a pass in which a stage fails or user code throws, and where it stands then.
#include "stoker/data/core/runtime.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/testing/test_stages.h"

namespace stoker::errors_test {

TEST(Pass, DeliversWhatComesBeforeAnErrorThenTheErrorForGood) {
  for (const Dataset& source : {NumberedImages(50), StreamedImages(50)}) {
    for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(1), Runtime::Threaded(4)}) {
      STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                                  Result<Dataset>(source) | FailAt(17) | Prefetch{});
      STOKER_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Iterator> iterator, dataset.Open(runtime));
      for (int i = 0; i < 17; ++i) STOKER_ASSERT_OK(iterator->Next());
      EXPECT_THAT(iterator->Next(), FailsWith(StatusCode::kDataLoss, "element 17 is bad"));
      EXPECT_THAT(iterator->Next(), FailsWith(StatusCode::kDataLoss, "element 17 is bad"));
    }
  }
}

TEST(Pass, StandsBeforeTheElementThatFailedUnderEitherRuntime) {
  const auto pipelines = [](int64_t bad) -> std::vector<Result<Dataset>> {
    return {NumberedImages(100) | FailAt(bad), StreamedImages(100) | FailAt(bad),
            StreamedImages(100) | AddNoise() | FailAt(bad) | Prefetch{},
            StreamedImages(100) | FailAt(bad) | Batch{.size = 3} | Prefetch{}};
  };
  const Runtime runtimes[] = {Runtime::Inline(), Runtime::Threaded(2)};
  for (const int64_t bad : {0, 5, 64, 70}) {
    const std::vector<Result<Dataset>> failing = pipelines(bad), corrected = pipelines(-1);
    for (size_t i = 0; i < failing.size() * 4; ++i) {
      const Result<Dataset>& dataset = failing[i / 4];
      const Runtime &first = runtimes[i % 2], &second = runtimes[i / 2 % 2];
      SCOPED_TRACE(testing::Message() << "bad " << bad << ", case " << i << "\n"
                                      << dataset->ToString());
      STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> whole,
                                  ReadAll(*corrected[i / 4], Runtime::Inline()));
      STOKER_ASSERT_OK_AND_ASSIGN(const auto broken, dataset->Open(first));
      std::vector<Element> pieces;
      Result<std::optional<Element>> next = broken->Next();
      for (; next.ok() && *next; next = broken->Next()) pieces.push_back(**std::move(next));
      EXPECT_THAT(next, FailsWith(StatusCode::kDataLoss, "is bad"));
      STOKER_ASSERT_OK_AND_ASSIGN(const Json state, broken->Save());

      // It fails again there, and stands there still.
      STOKER_ASSERT_OK_AND_ASSIGN(const auto again, dataset->Open(second));
      STOKER_ASSERT_OK(again->Restore(state));
      EXPECT_THAT(again->Next(), FailsWith(StatusCode::kDataLoss, "is bad"));
      STOKER_ASSERT_OK_AND_ASSIGN(const Json same, again->Save());

      STOKER_ASSERT_OK_AND_ASSIGN(const auto resumed, corrected[i / 4]->Open(first));
      STOKER_ASSERT_OK(resumed->Restore(same));
      STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> rest, ReadAll(*resumed));
      pieces.insert(pieces.end(), rest.begin(), rest.end());
      ASSERT_EQ(Fingerprint(pieces), Fingerprint(whole));
    }
  }
}

TEST(Pass, TurnsAnExceptionOfUserCodeIntoAnErrorThatNamesTheElement) {
  for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(2)}) {
    STOKER_ASSERT_OK_AND_ASSIGN(
        const Dataset dataset,
        NumberedImages(9) | Map{.function = [](Element& element, Rng&, Scratch&) -> Status {
          if (element.key.index == 5) throw std::runtime_error("user code broke");
          return OkStatus();
        }});
    EXPECT_THAT(
        ReadAll(dataset, runtime),
        FailsWith(StatusCode::kInternal, "map: element 5: the function threw: user code broke"));
  }
}

TEST(Pass, TurnsWhateverUserCodeThrowsIntoAnError) {
  const auto throw_at = [](int64_t index) {
    return Map{.function = [index](Element& element, Rng&, Scratch&) -> Status {
      if (element.key.index == index) throw index;
      return OkStatus();
    }};
  };
  const Spec spec{{{"x", DType::kUInt8, {1}}}};
  const Dataset throws = FromGenerator(spec, [](uint64_t) {
    return [made = 0]() mutable -> Result<std::optional<Element>> {
      if (made++ == 2) throw made;
      return Element{.arrays = {Array::Allocate(DType::kUInt8, {1})}};
    };
  });
  const Dataset never_begins = FromGenerator(
      spec, [](uint64_t epoch) -> std::function<Result<std::optional<Element>>()> { throw epoch; });
  for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(2)}) {
    EXPECT_THAT(ReadAll(*(NumberedImages(9) | throw_at(5)), runtime),
                FailsWith(StatusCode::kInternal, "map: element 5: the function threw something"));
    EXPECT_THAT(ReadAll(*(StreamedImages(9) | throw_at(5)), runtime),
                FailsWith(StatusCode::kInternal, "map: element 5: the function threw something"));
    EXPECT_THAT(
        ReadAll(*(throws | Prefetch{}), runtime),
        FailsWith(StatusCode::kInternal, "generator: element 2: the function threw something"));
    EXPECT_THAT(ReadAll(*(never_begins | Prefetch{}), runtime),
                FailsWith(StatusCode::kInternal,
                          "generator: starting epoch 0: the function threw something"));
  }
}

// A stream that finds no memory for element 5.
class OutOfMemoryNode final : public DatasetNode {
 public:
  explicit OutOfMemoryNode(const Dataset& input)
      : DatasetNode("no_memory", input.spec(), Cardinality::Unknown(), {input}) {}
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext& context) const override {
    STOKER_ASSIGN_OR_RETURN(std::unique_ptr<Iterator> elements, context.OpenInput(input()));
    return std::make_unique<Stream>(context, *this, std::move(elements));
  }

 private:
  class Stream final : public Iterator {
   public:
    Stream(const OpenContext& context, const DatasetNode& node, std::unique_ptr<Iterator> input)
        : Iterator(context, node), input_(std::move(input)) {}

   private:
    Result<std::optional<Element>> DoNext() override {
      STOKER_ASSIGN_OR_RETURN(std::optional<Element> element, input_->Next());
      if (element && element->key.index == 5) throw std::bad_alloc();
      return element;
    }
    Result<Json> DoSave() const override { return input_->Save(); }
    Status DoRestore(const Json& state) override { return input_->Restore(state); }

    const std::unique_ptr<Iterator> input_;
  };
};

// Marks what it has seen, and finds no memory for element 5.
class OutOfMemoryTransform final : public Transform {
 public:
  Status Apply(Element& element, Rng&, Scratch& scratch) const override {
    if (element.key.index == 5) throw std::bad_alloc();
    Array label = scratch.NewArray(DType::kInt64, {});
    label.values<int64_t>()[0] = element.arrays[1].values<int64_t>()[0] + 1000;
    element.arrays[1] = std::move(label);
    return OkStatus();
  }
};

TEST(Pass, DeliversWhatWasMadeBeforeAWorkerRanOutOfMemory) {
  const Dataset source = StreamedImages(20);
  const Dataset pulls(std::make_shared<OutOfMemoryNode>(source));
  const Dataset maps =
      MapDataset(source, "marks", "", source.spec(), std::make_shared<OutOfMemoryTransform>());
  struct Case {
    Result<Dataset> dataset;
    int64_t mark, chunk;
  };
  // Element 5 is one of a chunk of several, or the first.
  const Case cases[] = {
      {pulls | Prefetch{}, 0, 0}, {pulls | Prefetch{}, 0, 1}, {maps, 1000, 0}, {maps, 1000, 1}};
  for (const auto& [dataset, mark, chunk] : cases) {
    SCOPED_TRACE(dataset->ToString());
    Runtime runtime = Runtime::Threaded(2);
    runtime.chunk = chunk;
    Json state;
    int64_t i = 0;
    for (const int64_t until : {3, 5}) {
      STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset->Open(runtime));
      if (i > 0) {
        STOKER_ASSERT_OK(iterator->Restore(state));
      }
      for (; i < until; ++i) {
        STOKER_ASSERT_OK_AND_ASSIGN(const std::optional<Element> element, iterator->Next());
        ASSERT_TRUE(element);
        EXPECT_EQ(element->arrays[1].values<int64_t>()[0], i + mark);
      }
      STOKER_ASSERT_OK_AND_ASSIGN(state, iterator->Save());
      if (until == 5) {
        EXPECT_THAT(iterator->Next(),
                    FailsWith(StatusCode::kResourceExhausted, "element 5: out of memory"));
      }
    }
  }
}

TEST(Pass, HasNoPositionWhereAnErrorBrokeAnElementOff) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              StreamedImages(10) | FailAt(5) | Batch{.size = 4});
  STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(Runtime::Inline()));
  STOKER_ASSERT_OK(iterator->Next());
  STOKER_ASSERT_OK(iterator->Save());
  EXPECT_THAT(iterator->Next(), FailsWith(StatusCode::kDataLoss, "element 5 is bad"));
  EXPECT_THAT(iterator->Save(),
              FailsWith(StatusCode::kFailedPrecondition, "in the middle of an element"));
}

}  // namespace stoker::errors_test
