#include "stoker/data/recipe/recipe.h"

#include "stoker/data/options/registry.h"
#include "stoker/data/testing/picture_folder.h"
#include "stoker/data/testing/testing.h"

namespace stoker::recipe_test {

using testing::HasSubstr;

// A recipe whose eval pipeline has this operator in its fourth line, before batch.
Result<Dataset> EvalPipelineWith(const std::string& entry) {
  const std::string yaml =
      "data:\n  eval:\n    - idx: {images: unused}\n    - " + entry + "\n    - batch: {size: 4}\n";
  STOKER_ASSIGN_OR_RETURN(const ConfigNode recipe, ParseYaml(yaml, "r.yaml"));
  return BuildEvalPipelineOn(recipe, NumberedImages(10));
}

TEST(BuildEvalPipelineOn, TakesWhatPreparesSamplesAndLeavesOutWhatOnlyArrangesThem) {
  for (const char* entry : {"normalize: {mean: 0.5}",
                            "cast: float32",
                            "prefetch",
                            "prefetch: {depth: 2}",
                            "prefetch: {deterministic: false}",
                            "take: 5",
                            "take: 0.5",
                            "take_while: {max: 3}",
                            "unique",
                            "order: unused.txt",
                            "skip: 5",
                            "skip: 60000",
                            "lookup: [cat, dog]",
                            "shuffle",
                            "shuffle: {seed: 7, reshuffle: false}",
                            "shuffle: {buffer: 4}",
                            "repeat: 2",
                            "repeat",
                            "shard: {index: 3, count: 4}",
                            "split: {eval: 0.2, side: eval}",
                            "balance",
                            "sample: {label: label}",
                            "cache",
                            "cache: {path: unused.cache}",
                            "batch: {size: 3, drop_remainder: true}\n    - unbatch"}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, EvalPipelineWith(entry));
    STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> batches,
                                ReadAll(dataset, Runtime::Threaded(2)));
    EXPECT_THAT(Labels(batches), testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9)) << entry;
  }
}

struct SaysIt {
  static constexpr bool kArranges = false;
};
struct SaysNothing {};
// OperatorRegistry::Add refuses to compile without.
static_assert(SaysWhetherItArranges<SaysIt> && !SaysWhetherItArranges<SaysNothing>);

TEST(OperatorRegistry, KnowsWhichOperatorsArrange) {
  const OperatorRegistry& operators = OperatorRegistry::Known();
  std::vector<std::string> arranging;
  for (const std::string& name : operators.Names())
    if (operators.Arranges(name)) arranging.push_back(name);
  EXPECT_THAT(arranging,
              testing::UnorderedElementsAre("balance", "cache", "ignore_errors", "prefetch",
                                            "repeat", "sample", "shard", "shuffle", "skip", "split",
                                            "take", "take_while", "unique", "order"));
}

TEST(EvalPipelineDecodes, SaysWhetherSamplesAreFiles) {
  const auto decodes = [](const char* eval) {
    const auto recipe = ParseYaml(fmt::format("data:\n  eval: {}\n", eval), "recipe.yaml");
    return EvalPipelineDecodes(*recipe, "image");
  };
  EXPECT_TRUE(decodes("[folder: x, decode, batch]"));
  EXPECT_TRUE(decodes("[folder: x, {decode: {channels: grey}, on_error: skip}, batch]"));
  EXPECT_FALSE(decodes("[folder: x, decode: {field: mask}, batch]"));
  EXPECT_FALSE(decodes("[idx: {images: x}, batch]"));
  EXPECT_FALSE(decodes("7"));
}

TEST(BuildEvalPipelineOn, RefusesWhatWouldPermuteLoseOrChangeAnswersNamingItsLine) {
  const std::pair<const char*, const char*> kCases[] = {
      {"random_crop: {padding: 2}", "random_crop alters elements at random"},
      {"random_flip", "random_flip alters elements at random"},
  };
  for (const auto& [entry, says] : kCases) {
    const Status status = EvalPipelineWith(entry).status();
    EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition) << entry;
    EXPECT_THAT(status.message(), HasSubstr("r.yaml:4:")) << entry;
    EXPECT_THAT(status.message(), HasSubstr(says)) << entry;
    EXPECT_THAT(status.message(), HasSubstr("take that out of data.eval")) << entry;
  }
}

TEST(BuildEvalPipelineOn, GivesThePlaceOfAnOperatorThatDoesNotFitTheSamples) {
  EXPECT_THAT(EvalPipelineWith("normalize: {field: picture}"),
              FailsWith(StatusCode::kInvalidArgument, "r.yaml:4:"));
}

TEST(BuildEvalPipelineOn, NeedsAnEvalPipeline) {
  STOKER_ASSERT_OK_AND_ASSIGN(const ConfigNode recipe, ParseYaml("data: {root: .}", "r.yaml"));
  EXPECT_THAT(BuildEvalPipelineOn(recipe, NumberedImages(1)),
              FailsWith(StatusCode::kFailedPrecondition, "no pipeline data.eval"));
}

