// Sections of the screen of `stoker top`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "stoker/tools/program/glyphs.h"
#include "stoker/tools/top/top_history.h"

namespace stoker {

// What sections are drawn from.
struct ScreenView {
  const TopHistory& history;
  size_t columns;
  Glyphs glyphs;
};

// Lower ones get their rows first.
enum class SectionPriority {
  kHeading,
  kStep,
  kRate,
  kLoss,
  kStages,
  kVerdict,
  kTime,
  kGpu,
  kCpu,
  kMemory,
  kDisk,
  kNetwork,
  kAdvice,
  kCurve,
  kNotes,
};

struct ScreenSection {
  SectionPriority priority;
  size_t least = 1;  // rows below which it is left out
  size_t most = 1;   // rows that it can use
  // Returns that many lines or fewer; `rows` is between the two above.
  std::function<std::vector<std::string>(size_t rows)> draw;
};

// Lines that are there already: the first `rows` of them are shown.
ScreenSection SectionOf(SectionPriority priority, std::vector<std::string> lines);

// "label   text", the text broken into at most `lines` lines below each other.
ScreenSection LabelledSection(const ScreenView& view, SectionPriority priority,
                              std::string_view label, std::string_view text, size_t lines = 1);

// One line: a label of kLabelColumns columns, and the text cut to the rest.
inline constexpr size_t kLabelColumns = 8;
std::string Labelled(const ScreenView& view, std::string_view label, std::string_view text);

// "1.2 GB" and "12 MB/s": of what is negative or not finite, those of 0.
std::string SizeText(double bytes);
std::string SpeedText(double bytes_per_s);

// "97%"
std::string ShareText(double share);

// In the order of the screen.
void AddRunSections(const ScreenView& view, std::vector<ScreenSection>& sections);
void AddProcessSections(const ScreenView& view, std::vector<ScreenSection>& sections);
void AddVerdictSections(const ScreenView& view, std::vector<ScreenSection>& sections);
void AddMachineSections(const ScreenView& view, std::vector<ScreenSection>& sections);

}  // namespace stoker
