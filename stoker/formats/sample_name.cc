#include "stoker/formats/sample_name.h"

namespace stoker {

std::optional<SampleName> SplitSampleName(std::string_view name) {
  const size_t slash = name.rfind('/');
  const size_t last = slash == name.npos ? 0 : slash + 1;
  const size_t dot = name.find('.', last);
  if (dot == name.npos || dot == last) return std::nullopt;
  return SampleName{name.substr(0, dot), name.substr(dot + 1)};
}

std::string LowerCaseExtension(std::string_view extension) {
  std::string lower(extension);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

}  // namespace stoker
