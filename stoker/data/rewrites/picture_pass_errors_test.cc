// Pictures and maps that fail in one pass, and what becomes of them.
#include "stoker/data/nodes/map.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/ignore_errors.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/rewrites/picture_pass.h"
#include "stoker/data/testing/picture_pass.h"
#include "stoker/data/testing/promises.h"
#include "stoker/data/transforms/random_flip.h"
#include "stoker/data/transforms/random_resized_crop.h"

namespace stoker::picture_pass_errors_test {

// That one of the 12 pictures ends the pass with this error, or is left out where errors are
// ignored, whoever makes the batches.
void ExpectThatOneFails(const Result<Dataset>& pictures, int64_t batch, const std::string& says) {
  for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(2)}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset strict, pictures | Batch{.size = batch});
    EXPECT_THAT(ReadAll(strict, runtime).status(), FailsWith(StatusCode::kDataLoss, says));
    const QuietLog quiet;
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset tolerant,
                                pictures | IgnoreErrors{} | Batch{.size = batch});
    STOKER_ASSERT_OK_AND_ASSIGN(const auto batches, ReadAll(tolerant, runtime));
    EXPECT_EQ(Labels(batches).size(), 11u);
  }
}

TEST_F(PicturePass, PairsOfDifferentSizesGetTheErrorOfTheMaps) {
  WriteBelow(dir_, "wide.ppm", SmallPicture(40, 20, 1));
  WriteBelow(dir_, "high.ppm", SmallPicture(20, 40, 1));
  WriteBelow(dir_, "two.txt", "wide.ppm\thigh.ppm\n");
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              Source(List{.path = dir_.path() / "two.txt", .pairs = true}) |
                                  Decode{} | Decode{.field = "mask"} |
                                  RandomResizedCrop{.size = 8, .masks = {"mask"}} |
                                  Batch{.size = 1});
  for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(2)}) {
    EXPECT_THAT(ReadAll(dataset, runtime).status(),
                FailsWith(StatusCode::kOutOfRange, "must be of one size"));
  }
}

TEST_F(PicturePass, APictureOfAStreamThatIsDamagedGetsTheErrorOfTheMaps) {
  WriteBelow(dir_, "even/04.jpg", EncodeJpeg(MakePicture(40, 40, 3)).substr(0, 300));
  const Result<Dataset> pictures =
      Streamed() | Decode{} | RandomResizedCrop{.size = 16} | kNormalize;
  ExpectThatOneFails(pictures, 4, "JPEG");
}

TEST_F(PicturePass, AnErrorOfAnotherMapBehindItIsThatOfTheMaps) {
  const Map refuse{.function = [](Element& element, Rng&, Scratch&) {
    return element.key.index == 7 ? DataLoss("picture 7 is refused") : OkStatus();
  }};
  const Result<Dataset> pictures = Decoded() | RandomResizedCrop{.size = 8} | refuse | kNormalize;
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset strict, pictures | Batch{.size = 5});
  EXPECT_TRUE(HoldsOnePass(strict));
  ExpectThatOneFails(pictures, 5, "picture 7 is refused");
}

TEST_F(PicturePass, APictureThatIsDamagedGetsTheErrorAndThePolicyOfTheMaps) {
  WriteBelow(dir_, "even/04.jpg", EncodeJpeg(MakePicture(40, 40, 3)).substr(0, 300));
  const Result<Dataset> pictures =
      Decoded() | RandomResizedCrop{.size = 16} | RandomFlip{} | kNormalize;
  ExpectThatOneFails(pictures, 4, "even/04.jpg");
}

TEST_F(PicturePass, PicturesThatAreReplacedAreTheSameWhoeverMakesTheBatch) {
  WriteBelow(dir_, "even/04.jpg", EncodeJpeg(MakePicture(40, 40, 3)).substr(0, 300));
  WriteBelow(dir_, "odd/07.jpg", "not a picture");
  const QuietLog quiet;
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset dataset,
      Pictures() | IgnoreErrors{.policy = "replace", .share = 0.5} | Shuffle{} | Decode{} |
          RandomResizedCrop{.size = 16} | RandomFlip{} | kNormalize |
          IgnoreErrors{.policy = "replace", .share = 0.5} | Batch{.size = 6});
  STOKER_ASSERT_OK_AND_ASSIGN(const auto expected, ReadAll(dataset, Runtime::Inline()));
  for (const int threads : {1, 2, 5}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(Runtime::Threaded(threads)));
    STOKER_ASSERT_OK_AND_ASSIGN(const auto got, ReadAll(*iterator));
    EXPECT_EQ(Fingerprint(got), Fingerprint(expected)) << threads;
  }
}

}  // namespace stoker::picture_pass_errors_test
