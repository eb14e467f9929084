#pragma once

#include <cstdint>

namespace stoker {

// Field numbers of the messages; README.md.
constexpr uint32_t kFeatures = 1, kFeatureLists = 2;  // of Example and SequenceExample
constexpr uint32_t kEntry = 1;                        // of Features and FeatureLists
constexpr uint32_t kName = 1, kValue = 2;             // of an entry
constexpr uint32_t kBytesList = 1, kFloatList = 2, kInt64List = 3;  // of Feature
constexpr uint32_t kStep = 1;                                       // of FeatureList
constexpr uint32_t kListValue = 1;                                  // of the lists of values

}  // namespace stoker
