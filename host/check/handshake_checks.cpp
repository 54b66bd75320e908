// Who may use the plugin, and how much of the table is written.
#include <algorithm>
#include <cstddef>
#include <cstring>

#include "host/accel/abi.h"
#include "host/check/check.h"
#include "host/check/guarded.h"

namespace lerobot::check {
namespace {

constexpr std::uint32_t kHandshake = offsetof(lra_api, init);

lra_status meet(Run& run, const lra_host_info& host, lra_api& api) {
  api = sized<lra_api>();
  return run.get_api()(&host, &api, run.error());
}

void expect_answer(Run& run, const lra_host_info& host, lra_status needed, const std::string& what) {
  lra_api api{};
  const lra_status found = meet(run, host, api);
  run.expect(found == needed, "{}: {}, needed {} ({})", what, status_name(found), status_name(needed),
             accel::bounded_text(run.error()->message));
  *run.error() = sized<lra_error>();
}

/// Majors of the host below, at and above those of the plugin: for lra_get_api and for lra_probe.
void majors(Run& run) {
  const accel::AbiRange& own = run.subject().manifest().abi;
  struct Range {
    std::uint32_t min, max;
  };
  std::vector<Range> fitting = {
      {own.major_min, own.major_max}, {0, own.major_max}, {own.major_max, own.major_max + 5}, {0, own.major_max + 5}};
  std::vector<Range> apart = {{own.major_max + 1, own.major_max + 2}, {1000, 1001}};
  if (own.major_min > 0) apart.push_back({0, own.major_min - 1});
  const auto ask = [&](const Range& range, lra_status needed) {
    auto args = sized<lra_probe_args>();
    args.abi_major_min = range.min;
    args.abi_major_max = range.max;
    auto result = sized<lra_probe_result>();
    const std::string what = format("a host of majors {} to {}", range.min, range.max);
    run.refused(run.probe()(&args, &result, run.error()), needed, "lra_probe, " + what);
    if (!run.subject().has_torch) return;
    lra_host_info host = run.host_info();
    host.abi_major_min = range.min;
    host.abi_major_max = range.max;
    expect_answer(run, host, needed, "lra_get_api, " + what);
  };
  for (const Range& range : fitting) ask(range, LRA_OK);
  for (const Range& range : apart) ask(range, LRA_INCOMPATIBLE);
  if (!run.subject().has_torch) return;
  const std::uint32_t agreed = run.api().abi_major;
  run.expect(agreed == std::min(own.major_max, accel::kAbiMajorMax), "abi_major is {}, the highest common one is {}",
             agreed, std::min(own.major_max, accel::kAbiMajorMax));
}

void torch_version(Run& run) {
  if (run.subject().manifest().torch_version.empty()) throw Skipped("the plugin uses no torch");
  const std::string own = accel::major_minor(accel::bounded_text(run.api().torch_version));
  const auto ask = [&](const std::string& version, lra_status needed) {
    lra_host_info host = run.host_info();
    host.torch_version = version.data();
    host.torch_version_size = version.size();
    expect_answer(run, host, needed, version.empty() ? "a process without torch" : "torch " + version);
  };
  for (const char* same : {".0", ".99", ".0+cu999", ".1+rocm7.1", ".0a0+git1234"}) ask(own + same, LRA_OK);
  // "2.1" begins "2.11", and the other way round.
  for (const std::string& other :
       {std::string("1.2.3"), own + "1.0", own.substr(0, own.size() - 1) + ".0", "1" + own + ".0", std::string()}) {
    if (accel::major_minor(other) != own) ask(other, LRA_INCOMPATIBLE);
  }
}

void cxx_abi(Run& run) {
  const std::string own = accel::bounded_text(run.api().cxx_abi);
  const auto ask = [&](const std::string& abi, lra_status needed) {
    lra_host_info host = run.host_info();
    host.cxx_abi = abi.data();
    host.cxx_abi_size = abi.size();
    expect_answer(run, host, needed, "C++ ABI \"" + abi + "\"");
  };
  run.expect(!own.empty() || run.subject().manifest().torch_version.empty(),
             "cxx_abi is empty, though torch is C++ that host and plugin share");
  ask("", LRA_OK);
  if (own.empty()) throw Skipped("the plugin shares no C++");
  ask(own, LRA_OK);
  ask("another", LRA_INCOMPATIBLE);
  ask(own + "x", LRA_INCOMPATIBLE);
}

void sanitizers(Run& run) {
  const std::uint32_t own = run.api().sanitizers;
  constexpr std::uint32_t kAll = LRA_SANITIZER_ADDRESS | LRA_SANITIZER_THREAD | LRA_SANITIZER_MEMORY;
  run.expect((own & ~kAll) == 0, "sanitizers is {}, which has bits without a meaning", own);
  for (std::uint32_t bits = 0; bits <= kAll; ++bits) {
    lra_host_info host = run.host_info();
    host.sanitizers = bits;
    expect_answer(run, host, (own & ~bits) == 0 ? LRA_OK : LRA_INCOMPATIBLE, format("a host of sanitizers {}", bits));
  }
}

void identity(Run& run) {
  const accel::Manifest& manifest = run.subject().manifest();
  const lra_api& api = run.api();
  const auto expect_text = [&](const char* name, const std::string& found, const std::string& needed) {
    run.expect(found == needed, "{} is \"{}\", the manifest says \"{}\"", name, found, needed);
  };
  expect_text("plugin_id", accel::bounded_text(api.plugin_id), manifest.id);
  expect_text("plugin_version", accel::bounded_text(api.plugin_version), manifest.version);
  expect_text("torch_version", accel::major_minor(accel::bounded_text(api.torch_version)),
              accel::major_minor(manifest.torch_version));
  expect_text("abi_major_min", std::to_string(api.abi_major_min), std::to_string(manifest.abi.major_min));
  expect_text("abi_major_max", std::to_string(api.abi_major_max), std::to_string(manifest.abi.major_max));
  expect_text("abi_minor", std::to_string(api.abi_minor), std::to_string(manifest.abi.minor));
}

void whole_groups(Run& run) {
  const lra_api& api = run.api();
  run.expect(api.init && api.shutdown && api.device_count && api.device_info && api.activate_device &&
                 api.synchronize && api.selftest,
             "a required function is null: init, shutdown, device_count, device_info, activate_device, synchronize or "
             "selftest");
  const int autocast = (api.autocast_query ? 1 : 0) + (api.autocast_enter ? 1 : 0) + (api.autocast_exit ? 1 : 0);
  run.expect(autocast % 3 == 0, "{} of the three autocast functions are there, needed all or none", autocast);
  run.expect(!api.tf32_get == !api.tf32_set, "one of tf32_get and tf32_set is there, needed both or none");
}

/// A table of every size that an older, or a strange, host could have.
void truncated_table(Run& run) {
  const lra_host_info host = run.host_info();
  const lra_api whole = run.api();
  constexpr std::byte kMark{0xa5};
  for (std::uint32_t size = 4; size <= sizeof(lra_api); ++size) {
    std::vector<std::byte> content(size);
    std::memcpy(content.data(), &size, sizeof size);
    const std::vector<std::byte> empty = content;
    // Behind the guard an overrun ends the check; where sizes are not aligned, a mark behind it must stay.
    content.resize((std::size_t{size} + 7) / 8 * 8, kMark);
    const Buffer table(content, Buffer::Kind::kGuarded);
    const lra_status status = run.get_api()(&host, reinterpret_cast<lra_api*>(table.data()), run.error());
    const std::vector<std::byte> after = table.content();
    run.require(std::all_of(after.begin() + size, after.end(), [](std::byte byte) { return byte == kMark; }),
                "a table of {} bytes: written past its end", size);
    if (size < kHandshake) {
      run.require(status == LRA_INVALID_ARGUMENT, "a table of {} bytes: {}, needed LRA_INVALID_ARGUMENT", size,
                  status_name(status));
      run.require(std::equal(empty.begin(), empty.end(), after.begin()), "a table of {} bytes: refused and written to",
                  size);
      continue;
    }
    run.require(status == LRA_OK, "a table of {} bytes: {} ({})", size, status_name(status),
                accel::bounded_text(run.error()->message));
    const std::uint32_t entries = kHandshake + (size - kHandshake) / sizeof(void*) * sizeof(void*);
    std::uint32_t filled = 0;
    std::memcpy(&filled, after.data(), sizeof filled);
    run.require(filled <= entries && filled >= kHandshake, "a table of {} bytes: struct_size says {} are filled", size,
                filled);
    // What was filled equals the whole table's part; what does not fit whole stays zero.
    run.require(std::memcmp(after.data() + sizeof filled, reinterpret_cast<const char*>(&whole) + sizeof filled,
                            filled - sizeof filled) == 0,
                "a table of {} bytes: its entries are not those of the whole table", size);
    run.require(
        std::all_of(after.begin() + filled, after.begin() + size, [](std::byte byte) { return byte == std::byte{0}; }),
        "a table of {} bytes: written past the {} that struct_size says", size, filled);
  }
}

/// A name that nobody has given, an empty one, one of odd bytes.
void extensions(Run& run) {
  run.start();
  if (!run.api().get_extension) throw Skipped("the plugin has no extensions");
  const std::string_view names[] = {"lerobot.check.nobodys_extension/1", "", "/", "\xff\xfe", {"a\0b", 3}};
  for (const std::string_view name : names) {
    const int mark = 0;
    const void* table = &mark;
    const Buffer text({reinterpret_cast<const std::byte*>(name.data()),
                       reinterpret_cast<const std::byte*>(name.data()) + name.size()},
                      Buffer::Kind::kGuarded);
    const lra_status status = run.api().get_extension(run.context(), reinterpret_cast<const char*>(text.data()),
                                                      name.size(), &table, run.error());
    run.expect(status == LRA_UNSUPPORTED || (name.empty() && status == LRA_INVALID_ARGUMENT),
               "the extension \"{}\": {}, needed LRA_UNSUPPORTED", accel::printable(name), status_name(status));
    run.expect(table == &mark, "the extension \"{}\": refused, and table was written to", accel::printable(name));
  }
}

}  // namespace

std::vector<Check> handshake_checks() {
  return {
      {"abi.majors", "hosts of every range of majors are met or refused", majors},
      {"abi.torch-version", "another torch major.minor is refused, patch and tag do not count", torch_version},
      {"abi.cxx-abi", "another C++ ABI is refused", cxx_abi},
      {"abi.sanitizers", "refused only where the plugin is instrumented and the host is not", sanitizers},
      {"abi.identity", "the table names the plugin as the manifest does", identity},
      {"abi.whole-groups", "required functions are there, optional ones come in whole groups", whole_groups},
      {"abi.truncated-table", "a table of any size holds the whole entries that fit and nothing past its end",
       truncated_table},
      {"abi.extensions", "an extension that is not known is LRA_UNSUPPORTED", extensions},
  };
}

}  // namespace lerobot::check
