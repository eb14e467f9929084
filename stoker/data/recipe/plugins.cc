#include "stoker/data/recipe/plugins.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <optional>
#include <system_error>

#include "stoker/base/plugin.h"
#include "stoker/base/plugin_tag.h"
#include "stoker/base/printable.h"
#include "stoker/base/problems.h"
#include "stoker/base/unloaded_kinds.h"
#include "stoker/data/core/failure.h"
#include "stoker/data/recipe/recipe.h"
#include "stoker/io/file.h"
#include "stoker/io/sha256.h"

// Plug-ins find it where they find the rest of Stoker's code: in a program that shows its symbols.
extern "C" __attribute__((visibility("default"), used)) const char stoker_shows_its_symbols = 1;

namespace stoker {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSection = "plugins";
constexpr std::string_view kTagBegin = STOKER_TAG_BEGIN;
constexpr std::string_view kTagBeforeTorch = STOKER_TAG_BEFORE_TORCH;
constexpr std::string_view kTorch = STOKER_BUILT_WITH_TORCH;

std::atomic<PluginPolicy> current_policy = PluginPolicy::kRefuse;

// What differs once a file was written or replaced.
struct FileState {
  dev_t device;
  ino_t inode;
  off_t size;
  timespec modified, changed;

  bool operator==(const FileState& other) const {
    return device == other.device && inode == other.inode && size == other.size &&
           modified.tv_sec == other.modified.tv_sec && modified.tv_nsec == other.modified.tv_nsec &&
           changed.tv_sec == other.changed.tv_sec && changed.tv_nsec == other.changed.tv_nsec;
  }
};

std::optional<FileState> StateOf(const std::string& path) {
  struct stat status;
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return FileState{status.st_dev, status.st_ino, status.st_size, status.st_mtim, status.st_ctim};
}

Status IsMissing() { return NotFound("there is no such file; build it, or correct the path"); }

struct NamedPlugin {
  fs::path file;       // absolute
  std::string sha256;  // in lower case; empty: any file
  ConfigLocation location;
  bool from_command_line = false;
  std::optional<FileState> state = {};  // of the file, once it is loaded
};

Status ReadHash(const ConfigNode* node, std::string& hash) {
  if (node == nullptr) return OkStatus();
  hash = node->kind == ConfigNode::Kind::kScalar ? node->scalar : std::string();
  for (char& digit : hash) digit = static_cast<char>(std::tolower(static_cast<uint8_t>(digit)));
  const bool is_hex = hash.find_first_not_of("0123456789abcdef") == hash.npos;
  if (hash.size() == 2 * sizeof(Sha256Digest) && is_hex) return OkStatus();
  return InvalidArgument(
      "{}: plugins: sha256 must be the 64 hexadecimal digits that sha256sum prints; leave the key "
      "out to accept any file",
      node->location.ToString());
}

// Reads one entry; the path stays as it is written.
Result<NamedPlugin> ReadEntry(const ConfigNode& entry) {
  if (entry.kind == ConfigNode::Kind::kScalar) {
    return NamedPlugin{.file = entry.scalar,
                       .sha256 = {},
                       .location = entry.location,
                       .from_command_line = entry.location.line == 0};
  }
  if (entry.kind == ConfigNode::Kind::kMap) {
    STOKER_RETURN_IF_ERROR(CheckKeys(entry, kSection, "key", {"file", "sha256"}));
    const ConfigNode* const file = entry.Find("file");
    std::string sha256;
    STOKER_RETURN_IF_ERROR(ReadHash(entry.Find("sha256"), sha256));
    if (file != nullptr && file->kind == ConfigNode::Kind::kScalar) {
      return NamedPlugin{.file = file->scalar,
                         .sha256 = std::move(sha256),
                         .location = entry.location,
                         .from_command_line = file->location.line == 0};
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
    std::error_code error;
    plugin.file =
        fs::absolute(plugin.from_command_line ? plugin.file : folder / plugin.file, error);
    if (error) {
      return FailedPrecondition("{}: plugins: {}: {}; name it in full", entry.location.ToString(),
                                Printable(plugin.file.string()), error.message());
    }
    plugin.file = plugin.file.lexically_normal();
    plugins.push_back(std::move(plugin));
  }
  return plugins;
}

// Returns the tag in the bytes of a library, without STOKER_TAG_BEGIN; empty where there is none.
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

// A plug-in uses the program's own code (docs/adr/0032-plug-ins-use-the-programs-own-code.md).
Status CheckProgramShowsItsSymbols() {
  if (::dlsym(RTLD_DEFAULT, "stoker_shows_its_symbols") != nullptr) return OkStatus();
  return FailedPrecondition(
      "this program loads no plug-ins: in CMake, stoker_loads_plugins(TARGET) makes one that does; "
      "or add the kinds in its main function (docs/plugins.md)");
}

Status AddKindsOf(const Plugin& plugin) {
  void (*add)(Problems*) = nullptr;
  STOKER_RETURN_IF_ERROR(plugin.Find("stoker_plugin_v1", add));
  Problems problems;
  STOKER_RETURN_IF_ERROR(CatchExceptions(
      [&] {
        add(&problems);
        return OkStatus();
      },
      "its function STOKER_PLUGIN"));
  return problems.ToStatus();
}

// What was loaded, in this order.
std::vector<NamedPlugin>& Loaded() {
  static auto* const loaded = new std::vector<NamedPlugin>();
  return *loaded;
}

// Sets the hash of the file, unless the recipe requires another.
Status SetHash(NamedPlugin& plugin, const std::string& hash) {
  if (!plugin.sha256.empty() && plugin.sha256 != hash) {
    return InvalidArgument(
        "its SHA-256 is {}, and the recipe requires {}; put the right file there, or name this one "
        "anew, as with --set 'plugins=[FILE]'",
        hash, plugin.sha256);
  }
  plugin.sha256 = hash;
  return OkStatus();
}

// The hash of the file that an entry names, which is read whole.
Result<std::string> HashOf(const NamedPlugin& plugin) {
  const std::string path = plugin.file.string();
  if (!StateOf(path) && errno == ENOENT) return IsMissing();
  STOKER_ASSIGN_OR_RETURN(const Buffer bytes, ReadWholeFile(path));
  return HexOf(Sha256({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
}

// Loads the library unless this process has loaded it, and sets its hash.
Status LoadOne(NamedPlugin& plugin) {
  const std::string path = plugin.file.string();
  plugin.state = StateOf(path);
  if (!plugin.state && errno == ENOENT) return IsMissing();
  const auto found = std::ranges::find(Loaded(), plugin.file, &NamedPlugin::file);
  const bool is_loaded = found != Loaded().end();
  // Not read again: a command asks for the plug-ins of its recipe more than once.
  if (is_loaded && plugin.state && plugin.state == found->state)
    return SetHash(plugin, found->sha256);
  STOKER_ASSIGN_OR_RETURN(const Buffer library_bytes, ReadWholeFile(path));
  const std::string_view bytes(reinterpret_cast<const char*>(library_bytes.data()),
                               library_bytes.size());
  const std::string hash = HexOf(Sha256(bytes));
  STOKER_RETURN_IF_ERROR(SetHash(plugin, hash));
  if (is_loaded) {
    if (found->sha256 == hash) return OkStatus();
    return FailedPrecondition("it was replaced after this process had loaded it; start again");
  }
  const std::string_view tag = FindTag(bytes);
  STOKER_RETURN_IF_ERROR(CheckTag(tag));
  STOKER_RETURN_IF_ERROR(CheckProgramShowsItsSymbols());
  STOKER_ASSIGN_OR_RETURN(const Plugin library,
                          Plugin::Load({.file = path,
                                        .tag_function = "stoker_plugin_v1_tag",
                                        .tag = fmt::format("{}{}", kTagBegin, tag),
                                        .when_missing = "build it"}));
  // The hash is of the file that was loaded only if the file stayed the same.
  if (!plugin.state || StateOf(path) != plugin.state) {
    return FailedPrecondition("it was replaced while it was being loaded; start again");
  }
  STOKER_RETURN_IF_ERROR(AddKindsOf(library));
  Loaded().push_back(plugin);
  return OkStatus();
}

// The hashes of the section `plugins` of a recipe whose plug-ins were loaded.
std::vector<std::string> HashesIn(const ConfigNode& recipe) {
  std::vector<std::string> hashes;
  const ConfigNode* const section = recipe.Find(kSection);
  if (section == nullptr) return hashes;
  for (const ConfigNode& entry : section->items) {
    const ConfigNode* const hash = entry.Find("sha256");
    hashes.push_back(hash == nullptr ? "unknown" : hash->scalar);
  }
  return hashes;
}

// What is other than before: "plugins.0.sha256: A -> B".
std::vector<std::string> ChangedHashes(const std::vector<std::string>& before,
                                       const std::vector<std::string>& now) {
  std::vector<std::string> changes;
  for (size_t i = 0; i < std::max(before.size(), now.size()); ++i) {
    const std::string then_hash = i < before.size() ? before[i] : "none";
    const std::string now_hash = i < now.size() ? now[i] : "none";
    if (then_hash == now_hash) continue;
    changes.push_back(fmt::format("plugins.{}.sha256: {} -> {}", i, then_hash, now_hash));
  }
  return changes;
}

// Adds the place and the name in the recipe to each message.
Status Placed(const NamedPlugin& plugin, const Status& status) {
  return WithPrefix(
      fmt::format("{}: plugins: {}: ", plugin.location.ToString(), Printable(plugin.file.string())),
      status);
}

Status LoadAll(std::vector<NamedPlugin>& plugins) {
  for (NamedPlugin& plugin : plugins) STOKER_RETURN_IF_ERROR(Placed(plugin, LoadOne(plugin)));
  return OkStatus();
}

// What can be checked of plug-ins that are not loaded: that the files exist.
Status CheckAreThere(const std::vector<NamedPlugin>& plugins) {
  Problems problems;
  for (const NamedPlugin& plugin : plugins) {
    std::error_code error;
    if (fs::is_regular_file(plugin.file, error)) continue;
    problems.Add(Placed(plugin, IsMissing()));
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

// Fills in the section of a recipe.
void Fill(ConfigNode& section, const std::vector<NamedPlugin>& plugins) {
  const ConfigLocation location = section.location;
  section = Filled(plugins);
  section.location = location;
}

Status DoAsAllowed(std::vector<NamedPlugin>& plugins) {
  switch (GetPluginPolicy()) {
    case PluginPolicy::kLoad: return LoadAll(plugins);
    case PluginPolicy::kLeaveOut: return CheckAreThere(plugins);
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
  const bool is_empty = section->kind == ConfigNode::Kind::kList && section->items.empty();
  if (is_empty) return OkStatus();
  // Also where the section has a mistake: what it was meant to bring is not known.
  if (GetPluginPolicy() == PluginPolicy::kLeaveOut) NotePluginsAreNotLoaded();
  STOKER_ASSIGN_OR_RETURN(std::vector<NamedPlugin> plugins, ReadSection(*section, folder));
  STOKER_RETURN_IF_ERROR(DoAsAllowed(plugins));
  Fill(*section, plugins);
  return OkStatus();
}

Result<std::vector<std::string>> LoadPluginsOfRun(ConfigNode& recipe,
                                                  const std::vector<std::string>& assignments,
                                                  const fs::path& run) {
  const std::vector<std::string> before = HashesIn(recipe);
  STOKER_RETURN_IF_ERROR(ApplyAssignments(recipe, assignments));
  STOKER_RETURN_IF_ERROR(LoadPlugins(recipe, run));
  return ChangedHashes(before, HashesIn(recipe));
}

Result<std::vector<std::string>> PinPluginsOfRun(const ConfigNode& run_recipe, ConfigNode& recipe,
                                                 const fs::path& folder) {
  ConfigNode* const section = recipe.Find(kSection);
  // LoadPlugins says so without reading the files.
  if (GetPluginPolicy() != PluginPolicy::kLoad) return std::vector<std::string>();
  if (section != nullptr && section->kind != ConfigNode::Kind::kNull) {
    STOKER_ASSIGN_OR_RETURN(std::vector<NamedPlugin> plugins, ReadSection(*section, folder));
    for (NamedPlugin& plugin : plugins) {
      if (!plugin.sha256.empty()) continue;
      Result<std::string> hash = HashOf(plugin);
      if (!hash.ok()) return Placed(plugin, hash.status());
      plugin.sha256 = *std::move(hash);
    }
    Fill(*section, plugins);
  }
  return ChangedHashes(HashesIn(run_recipe), HashesIn(recipe));
}

ConfigNode LoadedPlugins() { return Filled(Loaded()); }

Result<ConfigNode> ReadRecipeAndPlugins(const fs::path& file,
                                        const std::vector<std::string>& assignments) {
  STOKER_ASSIGN_OR_RETURN(ConfigNode recipe, ReadRecipe(file, assignments));
  STOKER_RETURN_IF_ERROR(LoadPlugins(recipe, file.parent_path()));
  return recipe;
}

}  // namespace stoker
