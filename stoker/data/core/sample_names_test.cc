// Which file an element is made of, known after stages that draw elements and that combine
// pipelines.
#include "stoker/data/core/sample_names.h"

#include "stoker/data/nodes/map.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/ignore_errors.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/testing/picture_folder.h"
#include "stoker/data/testing/testing.h"

// One test asks for more memory than there is: AddressSanitizer shall refuse it as malloc does.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }

namespace stoker::sample_names_test {

// Four pictures of two classes; the last one is damaged.
class SampleNamesTest : public testing::Test {
 protected:
  SampleNamesTest() {
    for (const char* name : {"a/0.ppm", "a/1.ppm", "b/2.ppm"})
      WriteBelow(dir_, name, SmallPicture(4, 5, 0));
    WriteBelow(dir_, "b/bad.ppm", "P6 4 5 255\nshort");
  }

  Result<Dataset> Build(const std::string& text) const {
    STOKER_ASSIGN_OR_RETURN(const ConfigNode recipe, ParseYaml(text, "r.yaml"));
    return BuildPipeline(recipe, dir_.path());
  }

  // The errors of all that fails in a pass name the damaged file, and some do fail.
  void ExpectNamed(const std::string& text) const {
    ExpectFails(text, StatusCode::kDataLoss, "b/bad.ppm");
  }
  void ExpectFails(const std::string& text, StatusCode code, const std::string& says) const {
    SCOPED_TRACE(text);
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Build(text));
    for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(2)}) {
      STOKER_ASSERT_OK_AND_ASSIGN(const auto pass, dataset.Open(runtime, {.seed = 3}));
      EXPECT_THAT(ReadAll(*pass), FailsWith(code, says));
    }
  }

  const TempDir dir_;
};

TEST_F(SampleNamesTest, AnElementThatWasDrawnIsNamedByItsFile) {
  ExpectNamed("- folder: .\n- balance\n- decode\n- resize: 4\n- batch: 2\n");
  ExpectNamed("- folder: .\n- balance\n- repeat: 3\n- shuffle\n- decode\n");
  ExpectNamed("- folder: .\n- sample: {count: 40}\n- decode\n");
  ExpectNamed("- folder: .\n- sample: {weights: [1, 1, 1, 5], replacement: false}\n- decode\n");
}

TEST_F(SampleNamesTest, AnElementOfSeveralPipelinesIsNamedByItsFile) {
  const std::string inputs = "[[folder: .], [folder: ., shuffle]]";
  ExpectNamed("- concatenate: {inputs: " + inputs + "}\n- decode\n");
  ExpectNamed("- mix: {inputs: " + inputs + "}\n- shuffle\n- decode\n");
  ExpectNamed("- choose: {inputs: " + inputs + ", pattern: [1, 0]}\n- decode\n");
  ExpectNamed("- concatenate: {inputs: [[folder: ., balance], [folder: .]]}\n- decode\n");
}

// A picture of 4 x 5 pixels is larger than the window, one of 2 x 2 is not.
TEST_F(SampleNamesTest, WhatAMapCannotDoToASampleNamesItsFileAndIsNoWrongUsage) {
  const std::string small = "c/small.ppm";
  WriteBelow(dir_, "b/bad.ppm", SmallPicture(4, 5, 0));
  WriteBelow(dir_, small, SmallPicture(2, 2, 0));
  const std::string says = small + ": random_crop: element ";
  for (const std::string before :
       {"", "- shuffle\n", "- balance\n", "- filter: {field: label, min: 0}\n"}) {
    for (const std::string behind :
         {"", "- normalize\n", "- batch: 2\n", "- grayscale\n- batch: 2\n"}) {
      ExpectFails(
          "- folder: .\n" + before + "- decode\n- random_crop: {size: 3, padding: 0}\n" + behind,
          StatusCode::kOutOfRange, says);
    }
  }
}

