// Predictor: a trained run put to use.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/array.h"
#include "stoker/base/status.h"
#include "stoker/run/recipe.h"
#include "stoker/train/metrics/evaluator.h"

namespace stoker {

struct Prediction {
  std::vector<float> scores;  // as the model gives them
  // One a class; they add up to 1. Of several labels a sample, how probable each is by itself.
  // Empty where targets are numbers: the scores are the answer.
  std::vector<float> probabilities;
  int64_t best = 0;     // the class that evaluation would count it as (Loss::Predict)
  bool labels = false;  // whether these are labels: none, one or several are more probable than not
};

// A batch of the run's eval pipeline; vectors have an entry for each of its samples.
struct PredictedBatch {
  int64_t first = 0;  // how many samples came before
  std::vector<Prediction> predictions;
  // The samples' numbers in their source; empty where the pipeline does not tell
  // (data/recipe/numbered_pipeline.h).
  std::vector<int64_t> numbers;
  std::vector<std::string> files;  // that they were read from; empty where they have none each
  std::vector<Array> fields;       // those of PredictOptions, each [samples, ...]
};

struct PredictOptions {
  std::vector<std::string> fields = {};     // of the pipeline's batches, to be handed along
  std::optional<int64_t> limit = {};        // at most so many samples
  const std::atomic<bool>* stop = nullptr;  // once true, the call ends with kCancelled
};

struct PredictSummary {
  int64_t samples = 0;
  // Why these are not all samples of the data, each once and in order; empty where they are.
  std::vector<std::string> disturbances;
  bool numbered = false;  // whether batches have had PredictedBatch::numbers
};

// The names in data.classes, as text of the recipe: needs no data. Empty where it has none.
std::vector<std::string> ClassNamesIn(const ConfigNode& recipe);

// One thread at a time.
class Predictor {
 public:
  // Reads the recipe and the weights of the run: weights.safetensors, or those of the newest
  // checkpoint where training has not finished. The data need not be there. Errors: kNotFound (no
  // run, no weights), kDataLoss, and weights that do not fit the recipe's model.
  //   assignments  change keys of the stored recipe first, such as "data.root=/data"
  static Result<std::unique_ptr<Predictor>> Open(const std::filesystem::path& run,
                                                 const std::vector<std::string>& assignments = {});
  ~Predictor();

  // Where the weights came from, for messages: a path.
  const std::string& weights() const;
  // Checkpoints that were passed over because they are damaged, and why.
  const std::vector<std::string>& warnings() const;
  // What the classes are called; empty where the recipe does not say.
  const std::vector<std::string>& classes() const;

  // Whether the eval pipeline decodes its samples: they are the bytes of picture files then.
  bool decodes() const;

  // Evaluates on the recipe's eval pipeline.
  Result<Evaluation> EvaluateRun();

  // Predicts each sample of the recipe's eval pipeline, in its order and to its end. The target
  // need not be among its fields, so what has no label is predicted too:
  //
  //   predictor->PredictRun({.fields = {"id"}}, [&](const PredictedBatch& batch) { ... });
  //
  //   take  is given one batch after the other, which lives until it returns; its error ends the
  //         pass and is returned
  // Memory: the batches under way and the one given. Errors: those of ParseEvalPipeline and of the
  // pass, whose policy for damaged data (on_error) holds; kInvalidArgument for a field that is not
  // there or has no row for each sample, and where the pipeline never ends or gives no batch;
  // kFailedPrecondition for samples that the model was not trained on.
  Result<PredictSummary> PredictRun(const PredictOptions& options,
                                    const std::function<Status(const PredictedBatch&)>& take);

  // One prediction a sample. `samples` has the samples along its first dimension, as the recipe's
  // eval source gives them: uint8 [n, channels, height, width], or where the pipeline `decodes()`
  // uint8 [n, bytes]. The transforms that stand behind the source in the recipe's eval pipeline are
  // applied.
  Result<std::vector<Prediction>> Predict(const Array& samples);

 private:
  struct Parts;
  explicit Predictor(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace stoker
