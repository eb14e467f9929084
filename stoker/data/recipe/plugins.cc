#include "stoker/data/recipe/plugins.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <system_error>

#include "stoker/base/plugin.h"
#include "stoker/base/plugin_tag.h"
#include "stoker/base/printable.h"
#include "stoker/base/problems.h"
#include "stoker/base/unloaded_kinds.h"
#include "stoker/data/recipe/recipe.h"
#include "stoker/io/file.h"
#include "stoker/io/sha256.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSection = "plugins";
constexpr std::string_view kTagBegin = STOKER_TAG_BEGIN;
constexpr std::string_view kTagBeforeTorch = STOKER_TAG_BEFORE_TORCH;
constexpr std::string_view kTorch = STOKER_BUILT_WITH_TORCH;

std::atomic<PluginPolicy> current_policy = PluginPolicy::kRefuse;

struct NamedPlugin {
  fs::path file;  // absolute
  std::string sha256;
  ConfigLocation location;
};

// The path and hash of one entry, the path as it stands there.
Result<NamedPlugin> ReadEntry(const ConfigNode& entry) {
  if (entry.kind == ConfigNode::Kind::kScalar) {
    return NamedPlugin{.file = entry.scalar, .sha256 = {}, .location = entry.location};
  }
  if (entry.kind == ConfigNode::Kind::kMap) {
    STOKER_RETURN_IF_ERROR(CheckKeys(entry, kSection, "key", {"file", "sha256"}));
    const ConfigNode* const file = entry.Find("file");
    const ConfigNode* const sha256 = entry.Find("sha256");
    if (file != nullptr && file->kind == ConfigNode::Kind::kScalar) {
      return NamedPlugin{.file = file->scalar,
                         .sha256 = sha256 == nullptr ? "" : sha256->scalar,
                         .location = entry.location};
    }
  }
  return InvalidArgument(
      "{}: plugins: an entry is the path of a library, or {{file: PATH, sha256: HASH}}; here is {}",
      entry.location.ToString(), entry.KindName());
}

Result<std::vector<NamedPlugin>> ReadSection(const ConfigNode& section, const fs::path& folder) {
  if (section.kind != ConfigNode::Kind::kList) {
    return InvalidArgument(
        "{}: 'plugins' is {}; it must be a list, such as plugins: [own_kinds.so]",
        section.location.ToString(), section.KindName());
  }
  std::vector<NamedPlugin> plugins;
  for (const ConfigNode& entry : section.items) {
    STOKER_ASSIGN_OR_RETURN(NamedPlugin plugin, ReadEntry(entry));
    const bool from_command_line = entry.location.line == 0;
    std::error_code error;
    plugin.file = fs::absolute(from_command_line ? plugin.file : folder / plugin.file, error);
    if (error) {
      return FailedPrecondition("{}: plugins: {}: {}; name it in full", entry.location.ToString(),
                                Printable(plugin.file.string()), error.message());
    }
    plugin.file = plugin.file.lexically_normal();
    plugins.push_back(std::move(plugin));
  }
  return plugins;
}

// The tag among the bytes of a library, from behind STOKER_TAG_BEGIN on; empty where there is none.
std::string_view FindTag(std::string_view bytes) {
  const size_t at = bytes.find(kTagBegin);
  if (at == bytes.npos) return {};
  const std::string_view rest = bytes.substr(at + kTagBegin.size());
  return rest.substr(0, rest.find('\0'));
}

Status CheckTag(std::string_view tag) {
  if (tag.empty()) {
    return InvalidArgument("it is no plug-in of Stoker; `docs/plugins.md` says how to make one");
  }
  const std::string program = fmt::format("{}{}", kTagBeforeTorch, kTorch);
  // What was compiled without torch shares no class of it.
  if (tag == program || tag == fmt::format("{}none", kTagBeforeTorch)) return OkStatus();
  return InvalidArgument(
      "it was compiled with other headers, another compiler or another torch than this program: it "
      "says '{}', and the program '{}'; compile it with this Stoker",
      Printable(tag), program);
}

Status AddKindsOf(const Plugin& plugin) {
  void (*add)(Problems*) = nullptr;
  STOKER_RETURN_IF_ERROR(plugin.Find("stoker_plugin_v1", add));
  Problems problems;
  try {
    add(&problems);
  } catch (const std::exception& error) {
    problems.Add(FailedPrecondition("it throws while it adds its kinds: {}", error.what()));
  }
  return problems.ToStatus();
}

// What was loaded, in this order.
std::vector<NamedPlugin>& Loaded() {
  static auto* const loaded = new std::vector<NamedPlugin>();
  return *loaded;
}

