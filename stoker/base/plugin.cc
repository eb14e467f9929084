#include "stoker/base/plugin.h"

#include <cxxabi.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <vector>

#include "stoker/base/printable.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

// The shared library that holds this code, such as the module of the Python package; empty where it
// is part of the program.
fs::path OwnLibrary() {
  static const char here = 0;
  Dl_info info{};
  if (dladdr(&here, &info) == 0 || info.dli_fname == nullptr) return {};
  const fs::path library = info.dli_fname;
  return library.extension() == ".so" && library.is_absolute() ? library : fs::path();
}

std::vector<fs::path> PlacesOf(const std::string& file) {
  if (file.find('/') != file.npos) return {fs::path(file)};
  const char* const folder_named = std::getenv("STOKER_PLUGINS");
  if (folder_named != nullptr && *folder_named != '\0') return {fs::path(folder_named) / file};
  if (const fs::path library = OwnLibrary(); !library.empty())
    return {library.parent_path() / file};
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  if (error) return {fs::path(file)};
  std::vector<fs::path> places{folder / file, folder.parent_path() / "libexec" / "stoker" / file};
  // Of the Python package stoker-train, whose plug-ins are in the package stoker.
  const fs::path package = folder.parent_path();
  if (package.filename() == "stoker_train")
    places.push_back(package.parent_path() / "stoker" / file);
  return places;
}

// "stoker::Range::Build() const" for the symbol of it; the symbol itself where it is none of C++.
std::string NameOfSymbol(const std::string& symbol) {
  int failed = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &failed), std::free);
  return failed == 0 ? name.get() : symbol;
}

// What dlerror says of the library `path`, which the caller names, with the C++ name of a missing
// symbol.
std::string LoadError(const std::string& path) {
  const char* const reason = dlerror();
  if (reason == nullptr) return "unknown";
  constexpr std::string_view kMissing = "undefined symbol: ";
  std::string said = reason;
  if (said.starts_with(path + ": ")) said.erase(0, path.size() + 2);
  const size_t at = said.find(kMissing);
  if (at == said.npos) return said;
  const size_t begin = at + kMissing.size();
  const size_t end = std::min(said.find_first_of(" ,", begin), said.size());
  return fmt::format("it needs {}, which neither this program nor the libraries that it links have",
                     NameOfSymbol(said.substr(begin, end - begin)));
}

}  // namespace

Result<std::string> FindPluginFile(const PluginFile& wanted) {
  const std::vector<fs::path> places = PlacesOf(wanted.file);
  std::error_code error;
  for (const fs::path& place : places) {
    if (fs::exists(place, error)) return place.string();
  }
  const bool named = wanted.file.find('/') != wanted.file.npos;
  return Unavailable("there is no plug-in {}: {}{}", Printable(places.front().string()),
                     wanted.when_missing,
                     named ? ""
                           : "; it is looked for beside the program (of the Python package, "
                             "beside its module), or in the folder that STOKER_PLUGINS names");
}

Result<Plugin> Plugin::Load(const PluginFile& wanted) {
  STOKER_ASSIGN_OR_RETURN(const std::string path, FindPluginFile(wanted));
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Unavailable("{} does not load: {}", Printable(path), Printable(LoadError(path)));
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
                     Printable(LoadError(path_)));
}

}  // namespace stoker