TEST(ParseDataSection, RefusesAnUnknownKeyWithItsPlace) {
  STOKER_ASSERT_OK_AND_ASSIGN(const ConfigNode recipe,
                              ParseYaml("data:\n  trian: [idx]\n", "r.yaml"));
  EXPECT_THAT(ParseDataSection(recipe, "."),
              FailsWith(StatusCode::kInvalidArgument,
                        "r.yaml:2:3: data: unknown key 'trian'; did you mean 'train'?"));
}

class RecipeOfFolders : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name :
         {"train/cat/1.ppm", "train/dog/1.ppm", "test/cat/2.ppm", "test/dog/2.ppm"})
      WriteBelow(dir_, name, SmallPicture(2, 2, 0));
  }

  Result<DataRecipe> Parse(const std::string& more = "") const {
    const std::string yaml = "data:\n  train: [folder: train]\n  eval: [folder: test]\n" + more;
    STOKER_ASSIGN_OR_RETURN(const ConfigNode recipe, ParseYaml(yaml, "r.yaml"));
    return ParseDataSection(recipe, dir_.path());
  }
  const TempDir dir_;
};

TEST_F(RecipeOfFolders, CallsTheClassesAsTheFoldersUnlessTheRecipeNamesThem) {
  STOKER_ASSERT_OK_AND_ASSIGN(const DataRecipe by_folders, Parse());
  EXPECT_THAT(by_folders.classes, testing::ElementsAre("cat", "dog"));
  EXPECT_EQ(ToYamlLine(*by_folders.filled.Find("classes")), "[cat, dog]");
  STOKER_ASSERT_OK_AND_ASSIGN(const DataRecipe named, Parse("  classes: [Katze, Hund]\n"));
  EXPECT_THAT(named.classes, testing::ElementsAre("Katze", "Hund"));
}

TEST_F(RecipeOfFolders, RefusesNamesThatAreNotOneForEachClassOrAreTheSameInAnotherOrder) {
  EXPECT_THAT(Parse("  classes: [dog, cat]\n"),
              FailsWith(StatusCode::kInvalidArgument,
                        "r.yaml:4:12: data.classes has the classes of data.train in another order: "
                        "number 0 is 'cat' there and 'dog' here; leave the key out"));
  for (const char* names : {"[cat]", "[cat, dog, cow]"}) {
    EXPECT_THAT(
        Parse(fmt::format("  classes: {}\n", names)),
        FailsWith(StatusCode::kInvalidArgument, "but data.train has 2 classes ('cat', ...)"));
  }
}

TEST_F(RecipeOfFolders, RefusesAnEvalFolderWhoseClassesHaveOtherNumbers) {
  WriteBelow(dir_, "test/cow/1.ppm", SmallPicture(2, 2, 0));
  EXPECT_THAT(Parse(),
              FailsWith(StatusCode::kInvalidArgument, "number 1 is 'dog' there and 'cow' here"));
  std::filesystem::remove_all(dir_.path() / "test" / "cow");
  std::filesystem::remove_all(dir_.path() / "test" / "dog");
  EXPECT_THAT(Parse(),
              FailsWith(StatusCode::kInvalidArgument, "number 1 is 'dog' there and nothing here"));
}

// Words in the field `sort`, which the model learns where the recipe says so.
TEST(RecipeOfWords, CallsTheClassesAsTheWordsThatLookupNumbers) {
  const TempDir dir;
  WriteBelow(dir, "a.csv", "x,sort\n1,dog\n2,cat\n");
  const auto parse = [&](const std::string& more, const std::string& train) -> Result<DataRecipe> {
    const std::string words =
        "[csv: {files: a.csv, index: memory}, lookup: {values: [cat, dog], field: sort}]\n";
    const std::string yaml = "data:\n  train: " + words + more + "train: {" + train + "}\n";
    STOKER_ASSIGN_OR_RETURN(const ConfigNode recipe, ParseYaml(yaml, "r.yaml"));
    return ParseDataSection(recipe, dir.path());
  };
  STOKER_ASSERT_OK_AND_ASSIGN(const DataRecipe recipe, parse("", "target: sort"));
  EXPECT_EQ(ToYamlLine(*recipe.filled.Find("classes")), "[cat, dog]");
  STOKER_ASSERT_OK_AND_ASSIGN(const DataRecipe another, parse("", "target: x"));
  EXPECT_TRUE(another.classes.empty());
  EXPECT_THAT(parse("  eval: [csv: {files: a.csv, index: memory}, "
                    "lookup: {values: [dog, cat], field: sort}]\n",
                    "target: sort"),
              FailsWith(StatusCode::kInvalidArgument, "number 0 is 'cat' there and 'dog' here"));
}

}  // namespace stoker::recipe_test
