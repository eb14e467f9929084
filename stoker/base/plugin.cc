#include "stoker/base/plugin.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "stoker/base/printable.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> PlacesOf(const std::string& file) {
  if (file.find('/') != file.npos) return {fs::path(file)};
  const char* const folder_named = std::getenv("STOKER_PLUGINS");
  if (folder_named != nullptr && *folder_named != '\0') return {fs::path(folder_named) / file};
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  if (error) return {fs::path(file)};
  return {folder / file, folder.parent_path() / "libexec" / "stoker" / file};
}

Result<std::string> PathOf(const PluginFile& wanted) {
  const std::vector<fs::path> places = PlacesOf(wanted.file);
  std::error_code error;
  for (const fs::path& place : places) {
    if (fs::exists(place, error)) return place.string();
  }
  const bool named = wanted.file.find('/') != wanted.file.npos;
  return Unavailable("there is no plug-in {}: {}{}", Printable(places.front().string()),
                     wanted.when_missing,
                     named ? ""
                           : "; it is looked for beside the program, or in the folder that "
                             "STOKER_PLUGINS names");
}

std::string LoadError() {
  const char* const reason = dlerror();
  return reason == nullptr ? "unknown" : reason;
}

}  // namespace

Result<Plugin> Plugin::Load(const PluginFile& wanted) {
  STOKER_ASSIGN_OR_RETURN(const std::string path, PathOf(wanted));
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Unavailable("{} does not load: {}", Printable(path), Printable(LoadError()));
  }
  Plugin plugin(library, path);
  const char* (*tag)() = nullptr;
  STOKER_RETURN_IF_ERROR(plugin.Find(wanted.tag_function, tag));
  if (const std::string_view found = tag(); found != wanted.tag) {
    return Unavailable(
        "{} was built from '{}', and this program from '{}'; build both from the same source, with "
        "the same compiler",
        Printable(path), Printable(found), wanted.tag);
  }
  return plugin;
}

Result<void*> Plugin::Symbol(const char* name) const {
  void* const symbol = dlsym(library_, name);
  if (symbol != nullptr) return symbol;
  return Unavailable("{} is no plug-in of this program: {}", Printable(path_),
                     Printable(LoadError()));
}

}  // namespace stoker
