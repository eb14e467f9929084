// Shared libraries that are loaded when what they hold is asked for: Stoker's own plug-ins, which
// are built together with the programs, and libraries that a user names.
//
// A plug-in exports a function that returns a tag, which says what the plug-in was built from:
//   extern "C" const char* StokerArrowTag() { return STOKER_PLUGIN_TAG; }
// Nothing else of the library is used before the tag has been found equal to the program's. For
// Stoker's own plug-ins CMake computes the tag (stoker_plugin_tag in cmake/StokerPlugins.cmake)
// from Stoker's version, the compiler, and a hash of the headers that both sides include.
#pragma once

#include <string>
#include <utility>

#include "stoker/base/status.h"

namespace stoker {

// What a program knows of a plug-in before it loads it.
struct PluginFile {
  // A name, "libstoker_arrow.so", is looked for in the folder that STOKER_PLUGINS names; without
  // that variable in the folder of the running program, then in libexec/stoker beside that folder,
  // where an installation has it; or, where Stoker is part of a shared library, in the folder of
  // that. A path, with a slash in it, is used as it is.
  std::string file;
  const char* tag_function = "";  // the exported `const char*()` that returns the tag
  std::string tag;                // what the plug-in must return
  std::string when_missing;       // what to do if the file does not exist; follows "...: "
};

// Returns the path of the file, without loading it. Errors (kUnavailable): it does not exist.
Result<std::string> FindPluginFile(const PluginFile& wanted);

// A plug-in that has been loaded. It stays loaded for the life of the process. A cheap value.
class Plugin {
 public:
  // Loads a plug-in; no other library sees its symbols. Loading runs the static initializers of
  // the library, so only a file that may run code is to be loaded.
  // Errors (kUnavailable), each with the path: it does not exist, it does not load, it has no such
  // tag function, or it has another tag. Threads: any.
  static Result<Plugin> Load(const PluginFile& wanted);

  // Sets `function` to the exported function `name`. REQUIRES: its type is F; no one can check it.
  // Errors (kUnavailable): the plug-in exports no such name.
  template <typename F>
  Status Find(const char* name, F*& function) const {
    STOKER_ASSIGN_OR_RETURN(void* const symbol, Symbol(name));
    function = reinterpret_cast<F*>(symbol);
    return OkStatus();
  }

  const std::string& path() const { return path_; }

 private:
  Plugin(void* library, std::string path) : library_(library), path_(std::move(path)) {}
  Result<void*> Symbol(const char* name) const;

  void* library_;
  std::string path_;
};

}  // namespace stoker
