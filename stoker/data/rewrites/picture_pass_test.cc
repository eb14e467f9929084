#include "stoker/data/rewrites/picture_pass.h"

#include <atomic>
#include <latch>

#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/ignore_errors.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/testing/picture_pass.h"
#include "stoker/data/testing/promises.h"
#include "stoker/data/testing/test_stages.h"
#include "stoker/data/transforms/cast.h"
#include "stoker/data/transforms/center_crop.h"
#include "stoker/data/transforms/color_jitter.h"
#include "stoker/data/transforms/layout.h"
#include "stoker/data/transforms/one_hot.h"
#include "stoker/data/transforms/pad.h"
#include "stoker/data/transforms/rand_augment.h"
#include "stoker/data/transforms/random_crop.h"
#include "stoker/data/transforms/random_erasing.h"
#include "stoker/data/transforms/random_flip.h"
#include "stoker/data/transforms/random_resized_crop.h"
#include "stoker/data/transforms/resize.h"

namespace stoker::picture_pass_test {

using testing::HasSubstr;
using testing::Not;

const Normalize kScalar{.mean = {0.4}, .std = {0.2}};

// Both in batches and one by one.
void ExpectOnePassGivesTheBytesOfTheSteps(const Result<Dataset>& pipeline, bool holds = true) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, pipeline | Batch{.size = 5});
  EXPECT_EQ(OnePassesIn(dataset), holds ? 1 : 0) << dataset.ToString();
  STOKER_ASSERT_OK_AND_ASSIGN(const auto expected, ReadAll(dataset, Runtime::Inline()));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto got, ReadAll(dataset, Runtime::Threaded(2)));
  EXPECT_EQ(Fingerprint(got), Fingerprint(expected)) << dataset.ToString();
  STOKER_ASSERT_OK_AND_ASSIGN(const auto singly, ReadAll(*pipeline, Runtime::Threaded(2)));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto single, ReadAll(*pipeline, Runtime::Inline()));
  EXPECT_EQ(Fingerprint(singly), Fingerprint(single)) << dataset.ToString();
}

TEST_F(PicturePass, GivesTheBytesOfTheStepsOneAfterTheOther) {
  const RandomResizedCrop resized_crop{.size = 16};
  const Result<Dataset> pipelines[] = {
      Decoded() | resized_crop | RandomFlip{} | kNormalize,
      Decoded() | resized_crop | RandomFlip{} | CenterCrop{.size = 12} | Cast{},
      Decoded() | RandomResizedCrop{.size = 21, .interpolation = "bicubic"} | RandomFlip{},
      Decoded() | Resize{.shorter_side = 18} | CenterCrop{.size = 14} | kNormalize,
      Decoded() | Resize{.height = 18, .width = 30} | RandomCrop{.size = 11, .padding = 0} |
          RandomFlip{} | RandomCrop{.size = 9, .padding = 0} | kNormalize,
      Decoded() | CenterCrop{.size = 10} | RandomFlip{.probability = 1} | Cast{},
      Pictures() | Decode{.channels = "grey"} | resized_crop | Normalize{.mean = {0.5}},
      Decoded() | RandomFlip{.direction = "vertical"} | RandomFlip{} | CenterCrop{.size = 9},
      Decoded() | RandomResizedCrop{.size = 30, .interpolation = "nearest"} |
          RandomFlip{.direction = "vertical"} | RandomCrop{.size = 17, .padding = 0},
      Decoded() | RandomFlip{.direction = "vertical"} | resized_crop | kNormalize,
  };
  for (const Result<Dataset>& pipeline : pipelines) ExpectOnePassGivesTheBytesOfTheSteps(pipeline);
}

