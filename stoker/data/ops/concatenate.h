#pragma once

#include "stoker/data/options/pipelines.h"

namespace stoker {

// Concatenates pipelines: all elements of the first, then all of the second, ... Fields must agree
// in name, dtype and number of dimensions; extents that differ become unknown. An element's key
// combines its key in its input and the input's number, so keys stay unique.
//
// By position if all inputs are; the state is then one number. In order, one input is open at a
// time, and the state is its number and its state.
struct Concatenate {
  static constexpr std::string_view kName = "concatenate";
  static constexpr std::string_view kHelp =
      "One pipeline after the other; their fields must agree.";
  Pipelines inputs;

  static void Describe(OptionTable<Concatenate>&) {}
  Result<Dataset> Build() const;
};

template <>
const std::vector<Option>& OptionsOf<Concatenate>();

}  // namespace stoker
