#include "stoker/tools/trainer/prediction_text.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <numeric>
#include <string_view>

#include "stoker/image/cast.h"

namespace stoker {
namespace {

std::string TextOf(const Array& bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.num_bytes());
  return std::string(text.substr(0, text.find_last_not_of('\0') + 1));
}

template <typename Value>
Value CastOne(const Array& array) {
  Value value{};
  CastValues(array.dtype(), array.data(), 1, DTypeOf<Value>(),
             reinterpret_cast<std::byte*>(&value));
  return value;
}

Json NumberOf(const Array& scalar) {
  switch (scalar.dtype()) {
    case DType::kBool: return CastOne<int64_t>(scalar) != 0;
    case DType::kFloat64: return CastOne<double>(scalar);
    case DType::kFloat16:
    case DType::kBFloat16:
    case DType::kFloat32: return AsShown(CastOne<float>(scalar));
    default: return CastOne<int64_t>(scalar);
  }
}

Json ValueOf(const Array& array) {
  if (array.shape().empty()) return NumberOf(array);
  Json list = Json::array();
  for (int64_t i = 0; i < array.shape().front(); ++i) list.push_back(ValueOf(array.Row(i)));
  return list;
}

}  // namespace

std::vector<size_t> Likeliest(const Prediction& prediction, int64_t top) {
  std::vector<size_t> classes(prediction.probabilities.size());
  std::iota(classes.begin(), classes.end(), size_t{0});
  std::ranges::stable_sort(classes, std::greater(),
                           [&](size_t c) { return prediction.probabilities[c]; });
  classes.resize(std::min(classes.size(), static_cast<size_t>(top)));
  return classes;
}

const std::vector<std::string>& ClassNamesFor(const Predictor& predictor,
                                              const Prediction& prediction) {
  const auto target =
      std::ranges::find(predictor.targets(), prediction.target, &PredictedTarget::name);
  return target == predictor.targets().end() ? predictor.classes() : target->classes;
}

std::string ClassName(const std::vector<std::string>& names, size_t number) {
  return number < names.size() ? names[number] : std::to_string(number);
}

Json LikeliestJson(const Prediction& prediction, const std::vector<std::string>& names,
                   int64_t top) {
  Json classes = Json::array();
  for (const size_t number : Likeliest(prediction, top)) {
    classes.push_back({{"class", ClassName(names, number)},
                       {"label", number},
                       {"probability", AsShown(prediction.probabilities[number])}});
  }
  return classes;
}

Json ScoresJson(const Prediction& prediction) {
  Json scores = Json::array();
  for (const float score : prediction.scores) scores.push_back(AsShown(score));
  return scores;
}

double AsShown(float number) {
  char digits[32];
  const auto written = std::to_chars(std::begin(digits), std::end(digits), number);
  double shown = number;
  std::from_chars(std::begin(digits), written.ptr, shown);
  return shown;
}

Json RowValue(const Array& array, int64_t row) {
  const Array value = array.Row(row);
  const bool text = value.dtype() == DType::kUInt8 && value.shape().size() == 1;
  return text ? Json(TextOf(value)) : ValueOf(value);
}

}  // namespace stoker
