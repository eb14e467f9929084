#include "stoker/train/metrics/metrics.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "stoker/run/metric_names.h"

namespace stoker {
namespace {

at::Tensor CountInTop(int64_t k, const at::Tensor& scores, const at::Tensor& target) {
  const auto highest = scores.topk(std::min(k, scores.size(1)), 1);
  return std::get<1>(highest).eq(target.unsqueeze(1)).any(1).sum();
}

// How many samples of each class were taken for each: int64 [classes, classes]. Only where there is
// one score a sample, so that the numbers say how many classes there are, is a device waited for.
at::Tensor CountPairs(int64_t columns, const at::Tensor& predicted, const at::Tensor& target) {
  // A regression may predict numbers below any class.
  const at::Tensor taken = columns == 1 ? predicted.clamp_min(0) : predicted;
  const int64_t classes =
      columns > 1 ? columns
                  : std::max(taken.max().item<int64_t>(), target.max().item<int64_t>()) + 1;
  const at::Tensor pairs = target * classes + taken;
  return at::zeros({classes * classes}, pairs.options())
      .scatter_add_(0, pairs, at::ones_like(pairs))
      .view({classes, classes});
}

// How often each label holds and is said to, holds, is said to: int64 [3, labels].
at::Tensor CountLabels(const Answers& answers) {
  return at::stack(
      {(answers.right * answers.said).sum(0), answers.right.sum(0), answers.said.sum(0)});
}

// The sum of confusion matrices, with as many classes as the larger has.
at::Tensor SumOfConfusions(const at::Tensor& a, const at::Tensor& b) {
  const int64_t more = b.size(0) - a.size(0);
  if (more > 0) return at::constant_pad_nd(a, {0, more, 0, more}) + b;
  return a + at::constant_pad_nd(b, {0, -more, 0, -more});
}

double Ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

double MeanOf(const std::vector<double>& values) {
  double sum = 0;
  int64_t count = 0;
  for (const double value : values) {
    if (std::isnan(value)) continue;
    sum += value;
    ++count;
  }
  return count > 0 ? sum / static_cast<double>(count) : std::numeric_limits<double>::quiet_NaN();
}

// For each class, or label: the samples that are it and were taken for it, that are it, that were
// taken for it.
struct ClassCounts {
  double both = 0, right = 0, said = 0;
};

std::vector<ClassCounts> CountsOfClasses(const at::Tensor& confusion) {
  const at::Tensor counts = confusion.to(at::kCPU).to(at::kDouble).contiguous();
  const auto classes = static_cast<size_t>(counts.size(0));
  const auto at = [&](size_t i, size_t j) { return counts.data_ptr<double>()[i * classes + j]; };
  std::vector<ClassCounts> all(classes);
  for (size_t c = 0; c < classes; ++c) {
    all[c].both = at(c, c);
    for (size_t other = 0; other < classes; ++other) {
      all[c].right += at(c, other);
      all[c].said += at(other, c);
    }
  }
  return all;
}

std::vector<ClassCounts> CountsOfLabels(const at::Tensor& counted) {
  const at::Tensor counts = counted.to(at::kCPU).to(at::kDouble).contiguous();
  const auto labels = static_cast<size_t>(counts.size(1));
  const double* const at = counts.data_ptr<double>();
  std::vector<ClassCounts> all;
  for (size_t i = 0; i < labels; ++i) {
    all.push_back({.both = at[i], .right = at[labels + i], .said = at[2 * labels + i]});
  }
  return all;
}

Json RowsOf(const at::Tensor& confusion) {
  const at::Tensor counts = confusion.to(at::kCPU).contiguous();
  const int64_t* count = counts.data_ptr<int64_t>();
  Json rows = Json::array();
  for (int64_t i = 0; i < counts.size(0); ++i, count += counts.size(1)) {
    rows.push_back(std::span(count, static_cast<size_t>(counts.size(1))));
  }
  return rows;
}

// The metrics that have a meaning for such targets, for messages.
std::string_view MetricsOf(TargetKind kind) {
  if (kind == TargetKind::kNumbers) return "mse, mae";
  if (kind == TargetKind::kLabels) return "precision, recall, f1, auc, mse, mae";
  return kMetricNames;
}

bool HasMeaning(std::string_view name, TargetKind kind) {
  if (kind == TargetKind::kNumbers) return name == "mse" || name == "mae";
  if (kind == TargetKind::kLabels) return name != "confusion" && !TopOfMetric(name);
  return true;
}

// JSON has no NaN: null stands for what cannot be said.
Json ListOf(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(std::isnan(value) ? Json() : Json(value));
  return list;
}

}  // namespace

Status MetricSet::CheckFor(const std::vector<std::string>& names, TargetKind kind) {
  for (const std::string& name : names) {
    if (HasMeaning(name, kind)) continue;
    return InvalidArgument(
        "train.metrics: '{}' is of classes, and the targets of evaluations are {}, for which there "
        "are {}; take it out",
        name, TargetKindName(kind), MetricsOf(kind));
  }
  return OkStatus();
}

MetricSet::MetricSet(const std::vector<std::string>& names, TargetKind kind)
    : names_(names),
      kind_(kind),
      counts_(std::ranges::any_of(names, IsMetricOfCounts)),
      sums_(names.size()) {}

bool MetricSet::Wants(std::string_view name) const {
  return std::ranges::find(names_, name) != names_.end();
}

void MetricSet::AddSum(const std::string& name, const at::Tensor& sum) {
  at::Tensor& total = sums_[static_cast<size_t>(std::ranges::find(names_, name) - names_.begin())];
  total = total.defined() ? total + sum : sum;
}

void MetricSet::AddCounts(int64_t outputs, const Answers& answers) {
  if (kind_ != TargetKind::kLabels) {
    const at::Tensor pairs = CountPairs(outputs, answers.said, answers.right);
    counted_ = counted_.defined() ? SumOfConfusions(counted_, pairs) : pairs;
    return;
  }
  const at::Tensor labels = CountLabels(answers);
  counted_ = counted_.defined() ? counted_ + labels : labels;
}

void MetricSet::Add(const at::Tensor& scores, const Answers& answers, const at::Tensor& target) {
  samples_ += target.size(0);
  columns_ = scores.size(1);
  for (const std::string& name : names_) {
    if (const auto k = TopOfMetric(name)) AddSum(name, CountInTop(*k, scores, answers.right));
    if (name != "mse" && name != "mae") continue;
    const at::Tensor off = (scores - WantedScores(target, scores)).to(at::kDouble);
    AddSum(name, name == "mse" ? off.square().sum() : off.abs().sum());
  }
  if (counts_) AddCounts(scores.size(1), answers);
  if (Wants("auc")) {
    const bool each = scores.size(1) == 1 || kind_ == TargetKind::kLabels;
    probabilities_.push_back((each ? scores : at::softmax(scores, 1)).to(at::kCPU).to(at::kFloat));
    targets_.push_back(answers.right.to(at::kCPU));
  }
}

Json MetricSet::OfCounts() const {
  const std::vector<ClassCounts> classes =
      kind_ == TargetKind::kLabels ? CountsOfLabels(counted_) : CountsOfClasses(counted_);
  Json values = Json::object();
  std::vector<double> precision, recall, f1;
  for (const auto& [both, right, said] : classes) {
    const bool seen = right + said > 0;
    const double nothing = std::numeric_limits<double>::quiet_NaN();
    precision.push_back(seen ? Ratio(both, said) : nothing);
    recall.push_back(seen ? Ratio(both, right) : nothing);
    f1.push_back(seen ? Ratio(2 * both, right + said) : nothing);
  }
  if (Wants("confusion")) values["confusion"] = RowsOf(counted_);
  const auto add = [&](const char* name, const std::vector<double>& of_classes) {
    if (!Wants(name)) return;
    values[name] = MeanOf(of_classes);
    values[std::string(name) + "_of_classes"] = ListOf(of_classes);
  };
  add("precision", precision);
  add("recall", recall);
  add("f1", f1);
  return values;
}

Json MetricSet::OfScores() const {
  const at::Tensor scores = at::cat(probabilities_).t().contiguous();
  // A column for each label, or one with all classes.
  const at::Tensor targets = at::cat(targets_).view({scores.size(1), -1}).t().contiguous();
  const auto samples = static_cast<size_t>(scores.size(1));
  std::vector<double> areas;
  for (int64_t c = 0; c < scores.size(0); ++c) {
    // One score is that of class 1, and a label that holds is 1.
    const bool labels = kind_ == TargetKind::kLabels;
    const int64_t number = labels || scores.size(0) == 1 ? 1 : c;
    const int64_t* const target = targets.data_ptr<int64_t>() + (labels ? c * scores.size(1) : 0);
    std::vector<bool> positive(samples);
    for (size_t i = 0; i < samples; ++i) positive[i] = target[i] == number;
    areas.push_back(
        AreaUnderRoc({scores.data_ptr<float>() + c * scores.size(1), samples}, positive));
  }
  const double mean = MeanOf(areas);
  return {{"auc", std::isnan(mean) ? Json() : Json(mean)}, {"auc_of_classes", ListOf(areas)}};
}

Json MetricSet::Values() const {
  if (names_.empty() || samples_ == 0) return nullptr;
  Json values = Json::object();
  for (size_t i = 0; i < names_.size(); ++i) {
    if (!sums_[i].defined()) continue;
    const int64_t each = TopOfMetric(names_[i]) ? 1 : columns_;
    values[names_[i]] = sums_[i].item<double>() / static_cast<double>(samples_ * each);
  }
  if (counts_) values.update(OfCounts());
  if (Wants("auc")) values.update(OfScores());
  return values;
}

double AreaUnderRoc(std::span<const float> scores, const std::vector<bool>& positive) {
  constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
  if (std::ranges::any_of(scores, [](float score) { return std::isnan(score); })) return kNothing;
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, [&](size_t a, size_t b) { return scores[a] < scores[b]; });
  double below = 0, pairs_right = 0, positives = 0;  // below: negatives so far
  for (size_t i = 0; i < order.size();) {
    double equal_negatives = 0, equal_positives = 0;
    const float score = scores[order[i]];
    for (; i < order.size() && scores[order[i]] == score; ++i) {
      (positive[order[i]] ? equal_positives : equal_negatives) += 1;
    }
    pairs_right += equal_positives * (below + equal_negatives / 2);
    below += equal_negatives;
    positives += equal_positives;
  }
  const double pairs = positives * below;
  return pairs > 0 ? pairs_right / pairs : kNothing;
}

}  // namespace stoker
