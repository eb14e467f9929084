#include "stoker/data/advice/stage_works.h"

#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/testing/testing.h"
#include "stoker/data/transforms/normalize.h"

namespace stoker::stage_works_test {

TEST(StageWorks, TellsSourcesTransformsAndTheOthersApart) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, NumberedImages(8) | Shuffle{} |
                                                         Normalize{.mean = {0.5}, .std = {0.5}} |
                                                         Batch{.size = 4});
  const StageWorks works(dataset);
  const DatasetNode* source = &dataset.node();
  while (!source->inputs().empty()) source = &source->inputs()[0].node();
  EXPECT_EQ(works.Of(source->name()), StageWork::kReads);
  EXPECT_EQ(works.Of(Shuffle::kName), StageWork::kArranges);
  EXPECT_EQ(works.Of(Normalize::kName), StageWork::kChanges);
  EXPECT_EQ(works.Of(Batch::kName), StageWork::kArranges);
}

TEST(StageWorks, StagesThatWerePutTogetherChangeElementsAndPicturesAreDecoded) {
  const StageWorks works(NumberedImages(8));
  EXPECT_EQ(works.Of("normalize+cast"), StageWork::kChanges);
  EXPECT_EQ(works.Of("one_pass"), StageWork::kDecodes);
}

TEST(StageWork, HasANameThatReadsBack) {
  for (const StageWork work :
       {StageWork::kReads, StageWork::kDecodes, StageWork::kChanges, StageWork::kArranges})
    EXPECT_EQ(ParseStageWork(NameOf(work)), work);
  EXPECT_FALSE(ParseStageWork("sleeps"));
}

}  // namespace stoker::stage_works_test
