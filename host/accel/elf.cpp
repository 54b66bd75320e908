#include "host/accel/elf.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

#include "host/base/error.h"
#include "host/base/file.h"

namespace lerobot::accel {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMaxDynamicEntries = 4096;
constexpr std::size_t kMaxProgramHeaders = 1024;
constexpr std::size_t kMaxSections = 65536;
constexpr std::size_t kMaxSymbols = 1 << 20;

/// The bytes of a file; every access is checked.
class Bytes {
 public:
  explicit Bytes(const fs::path& path) : file_(path, ErrorKind::kDevice), name_(path.filename().string()) {}

  template <class T>
  T at(std::uint64_t offset) const {
    if (offset > file_.size() || file_.size() - offset < sizeof(T)) {
      fail(ErrorKind::kDevice, "{}: is not a whole shared library: it ends before byte {}", name_, offset);
    }
    T value;
    std::memcpy(&value, file_.data() + offset, sizeof(T));
    return value;
  }

  std::string text(std::uint64_t offset) const {
    if (offset >= file_.size()) fail(ErrorKind::kDevice, "{}: a name lies outside the file", name_);
    const char* begin = reinterpret_cast<const char*>(file_.data()) + offset;
    const std::size_t limit = std::min<std::size_t>(file_.size() - offset, 4096);
    const void* end = std::memchr(begin, 0, limit);
    if (!end) fail(ErrorKind::kDevice, "{}: a name has no end", name_);
    return {begin, static_cast<const char*>(end)};
  }

  const std::string& name() const { return name_; }

 private:
  MappedFile file_;
  std::string name_;
};

std::string architecture_name(unsigned machine) {
  switch (machine) {
    case EM_X86_64:
      return "x86_64";
    case EM_AARCH64:
      return "aarch64";
    case EM_PPC64:
      return "ppc64le";
    case EM_RISCV:
      return "riscv64";
    default:
      return format("machine {}", machine);
  }
}

std::vector<Elf64_Phdr> program_headers(const Bytes& bytes, const Elf64_Ehdr& header) {
  if (header.e_phnum > kMaxProgramHeaders || header.e_phentsize != sizeof(Elf64_Phdr)) {
    fail(ErrorKind::kDevice, "{}: its program headers make no sense", bytes.name());
  }
  std::vector<Elf64_Phdr> headers;
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    headers.push_back(bytes.at<Elf64_Phdr>(header.e_phoff + i * sizeof(Elf64_Phdr)));
  }
  return headers;
}

/// Where in the file a virtual address of a loaded segment lies.
std::optional<std::uint64_t> file_offset(const std::vector<Elf64_Phdr>& headers, std::uint64_t address) {
  for (const Elf64_Phdr& segment : headers) {
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz) {
      return segment.p_offset + (address - segment.p_vaddr);
    }
  }
  return std::nullopt;
}

std::vector<Elf64_Dyn> dynamic_entries(const Bytes& bytes, const std::vector<Elf64_Phdr>& headers) {
  std::vector<Elf64_Dyn> entries;
  const auto segment = std::ranges::find(headers, Elf64_Word{PT_DYNAMIC}, &Elf64_Phdr::p_type);
  if (segment == headers.end())
    fail(ErrorKind::kDevice, "{}: has no dynamic section, so is no shared library", bytes.name());
  const std::size_t count = std::min<std::size_t>(segment->p_filesz / sizeof(Elf64_Dyn), kMaxDynamicEntries);
  for (std::size_t i = 0; i < count; ++i) {
    entries.push_back(bytes.at<Elf64_Dyn>(segment->p_offset + i * sizeof(Elf64_Dyn)));
    if (entries.back().d_tag == DT_NULL) break;
  }
  return entries;
}

void add_search_path(std::vector<std::string>& directories, std::string_view list, const std::string& origin) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(':'), list.size());
    std::string directory(list.substr(0, end));
    for (const std::string_view token : {"${ORIGIN}", "$ORIGIN"}) {
      const std::size_t at = directory.find(token);
      if (at != std::string::npos) directory.replace(at, token.size(), origin);
    }
    if (!directory.empty()) directories.push_back(std::move(directory));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
}

