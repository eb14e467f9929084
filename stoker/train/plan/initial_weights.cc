#include "stoker/train/plan/initial_weights.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/isfinite.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "stoker/base/problems.h"
#include "stoker/device/tensor.h"
#include "stoker/device/torch_error.h"
#include "stoker/run/weight_renames.h"
#include "stoker/run/weights_source.h"
#include "stoker/train/core/parameters.h"

namespace stoker {
namespace {

constexpr size_t kNamesShown = 5;
constexpr size_t kLayersAdvised = 4;
constexpr std::string_view kCounter = "num_batches_tracked";

// "3 missing (a, b, c)"; nothing if there are none.
std::string Listed(const std::vector<std::string>& names, std::string_view what) {
  if (names.empty()) return "";
  const std::vector<std::string> shown(
      names.begin(), names.begin() + static_cast<int64_t>(std::min(names.size(), kNamesShown)));
  return fmt::format("; {} {} ({}{})", names.size(), what, fmt::join(shown, ", "),
                     names.size() > kNamesShown ? ", ..." : "");
}

// An array under the name that the rules give it.
struct Source {
  std::string own_name;                      // in the file
  const Array* array = nullptr;              // null if it is of a type that Stoker lacks
  const SafetensorsEntry* unread = nullptr;  // then this
};
using Sources = std::map<std::string, Source, std::less<>>;

class Namer {
 public:
  static Result<Namer> Create(const InitFromOptions& options) {
    Namer namer(options);
    for (const std::string& rule : options.rename) {
      STOKER_ASSIGN_OR_RETURN(auto parsed, ParseRename(rule));
      namer.rules_.push_back(std::move(parsed));
    }
    namer.used_.resize(namer.rules_.size());
    return namer;
  }

  // The model's name for one of the file; nothing for what is left out.
  std::optional<std::string> Rename(const std::string& name) {
    if (!name.starts_with(options_.prefix)) return std::nullopt;
    const std::string rest = name.substr(options_.prefix.size());
    for (size_t i = 0; i < rules_.size(); ++i) {
      if (!rest.starts_with(rules_[i].first)) continue;
      used_[i] = true;
      return rules_[i].second + rest.substr(rules_[i].first.size());
    }
    return rest;
  }

  Status CheckUsed() const {
    const auto unused = std::ranges::find(used_, false);
    if (unused == used_.end()) return OkStatus();
    return InvalidArgument(
        "train.init_from.rename: no name in the file begins with '{}'; correct it",
        rules_[static_cast<size_t>(unused - used_.begin())].first);
  }

 private:
  explicit Namer(const InitFromOptions& options) : options_(options) {}

