#include "stoker/device/feeder.h"

#include <torch/utils.h>

#include "stoker/base/testing.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/nodes/from_arrays.h"
#include "stoker/data/nodes/map.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/transforms/cast.h"
#include "stoker/data/transforms/layout.h"
#include "stoker/device/accelerator.h"

namespace stoker::feeder_test {

constexpr int64_t kSamples = 10;

// Ten images of 2 channels, 2 x 3, whose values count up; labels 0 to 9 as bytes; batches of 4.
Dataset Images() {
  std::vector<float> pixels(kSamples * 12);
  std::iota(pixels.begin(), pixels.end(), 0.0f);
  std::vector<uint8_t> labels(kSamples);
  std::iota(labels.begin(), labels.end(), 0);
  return *(FromArrays({{"image", Array::Of<float>(pixels, {kSamples, 2, 2, 3})},
                       {"label", Array::Of(labels)}}) |
           Batch{.size = 4});
}

Result<std::unique_ptr<Feeder>> Feed(const Dataset& dataset, const FeederOptions& options = {}) {
  STOKER_ASSIGN_OR_RETURN(auto elements, dataset.Open(Runtime::Threaded(1)));
  return Feeder::Create(std::move(elements), dataset.spec(), options);
}

at::Tensor AllInputs() { return torch::arange(120, torch::kFloat).view({10, 2, 2, 3}); }
at::Tensor AllTargets() { return torch::arange(10); }

// The whole pass, put together again on the CPU.
void ExpectAllBatches(Feeder& feeder, c10::Device device) {
  std::vector<at::Tensor> inputs, targets;
  while (true) {
    STOKER_ASSERT_OK_AND_ASSIGN(auto batch, feeder.Next());
    if (!batch) break;
    EXPECT_EQ(batch->input.device(), device);
    EXPECT_EQ(batch->target.device(), device);
    EXPECT_EQ(batch->target.only().scalar_type(), torch::kLong);
    inputs.push_back(batch->input.only().cpu());
    targets.push_back(batch->target.only().cpu());
  }
  ASSERT_EQ(inputs.size(), 3u);
  EXPECT_EQ(inputs.back().size(0), 2);
  EXPECT_TRUE(torch::equal(torch::cat(inputs), AllInputs()));
  EXPECT_TRUE(torch::equal(torch::cat(targets), AllTargets()));
}

TEST(Feeder, GivesInputsAndClassNumbersInOrder) {
  STOKER_ASSERT_OK_AND_ASSIGN(const auto feeder, Feed(Images()));
  ExpectAllBatches(*feeder, torch::kCPU);
}

TEST(Feeder, NeedsNoTargetWhereNoneIsWanted) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset unlabelled,
      FromArrays({{"image", Array::Allocate(DType::kFloat32, {3, 2})}}) | Batch{.size = 2});
  EXPECT_THAT(Feed(unlabelled), FailsWith(StatusCode::kInvalidArgument, "train.target"));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto feeder, Feed(unlabelled, {.targets = {}}));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto batch, feeder->Next());
  EXPECT_EQ(batch->size(), 2);
  EXPECT_FALSE(batch->target.defined());
}