/// Opens a file that must be there.
Bytes open_bytes(const fs::path& path) {
  std::error_code ec;
  if (!fs::is_regular_file(path, ec)) fail(ErrorKind::kDevice, "{}: no such file", path.filename().string());
  return Bytes(path);
}

Elf64_Ehdr read_header(const Bytes& bytes) {
  const auto header = bytes.at<Elf64_Ehdr>(0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    fail(ErrorKind::kDevice, "{}: is not a shared library (no ELF header)", bytes.name());
  }
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
    fail(ErrorKind::kDevice, "{}: is not a 64-bit little-endian library", bytes.name());
  }
  if (header.e_type != ET_DYN)
    fail(ErrorKind::kDevice, "{}: is not a shared library (ELF type {})", bytes.name(), header.e_type);
  return header;
}

/// Defined here and visible to others: what a loader would bind to.
bool exported(const Elf64_Sym& symbol) {
  const auto binding = ELF64_ST_BIND(symbol.st_info);
  const auto visibility = ELF64_ST_VISIBILITY(symbol.st_other);
  return symbol.st_shndx != SHN_UNDEF && binding != STB_LOCAL &&
         (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
}

}  // namespace

ElfInfo read_elf(const fs::path& path) {
  const Bytes bytes = open_bytes(path);
  const Elf64_Ehdr header = read_header(bytes);
  ElfInfo info;
  info.architecture = architecture_name(header.e_machine);
  const auto headers = program_headers(bytes, header);
  const auto dynamic = dynamic_entries(bytes, headers);
  const auto strings_entry = std::ranges::find(dynamic, Elf64_Sxword{DT_STRTAB}, &Elf64_Dyn::d_tag);
  if (strings_entry == dynamic.end()) return info;
  const auto strings = file_offset(headers, strings_entry->d_un.d_ptr);
  if (!strings) fail(ErrorKind::kDevice, "{}: its string table lies outside the file", bytes.name());
  const std::string origin = fs::weakly_canonical(path).parent_path().string();
  for (const Elf64_Dyn& entry : dynamic) {
    if (entry.d_tag == DT_NEEDED) info.needed.push_back(bytes.text(*strings + entry.d_un.d_val));
    if (entry.d_tag == DT_RUNPATH || entry.d_tag == DT_RPATH) {
      add_search_path(info.search_path, bytes.text(*strings + entry.d_un.d_val), origin);
    }
  }
  return info;
}

std::vector<std::string> exported_symbols(const fs::path& path) {
  const Bytes bytes = open_bytes(path);
  const Elf64_Ehdr header = read_header(bytes);
  if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shnum == 0 || header.e_shnum > kMaxSections) {
    fail(ErrorKind::kDevice, "{}: has no section headers, so its symbols cannot be told", bytes.name());
  }
  const auto section = [&](std::size_t i) { return bytes.at<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr)); };
  std::vector<std::string> names;
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr table = section(i);
    if (table.sh_type != SHT_DYNSYM) continue;
    const std::uint64_t strings = section(table.sh_link).sh_offset;
    const std::size_t count = std::min<std::size_t>(table.sh_size / sizeof(Elf64_Sym), kMaxSymbols);
    for (std::size_t k = 0; k < count; ++k) {
      const auto symbol = bytes.at<Elf64_Sym>(table.sh_offset + k * sizeof(Elf64_Sym));
      if (exported(symbol)) names.push_back(bytes.text(strings + symbol.st_name));
    }
  }
  std::ranges::sort(names);
  return names;
}

std::string own_architecture() {
#if defined(__x86_64__)
  return architecture_name(EM_X86_64);
#elif defined(__aarch64__)
  return architecture_name(EM_AARCH64);
#elif defined(__powerpc64__)
  return architecture_name(EM_PPC64);
#elif defined(__riscv)
  return architecture_name(EM_RISCV);
#else
#error "add this architecture's ELF machine"
#endif
}

}  // namespace lerobot::accel
