// Predictor: a trained run put to use.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "stoker/base/array.h"
#include "stoker/base/status.h"
#include "stoker/train/evaluator.h"
#include "stoker/train/recipe.h"

namespace stoker {

struct Prediction {
  std::vector<float> probabilities;  // one a class; they add up to 1
  int64_t best = 0;                  // the most probable class
};

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