TEST_F(PicturePass, PutsBordersAroundPicturesAsTheStepsDo) {
  const RandomFlip upside{.direction = "vertical"};
  std::vector<Result<Dataset>> pipelines = {
      // Some windows reach outside.
      Decoded() | RandomCrop{.size = 14, .padding = 5} | RandomFlip{} | kNormalize,
      Decoded() | RandomCrop{.size = 50, .padding = 40, .fill = 7} | kNormalize,
      Decoded() | RandomFlip{} | upside | CenterCrop{.size = 44, .fill = 200} | upside,
      Decoded() | CenterCrop{.size = 9} | Pad{.padding = {1, 2, 3, 4}, .fill = 9} | RandomFlip{} |
          RandomCrop{.size = 11, .padding = 0} | kNormalize | Layout{},
      Decoded() | Resize{.shorter_side = 17} | CenterCrop{.size = 15} |
          Pad{.padding = {0, 5}, .fill = 90} | RandomFlip{},
      // A border of a border, and a resize of one: map by map.
      Decoded() | CenterCrop{.size = 9} | Pad{.padding = {3}} | Pad{.padding = {2}, .fill = 5},
      Decoded() | CenterCrop{.size = 9} | Pad{.padding = {3}, .fill = 70} | Resize{.size = 12},
      // Nothing of the picture is left.
      Decoded() | CenterCrop{.size = 8} | Pad{.padding = {20}, .fill = 3} |
          RandomCrop{.size = 5, .padding = 0},
  };
  for (const std::string mode : {"edge", "reflect", "symmetric"}) {
    const RandomCrop crop{.size = 30, .padding = 25, .padding_mode = mode};
    pipelines.push_back(Decoded() | RandomFlip{} | crop | upside | kNormalize);
    pipelines.push_back(Decoded() | RandomResizedCrop{.size = 12} | RandomFlip{} | upside | crop |
                        RandomFlip{} | RandomCrop{.size = 13, .padding = 0});
    pipelines.push_back(Decoded() | CenterCrop{.size = 7} |
                        Pad{.padding = {9, 1, 0, 13}, .padding_mode = mode} | Cast{});
  }
  for (const Result<Dataset>& pipeline : pipelines) ExpectOnePassGivesTheBytesOfTheSteps(pipeline);
}

TEST_F(PicturePass, ResizesMirroredPicturesAsTheStepsDo) {
  const RandomFlip mirrored{.probability = 1}, upside{.probability = 0.5, .direction = "vertical"};
  const Result<Dataset> pipelines[] = {
      Decoded() | mirrored | RandomResizedCrop{.size = 19} | RandomFlip{} | kNormalize,
      Decoded() | upside | Resize{.height = 13, .width = 31, .interpolation = "bicubic"},
      Decoded() | mirrored | upside | RandomResizedCrop{.size = 16, .interpolation = "nearest"} |
          CenterCrop{.size = 11} | mirrored,
      Decoded() | mirrored | CenterCrop{.size = 15} | upside |
          Resize{.size = 40, .interpolation = "lanczos"} | upside,
      Pictures() | Decode{.channels = "grey"} | mirrored | Resize{.size = 14} | Cast{},
  };
  for (const Result<Dataset>& pipeline : pipelines) ExpectOnePassGivesTheBytesOfTheSteps(pipeline);
}

TEST_F(PicturePass, WritesEveryTypeAndLayoutThatTheStepsGive) {
  const auto resized = [&] { return Decoded() | RandomResizedCrop{.size = 16} | RandomFlip{}; };
  const Cast to_bfloat16{.dtype = "bfloat16"};
  const Result<Dataset> pipelines[] = {
      resized() | kNormalize | to_bfloat16,
      resized() | kNormalize | Layout{},
      resized() | kNormalize | to_bfloat16 | Layout{},
      resized() | Layout{} | kScalar | Cast{.dtype = "float16"},
      resized() | Layout{},
      resized() | Layout{} | Cast{.dtype = "float64"} | Layout{.to = "channels_first"},
      resized() | to_bfloat16,
      resized() | Cast{.dtype = "int8"} | Cast{},  // low bits first: one by one
      resized() | Cast{} | Cast{.dtype = "int8"},
      resized() | Cast{} | kNormalize,
  };
  for (const Result<Dataset>& pipeline : pipelines) ExpectOnePassGivesTheBytesOfTheSteps(pipeline);
}

TEST_F(PicturePass, TakesImagesAndMasksThroughOneDraw) {
  const std::vector<std::string> mask = {"mask"};
  const Cast classes{.field = "mask", .dtype = "int64"};
  const Result<Dataset> pipelines[] = {
      Pairs() | RandomResizedCrop{.size = 16, .masks = mask} | RandomFlip{.masks = mask} |
          kNormalize | classes,
      Pairs() | classes | Resize{.size = 19, .masks = mask},  // no chain: the mask is cast first
      Pairs() | Resize{.shorter_side = 18, .masks = mask} | CenterCrop{.size = 16, .masks = mask} |
          classes | kNormalize | Layout{},
      Pairs() | RandomCrop{.size = 30, .padding = 16, .fill = 9, .mask_fill = 255, .masks = mask} |
          RandomFlip{.masks = mask} | kNormalize | classes,
      Pairs() | RandomFlip{.masks = mask} | RandomResizedCrop{.size = 16, .masks = mask} | classes,
      // Two draws and two sizes.
      Pairs() | RandomResizedCrop{.size = 16} | RandomResizedCrop{.size = 8, .field = "mask"} |
          kNormalize,
      Pairs() | RandomResizedCrop{.size = 16, .images = mask} | RandomFlip{.images = mask} |
          Normalize{.field = "mask"},
  };
  for (const Result<Dataset>& pipeline : pipelines)
    ExpectOnePassGivesTheBytesOfTheSteps(pipeline, &pipeline != &pipelines[1]);
}

