// Shared by the transforms of colours: images of bytes, of one channel or of three.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stoker/data/transforms/paired_fields_internal.h"

namespace stoker {

// As FindPairedFields, but each must be uint8 and have 1 or 3 channels if known. `who` is the
// transform, for messages.
Result<PairedFields> FindColorFields(std::string_view who, const Spec& spec,
                                     const PairedNames& names);

// Returns InvalidArgument if an image does not have 1 or 3 channels.
Status CheckColorChannels(std::string_view who, const ImageShape& shape);

// Describes the options `field` and `images` of T.
template <typename T>
void DescribeColorFields(OptionTable<T>& table) {
  table.Field("field", &T::field, "image to change")
      .Field("images", &T::images, "further images that get the same draw");
}

}  // namespace stoker