// Fails on one element as a picture does that is too small.
class TooSmallTransform final : public Transform {
 public:
  Status Apply(Element& element, Rng&, Scratch&) const override {
    if (element.key.index != 2) return OkStatus();
    return InvalidArgument("element 2 is too small");
  }
};

TEST_F(SampleNamesTest, WhatAMapCannotDoToASampleIsNoWrongUsageEvenWhereTheSampleHasNoName) {
  const Map by_function{.function = [](Element& element, Rng& rng, Scratch& scratch) {
    return TooSmallTransform().Apply(element, rng, scratch);
  }};
  const MapRows by_rows{.function = [](Rows& rows, const MapRows::RowRng&, Scratch&) {
    const bool has = std::ranges::any_of(rows.keys, [](SampleKey key) { return key.index == 2; });
    return has ? InvalidArgument("element 2 is too small") : OkStatus();
  }};
  for (const Dataset& source : {NumberedImages(4), StreamedImages(4)}) {
    const Dataset by_transform =
        MapDataset(source, "crop", "", source.spec(), std::make_shared<TooSmallTransform>());
    for (const Result<Dataset>& mapped :
         {Result<Dataset>(by_transform), Result(source) | by_function, Result(source) | by_rows}) {
      for (const Result<Dataset>& dataset : {mapped, mapped | Batch{.size = 2}}) {
        for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(2)}) {
          EXPECT_THAT(ReadAll(*dataset, runtime),
                      FailsWith(StatusCode::kOutOfRange, "element 2 is too small"));
        }
      }
    }
  }
}

TEST_F(SampleNamesTest, AFunctionWhoseResultBreaksItsSpecIsWrongUsageAlsoWhereTheSampleHasAName) {
  const Map halves{.function = [](Element& element, Rng&, Scratch&) {
    element.arrays.pop_back();
    return OkStatus();
  }};
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset folder, Build("- folder: .\n"));
  for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(2)}) {
    EXPECT_THAT(ReadAll(*(Result<Dataset>(folder) | halves), runtime),
                FailsWith(StatusCode::kInvalidArgument, "a/0.ppm: map: element 0 has"));
  }
}

TEST_F(SampleNamesTest, WhatAMapOverManyRowsCannotDoToOneNamesItsRecord) {
  WriteBelow(dir_, "rows.csv", "x,label\n1,0\n2,1\n3,7\n4,1\n");
  for (const std::string behind :
       {"", "- batch: 2\n", "- batch: 4\n", "- repeat: 2\n- batch: 8\n"}) {
    ExpectFails("- csv: {files: rows.csv}\n- one_hot: {classes: 2}\n" + behind,
                StatusCode::kOutOfRange, "rows.csv: record 2 ");
  }
}

TEST_F(SampleNamesTest, AMapThatFindsNoMemoryNamesTheStageAndTheFile) {
  const Map greedy{.function = [](Element&, Rng&, Scratch& scratch) {
    scratch.NewArray(DType::kUInt8, {int64_t{1} << 62});
    return OkStatus();
  }};
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset folder, Build("- folder: .\n"));
  for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(2)}) {
    EXPECT_THAT(ReadAll(*(Result<Dataset>(folder) | greedy), runtime),
                FailsWith(StatusCode::kResourceExhausted, "a/0.ppm: map: element 0"));
  }
}

TEST_F(SampleNamesTest, PassesWithDifferentSeedsLeaveWhatIsDrawnWithoutAName) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Build("- folder: .\n- balance\n"));
  for (const uint64_t seed : {1, 2}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const auto pass, dataset.Open(Runtime::Inline(), {.seed = seed}));
    STOKER_ASSERT_OK_AND_ASSIGN(const std::optional<Element> element, pass->Next());
    const std::string name = FindSampleNames(dataset)->NameOfKey(element->key, "image");
    EXPECT_EQ(name.empty(), seed == 2) << name;
  }
}

}  // namespace stoker::sample_names_test
