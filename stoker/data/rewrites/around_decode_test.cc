// Every operator before and after `decode`, in every order of two.
#include <map>

#include "stoker/data/testing/picture_pass.h"
#include "stoker/data/testing/testing.h"

namespace stoker::around_decode_test {

using testing::HasSubstr;
using testing::StartsWith;

// Over 60 lines: a row for each operator, as it is written in a recipe for pictures in the field
// `image`.
const std::map<std::string, std::string>& Entries() {
  static const auto& entries = *new std::map<std::string, std::string>{
      {"balance", "balance"},
      {"batch", "batch: 2"},
      {"bucket_by_length", "bucket_by_length: {field: label, boundaries: [1], sizes: 2}"},
      {"bucketize", "bucketize: {field: label, bounds: [1]}"},
      {"cache", "cache"},
      {"cast", "cast: float32"},
      {"center_crop", "center_crop: 6"},
      {"color_jitter", "color_jitter: {brightness: 0.5, hue: 0.1}"},
      {"cutmix", "cutmix"},
      {"decode", "decode"},
      {"decode_json", "decode_json: {field: image, fields: {value: {type: float32}}}"},
      {"decode_npy", "decode_npy: {field: image, shape: [3]}"},
      {"decode_raw", "decode_raw: {field: image, type: uint8, shape: [-1]}"},
      {"encode", "encode: {format: png}"},
      {"enumerate", "enumerate: {field: number}"},
      {"feature_row", "feature_row: {features: {label: {is: category, categories: 2}}}"},
      {"filter", "filter: {field: label, min: 0}"},
      {"gaussian_blur", "gaussian_blur: 3"},
      {"grayscale", "grayscale: {channels: 1}"},
      {"hash", "hash: {fields: label, buckets: 3}"},
      {"ignore_errors", "ignore_errors: {share: 1}"},
      {"input_mask", "input_mask: {field: image}"},
      {"join", "join: {fields: [label], to: number, keep: true}"},
      {"layout", "layout: channels_last"},
      {"lookup", "lookup: {field: image, values: [a, b], unknown: 0}"},
      {"mixup", "mixup"},
      {"normalize", "normalize: {mean: 0.5, std: 0.25}"},
      {"one_hot", "one_hot: 2"},
      {"order", "order: order.txt"},
      {"pad", "pad: 1"},
      {"padded_batch", "padded_batch: 2"},
      {"parse_example", "parse_example: {field: image, features: {value: {type: float32}}}"},
      {"prefetch", "prefetch"},
      {"rand_augment", "rand_augment"},
      {"random_affine", "random_affine: {degrees: 30}"},
      {"random_crop", "random_crop: 5"},
      {"random_erasing", "random_erasing: {probability: 1}"},
      {"random_flip", "random_flip"},
      {"random_resized_crop", "random_resized_crop: 7"},
      {"repeat", "repeat: 2"},
      {"reshape", "reshape: {shape: [-1]}"},
      {"resize", "resize: 9"},
      {"sample", "sample"},
      {"scan", "scan: {field: label}"},
      {"sentencepiece", "sentencepiece: {field: image, model: none.model}"},
      {"shard", "shard: {count: 2, index: 1}"},
      {"shuffle", "shuffle"},
      {"skip", "skip: 1"},
      {"split", "split: {eval: 0.4, by: label, side: train}"},
      {"take", "take: 3"},
      {"take_while", "take_while: {field: label, max: 0}"},
      {"trivial_augment", "trivial_augment"},
      {"truncate", "truncate: {field: image, length: 100000}"},
      {"unbatch", "unbatch"},
      {"unique", "unique"},
      {"window", "window: 2"},
      {"wordpiece", "wordpiece: {field: image, vocabulary: words.txt, mark: false}"},
      {"words", "words: {field: image, vocabulary: words.txt, unknown: a}"},
  };
  return entries;
}

class AroundDecode : public testing::Test {
 protected:
  AroundDecode() {
    for (int i = 0; i < 5; ++i) {
      WriteBelow(dir_, fmt::format("pictures/{}/{}.ppm", i % 2 == 0 ? "even" : "odd", i),
                 SmallPicture(12 + i, 15 - i, 7 * i));
    }
    WriteBelow(dir_, "words.txt", "[UNK]\na\nb\n");
    WriteBelow(dir_, "order.txt", "1\n0\n1\n");
  }

