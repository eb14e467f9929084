#include "stoker/run/registry.h"

namespace stoker {

const ScheduleRegistry& ScheduleRegistry::Builtin() {
  static const ScheduleRegistry registry = [] {
    ScheduleRegistry filled;
    RegisterBuiltinSchedules(filled);
    return filled;
  }();
  return registry;
}

std::string ModelInput::ToString() const {
  return fmt::format("{} x {} x {}", channels, height, width);
}

Result<ModelInput> ModelInputOf(const Field& field, bool channels_last) {
  const Shape& shape = field.shape;
  const bool known = shape.size() >= 2 && IsFullyKnown(std::span(shape).subspan(1));
  if (!known || shape.size() > 4) {
    return InvalidArgument(
        "field {} is no input for a model, which takes [samples, features], [samples, height, "
        "width] or [samples, channels, height, width]; make the shape known before `batch`",
        field.ToString());
  }
  if (shape.size() == 2) return ModelInput{.channels = shape[1]};
  if (shape.size() == 3) return ModelInput{.channels = 1, .height = shape[1], .width = shape[2]};
  if (channels_last) return ModelInput{.channels = shape[3], .height = shape[1], .width = shape[2]};
  return ModelInput{.channels = shape[1], .height = shape[2], .width = shape[3]};
}

}  // namespace stoker
