#include "host/checkpoint/pickle.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>

#include "host/base/error.h"

namespace lerobot::checkpoint::pickle {
namespace {

constexpr std::size_t kLargest = 64U << 20U;
constexpr std::size_t kMostDimensions = 64;
constexpr std::size_t kMostValues = 2'000'000;
constexpr std::size_t kLongestKey = 64;

constexpr std::string_view kTorch = "torch.";
constexpr std::array<std::pair<std::string_view, DType>, 10> kStorages{{{"FloatStorage", DType::kFloat32},
                                                                        {"DoubleStorage", DType::kFloat64},
                                                                        {"HalfStorage", DType::kFloat16},
                                                                        {"BFloat16Storage", DType::kBFloat16},
                                                                        {"LongStorage", DType::kInt64},
                                                                        {"IntStorage", DType::kInt32},
                                                                        {"ShortStorage", DType::kInt16},
                                                                        {"CharStorage", DType::kInt8},
                                                                        {"ByteStorage", DType::kUInt8},
                                                                        {"BoolStorage", DType::kBool}}};

/// The pickle machine: opcodes push values on a stack, or combine those on its top.
class Machine {
 public:
  Machine(Bytes bytes, std::string_view name, std::string_view cure) : bytes_(bytes), name_(name), cure_(cure) {
    if (bytes.size() > kLargest) bytes_ = bytes.first(kLargest);
  }

  Document run() {
    for (;;) {
      const auto opcode = static_cast<char>(take(1)[0]);
      if (opcode == '.') break;
      step(opcode);
    }
    out_.root = pop();
    out_.size = at_;
    return std::move(out_);
  }

 private:
  [[noreturn]] void complain(const std::string& what) const {
    fail(ErrorKind::kCheckpoint, "{}: {} (at byte {} of its pickle). {}", name_, what, at_, cure_);
  }

  Bytes take(std::size_t size) {
    if (size > bytes_.size() - at_) complain("the pickle ends too early");
    at_ += size;
    return bytes_.subspan(at_ - size, size);
  }

  template <class Number>
  Number number() {
    Number out{};
    std::memcpy(&out, take(sizeof out).data(), sizeof out);
    return out;
  }

  std::string text(std::size_t size) {
    const Bytes raw = take(size);
    return {reinterpret_cast<const char*>(raw.data()), raw.size()};
  }

  std::string line() {
    std::string out;
    for (char c = text(1)[0]; c != '\n'; c = text(1)[0]) out += c;
    return out;
  }

  void push(Value value) {
    if (out_.values.size() >= kMostValues) complain(format("more than {} values", kMostValues));
    out_.values.push_back(std::move(value));
    stack_.push_back(static_cast<Ref>(out_.values.size() - 1));
  }

  Ref pop() {
    if (stack_.empty()) complain("the pickle takes a value that is not there");
    const Ref ref = stack_.back();
    stack_.pop_back();
    return ref;
  }

  Ref top() {
    const Ref ref = pop();
    stack_.push_back(ref);
    return ref;
  }

  /// The values above the topmost mark, which goes too.
  std::vector<Ref> pop_to_mark() {
    const auto mark = std::find_if(stack_.rbegin(), stack_.rend(),
                                   [&](Ref ref) { return std::holds_alternative<Mark>(out_.values[ref]); });
    if (mark == stack_.rend()) complain("the pickle lacks a mark");
    std::vector<Ref> items(mark.base(), stack_.end());
    stack_.erase(mark.base() - 1, stack_.end());
    return items;
  }

  std::vector<Ref> pop_many(std::size_t count) {
    std::vector<Ref> items(count);
    for (std::size_t i = count; i > 0; --i) items[i - 1] = pop();
    return items;
  }

  template <class Kind>
  Kind& get(Ref ref, std::string_view what) {
    Kind* value = std::get_if<Kind>(&out_.values[ref]);
    if (!value) complain(format("{} is not of the type expected", what));
    return *value;
  }

