// What the linker made of each staged plugin.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <set>
#include <sstream>

#include "host/base/json.h"

namespace lerobot {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

struct Library {
  std::filesystem::path path;
  bool is_probe;
};

/// The lines that a command prints, each without its newline.
std::vector<std::string> run(const std::string& command) {
  std::vector<std::string> lines;
  FILE* pipe = popen(command.c_str(), "r");
  std::array<char, 4096> buffer;
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) {
    lines.emplace_back(buffer.data());
    lines.back().erase(lines.back().find_last_not_of('\n') + 1);
  }
  EXPECT_EQ(pclose(pipe), 0) << command;
  return lines;
}

/// Both libraries of every plugin package in the stage.
std::vector<Library> staged_libraries() {
  std::vector<Library> libraries;
  for (const auto& package : std::filesystem::directory_iterator(LEROBOT_STAGE "/lib/lerobot/accel.d")) {
    const auto manifest = json::read_file(package.path() / "manifest.json", ErrorKind::kIo);
    if (manifest.at("kind").as_string() != "plugin") continue;
    libraries.push_back({package.path() / manifest.at("library").as_string().c_str(), false});
    libraries.push_back({package.path() / manifest.at("probe").as_string().c_str(), true});
  }
  return libraries;
}

std::set<std::string> needed(const Library& library) {
  std::set<std::string> names;
  for (const std::string& line : run(LEROBOT_READELF " -d '" + library.path.string() + "'")) {
    if (line.find("(NEEDED)") == std::string::npos) continue;
    const std::size_t begin = line.find('[') + 1;
    names.insert(line.substr(begin, line.find(']') - begin));
  }
  return names;
}

/// Libraries that belong to the system on every Linux.
bool is_system(const std::string& name) {
  static const std::array<const char*, 7> kPrefixes = {"libc.so.",  "libm.so.",      "libdl.so.", "libpthread.so.",
                                                       "libgcc_s.", "libstdc++.so.", "ld-linux"};
  for (const char* prefix : kPrefixes) {
    if (name.rfind(prefix, 0) == 0) return true;
  }
  return false;
}

/// Ids of the plugins that the build has, which it lists with commas.
std::vector<std::string> built_plugins() {
  std::vector<std::string> ids;
  std::istringstream list(LEROBOT_PLUGINS);
  for (std::string id; std::getline(list, id, ',');) ids.push_back(id);
  return ids;
}

TEST(PluginFiles, AreThereForEveryPluginOfTheBuild) {
  std::set<std::string> staged;
  for (const Library& library : staged_libraries()) {
    EXPECT_TRUE(std::filesystem::is_regular_file(library.path)) << library.path;
    staged.insert(library.path.parent_path().filename().string());
  }
  EXPECT_THAT(built_plugins(), Not(::testing::IsEmpty()));
  for (const std::string& id : built_plugins()) EXPECT_THAT(staged, Contains(id));
}

TEST(PluginFiles, AreOfTheSameNamesInEveryPlugin) {
  for (const std::string& id : built_plugins()) {
    for (const char* file : {"backend.cpp", "device.cpp", "device.h", "plugin.cpp", "probe.cpp", "manifest.json.in"}) {
      EXPECT_TRUE(std::filesystem::is_regular_file(LEROBOT_SOURCE_DIR "/plugins/" + id + "/" + file)) << id << file;
    }
  }
}

TEST(PluginFiles, ExportTheirEntryAndNothingElse) {
  for (const Library& library : staged_libraries()) {
    EXPECT_THAT(run(LEROBOT_NM " -D --defined-only --format=just-symbols '" + library.path.string() + "'"),
                ElementsAre(library.is_probe ? "lra_probe" : "lra_get_api"))
        << library.path;
  }
}

TEST(PluginFiles, OfTheThinKindNeedSystemLibrariesOnly) {
  for (const Library& library : staged_libraries()) {
    if (!library.is_probe) continue;
    for (const std::string& name : needed(library)) EXPECT_TRUE(is_system(name)) << library.path << " needs " << name;
  }
}

TEST(PluginFiles, OfTheFullKindNeedTorchsNeutralLibrariesOnly) {
  for (const Library& library : staged_libraries()) {
    if (library.is_probe) continue;
    const std::set<std::string> names = needed(library);
    EXPECT_THAT(names, Contains("libtorch_cpu.so")) << library.path;
    for (const std::string& name : names) {
      EXPECT_TRUE(is_system(name) || name == "libtorch_cpu.so" || name == "libc10.so")
          << library.path << " needs " << name;
    }
  }
}

TEST(PluginFiles, HaveNoRunPath) {
  for (const Library& library : staged_libraries()) {
    const auto dynamic = run(LEROBOT_READELF " -d '" + library.path.string() + "'");
    EXPECT_THAT(dynamic, Each(Not(HasSubstr("(RPATH)")))) << library.path;
    EXPECT_THAT(dynamic, Each(Not(HasSubstr("(RUNPATH)")))) << library.path;
  }
}

}  // namespace
}  // namespace lerobot