TEST_F(PicturePass, StreamsGiveTheBytesOfTheStepsToo) {
  const Result<Dataset> decoded = Streamed() | Decode{};
  const Result<Dataset> pipelines[] = {
      decoded | RandomResizedCrop{.size = 16} | RandomFlip{} | kNormalize,
      decoded | DoNothing() | RandomResizedCrop{.size = 16} | RandomFlip{} | kNormalize,
      decoded | RandomResizedCrop{.size = 16} | kNormalize | DoNothing() | Layout{},
      decoded | RandomCrop{.size = 14, .padding = 5} | RandomFlip{} | kNormalize | Prefetch{},
      Streamed() | DoNothing() | Decode{} | Resize{.size = 12} | kNormalize | Shuffle{.buffer = 5},
      decoded | kNormalize | RandomCrop{.size = 8, .padding = 0},
  };
  for (const Result<Dataset>& pipeline : pipelines) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, pipeline | Batch{.size = 5});
    EXPECT_FALSE(HoldsOnePass(dataset));
    ExpectKeepsItsPromises(pipeline);
    ExpectKeepsItsPromises(dataset);
  }
}

TEST_F(PicturePass, AStreamsPicturesAreMadeByTheStageThatDecodesThem) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              Streamed() | DoNothing() | Decode{} | RandomResizedCrop{.size = 16} |
                                  RandomFlip{} | kNormalize | Batch{.size = 4});
  STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(Runtime::Threaded(2)));
  STOKER_ASSERT_OK(ReadAll(*iterator));
  for (const StageProfile& stage : iterator->GetProfile().stages) {
    EXPECT_EQ(stage.elements, stage.name == "batch" ? 3 : 12) << stage.name;
    if (stage.name == "decode") {
      EXPECT_GT(stage.busy_s, 0);
    } else if (stage.name == "random_resized_crop" || stage.name == "normalize") {
      EXPECT_EQ(stage.busy_s, 0) << stage.name;
    }
  }
}

TEST_F(PicturePass, DoesTheWorkOfTheMaps) {
  const Result<Dataset> pipelines[] = {
      Decoded() | RandomResizedCrop{.size = 16} | RandomFlip{} | kNormalize,
      Decoded() | RandomCrop{.size = 60, .padding = 30} | RandomFlip{} | kNormalize,
      Decoded() | RandomFlip{.probability = 1} | Resize{.size = 9} | CenterCrop{.size = 12} |
          kNormalize,
      Decoded() | RandomResizedCrop{.size = 16} | ColorJitter{} | kNormalize,
  };
  for (const Result<Dataset>& pipeline : pipelines) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, pipeline | Batch{.size = 4});
    STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(Runtime::Threaded(2)));
    STOKER_ASSERT_OK(ReadAll(*iterator));
    const bool other_maps = dataset.ToString().find("then") != std::string::npos;
    for (const StageProfile& stage : iterator->GetProfile().stages) {
      EXPECT_EQ(stage.elements, stage.name == "batch" ? 3 : 12) << stage.name;
      // What follows another map is done by itself.
      if (stage.name == "decode" || (stage.name == "normalize" && !other_maps)) {
        EXPECT_EQ(stage.busy_s, 0) << dataset.ToString();
      } else if (stage.name == "one_pass" || stage.name == "color_jitter") {
        EXPECT_GT(stage.busy_s, 0);
      }
    }
  }
}

