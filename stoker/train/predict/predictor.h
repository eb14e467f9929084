// Predictor: makes predictions with a trained run.
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
#include "stoker/train/evaluation/evaluator.h"

namespace stoker {

struct Prediction {
  std::string target = {};         // the name of one of several; else empty
  std::vector<float> scores = {};  // of the model
  // One for each class, with sum 1. For several labels a sample, the probability of each. Empty for
  // numbers: the scores are the answer.
  std::vector<float> probabilities = {};
  int64_t best = 0;  // the predicted class, as in evaluation (Loss::Predict)
  bool labels =
      false;  // whether these are labels, any number of which may be more probable than not
  // Of a model of several targets: each of them; all of the above is not used then.
  std::vector<Prediction> parts = {};
};

// One of several targets.
struct PredictedTarget {
  std::string name;
  std::vector<std::string> classes;  // their names; empty if it has none
};

// A batch of the run's eval pipeline; vectors have an entry for each of its samples.
struct PredictedBatch {
  int64_t first = 0;  // the number of earlier samples
  std::vector<Prediction> predictions;
  // The samples' numbers in their source; empty if unknown (data/recipe/numbered_pipeline.h).
  std::vector<int64_t> numbers;
  std::vector<std::string> files;  // that they were read from; empty if samples have no own file
  std::vector<Array> fields;       // those of PredictOptions, each [samples, ...]
};

struct PredictOptions {
  std::vector<std::string> fields = {};     // of the pipeline's batches, to return too
  std::optional<int64_t> limit = {};        // the most samples
  const std::atomic<bool>* stop = nullptr;  // once true, the call ends with kCancelled
};

struct PredictSummary {
  int64_t samples = 0;
  // Why these are not all samples of the data, each once and in order; empty if they are.
  std::vector<std::string> disturbances;
  bool numbered = false;  // whether batches have had PredictedBatch::numbers
};

// Return the names in data.classes, and the targets where there are several, from the recipe alone,
// without data. Empty if it has none.
std::vector<std::string> ClassNamesIn(const ConfigNode& recipe);
std::vector<PredictedTarget> TargetsIn(const ConfigNode& recipe);

// One thread at a time.
class Predictor {
 public:
  // Reads the recipe and the weights of the run: weights.safetensors, or those of the newest
  // checkpoint if training has not finished. The data need not exist. Errors: kNotFound (no run, no
  // weights), kDataLoss, and weights that do not fit the recipe's model.
  //   assignments  change keys of the stored recipe first, such as "data.root=/data"
  static Result<std::unique_ptr<Predictor>> Open(const std::filesystem::path& run,
                                                 const std::vector<std::string>& assignments = {});
  ~Predictor();

  // Returns the path of the weights, for messages.
  const std::string& weights() const;
  // Returns the damaged checkpoints that were skipped, with reasons.
  const std::vector<std::string>& warnings() const;
  // Returns the names of the classes; empty if the recipe has none.
  const std::vector<std::string>& classes() const;
  // Returns the targets, where there are several.
  const std::vector<PredictedTarget>& targets() const;

  // Returns whether the eval pipeline decodes its samples, which are then the bytes of picture
  // files.
  bool decodes() const;

  // Evaluates on the recipe's eval pipeline.
  Result<Evaluation> EvaluateRun();

  // Predicts each sample of the recipe's eval pipeline, in order and to its end. The target need
  // not be among its fields, so samples without labels are predicted too:
  //
  //   predictor->PredictRun({.fields = {"id"}}, [&](const PredictedBatch& batch) { ... });
  //
  //   take  called for each batch, which is valid until it returns; its error ends the pass and is
  //         returned
  // Memory: the batches in flight and the current one. Errors: those of ParseEvalPipeline and of
  // the pass, whose policy for damaged data (on_error) applies; kInvalidArgument for a field that
  // is missing or has no row for each sample, and if the pipeline is endless or has no batch;
  // kFailedPrecondition for samples of another shape than the model was trained on.
  Result<PredictSummary> PredictRun(const PredictOptions& options,
                                    const std::function<Status(const PredictedBatch&)>& take);

  // Returns one prediction a sample. `samples` has the samples along its first dimension, in the
  // form of the recipe's eval source: uint8 [n, channels, height, width], or uint8 [n, bytes] if
  // the pipeline `decodes()`. Applies the transforms that follow the source in the recipe's eval
  // pipeline.
  Result<std::vector<Prediction>> Predict(const Array& samples);

 private:
  struct Parts;
  explicit Predictor(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace stoker
