#include "stoker/data/core/padded_fields.h"

#include "stoker/data/ops/bucket_by_length.h"
#include "stoker/data/ops/concatenate.h"
#include "stoker/data/ops/padded_batch.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/testing/text.h"
#include "stoker/data/transforms/words.h"

namespace stoker::padded_fields_test {

using testing::ElementsAre;
using testing::IsEmpty;

class PaddedFieldsTest : public TextTest {
 protected:
  Dataset Tokens() {
    return *(LinesOf("t", "a b\nb\n") | Words{.values = {"a", "b"}, .reserve = 1});
  }
};

TEST_F(PaddedFieldsTest, HaveThePaddingOfTheStageThatMakesBatches) {
  EXPECT_THAT(FindPaddings(Tokens(), "tokens"), IsEmpty());
  const Dataset padded = *(Tokens() | PaddedBatch{.size = 2, .padding = {7}} | Prefetch{});
  EXPECT_THAT(FindPaddings(padded, "tokens"), ElementsAre(7));
  EXPECT_THAT(FindPaddings(padded, "other"), IsEmpty());
  const Dataset buckets =
      *(Tokens() | BucketByLength{.field = "tokens", .boundaries = {1}, .padding = {-1}});
  EXPECT_THAT(FindPaddings(buckets, "tokens"), ElementsAre(-1));
}

TEST_F(PaddedFieldsTest, HaveThePaddingsOfAllPipelinesThatAreJoined) {
  const Dataset zero = *(Tokens() | PaddedBatch{.size = 2});
  const Dataset three = *(Tokens() | PaddedBatch{.size = 2, .padding = {3}});
  EXPECT_THAT(FindPaddings(*Concatenate{.inputs = {zero, three}}.Build(), "tokens"),
              ElementsAre(0, 3));
}

}  // namespace stoker::padded_fields_test
