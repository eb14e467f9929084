#include "stoker/tools/top/top_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "stoker/tools/program/text.h"
#include "stoker/tools/top/screen_section_internal.h"

namespace stoker {
namespace {

double Within(double value, double most) {
  return std::isfinite(value) ? std::clamp(value, 0.0, most) : 0;
}

ScreenSection Heading(const ScreenView& view) {
  const TopHistory& history = view.history;
  const std::string right = view.columns >= 60 ? "  q quits" : "";
  const std::string left = fmt::format("{}  {}{}", history.target, history.state_text,
                                       history.command.empty() ? "" : "  " + history.command);
  return SectionOf(SectionPriority::kHeading,
                   {Fitted(left, view.columns - right.size(), view.glyphs) + right});
}

// Gives the sections rows, the most important ones first: what each needs at least, and then what
// it can use.
std::vector<size_t> RowsFor(const std::vector<ScreenSection>& sections, size_t rows) {
  std::vector<size_t> order(sections.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t i) { return sections[i].priority; });
  std::vector<size_t> given(sections.size(), 0);
  for (const size_t i : order) {
    if (sections[i].least > rows) continue;
    given[i] = sections[i].least;
    rows -= given[i];
  }
  // The curve can use any number of rows.
  std::stable_partition(order.begin(), order.end(),
                        [&](size_t i) { return sections[i].priority != SectionPriority::kCurve; });
  for (const size_t i : order) {
    if (given[i] == 0) continue;
    const size_t more = std::min(rows, sections[i].most - given[i]);
    given[i] += more;
    rows -= more;
  }
  return given;
}

}  // namespace

std::string SizeText(double bytes) { return ByteText(static_cast<uint64_t>(Within(bytes, 1e18))); }

std::string SpeedText(double bytes_per_s) { return SizeText(bytes_per_s) + "/s"; }

std::string ShareText(double share) { return fmt::format("{:.0f}%", 100 * Within(share, 1e4)); }

ScreenSection SectionOf(SectionPriority priority, std::vector<std::string> lines) {
  const size_t most = lines.size();
  return {.priority = priority,
          .least = 1,
          .most = most,
          .draw = [lines = std::move(lines)](size_t rows) {
            return std::vector<std::string>(
                lines.begin(),
                lines.begin() + static_cast<std::ptrdiff_t>(std::min(rows, lines.size())));
          }};
}

std::string Labelled(const ScreenView& view, std::string_view label, std::string_view text) {
  return Cut(Fitted(label, kLabelColumns, view.glyphs) + std::string(text), view.columns,
             view.glyphs);
}

ScreenSection LabelledSection(const ScreenView& view, SectionPriority priority,
                              std::string_view label, std::string_view text, size_t lines) {
  const std::string whole(text), name(label);
  const auto draw = [view, whole, name](size_t rows) {
    const size_t columns = view.columns > kLabelColumns ? view.columns - kLabelColumns : 0;
    std::vector<std::string> drawn;
    for (const std::string& line : Wrapped(whole, columns, rows, view.glyphs))
      drawn.push_back(Labelled(view, drawn.empty() ? name : "", line));
    if (drawn.empty()) drawn.push_back(Labelled(view, name, ""));
    return drawn;
  };
  return {.priority = priority,
          .least = 1,
          .most = std::max<size_t>(1, draw(lines).size()),
          .draw = draw};
}

std::vector<std::string> TopScreen(const TopHistory& history, ScreenSize size, Glyphs glyphs) {
  if (size.columns == 0 || size.rows == 0) return {};
  const ScreenView view = {.history = history, .columns = size.columns, .glyphs = glyphs};
  std::vector<ScreenSection> sections = {Heading(view)};
  if (history.is_run)
    AddRunSections(view, sections);
  else
    AddProcessSections(view, sections);
  AddVerdictSections(view, sections);
  AddMachineSections(view, sections);
  std::vector<std::string> notes;
  for (const std::string& note : history.notes) notes.push_back(Labelled(view, "note", note));
  if (!notes.empty()) sections.push_back(SectionOf(SectionPriority::kNotes, std::move(notes)));
  const std::vector<size_t> rows = RowsFor(sections, size.rows);
  std::vector<std::string> screen;
  for (size_t i = 0; i < sections.size(); ++i) {
    if (rows[i] > 0) std::ranges::move(sections[i].draw(rows[i]), std::back_inserter(screen));
  }
  return screen;
}

}  // namespace stoker