  void step(char opcode) {
    switch (opcode) {
      case '\x80':  // PROTO
        if (const auto protocol = number<std::uint8_t>(); protocol > 5)
          complain(format("pickle protocol {}", protocol));
        return;
      case '(':
        push(Mark{});
        return;
      case 'N':
        push(None{});
        return;
      case '\x88':
        push(true);
        return;
      case '\x89':
        push(false);
        return;
      case 'K':
        push(std::int64_t{number<std::uint8_t>()});
        return;
      case 'M':
        push(std::int64_t{number<std::uint16_t>()});
        return;
      case 'J':
        push(std::int64_t{number<std::int32_t>()});
        return;
      case '\x8a':
        push(long_integer());
        return;
      case 'G':
        push(std::bit_cast<double>(__builtin_bswap64(number<std::uint64_t>())));
        return;
      case 'X':
        push(text(number<std::uint32_t>()));
        return;
      case ')':
        push(Tuple{});
        return;
      case '\x85':
        push(Tuple{pop_many(1)});
        return;
      case '\x86':
        push(Tuple{pop_many(2)});
        return;
      case '\x87':
        push(Tuple{pop_many(3)});
        return;
      case 't':
        push(Tuple{pop_to_mark()});
        return;
      case ']':
        push(List{});
        return;
      case 'a':
        append({pop()});
        return;
      case 'e':
        append(pop_to_mark());
        return;
      case '}':
        push(Dict{});
        return;
      case 's':
        set_items(pop_many(2));
        return;
      case 'u':
        set_items(pop_to_mark());
        return;
      case 'q':
        memorize(number<std::uint8_t>());
        return;
      case 'r':
        memorize(number<std::uint32_t>());
        return;
      case 'h':
        recall(number<std::uint8_t>());
        return;
      case 'j':
        recall(number<std::uint32_t>());
        return;
      case 'c': {
        std::string module = line();
        push(Global{module + "." + line()});
        return;
      }
      case 'Q':
        load_storage();
        return;
      case 'R':
        call();
        return;
      case '\x81':
        pop();
        complain(format("it makes an object of {}, which is not allowed", get<Global>(pop(), "a class").name));
      case 'b':
        set_state();
        return;
      default:
        complain(format("opcode 0x{:02x} is not one that torch.save writes for tensors",
                        static_cast<unsigned>(static_cast<unsigned char>(opcode))));
    }
  }

  std::int64_t long_integer() {
    const auto size = number<std::uint8_t>();
    if (size > 8) complain(format("a whole number of {} bytes", size));
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value |= std::uint64_t{number<std::uint8_t>()} << (8 * i);
    if (size > 0 && size < 8 && ((value >> (8U * size - 1U)) & 1U)) value |= ~std::uint64_t{0} << (8U * size);
    return static_cast<std::int64_t>(value);
  }

  void append(const std::vector<Ref>& items) {
    auto& list = get<List>(top(), "what is appended to").items;
    list.insert(list.end(), items.begin(), items.end());
  }

  void set_items(const std::vector<Ref>& items) {
    if (items.size() % 2 != 0) complain("a key without a value");
    auto& dict = get<Dict>(top(), "what items are set in").items;
    for (std::size_t i = 0; i < items.size(); i += 2) dict.emplace_back(items[i], items[i + 1]);
  }

  void memorize(std::uint32_t index) {
    // Picklers number densely: a far index would only waste memory.
    if (index > out_.values.size()) complain(format("memo entry {} comes too soon", index));
    if (index >= memo_.size()) memo_.resize(index + 1U);
    memo_[index] = top();
  }

  void recall(std::uint32_t index) {
    if (index >= memo_.size() || !memo_[index]) complain(format("memo entry {} was never set", index));
    stack_.push_back(*memo_[index]);
  }

  /// ('storage', class, key, place, elements) and in the older format a sixth item, None.
  void load_storage() {
    const std::vector<Ref>& id = get<Tuple>(pop(), "a persistent id").items;
    const bool legacy_view = id.size() == 6 && !std::holds_alternative<None>(out_.values[id[5]]);
    if (id.size() < 5 || id.size() > 6 || legacy_view ||
        get<std::string>(id[0], "a persistent id's kind") != "storage") {
      complain("a persistent id that is not a storage");
    }
    const std::string& type = get<Global>(id[1], "a storage's class").name;
    const auto known = std::find_if(kStorages.begin(), kStorages.end(), [&](const auto& row) {
      return type.starts_with(kTorch) && row.first == std::string_view(type).substr(kTorch.size());
    });
    if (known == kStorages.end()) complain(format("storage class {} is not known", type));
    const std::int64_t elements = get<std::int64_t>(id[4], "a storage's size");
    const std::string& key = get<std::string>(id[2], "a storage's key");
    if (elements < 0 || key.size() > kLongestKey) complain("a storage of negative size or with a long key");
    push(Storage{.dtype = known->second, .key = key, .elements = elements});
  }

