// Random pipelines keep what every pipeline promises: the same bytes under both runtimes, at any
// number of threads, fresh and resumed, and under any memory budget.
#include <map>
#include <set>
#include <string>

#include "stoker/data/core/runtime.h"
#include "stoker/data/testing/random_pipeline.h"

namespace stoker::random_pipelines_test {

// So many that each source and each operator is in at least five.
constexpr uint32_t kPipelines = 600;

void CollectNames(const Dataset& dataset, std::set<std::string>& names) {
  names.insert(dataset.node().name());
  for (const Dataset& input : dataset.node().inputs()) CollectNames(input, names);
}

TEST(RandomPipelines, HaveEveryOperatorInManyOfThem) {
  std::map<std::string, int> pipelines;  // how many have such a stage
  for (uint32_t seed = 0; seed < kPipelines; ++seed) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, RandomPipeline(seed));
    std::set<std::string> names;
    CollectNames(dataset, names);
    for (const std::string& name : names) ++pipelines[name];
  }
  for (const char* name :
       {"folder",      "list",        "decode",      "one_pass",     "layout",
        "resize",      "center_crop", "random_crop", "random_flip",  "random_resized_crop",
        "range",       "shuffle",     "shard",       "sample",       "balance",
        "take",        "skip",        "repeat",      "map",          "ignore_errors",
        "cache",       "prefetch",    "filter",      "flat_map",     "enumerate",
        "input_mask",  "window",      "unbatch",     "padded_batch", "bucket_by_length",
        "batch",       "one_hot",     "mixup",       "cutmix",       "zip",
        "concatenate", "mix",         "interleave",  "choose",       "tfrecord",
        "csv",         "webdataset",  "npy",         "lines",        "jsonl",
        "libsvm",      "binary",      "lmdb",        "npz",          "recordio",
        "encode",      "stoker",      "zip_archive", "hdf5",         "n5",
        "decode_raw",  "decode_npy",  "decode_json", "lookup"}) {
    EXPECT_GE(pipelines[name], 5) << name;
  }
  for (const char* name : {"parquet", "arrow"}) {
    if (!RandomFiles::Get().has_tables()) break;
    EXPECT_GE(pipelines[name], 5) << name;
  }
}

TEST(RandomPipelines, GiveTheSameBytesInlineAndOnAnyNumberOfThreads) {
  const QuietLog quiet;  // about elements that fail
  for (uint32_t seed = 0; seed < kPipelines; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, RandomPipeline(seed));
    const PassOptions pass{.seed = seed, .epoch = seed % 3};
    STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> expected,
                                ReadAll(dataset, Runtime::Inline(), pass));
    if (dataset.cardinality().known()) {
      ASSERT_EQ(std::ssize(expected), dataset.cardinality().value());
    }
    for (const int threads : {0, 1, 2, 8}) {
      Runtime runtime = Runtime::Threaded(threads);
      runtime.chunk = seed / 4 % 4;  // 0: follows what elements cost
      STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> got, ReadAll(dataset, runtime, pass));
      ASSERT_EQ(Fingerprint(got), Fingerprint(expected)) << threads << " threads\n"
                                                         << dataset.ToString();
    }
  }
}

TEST(RandomPipelines, ContinueExactlyWhereTheyWereSavedUnderEitherRuntime) {
  const QuietLog quiet;  // about elements that fail
  for (uint32_t seed = 0; seed < kPipelines; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, RandomPipeline(seed));
    const PassOptions pass{.seed = seed};
    STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> whole,
                                ReadAll(dataset, Runtime::Inline(), pass));
    const Runtime runtimes[] = {Runtime::Inline(), Runtime::Threaded(2)};
    const Runtime& first = runtimes[seed % 2];
    const Runtime& second = runtimes[seed / 2 % 2];

    // Saved at two places, so that a restored pass is saved and restored again.
    std::vector<Element> pieces;
    Json state;
    for (const size_t part : {size_t{1}, size_t{2}, size_t{0}}) {
      const Runtime& runtime = part == 1 ? first : second;
      // The epoch is part of the position: whoever resumes need not know it.
      const PassOptions here{.seed = seed, .epoch = part == 1 ? pass.epoch : part + 5};
      STOKER_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Iterator> iterator,
                                  dataset.Open(runtime, here));
      if (part != 1) {
        STOKER_ASSERT_OK(iterator->Restore(state));
      }
      const size_t stop = part == 0 ? whole.size() + 1 : part * whole.size() / 3;
      while (pieces.size() < stop) {
        STOKER_ASSERT_OK_AND_ASSIGN(std::optional<Element> element, iterator->Next());
        if (!element) break;
        pieces.push_back(*std::move(element));
      }
      STOKER_ASSERT_OK_AND_ASSIGN(state, iterator->Save());
    }
    ASSERT_EQ(Fingerprint(pieces), Fingerprint(whole)) << dataset.ToString();
  }
}

TEST(RandomPipelines, ByPositionSaveInLessThan16KB) {
  int by_position = 0;
  for (uint32_t seed = 0; seed < kPipelines; ++seed) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, RandomPipeline(seed));
    if (!dataset.node().random_access()) continue;
    ++by_position;
    for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(2)}) {
      STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(runtime));
      for (int i = 0; i < 7; ++i) STOKER_ASSERT_OK(iterator->Next());
      STOKER_ASSERT_OK_AND_ASSIGN(const Json state, iterator->Save());
      EXPECT_LE(state.dump().size(), 16u << 10) << dataset.ToString();
    }
  }
  EXPECT_GT(by_position, 50);
}

TEST(RandomPipelines, ArriveWholeUnderATinyMemoryBudget) {
  const QuietLog quiet;  // about elements that fail
  int whole = 0;
  for (uint32_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, RandomPipeline(seed));
    Runtime tight = Runtime::Threaded(4);
    tight.memory_budget = 1 + seed % 7 * 50;  // most elements are larger than that
    STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> expected,
                                ReadAll(dataset, Runtime::Inline()));
    const Result<std::vector<Element>> got = ReadAll(dataset, tight);
    // What is refused: a shuffle buffer, buckets, what a window reaches over, or a file's chunks or
    // groups of rows, which have to be held whole.
    if (got.status().code() == StatusCode::kResourceExhausted) {
      ASSERT_THAT(
          got.status().message(),
          testing::AnyOf(testing::HasSubstr("shuffle: a buffer of "),
                         testing::HasSubstr("bucket_by_length: the "),
                         testing::HasSubstr("window: the first "),
                         testing::HasSubstr("what is set aside for chunks takes "),
                         testing::HasSubstr("what is set aside for groups of rows takes ")));
      continue;
    }
    STOKER_ASSERT_OK(got);
    ASSERT_EQ(Fingerprint(*got), Fingerprint(expected)) << dataset.ToString();
    ++whole;
  }
  EXPECT_GT(whole, 60);  // most pipelines have no such buffer
}

}  // namespace stoker::random_pipelines_test