TEST(Feeder, HandsOtherFieldsAlongAsTheyAre) {
  STOKER_ASSERT_OK_AND_ASSIGN(const auto feeder,
                              Feed(Images(), {.targets = {}, .along = {"label"}}));
  STOKER_ASSERT_OK(feeder->Next());
  STOKER_ASSERT_OK_AND_ASSIGN(const auto batch, feeder->Next());
  ASSERT_EQ(batch->along.size(), 1u);
  EXPECT_THAT(batch->along[0].values<uint8_t>(), testing::ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(Feed(Images(), {.along = {"path"}}), FailsWith(StatusCode::kInvalidArgument, "path"));
}

TEST(Feeder, SaysWhichKeyNamesAnotherField) {
  EXPECT_THAT(Feed(Images(), {.inputs = {{.field = "picture"}}}),
              FailsWith(StatusCode::kInvalidArgument,
                        "set train.input to the one that the model "
                        "sees"));
  EXPECT_THAT(Feed(Images(), {.targets = {"class"}}),
              FailsWith(StatusCode::kInvalidArgument,
                        "set train.target to the one that holds the targets"));
}

TEST(Feeder, ChannelsThatComeLastAreTurnedWithoutACopy) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset last, Result<Dataset>(Images()) | Layout{});
  STOKER_ASSERT_OK_AND_ASSIGN(const auto feeder,
                              Feed(last, {.inputs = {{.channels_last = true}},
                                          .memory_format = at::MemoryFormat::ChannelsLast}));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto batch, feeder->Next());
  EXPECT_TRUE(torch::equal(batch->input.only(), AllInputs().slice(0, 0, 4)));
  EXPECT_TRUE(batch->input.only().is_contiguous(at::MemoryFormat::ChannelsLast));
}

TEST(Feeder, NarrowerFloatsBecomeFloat32) {
  for (const char* dtype : {"bfloat16", "float16", "float64"}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset cast,
                                Result<Dataset>(Images()) | Cast{.dtype = dtype});
    STOKER_ASSERT_OK_AND_ASSIGN(const auto feeder, Feed(cast));
    ExpectAllBatches(*feeder, torch::kCPU);  // whole numbers below 256: exact in all of them
  }
}

TEST(Feeder, GivesTheLayoutItWasAskedFor) {
  STOKER_ASSERT_OK_AND_ASSIGN(const auto feeder,
                              Feed(Images(), {.memory_format = at::MemoryFormat::ChannelsLast}));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto batch, feeder->Next());
  ASSERT_TRUE(batch.has_value());
  EXPECT_TRUE(batch->input.only().is_contiguous(at::MemoryFormat::ChannelsLast));
  EXPECT_TRUE(torch::equal(batch->input.only(), AllInputs().slice(0, 0, 4)));
}

TEST(Feeder, ContinuesBehindTheBatchesHandedOut) {
  STOKER_ASSERT_OK_AND_ASSIGN(const auto first, Feed(Images()));
  STOKER_ASSERT_OK(first->Next());
  STOKER_ASSERT_OK_AND_ASSIGN(const Json state, first->Save());
  STOKER_ASSERT_OK_AND_ASSIGN(const auto second, Feed(Images()));
  STOKER_ASSERT_OK(second->Restore(state));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto batch, second->Next());
  ASSERT_TRUE(batch.has_value());
  EXPECT_TRUE(torch::equal(batch->target.only(), AllTargets().slice(0, 4, 8)));
}

// The images with `target` in the place of their labels.
Dataset WithTarget(const Array& target) {
  return *(
      FromArrays({{"image", Array::Allocate(DType::kFloat32, {kSamples, 3})}, {"label", target}}) |
      Batch{.size = 4});
}

TEST(Feeder, NumbersStayNumbersAndIntegersOneASampleBecomeInt64) {
  std::vector<double> values(kSamples);
  for (size_t i = 0; i < values.size(); ++i) values[i] = 0.5 * static_cast<double>(i) - 1;
  std::vector<uint8_t> labels(2 * kSamples);
  for (size_t i = 0; i < labels.size(); ++i) labels[i] = i % 3 == 0;
  const struct {
    const char* name;
    Array target;
    at::Tensor given;
  } cases[] = {
      {"double", Array::Of(values), torch::arange(10, torch::kFloat) * 0.5 - 1},
      {"bytes in rows", Array::Of<uint8_t>(labels, {kSamples, 2}),
       torch::arange(20).remainder(3).eq(0).view({10, 2}).to(torch::kFloat)},
      {"a row of one", Array::Of<double>(values, {kSamples, 1}),
       (torch::arange(10, torch::kFloat) * 0.5 - 1).view({10, 1})},
  };
  std::vector<c10::Device> devices = {torch::kCPU};
  if (const Result<OpenedDevice> opened = OpenDevice("cuda"); opened.ok()) {
    devices.push_back(opened->device);
  }
  for (const c10::Device& device : devices) {
    for (const auto& [name, target, given] : cases) {
      SCOPED_TRACE(testing::Message() << name << " on " << device.str());
      STOKER_ASSERT_OK_AND_ASSIGN(const auto feeder, Feed(WithTarget(target), {.device = device}));
      for (int64_t begin = 0; begin < kSamples; begin += 4) {
        STOKER_ASSERT_OK_AND_ASSIGN(const auto batch, feeder->Next());
        ASSERT_TRUE(batch.has_value());
        EXPECT_EQ(batch->target.device(), device);
        EXPECT_EQ(batch->target.only().scalar_type(), torch::kFloat);
        EXPECT_TRUE(torch::equal(batch->target.only().cpu(), given.slice(0, begin, begin + 4)));
      }
    }
  }
}

