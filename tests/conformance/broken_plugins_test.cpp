// Every check has been seen to fail: each on a plugin with one fault, whose other promises are kept.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <boost/json/array.hpp>
#include <map>
#include <set>

#include "host/accel/sha256.h"
#include "host/base/json.h"
#include "host/check/runner.h"
#include "tests/fakes/fake_package.h"
#include "tests/fakes/run_program.h"

namespace lerobot::check {
namespace {

namespace bj = boost::json;
namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr char kProgram[] = LEROBOT_STAGE "/bin/lerobot-accel";
constexpr char kProbe[] = "libbroken_probe.so";
constexpr char kLibrary[] = "libbroken_accel.so";

fs::path built(const std::string& name) {
  return fs::path(LEROBOT_BROKEN_DIRECTORY) / name;
}

/// The broken plugin as a package, in order until `spoil` and LEROBOT_BROKEN have their say.
class BrokenPackage {
 public:
  explicit BrokenPackage(const std::string& directory = "broken") : package_(root_.path() / directory) {
    fs::create_directories(package_);
    use(kProbe, built(kProbe));
    use(kLibrary, built(kLibrary));
    const std::string torch = LEROBOT_TORCH_VERSION;
    manifest_ = test::fake_manifest("broken");
    manifest_["probe"] = kProbe;
    manifest_["library"] = kLibrary;
    manifest_["torch"] = {{"from", "torch-cpu"}};
    manifest_["torch_version"] = torch;
    manifest_["device_types"] = bj::array{"cpu"};
    manifest_["auto"] = false;
  }

  const fs::path& path() const { return package_; }
  bj::object& manifest() { return manifest_; }

  /// Takes another file for one of the two libraries.
  void use(const std::string& name, const fs::path& library) {
    fs::remove(package_ / name);
    fs::copy_file(library, package_ / name);
  }

  void write(bool right_hashes = true) {
    bj::object hashes;
    for (const char* name : {kProbe, kLibrary}) {
      hashes[name] = right_hashes ? accel::sha256_file(package_ / name) : std::string(64, '0');
    }
    manifest_["sha256"] = hashes;
    test::write_manifest(package_, manifest_);
  }