  const InitFromOptions& options_;
  std::vector<std::pair<std::string, std::string>> rules_;
  std::vector<bool> used_;
};

Result<Sources> NameArrays(const InitFromOptions& options, std::span<const NamedArray> arrays,
                           std::span<const SafetensorsEntry> unread, std::string_view file) {
  STOKER_ASSIGN_OR_RETURN(Namer namer, Namer::Create(options));
  Sources sources;
  const auto add = [&](const Source& source) -> Status {
    const std::optional<std::string> name = namer.Rename(source.own_name);
    if (!name) return OkStatus();
    const auto [place, added] = sources.try_emplace(*name, source);
    if (added) return OkStatus();
    return InvalidArgument("train.init_from: '{}' and '{}' of {} would both be called '{}'",
                           place->second.own_name, source.own_name, file, *name);
  };
  for (const NamedArray& named : arrays)
    STOKER_RETURN_IF_ERROR(add({.own_name = named.name, .array = &named.array}));
  for (const SafetensorsEntry& entry : unread)
    STOKER_RETURN_IF_ERROR(add({.own_name = entry.name, .unread = &entry}));
  STOKER_RETURN_IF_ERROR(namer.CheckUsed());
  return sources;
}

// How many of the model's names the file has with `prefix` before them.
int64_t NamesFound(const NamedTensors& tensors, std::span<const NamedArray> arrays,
                   std::string_view prefix) {
  std::set<std::string_view> names;
  for (const NamedArray& named : arrays) names.insert(named.name);
  return std::ranges::count_if(tensors, [&](const NamedTensor& tensor) {
    return names.contains(fmt::format("{}{}", prefix, tensor.name));
  });
}

// What precedes the model's names in the file, where it does: "module.". Empty if more of them
// are there as they are: "conv1.weight" is also the end of "layer1.0.conv1.weight".
std::string LikelyPrefix(const Model& model, std::span<const NamedArray> arrays) {
  const NamedTensors tensors = StateOf(model);
  if (tensors.empty()) return "";
  const std::string end = "." + tensors.front().name;
  const auto found = std::ranges::find_if(
      arrays, [&](const NamedArray& named) { return named.name.ends_with(end); });
  if (found == arrays.end()) return "";
  std::string prefix = found->name.substr(0, found->name.size() - end.size() + 1);
  const bool better = NamesFound(tensors, arrays, prefix) > NamesFound(tensors, arrays, "");
  return better ? prefix : "";
}

bool TypesAgree(const Array& array, const at::Tensor& tensor) {
  return IsFloating(array.dtype()) ? tensor.is_floating_point()
                                   : ToScalarType(array.dtype()) == tensor.scalar_type();
}

// What an array is that cannot be a model's tensor; empty if it can.
std::string MisfitOf(const Source& source, const at::Tensor& tensor) {
  if (source.array == nullptr) {
    return fmt::format("{}{}, a type that Stoker lacks", source.unread->type,
                       ShapeToString(source.unread->shape));
  }
  const bool fits =
      source.array->shape() == tensor.sizes().vec() && TypesAgree(*source.array, tensor);
  return fits ? "" : source.array->ToString();
}

// A tensor of the model that takes an array of the file.
struct Copy {
  NamedTensor to;
  const Array* array;
};

struct Match {
  InitReport report;
  std::vector<Copy> copies;
  std::vector<std::string> left;  // names of the model's tensors that are missing or do not fit
};

Status CheckSkip(const std::vector<std::string>& patterns, const NamedTensors& tensors) {
  for (const std::string& pattern : patterns) {
    const bool matches = std::ranges::any_of(
        tensors, [&](const NamedTensor& named) { return MatchesPattern(named.name, pattern); });
    if (matches) continue;
    return InvalidArgument(
        "train.init_from.skip: '{}' matches none of the model's {} tensors, such as {}", pattern,
        tensors.size(), tensors.empty() ? "" : tensors.back().name);
  }
  return OkStatus();
}

Match MatchTensors(const NamedTensors& tensors, const InitFromOptions& options, Sources sources) {
  Match match;
  match.report.all = std::ssize(tensors);
  for (const auto& [name, tensor] : tensors) {
    const auto found = sources.find(name);
    const bool skipped = std::ranges::any_of(
        options.skip, [&, n = std::string_view(name)](const std::string& pattern) {
          return MatchesPattern(n, pattern);
        });
    if (skipped) {
      match.report.skipped.push_back(name);
    } else if (found == sources.end()) {
      if (name.ends_with(kCounter)) continue;
      match.report.missing.push_back(name);
      match.left.push_back(name);
    } else if (const std::string misfit = MisfitOf(found->second, tensor); !misfit.empty()) {
      match.left.push_back(name);
      match.report.mismatched.push_back(fmt::format(
          "{} is {}, the model has {}{}", name, misfit,
          DTypeName(*FromScalarType(tensor.scalar_type())), ShapeToString(tensor.sizes().vec())));
    } else {
      match.copies.push_back({{name, tensor}, found->second.array});
    }
    if (found != sources.end()) sources.erase(found);
  }
  match.report.taken = std::ssize(match.copies);
  for (const auto& [name, source] : sources) match.report.unexpected.push_back(source.own_name);
  return match;
}

// Patterns of the layers that `names` are tensors of: "fc.*".
std::vector<std::string> LayersOf(const std::vector<std::string>& names) {
  std::vector<std::string> layers;
  for (const std::string& name : names) {
    const size_t dot = name.rfind('.');
    std::string layer = dot == std::string::npos ? name : name.substr(0, dot) + ".*";
    if (std::ranges::find(layers, layer) == layers.end()) layers.push_back(std::move(layer));
  }
  return layers;
}

// What to do about tensors that do not find their own. To skip layers helps where they are few and
// nothing is left over in the file.
std::string AdviceFor(const Match& match) {
  if (match.report.taken == 0) {
    return "nothing fits: is this the right file, or does it need a prefix?";
  }
  const std::vector<std::string> layers = LayersOf(match.left);
  if (layers.empty() || layers.size() > kLayersAdvised || !match.report.unexpected.empty()) {
    return "take what fits (partial: true)";
  }
  return fmt::format(
      "keep the model's own first values there (skip: [\"{}\"]), or take what fits "
      "(partial: true)",
      fmt::join(layers, "\", \""));
}

Status CheckFit(const Match& match, const InitFromOptions& options, const Model& model,
                std::span<const NamedArray> arrays) {
  const InitReport& report = match.report;
  if (report.taken > 0 && (options.partial || report.fits())) return OkStatus();
  const std::string prefix = LikelyPrefix(model, arrays);
  return FailedPrecondition(
      "train.init_from: {}; {}", report.ToText(),
      !prefix.empty() && prefix != options.prefix
          ? fmt::format("names there begin with '{0}': give prefix: \"{0}\"", prefix)
          : AdviceFor(match));
}

// Weights that a run had broken by would break every run that begins with them, at its first step.
Status CheckFinite(const Match& match) {
  for (const auto& [to, array] : match.copies) {
    if (!to.tensor.is_floating_point()) continue;
    const at::Tensor values = ToTensor(*array);
    const int64_t broken = values.numel() - at::isfinite(values).sum().item<int64_t>();
    if (broken == 0) continue;
    return DataLoss(
        "train.init_from: {}: {} of the {} values of what becomes '{}' are NaN or infinite; take "
        "weights from before they broke, or leave these out (skip: [\"{}\"])",
        match.report.source, broken, values.numel(), to.name, to.name);
  }
  return OkStatus();
}

}  // namespace

std::string InitReport::ToText() const {
  return fmt::format("{} of the model's {} tensors are taken from {}", taken, all, source) +
         Listed(missing, "are missing there") + Listed(unexpected, "there are not the model's") +
         Listed(mismatched, "do not fit") + Listed(skipped, "are skipped");
}

Result<InitReport> CopyWeights(Model& model, const InitFromOptions& options,
                               std::span<const NamedArray> arrays, std::string_view source,
                               std::span<const SafetensorsEntry> unread) {
  const NamedTensors tensors = StateOf(model);
  STOKER_RETURN_IF_ERROR(CheckSkip(options.skip, tensors));
  STOKER_ASSIGN_OR_RETURN(Sources sources, NameArrays(options, arrays, unread, source));
  Match match = MatchTensors(tensors, options, std::move(sources));
  match.report.source = source;
  STOKER_RETURN_IF_ERROR(CheckFit(match, options, model, arrays));
  STOKER_RETURN_IF_ERROR(CatchTorchErrors([&]() -> Status {
    const at::NoGradGuard no_grad;
    const Status finite = CheckFinite(match);
    if (!finite.ok()) return finite;
    for (const auto& [to, array] : match.copies) to.tensor.copy_(ToTensor(*array));
    return OkStatus();
  }));
  return std::move(match.report);
}

Result<InitReport> InitializeWeights(Model& model, const InitFromOptions& options) {
  if (options.weights.empty()) return InitReport{};
  const Result<LoadedWeights> loaded = LoadWeights(options.weights);
  if (!loaded.ok()) return WithPrefix("train.init_from.weights: ", loaded.status());
  return CopyWeights(model, options, loaded->arrays, loaded->source, loaded->unread);
}

}  // namespace stoker
