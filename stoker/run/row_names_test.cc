#include "stoker/run/row_names.h"

#include "stoker/data/ops/batch.h"
#include "stoker/data/testing/testing.h"

namespace stoker::row_names_test {

const SampleKey kSecond{.epoch = 0, .index = 1};

TEST(RowNames, AreNumbersInTheSourceWhereThePipelineTells) {
  const Dataset batches = *Batch{.size = 8}.Build(NumberedImages(32));
  const RowNames names = NamesInSource(batches, 1, "image", "data.train");
  EXPECT_EQ(names(kSecond, std::vector<int64_t>{3}), "sample 11 of data.train (numbered from 0)");
  EXPECT_EQ(names(kSecond, std::vector<int64_t>{0, 7}),
            "samples 8, 15 of data.train (numbered from 0)");
}

TEST(RowNames, OfManyTheFirstEightAreNamedAndTheRestIsCounted) {
  const std::vector<int64_t> rows = {0, 1, 2, 3, 4, 5, 6, 7, 9, 12, 15};
  const RowNames names =
      NamesInSource(*Batch{.size = 16}.Build(NumberedImages(32)), 1, "image", "data.train");
  EXPECT_EQ(names(kSecond, rows),
            "samples 16, 17, 18, 19, 20, 21, 22, 23 and 3 more of data.train (numbered from 0)");
  EXPECT_EQ(PlacesInBatch(kSecond, rows),
            "samples 0, 1, 2, 3, 4, 5, 6, 7 and 3 more of batch 1 of epoch 1 (batches and samples "
            "are numbered from 0)");
}

TEST(RowNames, ArePlacesWhereItDoesNot) {
  const Dataset batches = *Batch{.size = 8}.Build(StreamedImages(32));
  const RowNames names = NamesInSource(batches, 1, "image", "data.train");
  EXPECT_EQ(names(kSecond, std::vector<int64_t>{3}),
            "sample 3 of batch 1 of epoch 1 (batches and samples are numbered from 0)");
}

}  // namespace stoker::row_names_test
