// The sample that a member of an archive belongs to, by the rules of WebDataset.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stoker {

// "a/0001.seg.png" as {"a/0001", "seg.png"}: parts of the given name. Nothing if the name belongs
// to no sample: folders, files without extension, and those that begin with a dot.
struct SampleName {
  std::string_view key, extension;
};
std::optional<SampleName> SplitSampleName(std::string_view name);

// Returns an extension as fields are named: ASCII letters in lower case, so `a.JPG` has the field
// `jpg`.
std::string LowerCaseExtension(std::string_view extension);

}  // namespace stoker