  void call() {
    const std::vector<Ref>& arguments = get<Tuple>(pop(), "the arguments of a call").items;
    const std::string& function = get<Global>(pop(), "what is called").name;
    if (function == "collections.OrderedDict" && arguments.empty()) {
      push(Dict{});
    } else if (function == "torch._utils._rebuild_tensor_v2" && arguments.size() >= 4) {
      push(make_tensor(arguments));
    } else if (function == "torch._utils._rebuild_parameter" && !arguments.empty()) {
      get<Tensor>(arguments[0], "a parameter's tensor");
      stack_.push_back(arguments[0]);
    } else {
      complain(format("it calls {} with {} arguments, which is not allowed", function, arguments.size()));
    }
  }

  std::vector<std::int64_t> numbers(Ref ref, std::string_view what) {
    const std::vector<Ref>& items = get<Tuple>(ref, what).items;
    if (items.size() > kMostDimensions) complain(format("{} has {} dimensions", what, items.size()));
    std::vector<std::int64_t> out;
    for (const Ref item : items) {
      out.push_back(get<std::int64_t>(item, what));
      if (out.back() < 0) complain(format("{} holds {}", what, out.back()));
    }
    return out;
  }

  Tensor make_tensor(const std::vector<Ref>& arguments) {
    Tensor tensor{.storage = get<Storage>(arguments[0], "a tensor's storage"),
                  .offset = get<std::int64_t>(arguments[1], "a tensor's offset"),
                  .shape = numbers(arguments[2], "a tensor's shape"),
                  .strides = numbers(arguments[3], "a tensor's strides")};
    if (tensor.offset < 0 || tensor.shape.size() != tensor.strides.size())
      complain("a tensor's offset or strides do not fit");
    if (!fits(tensor)) {
      complain(
          format("a tensor lies outside its storage {} of {} elements", tensor.storage.key, tensor.storage.elements));
    }
    return tensor;
  }

  /// Every element inside the storage, and no more elements than it has.
  static bool fits(const Tensor& tensor) {
    if (std::find(tensor.shape.begin(), tensor.shape.end(), 0) != tensor.shape.end()) {
      // torch still multiplies the other extents
      return std::all_of(tensor.shape.begin(), tensor.shape.end(), [](std::int64_t n) { return n < (1 << 20); }) &&
             tensor.shape.size() <= 3 && tensor.offset <= tensor.storage.elements;
    }
    __extension__ using Wide = __int128;
    Wide count = 1;
    Wide last = tensor.offset;
    for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
      count *= tensor.shape[i];
      last += static_cast<Wide>(tensor.shape[i] - 1) * tensor.strides[i];
      if (count > tensor.storage.elements || last >= tensor.storage.elements) return false;
    }
    return last < tensor.storage.elements;
  }

  /// An OrderedDict's attributes (state_dict's _metadata) say nothing about the tensors.
  void set_state() {
    get<Dict>(pop(), "a state");
    get<Dict>(top(), "an object with a state");
  }

  Bytes bytes_;
  std::string_view name_;
  std::string_view cure_;
  std::size_t at_ = 0;
  Document out_;
  std::vector<Ref> stack_;
  std::vector<std::optional<Ref>> memo_;
};

}  // namespace

std::string_view storage_class(DType dtype) {
  const auto row = std::find_if(kStorages.begin(), kStorages.end(), [&](const auto& r) { return r.second == dtype; });
  return row->first;  // the table has every dtype
}

Document read(Bytes bytes, std::string_view name, std::string_view cure) {
  return Machine(bytes, name, cure).run();
}

}  // namespace lerobot::checkpoint::pickle
