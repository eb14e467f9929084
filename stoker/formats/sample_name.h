// Which sample a member of an archive belongs to, by the rules of WebDataset.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stoker {

// "a/0001.seg.png" as {"a/0001", "seg.png"}: parts of the name that was given. Nothing where the
// name belongs to no sample: folders, files without extension, and those that begin with a dot.
struct SampleName {
  std::string_view key, extension;
};
std::optional<SampleName> SplitSampleName(std::string_view name);

// An extension as fields are known by it: ASCII letters in lower case, so that `a.JPG` is a `jpg`.
std::string LowerCaseExtension(std::string_view extension);

}  // namespace stoker
