#include "device.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <string>

#include "sdk/failure.h"

namespace lerobot::plugins::cpu {
namespace {

/// A "key : value" file of the kernel; a key that occurs again (one block per core) keeps its first value.
std::map<std::string, std::string> read_fields(const char* path) {
  std::map<std::string, std::string> fields;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::size_t key_end = line.find_last_not_of(" \t", colon == 0 ? 0 : colon - 1);
    const std::size_t value = line.find_first_not_of(" \t", colon + 1);
    fields.emplace(line.substr(0, key_end + 1), value == std::string::npos ? "" : line.substr(value));
  }
  return fields;
}

std::string field(const std::map<std::string, std::string>& fields, const char* key) {
  const auto found = fields.find(key);
  return found == fields.end() ? std::string() : found->second;
}

/// Bytes of a /proc/meminfo field, which counts in KiB; 0 when it is not there.
std::uint64_t memory_field(const std::map<std::string, std::string>& fields, const char* key) {
  return std::strtoull(field(fields, key).c_str(), nullptr, 10) * 1024;
}

std::uint64_t physical_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_size = sysconf(_SC_PAGESIZE);
  return pages > 0 && page_size > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_size) : 0;
}

bool has_flag(const std::string& flags, const char* flag) {
  return (" " + flags + " ").find(" " + std::string(flag) + " ") != std::string::npos;
}

/// Whether the processor multiplies bfloat16 itself: AVX-512 BF16 or AMX on x86, BF16 on Arm.
bool multiplies_bf16(const std::map<std::string, std::string>& processor) {
  const std::string flags = field(processor, "flags");
  return has_flag(flags, "avx512_bf16") || has_flag(flags, "amx_bf16") ||
         has_flag(field(processor, "Features"), "bf16");
}

std::string machine() {
  utsname name{};
  return uname(&name) == 0 ? name.machine : "";
}

}  // namespace

lra_device_info describe_processor() {
  const auto processor = read_fields("/proc/cpuinfo");
  const auto memory = read_fields("/proc/meminfo");
  const std::string model = field(processor, "model name");
  const std::string architecture = machine();

  lra_device_info info{};
  info.struct_size = sizeof(info);
  info.capabilities = LRA_CAP_HOST_PROCESSOR | LRA_CAP_FLOAT64 | LRA_CAP_UNIFIED_MEMORY |
                      (multiplies_bf16(processor) ? LRA_CAP_BF16_NATIVE : LRA_CAP_BF16_EMULATED);
  info.memory_total = memory_field(memory, "MemTotal");
  if (info.memory_total == 0) info.memory_total = physical_memory();
  info.memory_free = memory_field(memory, "MemAvailable");
  sdk::copy_text(info.name, model.empty() ? architecture + " processor" : model);
  sdk::copy_text(info.architecture, architecture);
  return info;
}

}  // namespace lerobot::plugins::cpu
