#include "stoker/run/kinds.h"

#include "stoker/base/testing.h"
#include "stoker/data/sources/range.h"

namespace stoker::kinds_test {

class Halving final : public Schedule {
 public:
  ScheduleValue At(int64_t step) const override {
    return {.lr = 1.0 / static_cast<double>(step + 1)};
  }
};

struct HalvingOptions {
  static constexpr std::string_view kName = "halving_of_one_s_own";
  static constexpr std::string_view kHelp = "Falls with each step.";
  static void Describe(OptionTable<HalvingOptions>&) {}
  Result<std::unique_ptr<Schedule>> Build(const SchedulePlan& /*plan*/) const {
    return std::make_unique<Halving>();
  }
};

struct Squares {
  static constexpr std::string_view kName = "squares_of_one_s_own";
  static constexpr std::string_view kHelp = "As many numbers as the square of a side.";
  int64_t side = 2;
  static void Describe(OptionTable<Squares>& table) {
    table.Field("side", &Squares::side, "of the square", AtLeast(1));
  }
  Result<Dataset> Build() const { return Source(Range{.stop = side * side}); }
};

struct AnotherRange : Squares {
  static constexpr std::string_view kName = "range";
  static void Describe(OptionTable<AnotherRange>&) {}
};

// Once in a process, however often the tests are repeated: kinds stay.
const Status& AddOnce() {
  static const Status added = [] {
    Kinds kinds;
    kinds.Add<HalvingOptions>();
    kinds.Add<Squares>();
    return kinds.status();
  }();
  return added;
}

TEST(Kinds, OfOnesOwnAreReadFromRecipesAsStokersAre) {
  STOKER_ASSERT_OK(AddOnce());
  STOKER_ASSERT_OK_AND_ASSIGN(const auto schedule, ScheduleRegistry::Known().Parse(
                                                       ConfigNode::Scalar("halving_of_one_s_own")));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto built, schedule.build({.total_steps = 8}));
  EXPECT_EQ(built->At(3).lr, .25);
  STOKER_ASSERT_OK_AND_ASSIGN(
      const ConfigNode pipeline,
      ParseYaml("[squares_of_one_s_own: {side: 3}, take: 7]", "recipe.yaml"));
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, BuildPipeline(pipeline, "/"));
  EXPECT_EQ(dataset.cardinality(), Cardinality::Of(7));
  STOKER_ASSERT_OK_AND_ASSIGN(const ConfigNode wrong,
                              ParseYaml("[squares_of_one_s_own: {side: 0}]", "recipe.yaml"));
  EXPECT_THAT(BuildPipeline(wrong, "/"),
              FailsWith(StatusCode::kInvalidArgument, "it must be >= 1"));
}

TEST(Kinds, ANameThatIsTakenIsRefusedAndTheKindThatHasItStays) {
  Kinds kinds;
  kinds.Add<AnotherRange>();
  EXPECT_THAT(kinds.status(), FailsWith(StatusCode::kInvalidArgument,
                                        "operator 'range': there is one of this name already"));
  STOKER_ASSERT_OK_AND_ASSIGN(const ConfigNode pipeline, ParseYaml("[range: 5]", "recipe.yaml"));
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, BuildPipeline(pipeline, "/"));
  EXPECT_EQ(dataset.cardinality(), Cardinality::Of(5));
}

}  // namespace stoker::kinds_test