  // Pictures through the stages: both runtimes give the same bytes and the same end, which is no
  // defect; or the pipeline is refused with the line of a stage.
  void Check(const std::vector<std::string>& stages) {
    std::string text = "- folder: pictures\n";
    for (const std::string& stage : stages) text += "- " + stage + "\n";
    SCOPED_TRACE(text);
    STOKER_ASSERT_OK_AND_ASSIGN(const ConfigNode recipe, ParseYaml(text, "r.yaml"));
    const Result<Dataset> dataset = BuildPipeline(recipe, dir_.path());
    if (!dataset.ok()) {
      ++refused_;
      EXPECT_THAT(dataset.status().message(), StartsWith("r.yaml:"));
      EXPECT_NE(dataset.status().code(), StatusCode::kInternal) << dataset.status().ToString();
      return;
    }
    ++built_;
    const std::string expected = Read(*dataset, Runtime::Inline());
    EXPECT_THAT(expected, Not(HasSubstr("internal: ")));
    EXPECT_EQ(Read(*dataset, Runtime::Threaded(2)), expected);
  }

  const TempDir dir_;
  int built_ = 0, refused_ = 0;

 private:
  // The first elements and how the pass ends.
  static std::string Read(const Dataset& dataset, const Runtime& runtime) {
    constexpr int kMost = 12;
    const Result<std::unique_ptr<Iterator>> pass = dataset.Open(runtime, {.seed = 3});
    if (!pass.ok()) return pass.status().ToString();
    std::vector<Element> elements;
    std::string end;
    for (int i = 0; i < kMost; ++i) {
      Result<std::optional<Element>> element = (*pass)->Next();
      end = element.status().ToString();
      if (!element.ok() || !*element) break;
      elements.push_back(**std::move(element));
    }
    return Fingerprint(elements) + end;
  }
};

TEST_F(AroundDecode, EveryOperatorHasAnEntryHere) {
  for (const KindDescription& kind : OperatorRegistry::Known().Describe()) {
    if (kind.group == "source") continue;
    EXPECT_TRUE(Entries().contains(kind.name)) << "add '" << kind.name << "' to Entries";
  }
}

TEST_F(AroundDecode, EveryTwoOperatorsWorkAsInlineOrAreRefusedByLine) {
  const QuietLog quiet;
  for (const auto& [first_name, first] : Entries()) {
    for (const auto& [second_name, second] : Entries()) {
      Check({first, "decode", "resize: 8", second, "batch: 2"});
      Check({"decode", "resize: 8", first, second, "batch: 2"});
      Check({"decode", first, "resize: 8", second, "one_hot: 2", "batch: 2"});
      if (HasFailure()) return;  // the first one says enough
    }
  }
  EXPECT_GT(built_, 1000);
  EXPECT_GT(refused_, 1000);
}

// The order of docs/from-dataloader.md.
TEST_F(AroundDecode, ResizeNormalizeAndOneHotMayComeBeforeABatchOfAnyKind) {
  for (const char* batch : {"batch: 2", "padded_batch: 2"}) {
    Check({"decode", "resize: 8", "normalize: {mean: 0.5, std: 0.25}", "one_hot: 2", batch});
    Check({"decode", "resize: 8", "one_hot: 2", "normalize: {mean: 0.5, std: 0.25}", batch});
  }
  EXPECT_EQ(built_, 4);
}

}  // namespace stoker::around_decode_test