TEST_F(PicturePass, OtherMapsBehindItGetEachPictureAsTheStepsGiveIt) {
  const RandomResizedCrop resized_crop{.size = 16};
  const ColorJitter jitter{.brightness = 0.4, .contrast = 0.3, .saturation = 0.2, .hue = 0.1};
  const Result<Dataset> pipelines[] = {
      Decoded() | resized_crop | RandomFlip{} | jitter | kNormalize,
      Decoded() | resized_crop | DoNothing() | kNormalize | Layout{},
      Decoded() | resized_crop | kNormalize | RandomErasing{.probability = 1},
      Decoded() | resized_crop | OneHot{.classes = 2} | RandomFlip{} | kNormalize,
      Decoded() | resized_crop | RandAugment{} | CenterCrop{.size = 12} | jitter,
      Decoded() | Resize{.size = 20} | jitter | Resize{.size = 10} | RandomFlip{} | Cast{},
  };
  for (const Result<Dataset>& pipeline : pipelines) ExpectOnePassGivesTheBytesOfTheSteps(pipeline);
}

TEST_F(PicturePass, MapsThatTakeManyElementsAtOnceStayBehindIt) {
  const Result<Dataset> pictures = Decoded() | RandomResizedCrop{.size = 8};
  std::atomic<int64_t> most_rows = 0;
  const MapRows look{.function = [&](Rows& rows, const MapRows::RowRng&, Scratch&) {
    most_rows = std::max<int64_t>(most_rows, rows.size());
    return OkStatus();
  }};
  for (const Result<Dataset>& normalized :
       {pictures | kNormalize, pictures | ColorJitter{} | kNormalize, pictures}) {
    most_rows = 0;
    const Result<Dataset> pipeline = normalized | OneHot{.classes = 2} | look;
    ExpectOnePassGivesTheBytesOfTheSteps(pipeline);
    EXPECT_GT(most_rows, 1);
    const Result<Dataset> batches = pipeline | Batch{.size = 5};
    EXPECT_THAT(batches->ToString(), Not(HasSubstr("then one_hot"))) << batches->ToString();
  }
}

TEST_F(PicturePass, ReadsASampleOnceAlsoWhereItsPlanCannotBeHeld) {
  const Result<Dataset> pipelines[] = {
      Decoded() | Resize{.size = 20} | Resize{.size = 10} | kNormalize,
      Decoded() | Resize{.size = 20} | Resize{.size = 10} | ColorJitter{} | kNormalize,
  };
  for (const Result<Dataset>& pipeline : pipelines) {
    ExpectOnePassGivesTheBytesOfTheSteps(pipeline);
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, pipeline | Batch{.size = 4});
    STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(Runtime::Threaded(2)));
    STOKER_ASSERT_OK(ReadAll(*iterator));
    for (const StageProfile& stage : iterator->GetProfile().stages)
      EXPECT_EQ(stage.elements, stage.name == "batch" ? 3 : 12) << stage.name;
  }
}

TEST_F(PicturePass, StandsInFrontOfIgnoreErrorsToo) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Decoded() | RandomResizedCrop{.size = 8} |
                                                         RandomFlip{} | IgnoreErrors{} |
                                                         Batch{.size = 5});
  EXPECT_TRUE(HoldsOnePass(dataset)) << dataset.ToString();
}

TEST_F(PicturePass, IsNoneWhereNoSizeIsKnownBeforeOtherMaps) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Decoded() | kNormalize |
                                                         RandomResizedCrop{.size = 16} |
                                                         Batch{.size = 5});
  EXPECT_FALSE(HoldsOnePass(dataset)) << dataset.ToString();
}

TEST_F(PicturePass, KeepsItsPromises) {
  ExpectKeepsItsPromises(Pictures() | Shuffle{} | Decode{} | RandomResizedCrop{.size = 8} |
                         RandomFlip{} | kNormalize | Batch{.size = 5} | Repeat{.count = 2} |
                         Prefetch{});
}

TEST_F(PicturePass, AllThreadsMakeTheOnlyBatchThereIs) {
  constexpr int kThreads = 3;
  std::latch all_at_it(kThreads);
  std::atomic<int> calls = 0;
  const Map meet{.function = [&](Element&, Rng&, Scratch&) {
    if (calls++ < kThreads) all_at_it.arrive_and_wait();  // ends only where each has a thread
    return OkStatus();
  }};
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Pictures() | meet | Decode{} |
                                                         RandomResizedCrop{.size = 16} |
                                                         kNormalize | Batch{.size = 12});
  STOKER_ASSERT_OK_AND_ASSIGN(const auto batches, ReadAll(dataset, Runtime::Threaded(kThreads)));
  EXPECT_EQ(batches.size(), 1u);
}

}  // namespace stoker::picture_pass_test