 private:
  test::TemporaryDirectory root_;
  fs::path package_;
  bj::object manifest_;
};

struct Outcome {
  int code = 0;
  std::map<std::string, std::string> results;  ///< name -> result
  std::map<std::string, std::string> details;
};

Outcome check(const fs::path& package, const std::string& fault, const std::vector<std::string>& options) {
  std::vector<std::string> arguments = {"check", package.string(), "--json"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  // No torch of whoever runs the tests.
  const auto program = test::run_program(
      kProgram, arguments,
      {{"LEROBOT_BROKEN", fault}, {"LEROBOT_TORCH_DIR", ""}, {"VIRTUAL_ENV", ""}, {"CONDA_PREFIX", ""}});
  Outcome outcome{program.code, {}, {}};
  const bj::value report = json::parse(program.out, "the report: " + program.err, ErrorKind::kInternal);
  for (const bj::value& entry : report.at("checks").as_array()) {
    const std::string name(entry.at("name").as_string());
    outcome.results[name] = entry.at("result").as_string();
    outcome.details[name] = entry.at("detail").as_string();
  }
  return outcome;
}

/// A fault inside the libraries: its name, the check that finds it, and a part of what the check says.
struct Fault {
  const char* check;
  const char* fault;
  const char* says;
};

void PrintTo(const Fault& fault, std::ostream* out) {
  *out << fault.check;
}

const Fault kFaults[] = {
    {"abi.entry-nulls", "probe-takes-null", "lra_probe: args null: LRA_OK"},
    {"abi.entry-arguments", "drops-host-fields", "host longer, with a byte set: LRA_OK"},
    {"abi.entry-outputs", "probe-writes-on", "written past"},
    {"abi.entry-bounds", "probe-wants-terminator", "crashes: signal 11"},
    {"abi.entry-failures", "answers-refused-hosts", "api was written to"},
    {"abi.entry-errors", "refuses-in-silence", "no message"},
    {"abi.entry-successes", "writes-error-of-success", "the error was written to"},
    {"abi.entry-texts", "probe-text-without-end", "has no terminator"},
    {"abi.probe-stride", "probe-forgets-stride", "elements"},
    {"abi.majors", "any-major", "majors 2 to 3: LRA_OK, needed LRA_INCOMPATIBLE"},
    {"abi.torch-version", "any-torch", "torch 1.2.3: LRA_OK, needed LRA_INCOMPATIBLE"},
    {"abi.cxx-abi", "any-cxx-abi", "C++ ABI \"another\": LRA_OK"},
    {"abi.sanitizers", "refuses-sanitized-hosts", "a host of sanitizers 1: LRA_INCOMPATIBLE"},
    {"abi.identity", "other-id", "plugin_id is \"somebody_else\""},
    {"abi.whole-groups", "half-autocast", "2 of the three autocast functions"},
    {"abi.truncated-table", "half-entries", "a table of"},
    {"abi.extensions", "any-extension", "LRA_OK, needed LRA_UNSUPPORTED"},
    {"abi.table-nulls", "count-takes-null", "device_count: count null: LRA_OK"},
    {"abi.table-arguments", "drops-fields", "synchronize: args longer, with a byte set: LRA_OK"},
    {"abi.table-outputs", "info-writes-on", "device_info: info: written past"},
    {"abi.table-bounds", "reads-past-arguments", "crashes: signal 11"},
    {"abi.table-failures", "writes-on-failure", "info was written to"},
    {"abi.table-errors", "fails-in-silence", "the error has no message"},
    {"abi.table-successes", "writes-function-error", "device_info: LRA_OK, and the error was written to"},
    {"abi.table-texts", "name-without-end", "has no terminator"},
    {"behaviour.before-init", "works-before-init", "device_count before init: LRA_OK"},
    {"behaviour.wrong-context", "any-context", "device_count with a context that init did not give: LRA_OK"},
    {"behaviour.after-shutdown", "works-after-shutdown", "device_count after shutdown: LRA_OK"},
    {"behaviour.one-context", "second-context", "a second init: LRA_OK"},
    {"behaviour.restart", "starts-fifty-times", "init: LRA_INTERNAL"},
    {"behaviour.no-device", "no-device", "the started plugin has 2"},
    {"behaviour.log", "logs-late", "after shutdown"},
    {"behaviour.probe-answer", "probe-without-reason", "unavailable with reason_code 0"},
    {"behaviour.silent", "prints", "standard output: selftest passed"},
    {"behaviour.environment", "sets-variable", "OMP_NUM_THREADS"},
    {"behaviour.signals", "takes-signal", "it changes the handler of signal 10"},
    {"behaviour.device-info", "miscounts", "the probe found 1 devices, the started plugin has 2"},
    {"behaviour.device-info", "no-autocast", "capability bits of bf16 or fp16 without autocast"},
    {"behaviour.torch-device", "other-torch-index", "device_info says (0, 3)"},
    {"behaviour.bad-ordinals", "seeds-any-device", "seed of device 2: LRA_OK"},
    {"behaviour.any-thread", "one-thread-only", "device_count: LRA_WRONG_STATE"},
    {"behaviour.own-thread", "scopes-on-one-thread", "autocast_enter: LRA_WRONG_STATE"},
    {"behaviour.autocast-query", "query-without-reason", "a reason is given exactly when it is not native"},
    {"behaviour.autocast-query", "query-above-bits",
     "bfloat16: autocast_query says 2, the capability bits of device_info 1"},
    {"behaviour.autocast-nesting", "float32-scope-is-bf16", "in a float32 scope inside it: the result is bfloat16"},
    {"behaviour.autocast-order", "exits-in-any-order", "leaving the outer scope first: LRA_OK"},
    {"behaviour.autocast-cache", "keeps-cache", "the cast weights are stale"},
    {"behaviour.autocast-threads", "spreads-scopes", "another thread computes in bfloat16"},
    {"behaviour.autocast-shutdown", "shuts-down-open-scopes", "shutdown with a scope open: LRA_OK"},
    {"numerics.autocast-types", "fp16-for-bf16", "mm in a bfloat16 scope: the result is float16"},
    {"numerics.unscale-values", "unscales-twice", "of 1 elements: element 0 is"},
    {"numerics.unscale-flags", "never-flags", "found_inf is 0, needed 1"},
    {"numerics.unscale-raised", "clears-flag", "found_inf, 1 before, is 0 after finite gradients of float32"},
    {"numerics.unscale-layouts", "ignores-strides", "wrong elements were changed"},
    {"numerics.unscale-many", "unscales-some", "number 128 is wrong"},
    {"numerics.unscale-refusals", "unscales-before-it-looks", "refused, and a gradient was changed"},
    {"numerics.scaler-rule", "grows-late", "needed"},
    {"numerics.scaler-refusals", "any-factor", "growth_factor 1: LRA_OK"},
    {"numerics.scaler-refusals", "any-interval", "growth_interval 2^31: LRA_OK"},
    {"numerics.selftest", "fails-selftest", "selftest of device 0: LRA_INTERNAL"},
    {"numerics.tf32", "one-tf32-switch", "tf32_get says 1 and 1, needed 1 and 2"},
    {"numerics.seed", "seeds-once", "the same seed gives other numbers"},
    {"numerics.memory-stats", "constant-stats", "a tensor of"},
};

class BrokenPlugin : public testing::TestWithParam<Fault> {};

TEST_P(BrokenPlugin, IsFoundOutByItsCheck) {
  BrokenPackage package;
  package.write();
  const auto& [name, fault, says] = GetParam();
  const Outcome outcome = check(package.path(), fault, {std::string("--only=") + name});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.results.at(name), "fail");
  EXPECT_THAT(outcome.details.at(name), HasSubstr(says));
}

INSTANTIATE_TEST_SUITE_P(EachFault, BrokenPlugin, testing::ValuesIn(kFaults), [](const auto& fault) {
  std::string name = fault.param.fault;
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST(BrokenPlugins, WithoutAFaultPassEveryCheck) {
  BrokenPackage package;
  package.write();
  const Outcome outcome = check(package.path(), "", {});
  for (const auto& [name, result] : outcome.results) {
    if (name == "behaviour.no-device") continue;  // for plugins whose device is not here
    EXPECT_EQ(result, "pass") << name << ": " << outcome.details.at(name);
  }
  EXPECT_EQ(outcome.code, 0);
}

TEST(BrokenPlugins, WhoseOneTf32SwitchRefusesToDifferKeepTheContract) {
  BrokenPackage package;
  package.write();
  const Outcome outcome = check(package.path(), "one-honest-tf32-switch", {"--only=numerics.tf32"});
  EXPECT_EQ(outcome.results.at("numerics.tf32"), "pass") << outcome.details.at("numerics.tf32");
}

/// Packages that are wrong as files.
struct FileFault {
  const char* check;
  const char* says;
  void (*spoil)(BrokenPackage&);
};

const FileFault kFileFaults[] = {
    {"static.manifest", "schema",
     [](BrokenPackage& p) {
       p.manifest()["schema"] = 99;
       p.write();
     }},
    {"static.hashes", "the manifest says 000000000000...", [](BrokenPackage& p) { p.write(false); }},
    {"static.permissions", "writable by everybody",
     [](BrokenPackage& p) {
       p.write();
       ::chmod((p.path() / kLibrary).c_str(), 0777);
     }},
    {"static.versions", "majors 98 to 99",
     [](BrokenPackage& p) {
       p.manifest()["abi"] = {{"major_min", 98}, {"major_max", 99}, {"minor", 0}};
       p.write();
     }},
    {"static.architecture", "the manifest says m68k",
     [](BrokenPackage& p) {
       p.manifest()["architectures"] = bj::array{"m68k"};
       p.write();
     }},
    {"static.exports", "exports lra_get_api, lra_probe, needed lra_get_api alone",
     [](BrokenPackage& p) {
       p.use(kLibrary, test::fake_library("usable"));
       p.write();
     }},
    {"static.probe-needs", "needs libfake_dependency.so",
     [](BrokenPackage& p) {
       p.use(kProbe, test::fake_library("missing_dependency"));
       p.write();
     }},
    {"static.library-needs", "needs libtorch_cuda.so",
     [](BrokenPackage& p) {
       p.use(kLibrary, built("libbroken_needs.so"));
       p.write();
     }},
    {"static.dependencies", "libtorch_cuda.so is missing (needed by libbroken_accel.so)",
     [](BrokenPackage& p) {
       p.use(kLibrary, built("libbroken_needs.so"));
       p.write();
     }},
    {"static.run-path", "has the run path /opt/vendor/lib",
     [](BrokenPackage& p) {
       p.use(kLibrary, built("libbroken_run_path.so"));
       p.write();
     }},
};

TEST(BrokenFiles, AreFoundOutByTheirChecks) {
  for (const FileFault& fault : kFileFaults) {
    SCOPED_TRACE(fault.check);
    BrokenPackage package;
    fault.spoil(package);
    const Outcome outcome = check(package.path(), "", {"--level=1"});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_EQ(outcome.results.at(fault.check), "fail");
    EXPECT_THAT(outcome.details.at(fault.check), HasSubstr(fault.says));
  }
}

TEST(BrokenFiles, InADirectoryOfAnotherNameAreFoundOut) {
  BrokenPackage package("another");
  package.write();
  const Outcome outcome = check(package.path(), "", {"--level=1"});
  for (const auto& [name, result] : outcome.results) {
    EXPECT_EQ(result, name == "static.directory-name" ? "fail" : "pass") << name;
  }
}

TEST(BrokenPlugins, ThereIsOneForEveryCheck) {
  std::set<std::string> broken = {"static.directory-name"};
  for (const Fault& fault : kFaults) broken.insert(fault.check);
  for (const FileFault& fault : kFileFaults) broken.insert(fault.check);
  std::set<std::string> all;
  for (const Check& check : all_checks()) all.insert(check.name);
  EXPECT_EQ(broken, all);
}

TEST(BrokenPlugins, ThatCrashOrExitFailTheirCheckAndNoOther) {
  BrokenPackage package;
  package.write();
  const std::vector<std::pair<std::string, std::string>> ends = {{"crashes", "crashes: signal 11"},
                                                                 {"exits", "ends the process"}};
  for (const auto& [fault, says] : ends) {
    const Outcome outcome = check(package.path(), fault, {"--only=numerics.se*"});
    EXPECT_THAT(outcome.details.at("numerics.selftest"), HasSubstr(says));
    EXPECT_EQ(outcome.results.at("numerics.seed"), "pass") << outcome.details.at("numerics.seed");
  }
}

TEST(BrokenPlugins, ThatHangAreEndedAtTheLimit) {
  BrokenPackage package;
  package.write();
  const Outcome outcome = check(package.path(), "hangs", {"--only=numerics.selftest", "--time_limit=3"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.details.at("numerics.selftest"), "hangs: not done within 3.0 s");
}

TEST(UnavailablePlugins, SkipWhatNeedsADeviceWithTheReason) {
  BrokenPackage package;
  package.write();
  const Outcome outcome = check(package.path(), "no-device", {});
  EXPECT_EQ(outcome.results.at("abi.table-nulls"), "skipped");
  EXPECT_EQ(outcome.details.at("abi.table-nulls"), "there is no broken device");
  EXPECT_EQ(outcome.results.at("numerics.scaler-rule"), "skipped");
  for (const char* name : {"static.exports", "abi.entry-nulls", "abi.truncated-table", "behaviour.before-init"}) {
    EXPECT_EQ(outcome.results.at(name), "pass") << name << ": " << outcome.details.at(name);
  }
}

TEST(UnavailablePlugins, WithATorchOfTheirOwnAreCheckedOnAnother) {
  BrokenPackage package;
  package.manifest()["torch"] = {{"external", true}};
  package.write();
  const Outcome outcome = check(package.path(), "", {"--level=2"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.results.at("abi.truncated-table"), "pass") << outcome.details.at("abi.truncated-table");
  EXPECT_THAT(outcome.details.at("abi.table-nulls"), HasSubstr("--torch_dir"));
}

}  // namespace
}  // namespace lerobot::check