TEST(Feeder, ShowsNumbersToWhoeverChecksThemAndGivesTheErrorInTheirPlace) {
  std::vector<double> values(kSamples, 1);
  values[6] = 2;
  int64_t seen = 0;
  const BatchCheck check = [&](const at::Tensor& target, const SampleKey& key) {
    ++seen;
    EXPECT_EQ(target.scalar_type(), torch::kFloat);
    EXPECT_TRUE(target.is_cpu());
    return target.gt(1).any().item<bool>() ? OutOfRange("batch {} is wrong", key.index)
                                           : OkStatus();
  };
  const FeederOptions options{.check = {.targets = {check}}};
  STOKER_ASSERT_OK_AND_ASSIGN(const auto feeder, Feed(WithTarget(Array::Of(values)), options));
  STOKER_EXPECT_OK(feeder->Next());
  EXPECT_THAT(feeder->Next(), FailsWith(StatusCode::kOutOfRange, "batch 1 is wrong"));
  EXPECT_EQ(seen, 2);
  STOKER_ASSERT_OK_AND_ASSIGN(const auto classes, Feed(Images(), options));
  STOKER_EXPECT_OK(classes->Next());
  EXPECT_EQ(seen, 2);  // class numbers are for who knows how many there are
}

TEST(Feeder, GivesTheWeightsOfSamplesAfterTheTargetsAsFloatsOnceTheyAreChecked) {
  int64_t seen = 0;
  const BatchCheck check = [&](const at::Tensor& weights, const SampleKey&) {
    ++seen;
    EXPECT_EQ(weights.scalar_type(), torch::kFloat);
    return OkStatus();
  };
  const FeederOptions options{.sample_weight = "label", .check = {.targets = {nullptr, check}}};
  STOKER_ASSERT_OK_AND_ASSIGN(const auto feeder, Feed(Images(), options));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto batch, feeder->Next());
  ASSERT_EQ(batch->target.all().size(), 2u);
  EXPECT_EQ(batch->target.all()[0].scalar_type(), torch::kLong);
  EXPECT_TRUE(torch::equal(batch->target.all()[1], torch::arange(4, torch::kFloat)));
  EXPECT_EQ(seen, 1);
}

TEST(Feeder, TakesOneNumberASampleAsItsWeight) {
  const auto find = [](const Field& weight, const std::set<std::string>& without_rows = {}) {
    const Spec spec{{{"image", DType::kFloat32, {-1, 3}}, {"label", DType::kInt64, {-1}}, weight}};
    return FindFeederFields(spec, {.sample_weight = "w", .without_rows = without_rows});
  };
  STOKER_EXPECT_OK(find({"w", DType::kUInt8, {-1}}));
  EXPECT_THAT(find({"w", DType::kFloat32, {-1, 1}}),
              FailsWith(StatusCode::kInvalidArgument,
                        "train.sample_weight: field w: float32[?, 1] must have one number a "
                        "sample, so the shape [samples]; read it as one"));
  EXPECT_THAT(find({"w", DType::kFloat32, {-1}}, {"w"}),
              FailsWith(StatusCode::kInvalidArgument,
                        "train.sample_weight: field w: float32[?] is of a ragged batch"));
  EXPECT_THAT(find({"v", DType::kFloat32, {-1}}),
              FailsWith(StatusCode::kInvalidArgument,
                        "set train.sample_weight to the one that holds the weights of samples"));
}

