#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "stoker/base/testing.h"
#include "stoker/formats/libsvm/libsvm_parser.h"

namespace stoker::libsvm_test {

using testing::ElementsAre;

TEST(Libsvm, ReadsLabelsQueriesAndFeatures) {
  LibsvmSample sample;
  STOKER_ASSERT_OK(ParseLibsvm("+1 1:0.5 3:-2e1\t10:7 # ann", {}, sample));
  EXPECT_THAT(sample.labels, ElementsAre(1));
  EXPECT_THAT(sample.indices, ElementsAre(0, 2, 9));
  EXPECT_THAT(sample.values, ElementsAre(0.5, -20, 7));
  EXPECT_EQ(sample.query, -1);
  STOKER_ASSERT_OK(ParseLibsvm("2,5,7 qid:3 0:1 ", {.first_index = 0}, sample));
  EXPECT_THAT(sample.labels, ElementsAre(2, 5, 7));
  EXPECT_THAT(sample.indices, ElementsAre(0));
  EXPECT_EQ(sample.query, 3);
  STOKER_ASSERT_OK(ParseLibsvm("-1.5", {}, sample));
  EXPECT_THAT(sample.labels, ElementsAre(-1.5));
  EXPECT_THAT(sample.indices, testing::IsEmpty());
}

TEST(Libsvm, ReadsValuesTooSmallForTheirTypeAsZero) {
  LibsvmSample sample;
  STOKER_ASSERT_OK(ParseLibsvm("1e-400 1:1e-50 2:-1e-60 3:1e-45 4:2", {}, sample));
  EXPECT_THAT(sample.labels, ElementsAre(0));
  EXPECT_THAT(sample.values, ElementsAre(0, 0, std::numeric_limits<float>::denorm_min(), 2));
}

TEST(Libsvm, SaysWhereALineIsWrong) {
  LibsvmSample sample;
  for (const auto& [line, says] : std::vector<std::pair<std::string, std::string>>{
           {"", "byte 0: a label is wanted, but the line ends"},
           {"# x", "byte 0: a label is wanted, found '#'"},
           {"a 1:2", "byte 0: a label is wanted, found 'a'"},
           {"1, 1:2", "byte 2: a label is wanted"},
           {"1:2 2:3", "byte 1: a blank is wanted after the label, found ':2'"},
           {"1 2", "byte 3: a colon is wanted after the index, but the line ends"},
           {"1 x:2", "byte 2: the index of a feature is wanted, found 'x:2'"},
           {"1 2:x", "byte 4: the value of a feature is wanted, found 'x'"},
           {"1 2:3x", "byte 5: a blank is wanted after the value, found 'x'"},
           {"1 0:3", "byte 2: indices are 1 to 4, found '0:3'"},
           {"1 5:3", "byte 2: indices are 1 to 4, found '5:3'"},
           {"1 2:3 2:4", "byte 6: indices must grow from left to right, found '2:4'"},
           {"1 qid:x", "after qid:"},
           {"1 qid:-1", "byte 6: the number of a query is from 0 on, found '-1'"},
           {"1 qid:1x", "byte 7: a blank is wanted after the number of the query, found 'x'"},
           {"1e400 1:1", "byte 0: a label is too large for float64, found '1e400'"},
           {"1 2:1e50 3:1", "byte 4: the value of a feature is too large for float32, found "},
           {"1 99999999999999999999:1", "the index of a feature is too large for int64"}}) {
    EXPECT_THAT(ParseLibsvm(line, {.features = 4}, sample), FailsWith(StatusCode::kDataLoss, says))
        << line;
  }
}

TEST(Libsvm, EveryTruncationAndEveryFlippedByteIsReadOrAnError) {
  const std::string good = "-1,2 qid:7 1:0.25 3:-1e3 # c";
  LibsvmSample sample;
  STOKER_ASSERT_OK(ParseLibsvm(good, {}, sample));
  for (size_t at = 0; at < good.size(); ++at) {
    const std::string cut = good.substr(0, at);
    (void)ParseLibsvm(cut, {}, sample);
    for (int byte = 0; byte < 256; ++byte) {
      std::string bad = good;
      bad[at] = static_cast<char>(byte);
      const Status status = ParseLibsvm(bad, {}, sample);
      EXPECT_TRUE(status.ok() || status.code() == StatusCode::kDataLoss);
      EXPECT_EQ(sample.indices.size(), sample.values.size());
    }
  }
}

}  // namespace stoker::libsvm_test
