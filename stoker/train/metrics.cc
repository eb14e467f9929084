#include "stoker/train/metrics.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "stoker/train/losses/one_hot_internal.h"

namespace stoker {
namespace {

constexpr std::string_view kOfConfusion[] = {"confusion", "precision", "recall", "f1"};
constexpr std::string_view kOthers[] = {"auc", "mse", "mae"};

// The K of "topK".
std::optional<int64_t> TopOf(std::string_view name) {
  if (!name.starts_with("top")) return std::nullopt;
  int64_t k = 0;
  const auto [end, error] = std::from_chars(name.data() + 3, name.data() + name.size(), k);
  if (error != std::errc() || end != name.data() + name.size() || k < 1) return std::nullopt;
  return k;
}

bool IsAmong(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

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

// Counts of a confusion matrix with as many classes as either has.
at::Tensor AddCounts(const at::Tensor& a, const at::Tensor& b) {
  if (!a.defined()) return b;
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

// JSON has no NaN: null stands for what cannot be said.
Json ListOf(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(std::isnan(value) ? Json() : Json(value));
  return list;
}

}  // namespace

at::Tensor CountCorrect(const at::Tensor& predicted, const at::Tensor& target) {
  return predicted.eq(target).sum();
}

Status MetricSet::Check(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (std::ranges::count(names, name) > 1) {
      return InvalidArgument("train.metrics: '{}' is named twice; once is enough", name);
    }
    if (TopOf(name) || IsAmong(name, kOfConfusion) || IsAmong(name, kOthers)) continue;
    return InvalidArgument(
        "train.metrics: there is no metric '{}'; known are topK (such as top5), confusion, "
        "precision, recall, f1, auc, mse, mae",
        name);
  }
  return OkStatus();
}

MetricSet::MetricSet(const std::vector<std::string>& names)
    : names_(names),
      counts_(std::ranges::any_of(names, [](const auto& n) { return IsAmong(n, kOfConfusion); })),
      sums_(names.size()) {}

bool MetricSet::Wants(std::string_view name) const {
  return std::ranges::find(names_, name) != names_.end();
}

void MetricSet::AddSum(const std::string& name, const at::Tensor& sum) {
  at::Tensor& total = sums_[static_cast<size_t>(std::ranges::find(names_, name) - names_.begin())];
  total = total.defined() ? total + sum : sum;
}

void MetricSet::Add(const at::Tensor& scores, const at::Tensor& predicted,
                    const at::Tensor& target) {
  samples_ += target.size(0);
  columns_ = scores.size(1);
  for (const std::string& name : names_) {
    if (const auto k = TopOf(name)) AddSum(name, CountInTop(*k, scores, target));
    if (name != "mse" && name != "mae") continue;
    const at::Tensor off = (scores - OneHot(target, scores)).to(at::kDouble);
    AddSum(name, name == "mse" ? off.square().sum() : off.abs().sum());
  }
  if (counts_) {
    confusion_ = AddCounts(confusion_, CountPairs(scores.size(1), predicted, target));
  }
  if (Wants("auc")) {
    const at::Tensor shown = scores.size(1) == 1 ? scores : at::softmax(scores, 1);
    probabilities_.push_back(shown.to(at::kCPU).to(at::kFloat));
    targets_.push_back(target.to(at::kCPU));
  }
}

Json MetricSet::OfConfusion() const {
  const at::Tensor counts = confusion_.to(at::kCPU).to(at::kDouble).contiguous();
  const auto classes = static_cast<size_t>(counts.size(0));
  const auto at = [&](size_t i, size_t j) { return counts.data_ptr<double>()[i * classes + j]; };
  Json values = Json::object(), rows = Json::array();
  std::vector<double> precision, recall, f1;
  for (size_t c = 0; c < classes; ++c) {
    double of_class = 0, taken_for = 0;
    Json row = Json::array();
    for (size_t other = 0; other < classes; ++other) {
      of_class += at(c, other);
      taken_for += at(other, c);
      row.push_back(static_cast<int64_t>(at(c, other)));
    }
    rows.push_back(std::move(row));
    const bool seen = of_class + taken_for > 0;
    const double nothing = std::numeric_limits<double>::quiet_NaN();
    precision.push_back(seen ? Ratio(at(c, c), taken_for) : nothing);
    recall.push_back(seen ? Ratio(at(c, c), of_class) : nothing);
    f1.push_back(seen ? Ratio(2 * at(c, c), of_class + taken_for) : nothing);
  }
  if (Wants("confusion")) values["confusion"] = std::move(rows);
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
  const at::Tensor targets = at::cat(targets_).contiguous();
  const auto samples = static_cast<size_t>(scores.size(1));
  std::vector<double> areas;
  for (int64_t c = 0; c < scores.size(0); ++c) {
    // One score is that of class 1.
    const int64_t number = scores.size(0) == 1 ? 1 : c;
    std::vector<bool> positive(samples);
    for (size_t i = 0; i < samples; ++i) positive[i] = targets.data_ptr<int64_t>()[i] == number;
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
    const int64_t each = TopOf(names_[i]) ? 1 : columns_;
    values[names_[i]] = sums_[i].item<double>() / static_cast<double>(samples_ * each);
  }
  if (counts_) values.update(OfConfusion());
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