// Loads the library unless it is there, and sets its hash.
Status LoadOne(NamedPlugin& plugin) {
  STOKER_ASSIGN_OR_RETURN(const std::string bytes, ReadTextFile(plugin.file.string()));
  const std::string hash = HexOf(Sha256(bytes));
  if (!plugin.sha256.empty() && plugin.sha256 != hash) {
    return InvalidArgument(
        "its SHA-256 is {}, and the recipe wants {}; take the file that is meant, or correct the "
        "recipe",
        hash, Printable(plugin.sha256));
  }
  plugin.sha256 = hash;
  const auto found = std::ranges::find(Loaded(), plugin.file, &NamedPlugin::file);
  if (found != Loaded().end()) {
    if (found->sha256 == hash) return OkStatus();
    return FailedPrecondition("it was replaced after this process had loaded it; start again");
  }
  const std::string_view tag = FindTag(bytes);
  STOKER_RETURN_IF_ERROR(CheckTag(tag));
  STOKER_ASSIGN_OR_RETURN(const Plugin library,
                          Plugin::Load({.file = plugin.file.string(),
                                        .tag_function = "stoker_plugin_v1_tag",
                                        .tag = fmt::format("{}{}", kTagBegin, tag),
                                        .when_missing = "build it"}));
  STOKER_RETURN_IF_ERROR(AddKindsOf(library));
  Loaded().push_back(plugin);
  return OkStatus();
}

// With what the recipe calls it before each message.
Status Placed(const NamedPlugin& plugin, const Status& status) {
  return WithPrefix(
      fmt::format("{}: plugins: {}: ", plugin.location.ToString(), Printable(plugin.file.string())),
      status);
}

Status LoadAll(std::vector<NamedPlugin>& plugins) {
  for (NamedPlugin& plugin : plugins) STOKER_RETURN_IF_ERROR(Placed(plugin, LoadOne(plugin)));
  return OkStatus();
}

// That they are there can be said of plug-ins that are not loaded.
Status CheckAreThere(const std::vector<NamedPlugin>& plugins) {
  Problems problems;
  for (const NamedPlugin& plugin : plugins) {
    std::error_code error;
    if (fs::is_regular_file(plugin.file, error)) continue;
    problems.Add(Placed(plugin, NotFound("there is no such file; build it, or correct the path")));
  }
  return problems.ToStatus();
}

ConfigNode Filled(const std::vector<NamedPlugin>& plugins) {
  std::vector<ConfigNode> entries;
  for (const NamedPlugin& plugin : plugins) {
    std::vector<ConfigNode::Entry> keys = {
        {"file", {}, ConfigNode::Scalar(plugin.file.string(), /*quoted=*/true)}};
    if (!plugin.sha256.empty())
      keys.push_back({"sha256", {}, ConfigNode::Scalar(plugin.sha256, /*quoted=*/true)});
    entries.push_back(ConfigNode::Map(std::move(keys)));
    entries.back().location = plugin.location;
  }
  return ConfigNode::List(std::move(entries));
}

Status DoAsAllowed(std::vector<NamedPlugin>& plugins) {
  switch (GetPluginPolicy()) {
    case PluginPolicy::kLoad: return LoadAll(plugins);
    case PluginPolicy::kLeaveOut: NotePluginsAreNotLoaded(); return CheckAreThere(plugins);
    case PluginPolicy::kRefuse: break;
  }
  return InvalidArgument(
      "{}: plugins: {} is code that this command would run; give --allow-code where you trust it",
      plugins.front().location.ToString(), Printable(plugins.front().file.string()));
}

}  // namespace

void SetPluginPolicy(PluginPolicy policy) { current_policy = policy; }
PluginPolicy GetPluginPolicy() { return current_policy; }

Status LoadPlugins(ConfigNode& recipe, const fs::path& folder) {
  ConfigNode* const section = recipe.Find(kSection);
  if (section == nullptr || section->kind == ConfigNode::Kind::kNull) return OkStatus();
  STOKER_ASSIGN_OR_RETURN(std::vector<NamedPlugin> plugins, ReadSection(*section, folder));
  if (plugins.empty()) return OkStatus();
  STOKER_RETURN_IF_ERROR(DoAsAllowed(plugins));
  const ConfigLocation location = section->location;
  *section = Filled(plugins);
  section->location = location;
  return OkStatus();
}

Result<std::vector<std::string>> LoadPluginsOfRun(ConfigNode& recipe, const fs::path& run) {
  std::vector<std::string> changes;
  ConfigNode* const section = recipe.Find(kSection);
  if (section == nullptr) return changes;
  const ConfigNode before = *section;
  for (ConfigNode& entry : section->items) {
    std::erase_if(entry.entries, [](const ConfigNode::Entry& key) { return key.key == "sha256"; });
  }
  STOKER_RETURN_IF_ERROR(LoadPlugins(recipe, run));
  for (size_t i = 0; i < before.items.size(); ++i) {
    const ConfigNode* const then = before.items[i].Find("sha256");
    const ConfigNode* const now = section->items[i].Find("sha256");
    if (then == nullptr || now == nullptr || then->scalar == now->scalar) continue;
    changes.push_back(fmt::format("plugins.{}.sha256: {} -> {}", i, then->scalar, now->scalar));
  }
  return changes;
}

ConfigNode LoadedPlugins() { return Filled(Loaded()); }

Result<ConfigNode> ReadRecipeAndPlugins(const fs::path& file,
                                        const std::vector<std::string>& assignments) {
  STOKER_ASSIGN_OR_RETURN(ConfigNode recipe, ReadRecipe(file, assignments));
  STOKER_RETURN_IF_ERROR(LoadPlugins(recipe, file.parent_path()));
  return recipe;
}

}  // namespace stoker
