// What `loss: {cross_entropy: {weights: balanced}}` learns: how often each class is there.
#include <algorithm>
#include <utility>
#include <vector>

#include "stoker/data/learn/learner.h"
#include "stoker/image/cast.h"

namespace stoker {
namespace {

constexpr int64_t kMostClasses = 1 << 20;

class ClassWeightsLearner final : public StageLearner {
 public:
  Status Add(const Array& kept, int64_t samples, int64_t first) override {
    numbers_.resize(static_cast<size_t>(samples));
    CastValues(kept.dtype(), kept.data(), numbers_.size(), DType::kInt64,
               reinterpret_cast<std::byte*>(numbers_.data()));
    for (size_t i = 0; i < numbers_.size(); ++i) {
      const int64_t number = numbers_[i];
      if (number < 0 || number >= kMostClasses) {
        return DataLoss(
            "sample {} of the training side has class number {}, and classes are numbered from 0 "
            "(to {} at most); correct the labels",
            first + static_cast<int64_t>(i), number, kMostClasses - 1);
      }
      if (number >= std::ssize(counts_)) counts_.resize(static_cast<size_t>(number) + 1);
      ++counts_[static_cast<size_t>(number)];
    }
    return OkStatus();
  }

  int64_t bytes() const override {
    return static_cast<int64_t>((counts_.capacity() + numbers_.capacity()) * sizeof(int64_t));
  }

  // As compute_class_weight("balanced") of scikit-learn: samples / (classes * samples of the
  // class).
  Status Finish(const std::string& who, Json& options, Json& facts) override {
    int64_t samples = 0;
    for (const int64_t count : counts_) samples += count;
    std::vector<double> weights;
    for (const int64_t count : counts_) {
      if (count == 0) {
        return FailedPrecondition(
            "{} has no sample of class {} on the training side, so it has no balanced weight; "
            "correct the labels, or give `weights` a number for each class",
            who, weights.size());
      }
      weights.push_back(static_cast<double>(samples) /
                        (static_cast<double>(counts_.size()) * static_cast<double>(count)));
    }
    options = {{"weights", weights}};
    facts = {{"samples", counts_}};
    return OkStatus();
  }

 private:
  std::vector<int64_t> counts_;
  std::vector<int64_t> numbers_;  // of the samples that are added, kept for its memory
};

}  // namespace

Result<std::unique_ptr<StageLearner>> MakeClassWeightsLearner(const LearnerInput& input) {
  const Field& field = input.field;
  if (!field.shape.empty() || IsFloating(field.dtype)) {
    return InvalidArgument(
        "weights: balanced takes class numbers, one integer a sample, and field '{}' is {}; give "
        "`weights` a number for each class, or leave it out",
        field.name, field.ToString());
  }
  return std::make_unique<ClassWeightsLearner>();
}

}  // namespace stoker
