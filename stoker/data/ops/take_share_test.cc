// take and skip of a share of the elements.
#include "stoker/data/ops/filter.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/skip.h"
#include "stoker/data/ops/take.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/testing/promises.h"

namespace stoker::take_share_test {

Result<Dataset> FromRecipeText(const std::string& stage) {
  return BuildPipeline(*ParseYaml("[range: 100, " + stage + "]", "r.yaml"), ".");
}

TEST(TakeAndSkipOfAShare, PartTheElements) {
  for (const int64_t n : {0, 1, 7, 10, 100}) {
    for (const double share : {0.01, 0.29, 0.5, 0.8, 0.999}) {
      std::vector<int64_t> all =
          Labels(*ReadAll(*(NumberedImages(n) | Take{.count = share}), Runtime::Threaded(2)));
      const std::vector<int64_t> rest =
          Labels(*ReadAll(*(NumberedImages(n) | Skip{.count = share}), Runtime::Threaded(2)));
      all.insert(all.end(), rest.begin(), rest.end());
      ASSERT_EQ(std::ssize(all), n) << share;
      for (int64_t i = 0; i < n; ++i) EXPECT_EQ(all[static_cast<size_t>(i)], i);
    }
  }
}

// 0.29 * 100 is 28.999999999999996.
TEST(TakeAndSkipOfAShare, RoundDownWhatIsNotWholeAndOnlyThat) {
  EXPECT_EQ((NumberedImages(100) | Take{.count = 0.29})->cardinality(), Cardinality::Of(29));
  EXPECT_EQ((NumberedImages(99) | Take{.count = 0.5})->cardinality(), Cardinality::Of(49));
}

TEST(TakeAndSkipOfAShare, AreWrittenInRecipesAndFilledInAgain) {
  EXPECT_EQ(FromRecipeText("take: 0.25")->cardinality(), Cardinality::Of(25));
  EXPECT_EQ(FromRecipeText("skip: {count: 0.25}")->cardinality(), Cardinality::Of(75));
  EXPECT_EQ(FromRecipeText("take: 1")->cardinality(), Cardinality::Of(1));
  ConfigNode filled;
  const ConfigNode written = *ParseYaml("[range: 100, take: 0.25, skip: 3]", "r.yaml");
  STOKER_EXPECT_OK(BuildPipeline(written, ".", &filled));
  EXPECT_EQ(ToYamlLine(filled.items[1]), "{take: {count: 0.25}}");
  EXPECT_EQ(ToYamlLine(filled.items[2]), "{skip: {count: 3}}");
}

TEST(TakeAndSkipOfAShare, KeepThePromisesOfAPipeline) {
  ExpectKeepsItsPromises(NumberedImages(23) | Take{.count = 0.7} | Repeat{.count = 2});
  ExpectKeepsItsPromises(NumberedImages(23) | Skip{.count = 0.7});
}

TEST(TakeAndSkipOfAShare, SayWhatIsNoCountAndNoShare) {
  const auto refused = [](std::string_view says) {
    return FailsWith(StatusCode::kInvalidArgument, std::string(says));
  };
  EXPECT_THAT(FromRecipeText("take: 1.5"), refused("neither a whole number nor a share"));
  EXPECT_THAT(FromRecipeText("take: few"), refused("neither a whole number nor a share"));
  EXPECT_THAT(FromRecipeText("take: -0.5"), refused("neither a whole number nor a share"));
  EXPECT_THAT(FromRecipeText("skip: -1"), refused("is -1; it must be >= 0"));
  EXPECT_THAT(FromRecipeText("skip: {}"), refused("'count' is required"));
  EXPECT_THAT((NumberedImages(9) | Take{.count = -1}), refused("take: count is -1"));
  EXPECT_THAT((NumberedImages(9) | Take{.count = 1.5}), refused("more than 0 and less than 1"));
  EXPECT_THAT((StreamedImages(9) | Take{.count = 0.5}), refused("not known before"));
  EXPECT_THAT((NumberedImages(9) | Filter{.min = 3} | Skip{.count = 0.5}), refused("skip: 0.5"));
  EXPECT_THAT((NumberedImages(9) | Repeat{.count = 0} | Take{.count = 0.5}),
              refused("without end"));
}

}  // namespace stoker::take_share_test