TEST(Feeder, ShowsInputsToTheCheckAndItsErrorReplacesTheBatch) {
  int64_t seen = 0;
  const InputCheck check = [&](const Inputs& tokens, const SampleKey& key) {
    ++seen;
    return tokens.only().ge(9).any().item<bool>() ? OutOfRange("batch {} is wrong", key.index)
                                                  : OkStatus();
  };
  const std::vector<int32_t> tokens = {1, 2, 3, 4, 5, 9, 7, 8};
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset batches,
                              FromArrays({{"image", Array::Of<int32_t>(tokens, {4, 2})},
                                          {"label", Array::Of(std::vector<uint8_t>(4))}}) |
                                  Batch{.size = 2});
  const FeederOptions options{.check = {.targets = {}, .inputs = {check}}};
  STOKER_ASSERT_OK_AND_ASSIGN(const auto feeder, Feed(batches, options));
  STOKER_EXPECT_OK(feeder->Next());
  EXPECT_THAT(feeder->Next(), FailsWith(StatusCode::kOutOfRange, "batch 1 is wrong"));
  EXPECT_EQ(seen, 2);
}

TEST(Feeder, GivesSeveralInputsInTheirOrderEachCheckedByItself) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset batches,
      FromArrays(
          {{"row", Array::Of<float>(std::vector<float>{1, 2, 3, 4}, {4, 1})},
           {"words", Array::Of<int32_t>(std::vector<int32_t>{1, 2, 3, 4, 5, 9, 7, 8}, {4, 2})},
           {"label", Array::Of(std::vector<uint8_t>(4))}}) |
          Batch{.size = 2});
  const InputCheck check = [](const Inputs& tokens, const SampleKey&) {
    return tokens.only().ge(9).any().item<bool>() ? OutOfRange("9 is no token") : OkStatus();
  };
  STOKER_ASSERT_OK_AND_ASSIGN(const auto feeder,
                              Feed(batches, {.inputs = {{.field = "words"}, {.field = "row"}},
                                             .check = {.targets = {}, .inputs = {check, {}}}}));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto batch, feeder->Next());
  ASSERT_EQ(batch->input.all().size(), 2u);
  EXPECT_TRUE(torch::equal(batch->input.all()[0], torch::tensor({{1, 2}, {3, 4}})));
  EXPECT_TRUE(torch::equal(batch->input.all()[1], torch::tensor({{1.f}, {2.f}})));
  EXPECT_EQ(batch->size(), 2);
  EXPECT_EQ(batch->input.ShapesText(), "[2, 2] and [2, 1]");
  EXPECT_THAT(feeder->Next(), FailsWith(StatusCode::kOutOfRange, "9 is no token"));
}

// Sequences of tokens 1 2, none, 3 4 5 and 6, in batches of two.
Result<Dataset> RaggedTokens() {
  const Map words{
      .function =
          [](Element& element, Rng&, Scratch&) {
            const std::vector<std::vector<int16_t>> all = {{1, 2}, {}, {3, 4, 5}, {6}};
            const std::vector<int16_t>& own = all[element.arrays[0].values<uint8_t>()[0]];
            element.arrays.insert(element.arrays.begin(),
                                  Array::Of<int16_t>(own, {static_cast<int64_t>(own.size())}));
            return OkStatus();
          },
      .output = {{{"words", DType::kInt16, {kUnknownDim}}, {"label", DType::kUInt8, {}}}}};
  return FromArrays({{"label", Array::Of(std::vector<uint8_t>{0, 1, 2, 3})}}) | words |
         Batch{.size = 2, .ragged = true};
}

