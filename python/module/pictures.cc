#include "python/module/pictures.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <vector>

#include "python/module/array.h"
#include "python/module/errors.h"
#include "stoker/image/contact_sheet.h"
#include "stoker/image/encode_png.h"

namespace nb = nanobind;

namespace stoker::python {
namespace {

// Returns the PNG and its number of columns. `pictures` is one picture, or a batch of them along
// the first dimension.
std::tuple<nb::bytes, int64_t> SheetOf(nb::handle pictures, int64_t most, std::vector<double> mean,
                                       std::vector<double> std) {
  const Array array = ArrayOf(pictures);
  std::vector<Array> each;
  if (array.shape().size() == 4) {
    for (int64_t i = 0; i < std::min(most, array.shape()[0]); ++i) each.push_back(array.Row(i));
  } else {
    each.push_back(array);
  }
  if (each.empty() || !IsPictureShape(each.front().shape())) {
    throw StatusError(
        InvalidArgument("{} holds no pictures; those are [1 or 3, height, width] or [height, "
                        "width, 1 or 3], alone or in batches",
                        array.ToString()));
  }
  std::optional<Denormalization> denormalization;
  if (!mean.empty()) denormalization = {std::move(mean), std::move(std)};
  const ContactSheet sheet = Take(MakeContactSheet(each, denormalization));
  const std::string png = Take(EncodePng(sheet.pixels));
  return {nb::bytes(png.data(), png.size()), sheet.columns};
}

}  // namespace

void AddPictures(nb::module_& module) {
  module.def("contact_sheet", &SheetOf, nb::arg("pictures"), nb::arg("most"), nb::arg("mean"),
             nb::arg("std"),
             "Arranges pictures in one: the bytes of a PNG, and how many stand in a row.");
}

}  // namespace stoker::python
