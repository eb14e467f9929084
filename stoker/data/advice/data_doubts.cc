#include "stoker/data/advice/data_doubts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "stoker/base/options.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/bucket_by_length.h"
#include "stoker/data/ops/cache.h"
#include "stoker/data/ops/padded_batch.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/ops/skip.h"
#include "stoker/data/ops/take.h"
#include "stoker/data/options/whole_pipeline.h"
#include "stoker/data/transforms/bucketize.h"
#include "stoker/data/transforms/cast.h"
#include "stoker/data/transforms/center_crop.h"
#include "stoker/data/transforms/color_jitter.h"
#include "stoker/data/transforms/cutmix.h"
#include "stoker/data/transforms/decode.h"
#include "stoker/data/transforms/encode.h"
#include "stoker/data/transforms/feature_row.h"
#include "stoker/data/transforms/gaussian_blur.h"
#include "stoker/data/transforms/grayscale.h"
#include "stoker/data/transforms/hash.h"
#include "stoker/data/transforms/join.h"
#include "stoker/data/transforms/layout.h"
#include "stoker/data/transforms/lookup.h"
#include "stoker/data/transforms/mixup.h"
#include "stoker/data/transforms/normalize.h"
#include "stoker/data/transforms/one_hot.h"
#include "stoker/data/transforms/pad.h"
#include "stoker/data/transforms/rand_augment.h"
#include "stoker/data/transforms/random_affine.h"
#include "stoker/data/transforms/random_crop.h"
#include "stoker/data/transforms/random_erasing.h"
#include "stoker/data/transforms/random_flip.h"
#include "stoker/data/transforms/random_resized_crop.h"
#include "stoker/data/transforms/reshape.h"
#include "stoker/data/transforms/resize.h"
#include "stoker/data/transforms/sentencepiece.h"
#include "stoker/data/transforms/trivial_augment.h"
#include "stoker/data/transforms/truncate.h"
#include "stoker/data/transforms/wordpiece.h"
#include "stoker/data/transforms/words.h"