FeederOptions RaggedWords(InputCheck check = {}) {
  return {.inputs = {{.field = "words", .offsets = "words_offsets"}},
          .check = {.targets = {}, .inputs = {std::move(check)}}};
}

TEST(Feeder, GivesRaggedTokensAsValuesWithOffsets) {
  int64_t seen = 0;
  const InputCheck check = [&](const Inputs& tokens, const SampleKey&) {
    ++seen;
    EXPECT_TRUE(tokens.ragged(0));
    return OkStatus();
  };
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset batches, RaggedTokens());
  STOKER_ASSERT_OK_AND_ASSIGN(const auto feeder, Feed(batches, RaggedWords(check)));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto first, feeder->Next());
  EXPECT_TRUE(torch::equal(first->input.all()[0], torch::tensor({1, 2}, torch::kLong)));
  EXPECT_TRUE(torch::equal(first->input.offsets(0), torch::tensor({0, 2, 2}, torch::kLong)));
  EXPECT_EQ(first->size(), 2);
  STOKER_ASSERT_OK_AND_ASSIGN(const auto second, feeder->Next());
  EXPECT_TRUE(torch::equal(second->input.all()[0], torch::tensor({3, 4, 5, 6}, torch::kLong)));
  EXPECT_TRUE(torch::equal(second->input.offsets(0), torch::tensor({0, 3, 4}, torch::kLong)));
  EXPECT_EQ(seen, 2);
}

TEST(Feeder, GivesRaggedNumbersAsStepsWithOffsets) {
  const Map steps{
      .function =
          [](Element& element, Rng&, Scratch&) {
            const int64_t length = element.arrays[0].values<uint8_t>()[0];
            const std::vector<double> own(static_cast<size_t>(2 * length), 0.5 * double(length));
            element.arrays.insert(element.arrays.begin(), Array::Of<double>(own, {length, 2}));
            return OkStatus();
          },
      .output = {{{"steps", DType::kFloat64, {kUnknownDim, 2}}, {"label", DType::kUInt8, {}}}}};
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset batches,
                              FromArrays({{"label", Array::Of(std::vector<uint8_t>{1, 0, 2})}}) |
                                  steps | Batch{.size = 3, .ragged = true});
  STOKER_ASSERT_OK_AND_ASSIGN(
      const auto feeder,
      Feed(batches, {.inputs = {{.field = "steps", .offsets = "steps_offsets"}}}));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto batch, feeder->Next());
  EXPECT_TRUE(torch::equal(batch->input.all()[0],
                           torch::tensor({{0.5, 0.5}, {1.0, 1.0}, {1.0, 1.0}}).to(torch::kFloat)));
  EXPECT_TRUE(torch::equal(batch->input.offsets(0), torch::tensor({0, 1, 1, 3}, torch::kLong)));
}

TEST(Feeder, RefusesOffsetsThatDoNotFitTheValues) {
  for (const std::vector<int64_t>& places :
       {std::vector<int64_t>{0, 2, 3}, {1, 2, 2}, {0, 3, 2}, {0, 2, 1'000'000}}) {
    const Map change{.function = [places](Element& element, Rng&, Scratch&) {
      element.arrays[2] = Array::Of<int64_t>(places, {static_cast<int64_t>(places.size())});
      return OkStatus();
    }};
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset batches, RaggedTokens() | change);
    STOKER_ASSERT_OK_AND_ASSIGN(const auto feeder, Feed(batches, RaggedWords()));
    EXPECT_THAT(feeder->Next(),
                FailsWith(StatusCode::kInvalidArgument,
                          "in batch 0 the offsets 'words_offsets' do not fit the 2 values"));
  }
}

