// What stages below a map lose, where the map cannot map the elements of a batch together.
#include <fstream>

#include "stoker/data/core/gathering_transform.h"
#include "stoker/data/core/row_stack.h"
#include "stoker/data/testing/bad_elements.h"
#include "stoker/io/atomic_file.h"

namespace stoker::map_losses_test {

std::vector<std::string> LinesOf(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// Gives the length of a text in the place of the text; none may have seven letters.
class LengthTransform final : public Transform, public GatheringTransform {
 public:
  bool gathers() const override { return true; }

  Status Apply(Element& element, Rng&, Scratch&) const override {
    const int64_t length = element.arrays[0].num_values();
    if (length == 7) return OutOfRange("element {} has seven letters", element.key.index);
    element.arrays[0] = Array::Of(std::vector<int64_t>{length}).Reshaped({});
    return OkStatus();
  }

  Result<Rows> Gather(std::span<const Element> elements, Scratch& scratch) const override {
    std::vector<Element> lengths(elements.begin(), elements.end());
    Rng none(0, 0, 0, 0);
    for (Element& element : lengths) STOKER_RETURN_IF_ERROR(Apply(element, none, scratch));
    return StackElements(kLength, lengths, scratch);
  }

  static inline const Spec kLength{{{"length", DType::kInt64, {}}}};
};

class MapLosses : public testing::Test {
 protected:
  Result<Dataset> Build(const std::string& text) const {
    STOKER_ASSIGN_OR_RETURN(const ConfigNode recipe, ParseYaml(text, "r.yaml"));
    return BuildPipeline(recipe, dir_.path());
  }
  IgnoreErrors Replace() const {
    return {.policy = "replace", .share = 1, .log = dir_ / "bad.jsonl"};
  }

  // What a pass gives, what each stage replaces and skips, and the log.
  std::string Losses(const Dataset& dataset, const Runtime& runtime) const {
    std::filesystem::remove(dir_ / "bad.jsonl");
    const Outcome outcome = Finish(dataset, runtime);
    std::string text = outcome.Text() + '\n';
    for (const StageProfile& stage : outcome.profile.stages)
      text += fmt::format("{}: {} {}\n", stage.name, stage.replaced, stage.skipped);
    for (const std::string& line : LinesOf(dir_ / "bad.jsonl")) text += line + '\n';
    return text;
  }

  void ExpectEqualUnderEveryRuntime(const Result<Dataset>& dataset, size_t lines) const {
    STOKER_ASSERT_OK(dataset);
    const std::string expected = Losses(*dataset, Runtime::Inline());
    EXPECT_EQ(LinesOf(dir_ / "bad.jsonl").size(), lines) << expected;
    for (const Runtime& runtime : kRuntimes) EXPECT_EQ(Losses(*dataset, runtime), expected);
  }

  const QuietLog quiet_;
  const TempDir dir_;
};

// In the first batch of four a damaged row precedes a label that is no class, in the third one
// follows it.
TEST_F(MapLosses, BelowABatchOfRowsThatFailsAreCountedAndLoggedOnceUnderEveryRuntime) {
  STOKER_ASSERT_OK(WriteFileAtomically(
      dir_ / "rows.csv",
      "x,label\n0,0\noops,1\n2,7\n3,1\n4,0\noops,1\n6,0\n7,1\n8,7\noops,1\n10,1\n11,0\n12,1\n"));
  const Result<Dataset> rows = Build(
      "- csv: {files: rows.csv, fields: {x: int64, label: int64}}\n"
      "  on_error: {policy: replace, share: 1, log: bad.jsonl}\n"
      "- one_hot: {classes: 2}\n");
  ExpectEqualUnderEveryRuntime(rows | Batch{.size = 4} | IgnoreErrors{.share = 1}, 2);
}

TEST_F(MapLosses, BelowABatchThatIsGatheredAndFailsAreCountedAndLoggedOnceUnderEveryRuntime) {
  STOKER_ASSERT_OK(WriteFileAtomically(
      dir_ / "a.csv", "text\na\nbad\nletters\nbc\nd\nbad\nef\ng\nletters\nbad\nh\ni\nj\n"));
  const Map refuse_bad{.function =
                           [](Element& element, Rng&, Scratch&) {
                             if (element.arrays[0].num_values() == 3)
                               return DataLoss("element {} is bad", element.key.index);
                             return OkStatus();
                           },
                       .random = false};
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset texts,
                              Build("- csv: {files: a.csv}\n") | refuse_bad | Replace());
  const Dataset lengths = MapDataset(texts, "length", "", LengthTransform::kLength,
                                     std::make_shared<LengthTransform>());
  ExpectEqualUnderEveryRuntime(
      Result<Dataset>(lengths) | Batch{.size = 4} | IgnoreErrors{.share = 1}, 2);
}

}  // namespace stoker::map_losses_test
