// Elements read again by key where the data are no longer those that the keys were saved of.
#include "stoker/data/core/runtime.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/padded_batch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/sample.h"
#include "stoker/data/ops/unbatch.h"
#include "stoker/data/ops/window.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/sources/range.h"
#include "stoker/data/testing/testing.h"

namespace stoker::read_keys_test {

TEST(ReadKey, RefusesKeysThatTheDataDoNotHave) {
  const Result<Dataset> datasets[] = {
      NumberedImages(5),
      Source(Range{.stop = 5}),
      NumberedImages(9) | Batch{.size = 2},
      NumberedImages(9) | PaddedBatch{.size = 2},
      NumberedImages(9) | Window{.size = 2, .shift = 2},
      NumberedImages(9) | Sample{.count = 5},
      NumberedImages(8) | Batch{.size = 4} | Unbatch{},
      NumberedImages(5) | Repeat{},
  };
  for (const Result<Dataset>& dataset : datasets) {
    SCOPED_TRACE(dataset->ToString());
    STOKER_ASSERT_OK(dataset->Open(Runtime::Inline()));
    STOKER_ASSERT_OK_AND_ASSIGN(const auto pass, Pass::Create(*dataset, Runtime::Inline(), {}));
    const ReadContext context(*pass, /*epoch=*/0, /*vectorized=*/false);
    const DatasetNode& node = dataset->node();
    ASSERT_TRUE(node.rereadable());
    EXPECT_THAT(node.ReadKey({.epoch = 0, .index = 4}, context), IsOk());
    for (const int64_t index : {int64_t{8}, int64_t{-1}, int64_t{-5}}) {
      EXPECT_THAT(node.ReadKey({.epoch = 0, .index = index}, context),
                  FailsWith(StatusCode::kOutOfRange, "have the data changed?"))
          << index;
    }
  }
}

}  // namespace stoker::read_keys_test
