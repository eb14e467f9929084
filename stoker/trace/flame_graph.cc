#include "stoker/trace/flame_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "stoker/base/printable.h"
#include "stoker/trace/chrome_trace.h"

namespace stoker {
namespace {

constexpr double kWidth = 1200, kMargin = 10, kFrameHeight = 18, kTop = 64;
constexpr double kNarrowest = 0.1;
constexpr double kLetter = 7;  // of the font at 12 units, about

// A frame, which knows its time: sums over threads are made first, so that shares are right.
struct Frame {
  std::string label;
  int64_t ns = 0;
  int64_t count = 0;  // 0: of threads, which are not counted in spans
  bool waits = false;
  std::vector<Frame> on_it = {};
};

Frame FrameOf(const TraceStack& stack) {
  Frame frame{.label = TraceLabel(stack.name, stack.kind),
              .ns = stack.total_ns,
              .count = stack.count,
              .waits = stack.kind != TraceKind::kWork};
  for (const TraceStack& child : stack.children) frame.on_it.push_back(FrameOf(child));
  return frame;
}

Frame FrameOf(const TraceThreadStacks& threads) {
  Frame frame{.label = threads.threads == 1
                           ? threads.thread
                           : fmt::format("{} ({} threads)", threads.thread, threads.threads)};
  for (const TraceStack& stack : threads.stacks) {
    frame.on_it.push_back(FrameOf(stack));
    frame.ns += stack.total_ns;
  }
  return frame;
}

Frame FrameOfAll(const std::vector<TraceThreadStacks>& threads) {
  Frame all{.label = "all threads"};
  for (const TraceThreadStacks& each : threads) {
    all.on_it.push_back(FrameOf(each));
    all.ns += all.on_it.back().ns;
  }
  return all;
}

int HeightOf(const Frame& frame) {
  int most = 0;
  for (const Frame& each : frame.on_it) most = std::max(most, HeightOf(each));
  return most + 1;
}

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : Printable(text)) {
    switch (c) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      default: escaped += c;
    }
  }
  return escaped;
}

// FNV-1a: the same on every machine.
uint32_t HashOf(std::string_view text) {
  uint32_t hash = 2166136261;
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 16777619;
  return hash;
}

// Light enough for black letters.
std::string ColorOf(const Frame& frame) {
  const uint32_t hash = HashOf(frame.label);
  const uint32_t one = hash % 40, two = hash / 40 % 60;
  if (frame.waits) return fmt::format("rgb({},{},{})", 150 + one, 180 + one, 205 + two / 2);
  return fmt::format("rgb({},{},{})", 215 + one, 130 + two, 80 + one);
}

// The beginning of `label` that fits, with an ellipsis where that is not all; empty if too little
// does.
std::string Fitting(const std::string& label, double width) {
  const auto room = static_cast<int64_t>((width - 6) / kLetter);
  const auto begins = [](char c) { return (static_cast<uint8_t>(c) & 0xc0) != 0x80; };
  if (std::ranges::count_if(label, begins) <= room) return label;
  if (room < 3) return {};
  std::string cut;
  int64_t letters = 0;
  for (const char c : label) {
    if (begins(c) && ++letters == room) break;
    cut += c;
  }
  return cut + "…";
}

class Drawing {
 public:
  explicit Drawing(const Frame& all) : all_(all), height_(HeightOf(all)) {}

  double height() const { return kTop + height_ * kFrameHeight + kMargin; }

  void Draw(const Frame& frame, int level, double x) {
    const double width = WidthOf(frame);
    if (width < kNarrowest) return;
    const double y = kTop + (height_ - level - 1) * kFrameHeight;
    text_ += fmt::format(
        "<g><title>{}</title><rect x=\"{:.2f}\" y=\"{:.0f}\" width=\"{:.2f}\" "
        "height=\"{:.0f}\" fill=\"{}\"/>",
        Escaped(Tooltip(frame)), x, y, width, kFrameHeight - 1, ColorOf(frame));
    if (const std::string label = Fitting(Printable(frame.label), width); !label.empty()) {
      text_ +=
          fmt::format("<text x=\"{:.2f}\" y=\"{:.0f}\">{}</text>", x + 3, y + 13, Escaped(label));
    }
    text_ += "</g>\n";
    for (const Frame& each : frame.on_it) {
      Draw(each, level + 1, x);
      x += WidthOf(each);
    }
  }

  const std::string& text() const { return text_; }

 private:
  double ShareOf(const Frame& frame) const {
    return all_.ns == 0 ? 0 : static_cast<double>(frame.ns) / static_cast<double>(all_.ns);
  }
  double WidthOf(const Frame& frame) const { return (kWidth - 2 * kMargin) * ShareOf(frame); }

  std::string Tooltip(const Frame& frame) const {
    const std::string times =
        frame.count == 0 ? ""
                         : fmt::format(", {} time{}", frame.count, frame.count == 1 ? "" : "s");
    return fmt::format("{}: {:.6f} s, {:.2f}%{}", frame.label, static_cast<double>(frame.ns) * 1e-9,
                       100 * ShareOf(frame), times);
  }

  const Frame& all_;
  const int height_;
  std::string text_;
};

}  // namespace

std::string FlameGraphSvg(const std::vector<TraceThreadStacks>& threads, std::string_view title) {
  const Frame all = FrameOfAll(threads);
  Drawing drawing(all);
  drawing.Draw(all, 0, kMargin);
  const std::string about =
      all.ns == 0 ? "nothing was recorded"
                  : fmt::format(
                        "{:.3f} s of all threads together; warm: works, cool: waits; hold "
                        "the pointer over a frame for its time",
                        static_cast<double>(all.ns) * 1e-9);
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 "
      "0 {0:.0f} {1:.0f}\" role=\"img\" aria-label=\"{2}\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
      "<text x=\"{3:.0f}\" y=\"26\" font-size=\"17\">{2}</text>\n"
      "<text x=\"{3:.0f}\" y=\"48\" fill=\"#555555\">{4}</text>\n{5}</svg>\n",
      kWidth, drawing.height(), Escaped(title), kMargin, about, drawing.text());
}

}  // namespace stoker
