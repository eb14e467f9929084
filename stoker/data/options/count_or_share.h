// A number of elements, or a share of them, as one option.
#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "stoker/base/config.h"
#include "stoker/data/core/dataset.h"
#include "stoker/data/core/option_object.h"

namespace stoker {

// In C++: `Take{.count = 100}` or `Take{.count = 0.8}`; in a recipe likewise: `take: 100`,
// `take: 0.8`. A whole number is a number of elements, 1 included; a fraction lies between 0 and 1.
class CountOrShare {
 public:
  static constexpr std::string_view kTypeName = "integer, or share between 0 and 1";

  CountOrShare() = default;
  template <std::integral T>
  CountOrShare(T count) : count_(static_cast<int64_t>(count)) {}  // NOLINT: implicit by design
  template <std::floating_point T>
  CountOrShare(T share) : share_(share) {}  // NOLINT: implicit by design

  // Returns how many of the elements of `input` that is, at least 0; a share is rounded down, so
  // that taking it and leaving it out part the input. Errors, begun by `who`: a negative number, a
  // share that is not between 0 and 1, a share of an input whose number of elements is not known.
  Result<int64_t> Of(const Dataset& input, std::string_view who) const;

  // Returns the number; nothing if this is a share.
  std::optional<int64_t> count() const {
    return share_ ? std::nullopt : std::optional<int64_t>(count_);
  }

  // See OptionObject.
  Status Read(const ConfigNode& node);
  ConfigNode Write() const;
  void Resolve(const std::filesystem::path& /*root*/) {}

 private:
  int64_t count_ = 0;
  std::optional<double> share_;
};

}  // namespace stoker
