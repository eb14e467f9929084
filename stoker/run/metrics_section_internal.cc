#include "stoker/run/metrics_section_internal.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "stoker/base/problems.h"
#include "stoker/run/placed_entry_internal.h"

namespace stoker {
namespace {

// Keras has them among its metrics.
constexpr std::string_view kAlways[] = {"accuracy", "loss"};

}  // namespace

Status ParseMetrics(const ConfigNode& section, std::vector<MetricRegistry::Configured>& metrics,
                    ReadMetrics& read, std::string_view key) {
  const ConfigNode* node = section.Find("metrics");
  if (node == nullptr || node->kind == ConfigNode::Kind::kNull) return OkStatus();
  if (node->kind == ConfigNode::Kind::kMap) {
    read.is_list = false;
    return InvalidArgument("{}: 'metrics' is a map; it must be a list, such as metrics: [top5, f1]",
                           node->location.ToString());
  }
  const bool one_alone = node->kind == ConfigNode::Kind::kScalar;
  Problems problems;
  for (const ConfigNode& item : one_alone ? std::vector{*node} : node->items) {
    const std::string& name = item.entries.empty() ? item.scalar : item.entries.front().key;
    if (std::ranges::find(kAlways, name) != std::end(kAlways)) {
      problems.Add(InvalidArgument("{}: {}: '{}' is measured in every evaluation{}; leave it out",
                                   item.location.ToString(), key, name,
                                   name == "accuracy" ? " of classes" : ""));
      continue;
    }
    Result<MetricRegistry::Configured> parsed = ParsePlaced(MetricRegistry::Known(), item);
    problems.Add(parsed.status());
    if (!parsed.ok()) {
      read.measured.push_back({name});
      continue;
    }
    if (std::ranges::find(metrics, parsed->name, &MetricRegistry::Configured::name) !=
        metrics.end()) {
      problems.Add(InvalidArgument("{}: {}: '{}' is named twice; once is enough",
                                   item.location.ToString(), key, parsed->name));
      continue;
    }
    metrics.push_back(*std::move(parsed));
  }
  std::ranges::move(MetricRegistry::FiguresOf(metrics), std::back_inserter(read.measured));
  return problems.ToStatus();
}

ConfigNode FilledMetrics(const std::vector<MetricRegistry::Configured>& metrics) {
  std::vector<ConfigNode> nodes;
  for (const MetricRegistry::Configured& metric : metrics) nodes.push_back(metric.node);
  return ConfigNode::List(std::move(nodes));
}

}  // namespace stoker
