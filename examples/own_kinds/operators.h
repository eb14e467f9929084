// Operators of your own: a source, an operator made of others, and a transform.
//
//   data:
//     train:
//       - stripes: {count: 512}
//       - some: 256
//       - own_invert
#pragma once

#include <algorithm>

#include "stoker/data/data.h"

namespace own {

// Pictures of 8 x 8 pixels with stripes, upright (class 0) or lying (class 1): each is a function
// of its number alone, so that a run can be resumed anywhere.
struct Stripes {
  static constexpr std::string_view kName = "stripes";
  static constexpr std::string_view kHelp = "Pictures with stripes, upright (0) or lying (1).";
  int64_t count = 1000;

  static void Describe(stoker::OptionTable<Stripes>& table) {
    table.Field("count", &Stripes::count, "how many pictures", stoker::AtLeast(1));
  }
  stoker::Result<stoker::Dataset> Build() const {
    return stoker::Source(stoker::Range{.stop = count}) |
           stoker::Map{.function = Draw,
                       .output = {{{"image", stoker::DType::kUInt8, {1, 8, 8}},
                                   {"label", stoker::DType::kInt64, {}}}},
                       .random = false};
  }

 private:
  static stoker::Status Draw(stoker::Element& element, stoker::Rng& /*rng*/,
                             stoker::Scratch& scratch) {
    const int64_t number = element.arrays[0].values<int64_t>()[0];
    stoker::Array image = scratch.NewArray(stoker::DType::kUInt8, {1, 8, 8});
    stoker::Array label = scratch.NewArray(stoker::DType::kInt64, {});
    const bool lying = number % 2 == 1;
    const int64_t begin = number / 2 % 8, contrast = 55 + number * 37 % 200;
    for (int64_t i = 0; i < 64; ++i) {
      const int64_t across = lying ? i / 8 : i % 8;
      const bool bright = (across + begin) % 4 < 2;
      image.values<uint8_t>()[static_cast<size_t>(i)] = static_cast<uint8_t>(bright ? contrast : 0);
    }
    label.values<int64_t>()[0] = lying ? 1 : 0;
    element.arrays = {std::move(image), std::move(label)};
    return stoker::OkStatus();
  }
};

// So many elements of each epoch, others in each.
struct Some {
  static constexpr std::string_view kName = "some";
  static constexpr std::string_view kHelp = "Some elements of each epoch, drawn anew for each.";
  static constexpr bool kArranges = true;  // it says which samples come, and prepares none
  int64_t count = 1;

  static void Describe(stoker::OptionTable<Some>& table) {
    table.Field("count", &Some::count, "how many", stoker::AtLeast(0)).Required();
  }
  stoker::Result<stoker::Dataset> Build(stoker::Dataset input) const {
    return stoker::Result(std::move(input)) | stoker::Shuffle{} | stoker::Take{.count = count};
  }
};

// Dark becomes bright.
struct Invert {
  static constexpr std::string_view kName = "own_invert";
  static constexpr std::string_view kHelp = "Inverts pixels of 8 bits.";
  static constexpr bool kArranges = false;
  std::string field = "image";

  static void Describe(stoker::OptionTable<Invert>& table) {
    table.Field("field", &Invert::field, "the pictures");
  }
  stoker::Result<stoker::Dataset> Build(stoker::Dataset input) const {
    STOKER_ASSIGN_OR_RETURN(const size_t index, input.spec().IndexOf("own_invert.field", field));
    if (input.spec().fields[index].dtype != stoker::DType::kUInt8) {
      return stoker::InvalidArgument(
          "own_invert: {} has no pixels of 8 bits; put it before normalize",
          input.spec().fields[index].ToString());
    }
    return stoker::Result(std::move(input)) |
           stoker::Map{.function =
                           [index](stoker::Element& element, stoker::Rng& /*rng*/,
                                   stoker::Scratch& scratch) {
                             const stoker::Array before = std::move(element.arrays[index]);
                             stoker::Array after = scratch.NewArray(before.dtype(), before.shape());
                             std::ranges::transform(before.values<uint8_t>(),
                                                    after.values<uint8_t>().begin(),
                                                    [](uint8_t v) { return uint8_t(255 - v); });
                             element.arrays[index] = std::move(after);
                             return stoker::OkStatus();
                           },
                       .output = {},
                       .random = false};
  }
};

}  // namespace own