namespace stoker {
namespace {

// Change how a sample looks by a draw, for training.
constexpr std::array kAugments = {
    RandomFlip::kName,    RandomCrop::kName,  RandomResizedCrop::kName, RandomAffine::kName,
    RandomErasing::kName, ColorJitter::kName, RandAugment::kName,       TrivialAugment::kName,
    Mixup::kName,         Cutmix::kName,      GaussianBlur::kName};
// Keep every sample and its place. Others may part the samples in a way that is not known here.
constexpr std::array kKeepSamples = {
    Decode::kName,   Normalize::kName, Cast::kName,      Resize::kName, CenterCrop::kName,
    Pad::kName,      Layout::kName,    Grayscale::kName, Lookup::kName, OneHot::kName,
    Prefetch::kName, Cache::kName,     Words::kName,     Encode::kName, Truncate::kName,
    Join::kName,     Reshape::kName,   Bucketize::kName, Hash::kName,   FeatureRow::kName};

// Number words by a list or a file of them.
constexpr std::array kNumberWords = {Words::kName, Lookup::kName, Wordpiece::kName,
                                     Sentencepiece::kName};

template <size_t n>
bool IsOneOf(const std::array<std::string_view, n>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

struct Stage {
  std::string name;
  ConfigNode options;  // empty if none are written
  ConfigLocation location;
  std::string text;  // the whole entry

  // Nothing if they are invalid, which another check reports.
  template <typename Options>
  std::optional<Options> As() const {
    Options parsed;
    if (name != Options::kName || !ParseOptionsOf(options, parsed).ok()) return std::nullopt;
    return parsed;
  }
};

struct Pipeline {
  std::string name;  // "data.train"
  std::vector<Stage> stages;
};

Stage StageOf(const ConfigNode& entry) {
  Stage stage{.name = entry.scalar, .options = {}, .location = entry.location, .text = {}};
  if (!entry.entries.empty()) {
    stage.name = entry.entries.front().key;
    stage.options = entry.entries.front().value;
  }
  stage.text = ToYaml(entry);
  return stage;
}

Pipeline PipelineOf(const ConfigNode& data, std::string_view name) {
  Pipeline pipeline{.name = fmt::format("data.{}", name), .stages = {}};
  const std::optional<ConfigNode> list = WholePipeline(data, name);
  if (!list) return pipeline;
  for (const ConfigNode& entry : list->items) pipeline.stages.push_back(StageOf(entry));
  return pipeline;
}

// "data.train (recipe.yaml:5:7)"
std::string Named(const Pipeline& pipeline, const Stage& stage) {
  if (stage.location.file == nullptr) return pipeline.name;
  return fmt::format("{} ({})", pipeline.name, stage.location.ToString());
}

// Which samples of its source a pipeline reads.
struct Part {
  int64_t begin = 0;
  int64_t end = std::numeric_limits<int64_t>::max();
  std::string order;               // the shuffles that precede the cut
  const Stage* redrawn = nullptr;  // the one of them that gives another order in each epoch
  bool cut = false;
};

// Nothing if that is not known.
std::optional<Part> PartOf(const Pipeline& pipeline) {
  Part part;
  std::string order;
  const Stage* redrawn = nullptr;
  for (size_t i = 1; i < pipeline.stages.size(); ++i) {
    const Stage& stage = pipeline.stages[i];
    if (stage.name == Batch::kName || stage.name == PaddedBatch::kName) {
      const bool whole =
          std::all_of(pipeline.stages.begin() + static_cast<ptrdiff_t>(i) + 1,
                      pipeline.stages.end(), [](const Stage& later) {
                        return IsOneOf(kKeepSamples, later.name) || IsOneOf(kAugments, later.name);
                      });
      return whole ? std::optional(part) : std::nullopt;
    }
    if (const auto shuffle = stage.As<Shuffle>()) {
      order += stage.text;
      if (shuffle->reshuffle) redrawn = &stage;
    } else if (const auto take = stage.As<Take>()) {
      if (!take->count.count()) return std::nullopt;  // a share of how many is not known here
      if (*take->count.count() < part.end - part.begin)
        part.end = part.begin + *take->count.count();
    } else if (const auto skip = stage.As<Skip>()) {
      if (!skip->count.count()) return std::nullopt;
      part.begin = std::min(part.end, part.begin + *skip->count.count());
    } else if (!IsOneOf(kKeepSamples, stage.name) && !IsOneOf(kAugments, stage.name)) {
      return std::nullopt;
    }
    if (stage.name != Take::kName && stage.name != Skip::kName) continue;
    if (part.cut && part.order != order) return std::nullopt;
    part.cut = true;
    part.order = order;
    part.redrawn = redrawn;
  }
  return std::nullopt;  // it makes no batches
}

void FindSharedSamples(const Pipeline& train, const Pipeline& eval,
                       std::vector<DataDoubt>& doubts) {
  if (train.stages.empty() || eval.stages.empty()) return;
  const Stage &of_train = train.stages.front(), &of_eval = eval.stages.front();
  if (of_train.text != of_eval.text) return;
  const std::optional<Part> learnt = PartOf(train), measured = PartOf(eval);
  if (!learnt || !measured) return;
  const bool overlap =
      std::max(learnt->begin, measured->begin) < std::min(learnt->end, measured->end);
  const std::string both = fmt::format("{} reads samples that {} learns from", Named(eval, of_eval),
                                       Named(train, of_train));
  constexpr std::string_view kAdvice =
      "give it files of its own, part one source by `data.split`, or write `take: N` in one "
      "pipeline and `skip: N` in the other";
  if (!learnt->cut && !measured->cut) {
    doubts.push_back({of_eval.location, both + ": the same source, whole", std::string(kAdvice)});
  } else if (learnt->redrawn != nullptr || measured->redrawn != nullptr) {
    const Stage& shuffle = learnt->redrawn != nullptr ? *learnt->redrawn : *measured->redrawn;
    doubts.push_back(
        {shuffle.location,
         fmt::format("{}: `shuffle` precedes the cut and draws another order in each epoch", both),
         "put `take` and `skip` before it, or write `shuffle: {seed: 1, reshuffle: false}` in "
         "both"});
  } else if (overlap && (learnt->order == measured->order || !measured->cut || !learnt->cut)) {
    doubts.push_back({of_eval.location, both + ": the parts that `take` and `skip` leave overlap",
                      std::string(kAdvice)});
  }
}

struct Normalizing {
  const Stage* stage;
  Normalize options;
};

std::vector<Normalizing> NormalizesIn(const Pipeline& pipeline) {
  std::vector<Normalizing> found;
  for (const Stage& stage : pipeline.stages) {
    if (auto options = stage.As<Normalize>()) found.push_back({&stage, *std::move(options)});
  }
  return found;
}

// `normalize` that only scales may precede another: the two together are one normalization.
bool OnlyScales(const Normalize& options) {
  return options.mean == std::vector<double>{0} && options.std == std::vector<double>{1} &&
         !options.per_sample;
}

void FindNormalizedTwice(const Pipeline& pipeline, std::vector<DataDoubt>& doubts) {
  std::vector<Normalizing> all = NormalizesIn(pipeline);
  std::erase_if(all, [](const Normalizing& each) { return OnlyScales(each.options); });
  for (size_t i = 1; i < all.size(); ++i) {
    const auto first = std::ranges::find(
        all.begin(), all.begin() + static_cast<ptrdiff_t>(i), all[i].options.field,
        [](const Normalizing& each) { return each.options.field; });
    if (first == all.begin() + static_cast<ptrdiff_t>(i)) continue;
    doubts.push_back(
        {all[i].stage->location,
         fmt::format("{} normalises '{}' a second time, after {}", Named(pipeline, *all[i].stage),
                     all[i].options.field, Named(pipeline, *first->stage)),
         "take one of the two out"});
  }
}

// Returns whether fields of this dtype get the same constants, as with a scale that is written and
// one that is the default. True if they cannot be made, which is another finding.
bool SameConstants(const Normalize& a, const Normalize& b, DType dtype) {
  const auto same = [](const ShiftScale& x, const ShiftScale& y) {
    return x.shift == y.shift && x.scale == y.scale;
  };
  const Result<std::vector<ShiftScale>> of_a = NormalizeConstants(a, dtype),
                                        of_b = NormalizeConstants(b, dtype);
  return !of_a.ok() || !of_b.ok() || std::ranges::equal(*of_a, *of_b, same);
}

bool MaySetTheSameValues(const Normalize& a, const Normalize& b) {
  if (a.per_sample || b.per_sample) return a.per_sample && b.per_sample;
  const bool several = std::max(a.mean.size(), a.std.size()) > 1;
  if (several && a.by_last_dimension() != b.by_last_dimension()) return false;
  return SameConstants(a, b, DType::kUInt8) || SameConstants(a, b, DType::kFloat32);
}

// Skipped if the sources differ: their values may differ too.
void FindOtherNormalize(const Pipeline& train, const Pipeline& eval,
                        std::vector<DataDoubt>& doubts) {
  const std::vector<Normalizing> learnt = NormalizesIn(train), measured = NormalizesIn(eval);
  if (learnt.size() != 1 || measured.size() != 1) return;
  if (train.stages.front().name != eval.stages.front().name) return;
  const Normalize &a = learnt.front().options, &b = measured.front().options;
  if (a.field != b.field || MaySetTheSameValues(a, b)) return;
  doubts.push_back({measured.front().stage->location,
                    fmt::format("{} normalises '{}' with other values than {}, so the model is "
                                "measured on inputs that it has not learnt from",
                                Named(eval, *measured.front().stage), b.field,
                                Named(train, *learnt.front().stage)),
                    "give both the same `normalize`"});
}

// The stages of the same operator and field.
std::vector<const Stage*> NumberingsOf(const Pipeline& pipeline, const Stage& like) {
  const auto field = [](const Stage& stage) {
    const ConfigNode* const written = stage.options.Find("field");
    return written == nullptr ? std::string() : written->scalar;
  };
  std::vector<const Stage*> found;
  for (const Stage& stage : pipeline.stages)
    if (stage.name == like.name && field(stage) == field(like)) found.push_back(&stage);
  return found;
}

// An option as it is written; that which is left out as `none`.
std::string Written(const Stage& stage, std::string_view option, const char* none) {
  const ConfigNode* const written = stage.options.Find(option);
  return written == nullptr ? none : ToYamlLine(*written);
}

void FindOtherNumbers(const Pipeline& train, const Pipeline& eval, std::vector<DataDoubt>& doubts) {
  for (const Stage& stage : eval.stages) {
    if (!IsOneOf(kNumberWords, stage.name)) continue;
    const std::vector<const Stage*> learnt = NumberingsOf(train, stage),
                                    measured = NumberingsOf(eval, stage);
    if (learnt.size() != 1 || measured.size() != 1) continue;
    const Stage& of_train = *learnt.front();
    const auto differs = [&](std::string_view option, const char* none) {
      return Written(stage, option, none) != Written(of_train, option, none);
    };
    if (!differs("vocabulary", "") && !differs("values", "") && !differs("model", "") &&
        !differs("reserve", "0") && !differs("hash", "") && !differs("unknown_number", "")) {
      continue;
    }
    doubts.push_back(
        {stage.location,
         fmt::format("{} has `{}` that numbers words otherwise than that of {}, so the "
                     "model takes one word for another",
                     Named(eval, stage), stage.name, Named(train, of_train)),
         fmt::format("give both the same `{}`", stage.name)});
  }
}

// Whether an option is left at its default 0, or says so, alone or in a list.
bool HasZero(const ConfigNode& options, std::string_view option) {
  const ConfigNode* const written = options.Find(option);
  if (written == nullptr) return true;
  return written->scalar == "0" || std::ranges::any_of(written->items, [](const ConfigNode& one) {
           return one.scalar == "0";
         });
}

// Whether words get the number 0: the first of a list, learned or written, by itself does, and so
// does a hash; a file may keep it free.
bool GivesWordsZero(const ConfigNode& words) {
  const bool listed = words.Find("values") != nullptr || words.Find("hash") != nullptr;
  const ConfigNode* const unknown = words.Find("unknown_number");
  return (listed && HasZero(words, "reserve")) || (unknown != nullptr && unknown->scalar == "0");
}

// Whether the stage puts the field into a row of features, which takes it out of the sample: what
// fills up later fills up others.
bool TakesIntoRow(const Stage& stage, const std::string& field) {
  const auto row = stage.As<FeatureRow>();
  return row && std::ranges::any_of(row->features.fields(), [&](const RowFeature& feature) {
           return feature.name == field;
         });
}

void FindWordThatPads(const Pipeline& pipeline, std::vector<DataDoubt>& doubts) {
  for (size_t i = 0; i < pipeline.stages.size(); ++i) {
    const Stage& words = pipeline.stages[i];
    if (words.name != Words::kName || !GivesWordsZero(words.options)) continue;
    const ConfigNode* const output = words.options.Find("output");
    const std::string field = output != nullptr ? output->scalar : Words().output;
    const auto pads = std::find_if(
        pipeline.stages.begin() + static_cast<ptrdiff_t>(i), pipeline.stages.end(),
        [&](const Stage& stage) {
          if (TakesIntoRow(stage, field)) return true;
          if (const auto batch = stage.As<Batch>()) return batch->ragged;
          return (stage.name == PaddedBatch::kName || stage.name == BucketByLength::kName) &&
                 HasZero(stage.options, "padding");
        });
    if (pads == pipeline.stages.end() || pads->name == FeatureRow::kName) continue;
    const std::string why =
        pads->name == Batch::kName
            ? "which counts as no word for a model whose `padding` is 0"
            : fmt::format("with which `{}` fills shorter texts up, so a model does not read it",
                          pads->name);
    doubts.push_back({words.location,
                      fmt::format("{}: a word has the number 0, {}", Named(pipeline, words), why),
                      words.options.Find("unknown_number") != nullptr
                          ? "write `reserve: 2` and `unknown_number: 1`, which keep 0 free"
                          : "write `reserve: 1`, which keeps 0 free"});
  }
}

void FindAugmentedEval(const Pipeline& eval, std::vector<DataDoubt>& doubts) {
  for (const Stage& stage : eval.stages) {
    const auto grayscale = stage.As<Grayscale>();
    const bool drawn = grayscale && grayscale->probability > 0 && grayscale->probability < 1;
    if (!drawn && !IsOneOf(kAugments, stage.name)) continue;
    doubts.push_back({stage.location,
                      fmt::format("{} has `{}`, which draws at random how samples look, so the "
                                  "figures are not those of the data",
                                  Named(eval, stage), stage.name),
                      "keep it to data.train"});
  }
}

}  // namespace

std::vector<DataDoubt> DoubtsAbout(const ConfigNode& data) {
  const Pipeline train = PipelineOf(data, "train"), eval = PipelineOf(data, "eval");
  std::vector<DataDoubt> doubts;
  FindSharedSamples(train, eval, doubts);
  FindOtherNormalize(train, eval, doubts);
  FindOtherNumbers(train, eval, doubts);
  FindAugmentedEval(eval, doubts);
  FindNormalizedTwice(train, doubts);
  FindNormalizedTwice(eval, doubts);
  FindWordThatPads(train, doubts);
  return doubts;
}

}  // namespace stoker
