#include "stoker/train/plan/normalize_place.h"

#include <utility>

#include "stoker/data/recipe/normalize_apart.h"

namespace stoker {
namespace {

// The CPU gains nothing: the pipeline's kernel writes the normalised picture to its place at once.
bool OnDevice(const TrainOptions& options, c10::Device device) {
  return options.normalize_on == "device" || (options.normalize_on == "auto" && !device.is_cpu());
}

}  // namespace

Result<PlacedPipeline> PlaceTrain(const Recipe& recipe, c10::Device device) {
  const TrainOptions& options = recipe.train.options;
  PlacedPipeline as_written{.dataset = recipe.data.train, .normalize = {}};
  if (!OnDevice(options, device)) return as_written;
  Result<NormalizeApart> apart = TakeNormalizeOut(recipe.data, "train", options.input);
  if (apart.ok()) {
    return PlacedPipeline{.dataset = std::move(apart->pixels),
                          .normalize = std::move(apart->channels)};
  }
  if (options.normalize_on == "auto") return as_written;
  return InvalidArgument(
      "train.normalize_on: data.train cannot be normalised on the device: {}; set it to auto, or "
      "end the pipeline with normalize, batch and prefetch",
      apart.status().message());
}

PlacedPipeline PlaceEval(const Recipe& recipe, c10::Device device, const Choices& choices) {
  PlacedPipeline as_written{.dataset = *recipe.data.eval, .normalize = {}};
  if (choices.normalize_on_host || !OnDevice(recipe.train.options, device)) return as_written;
  Result<NormalizeApart> apart = TakeNormalizeOut(recipe.data, "eval", recipe.train.options.input);
  if (!apart.ok()) return as_written;
  return {.dataset = std::move(apart->pixels), .normalize = std::move(apart->channels)};
}

}  // namespace stoker