TEST(Feeder, TakesOnlyTokensAndNumbersRagged) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset batches, RaggedTokens());
  EXPECT_THAT(
      Feed(batches, {.inputs = {{.field = "label", .offsets = "words_offsets"}}, .targets = {}}),
      FailsWith(StatusCode::kInvalidArgument, "is ragged, and models take ragged sequences"));
  FeederOptions target = RaggedWords();
  target.targets = {"words_offsets"};
  target.without_rows = {"words", "words_offsets"};
  EXPECT_THAT(Feed(batches, target),
              FailsWith(StatusCode::kInvalidArgument, "train.target: field words_offsets"));
  EXPECT_THAT(Feed(batches, {.inputs = {{.field = "words", .offsets = "gone"}}}),
              FailsWith(StatusCode::kInvalidArgument, "the offsets of 'words'"));
}

TEST(Feeder, NamesEachInputThatIsMissing) {
  const auto feeder =
      Feed(Images(), {.inputs = {{.field = "first"}, {.field = "image"}, {.field = "third"}}});
  EXPECT_THAT(feeder, FailsWith(StatusCode::kInvalidArgument, "'first'"));
  EXPECT_THAT(feeder, FailsWith(StatusCode::kInvalidArgument, "'third'"));
}

TEST(Feeder, CopiesToAnAcceleratorWhereThereIsOne) {
  const Result<OpenedDevice> opened = OpenDevice("cuda");
  if (!opened.ok()) GTEST_SKIP() << opened.status().message();
  STOKER_ASSERT_OK_AND_ASSIGN(
      const auto feeder,
      Feed(Images(), {.device = opened->device, .memory_format = at::MemoryFormat::ChannelsLast}));
  ExpectAllBatches(*feeder, opened->device);
}

struct BrokenCase {
  const char* name;
  Field image, label;
  const char* says;
};
const BrokenCase kBroken[] = {
    {"BytesAsInput",
     {"image", DType::kUInt8, {-1, 3}},
     {"label", DType::kUInt8, {-1}},
     "image: uint8[?, 3] is no floating-point input; put `normalize`"},
    {"NotBatched",
     {"image", DType::kFloat32, {3}},
     {"label", DType::kUInt8, {}},
     "end the pipeline with `batch`"},
    {"OneNumberASample",
     {"image", DType::kFloat32, {-1}},
     {"label", DType::kUInt8, {-1}},
     "image: float32[?] is one number a sample, and a model takes [samples, features]"},
    {"TargetNotBatched",
     {"image", DType::kFloat32, {-1, 3}},
     {"label", DType::kFloat32, {}},
     "[samples, numbers]; is `batch` missing"},
    {"AMapAsTarget",
     {"image", DType::kFloat32, {-1, 3}},
     {"label", DType::kFloat32, {-1, 2, 2}},
     "give it such a shape before `batch`"},
    {"ATextAsTarget",
     {"image", DType::kFloat32, {-1, 3}},
     {"label", DType::kUInt8, {-1, -1}},
     "has rows of a length that is not known"},
    {"NothingAsTarget",
     {"image", DType::kFloat32, {-1, 3}},
     {"label", DType::kFloat32, {-1, 0}},
     "has rows of no number"},
    {"NoInput", {"picture", DType::kFloat32, {-1, 3}}, {"label", DType::kInt64, {-1}}, "image"},
    {"NoTarget", {"image", DType::kFloat32, {-1, 3}}, {"class", DType::kInt64, {-1}}, "label"},
};

class FeederFieldsBroken : public testing::TestWithParam<BrokenCase> {};
TEST_P(FeederFieldsBroken, SaysWhatIsWrongWithTheField) {
  const Spec spec{{GetParam().image, GetParam().label}};
  EXPECT_THAT(FindFeederFields(spec, {}).status().message(), testing::HasSubstr(GetParam().says));
}
INSTANTIATE_TEST_SUITE_P(All, FeederFieldsBroken, testing::ValuesIn(kBroken),
                         [](const auto& broken) { return broken.param.name; });

}  // namespace stoker::feeder_test
